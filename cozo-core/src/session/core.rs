//! What scripts need of a database, whoever runs them: a call of the host, or the thread of a held transaction.

use std::sync::Arc;

use quick_cache::sync::Cache;

use super::callbacks::Callbacks;
use super::imperative::Prepared;
use super::rows::keep_memory_of_results;
use super::triggers::TriggerCache;
use crate::fixed_rule::FixedRules;
use crate::parse::parse_script;
use crate::storage::Options;
use crate::txn::{Pipeline, Transaction, TxnError};

/// How many scripts are kept compiled.
const CACHED_SCRIPTS: usize = 1000;

/// Longer scripts are not kept: they are data more often than queries.
const MAX_CACHED_SCRIPT_BYTES: usize = 64 * 1024;

/// The parts of an open database.
pub struct Core {
    /// The versions and the way to the next.
    pub pipeline: Arc<Pipeline>,
    /// Who is told of changes.
    pub callbacks: Arc<Callbacks>,
    /// The triggers, parsed and compiled.
    pub triggers: TriggerCache,
    /// The fixed rules that queries may use.
    pub fixed_rules: FixedRules,
    /// How many bytes a query may take for what it derives.
    pub query_memory_bytes: usize,
    scripts: Cache<Box<str>, Arc<Prepared>>,
}

impl Core {
    /// The parts around a pipeline.
    pub fn new(pipeline: Pipeline, options: &Options) -> Self {
        keep_memory_of_results();
        Core {
            pipeline: Arc::new(pipeline),
            callbacks: Arc::default(),
            triggers: TriggerCache::default(),
            fixed_rules: FixedRules::default(),
            query_memory_bytes: options.query_memory_bytes(),
            scripts: Cache::new(CACHED_SCRIPTS),
        }
    }

    /// The script, parsed now or before.
    pub fn prepared(&self, source: &str) -> miette::Result<Arc<Prepared>> {
        if let Some(script) = self.scripts.get(source) {
            return Ok(script);
        }
        let script = Arc::new(Prepared::new(parse_script(source)?));
        if source.len() <= MAX_CACHED_SCRIPT_BYTES {
            self.scripts.insert(source.into(), script.clone());
        }
        Ok(script)
    }

    /// Commits; when this returns, the callbacks have been told.
    pub fn commit(&self, txn: Transaction) -> Result<(), TxnError> {
        let noted = txn.has_after_commit();
        txn.commit()?;
        if noted {
            self.callbacks.deliver();
        }
        Ok(())
    }
}
