//! What scripts need of a database, whoever runs them: a call of the host, or the thread of a held transaction.

use std::hash::BuildHasher;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use quick_cache::sync::Cache;
use rustc_hash::FxBuildHasher;

use super::callbacks::Callbacks;
use super::debug::DebugSink;
use super::imperative::Prepared;
use super::loaded::Loaded;
use super::rows::keep_memory_of_results;
use super::triggers::TriggerCache;
use crate::exec::KeptIndexes;
use crate::fixed_rule::FixedRules;
use crate::fixed_rule::graph::KeptGraphs;
use crate::fork::Process;
use crate::parse::parse_script;
use crate::storage::Options;
use crate::txn::{Pipeline, Transaction, TxnError};

/// How many scripts are kept compiled.
const CACHED_SCRIPTS: usize = 1000;

/// Longer scripts are not kept: they are data more often than queries.
const MAX_CACHED_SCRIPT_BYTES: usize = 64 * 1024;

/// How many of them are where they are found soonest.
const RECENT_SCRIPTS: usize = 64;

/// Graphs may take this part of what the cache may, and so may indexes made of relations.
const KEPT_SHARE: usize = 8;

/// A script that is kept.
pub struct CachedScript {
    /// Its text.
    pub source: Arc<str>,
    /// The script, parsed.
    pub script: Prepared,
}

/// The parts of an open database.
pub struct Core {
    /// The process that opened the database.
    pub process: Process,
    /// The versions and the way to the next.
    pub pipeline: Arc<Pipeline>,
    /// Who is told of changes.
    pub callbacks: Arc<Callbacks>,
    /// What `%debug` calls.
    pub debug: DebugSink,
    /// The triggers, parsed and compiled.
    pub triggers: TriggerCache,
    /// The fixed rules that queries may use.
    pub fixed_rules: FixedRules,
    /// The graphs that fixed rules have made of stored relations.
    pub graphs: KeptGraphs,
    /// The indexes that queries have made of stored relations.
    pub indexes: KeptIndexes,
    /// How many bytes a query may take for what it derives.
    pub query_memory_bytes: usize,
    scripts: Cache<Arc<str>, Arc<CachedScript>>,
    /// Those used last, by the hash of their text: to load one here takes no lock.
    recent: [ArcSwapOption<CachedScript>; RECENT_SCRIPTS],
}

impl Core {
    /// The parts around a pipeline.
    pub fn new(pipeline: Pipeline, options: &Options) -> Self {
        // Where nothing is cached, little memory is wanted rather than fast results.
        if options.cache_bytes() > 0 {
            keep_memory_of_results();
        }
        Core {
            process: Process::current(),
            pipeline: Arc::new(pipeline),
            callbacks: Arc::default(),
            debug: DebugSink::default(),
            triggers: TriggerCache::default(),
            fixed_rules: FixedRules::default(),
            graphs: KeptGraphs::new(options.cache_bytes() / KEPT_SHARE),
            indexes: KeptIndexes::new(options.cache_bytes() / KEPT_SHARE),
            query_memory_bytes: options.query_memory_bytes(),
            scripts: Cache::new(CACHED_SCRIPTS),
            recent: std::array::from_fn(|_| ArcSwapOption::empty()),
        }
    }

    /// The script, parsed now or before.
    pub fn prepared(&self, source: &str) -> miette::Result<Loaded<'_, CachedScript>> {
        let recent = &self.recent[FxBuildHasher.hash_one(source) as usize % RECENT_SCRIPTS];
        if let Some(script) = Loaded::of(recent)
            && *script.source == *source
            && !script.script.is_outdated()
        {
            return Ok(script);
        }
        if let Some(script) = self.scripts.get(source).filter(|script| !script.script.is_outdated()) {
            recent.store(Some(script.clone()));
            return Ok(script.into());
        }
        let script = Arc::new(CachedScript { source: source.into(), script: Prepared::new(parse_script(source)?) });
        if source.len() <= MAX_CACHED_SCRIPT_BYTES {
            self.scripts.insert(script.source.clone(), script.clone());
            recent.store(Some(script.clone()));
        }
        Ok(script.into())
    }

    /// Commits; when this returns, the callbacks have been told.
    pub fn commit(&self, txn: &mut Transaction) -> Result<(), TxnError> {
        let noted = txn.has_after_commit();
        txn.commit()?;
        if noted {
            self.callbacks.deliver();
        }
        Ok(())
    }
}
