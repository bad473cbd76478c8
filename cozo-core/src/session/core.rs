//! The parts of an open database that scripts need. Calls of the host use them, and the threads of held transactions.

use std::hash::BuildHasher;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rustc_hash::FxBuildHasher;

use super::cached_ref::CachedRef;
use super::callbacks::Callbacks;
use super::debug::DebugSink;
use super::imperative::CompiledScript;
use super::query::DEFAULT_TIMEOUT_SECONDS;
use super::rows::keep_memory_of_results;
use super::triggers::TriggerCache;
use crate::budget::{Budget, Interrupt};
use crate::diag::{locate, show_in};
use crate::exec::IndexCache;
use crate::fixed_rule::FixedRules;
use crate::fixed_rule::graph::GraphCache;
use crate::fork::Process;
use crate::parse::parse_script;
use crate::storage::Options;
use crate::txn::{Pipeline, Transaction, TxnError};

/// The approximate number of cached scripts.
const CACHED_SCRIPTS: usize = 1000;

/// The budget of the script cache.
const CACHED_SCRIPTS_BYTES: usize = 64 << 20;

/// Longer scripts are not cached, since they are more often data than queries.
const MAX_CACHED_SCRIPT_BYTES: usize = 64 * 1024;

/// The approximate size of a cached script for each byte of its text: the syntax tree and the plan.
const KEPT_BYTES: usize = 50;

/// The number of scripts that are found without a lock.
const RECENT_SCRIPTS: usize = 64;

/// Longer scripts are found with a lock, which is a small part of the time to run them.
const MAX_RECENT_SCRIPT_BYTES: usize = 8 * 1024;

/// The graph cache and the index cache each have the budget of the column cache divided by this.
const KEPT_SHARE: usize = 8;

/// A cached script.
pub struct CachedScript {
    /// The text.
    pub source: Arc<str>,
    /// The script, parsed.
    pub script: CompiledScript,
    /// The approximate size of the script, if it is large. It counts against the memory of the query.
    pub bytes: usize,
}

impl CachedScript {
    /// An error of running the script, with its place in the text.
    pub fn explain(&self, report: miette::Report) -> miette::Report {
        let report = locate(report, self.script.place(&self.source), "nothing of this was applied");
        show_in(report, &self.source)
    }
}

/// The size of a script in the cache.
#[derive(Clone)]
struct ScriptBytes;

impl Weighter<Arc<str>, Arc<CachedScript>> for ScriptBytes {
    fn weight(&self, source: &Arc<str>, _: &Arc<CachedScript>) -> u64 {
        (source.len() * KEPT_BYTES).max(1) as u64
    }
}

/// The parts of an open database.
pub struct Core {
    /// The process that opened the database.
    pub process: Process,
    /// The versions, and the commit pipeline.
    pub pipeline: Arc<Pipeline>,
    /// The callbacks, which receive changes.
    pub callbacks: Arc<Callbacks>,
    /// The sink of `%debug`.
    pub debug: DebugSink,
    /// The triggers, parsed and compiled.
    pub triggers: TriggerCache,
    /// The fixed rules that queries may use.
    pub fixed_rules: FixedRules,
    /// The graphs that fixed rules have built from stored relations.
    pub graphs: GraphCache,
    /// The indexes that queries have built from stored relations.
    pub indexes: IndexCache,
    /// The memory that a query may take for derived rows.
    pub query_memory_bytes: usize,
    scripts: Cache<Arc<str>, Arc<CachedScript>, ScriptBytes>,
    /// The scripts used last, by the hash of their text. Loading one takes no lock.
    recent: [ArcSwapOption<CachedScript>; RECENT_SCRIPTS],
}

impl Core {
    /// The parts around a pipeline.
    pub fn new(pipeline: Pipeline, options: &Options) -> Self {
        // A database without a cache is meant to use little memory.
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
            graphs: GraphCache::new(options.cache_bytes() / KEPT_SHARE),
            indexes: IndexCache::new(options.cache_bytes() / KEPT_SHARE),
            query_memory_bytes: options.query_memory_bytes(),
            scripts: Cache::with_weighter(CACHED_SCRIPTS, CACHED_SCRIPTS_BYTES as u64, ScriptBytes),
            recent: std::array::from_fn(|_| ArcSwapOption::empty()),
        }
    }

    /// A script that has been parsed before.
    pub fn find(&self, source: &str) -> Option<CachedRef<'_, CachedScript>> {
        let recent = self.recent_place(source);
        if let Some(script) = CachedRef::of(recent)
            && *script.source == *source
            && !script.script.is_outdated()
        {
            return Some(script);
        }
        let script = self.scripts.get(source).filter(|script| !script.script.is_outdated())?;
        if source.len() <= MAX_RECENT_SCRIPT_BYTES {
            recent.store(Some(script.clone()));
        }
        Some(script.into())
    }

    /// Parses a script, which the interrupt can stop, and caches it.
    pub fn parse(&self, source: &str, interrupt: &Interrupt) -> miette::Result<CachedRef<'_, CachedScript>> {
        let budget = Budget::new(interrupt.clone(), DEFAULT_TIMEOUT_SECONDS, self.query_memory_bytes);
        let reading = budget.enter();
        let script = CompiledScript::new(parse_script(source)?);
        let bytes = self.query_memory_bytes - budget.spare_bytes();
        drop(reading);
        let script = Arc::new(CachedScript { source: source.into(), script, bytes });
        if source.len() <= MAX_CACHED_SCRIPT_BYTES {
            self.scripts.insert(script.source.clone(), script.clone());
        }
        if source.len() <= MAX_RECENT_SCRIPT_BYTES {
            self.recent_place(source).store(Some(script.clone()));
        }
        Ok(script.into())
    }

    /// A script, from the cache or parsed now.
    pub fn prepared(&self, source: &str, interrupt: &Interrupt) -> miette::Result<CachedRef<'_, CachedScript>> {
        self.find(source).map_or_else(|| self.parse(source, interrupt), Ok)
    }

    fn recent_place(&self, source: &str) -> &ArcSwapOption<CachedScript> {
        &self.recent[FxBuildHasher.hash_one(source) as usize % RECENT_SCRIPTS]
    }

    /// Commits. When this returns, the callbacks have their messages.
    pub fn commit(&self, txn: &mut Transaction) -> Result<(), TxnError> {
        let noted = txn.has_after_commit();
        txn.commit()?;
        if noted {
            self.callbacks.deliver();
        }
        Ok(())
    }
}
