//! The parts of an open database that scripts need. Calls of the host use them, and the threads of held transactions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::events::{DebugSink, Elsewhere, Events};
use super::follower::Follower;
use super::results::keep_memory_of_results;
use super::script::{CachedRef, CachedScript, CompiledScript, DEFAULT_TIMEOUT_SECONDS, ScriptCache};
use super::sealer::Sealer;
use crate::allocator::return_freed_memory;
use crate::budget::{Budget, Interrupt};
use crate::exec::IndexCache;
use crate::fixed_rule::graph::GraphCache;
use crate::fixed_rule::{FixedRules, Rule};
use crate::fork::Process;
use crate::index::search::SearchCache;
use crate::parse::parse_script;
use crate::program::warnings;
use crate::replica::ReplicaError;
use crate::spill::SpillSpace;
use crate::storage::{Options, SharedReads, has_ample_memory};
use crate::txn::{Pipeline, Transaction, TxnError};

/// The graph cache and the index cache each have the budget of the column cache divided by this.
const KEPT_SHARE: usize = 8;

/// Search indices have the budget of the column cache divided by this.
const SEARCH_SHARE: usize = 2;

/// The parts of an open database.
pub struct Core {
    /// The process that opened the database.
    pub process: Process,
    /// The versions, and the commit pipeline.
    pub pipeline: Arc<Pipeline>,
    /// The scripts, parsed.
    pub scripts: ScriptCache,
    /// The triggers and callbacks.
    pub events: Events,
    /// Publishes what other processes commit.
    pub follower: Follower,
    /// Whether reads begin at the end of the shared log.
    reads_latest: bool,
    /// The sink of `%debug`.
    pub debug: DebugSink,
    /// The fixed rules that queries may use.
    pub fixed_rules: FixedRules,
    /// The graphs that fixed rules have built from stored relations.
    pub graphs: GraphCache,
    /// The indexes that queries have built from stored relations.
    pub indexes: IndexCache,
    /// The segments of search indices.
    pub searches: Arc<SearchCache>,
    /// Seals the tails of search indices.
    pub sealer: Arc<Sealer>,
    /// Whether any script has warnings, so that most programs need not look for those of each script.
    pub has_warned: AtomicBool,
    /// The memory that a query may take for derived rows.
    pub query_memory_bytes: usize,
    /// The memory from which on rows of a query go to disk.
    pub spill_above: usize,
    /// Where rows of queries go when their memory is used up.
    pub spill: Arc<SpillSpace>,
}

impl Core {
    /// The parts around a pipeline.
    pub fn new(pipeline: Pipeline, options: &Options) -> Self {
        if !has_ample_memory() {
            return_freed_memory();
        } else if options.cache_bytes() > 0 {
            // A database without a cache is meant to use little memory.
            keep_memory_of_results();
        }
        let pipeline = Arc::new(pipeline);
        let searches = Arc::new(SearchCache::new(options.cache_bytes() / SEARCH_SHARE));
        Core {
            sealer: Arc::new(Sealer::new(pipeline.clone(), searches.clone())),
            process: Process::current(),
            pipeline,
            scripts: ScriptCache::default(),
            events: Events::default(),
            debug: DebugSink::default(),
            follower: Follower::default(),
            reads_latest: options.shared_reads == SharedReads::Latest,
            fixed_rules: FixedRules::default(),
            graphs: GraphCache::new(options.cache_bytes() / KEPT_SHARE),
            indexes: IndexCache::new(options.cache_bytes() / KEPT_SHARE),
            searches,
            has_warned: AtomicBool::new(false),
            query_memory_bytes: options.query_memory_bytes(),
            spill_above: options.spill_bytes(),
            spill: Arc::new(SpillSpace::new(options.temp_dir.clone(), options.temp_limit_bytes())),
        }
    }

    /// Drops what an earlier process left unfinished, or follows the shared log if there is one.
    pub fn begin(&self, options: &Options) -> miette::Result<()> {
        if self.pipeline.replica().is_some() {
            // What is unfinished in a replica, another process may be about to finish.
            self.pipeline.observe(Box::new(Elsewhere(self.events.callbacks.clone())));
            let followed = self.follower.follow(&self.pipeline);
            return Ok(followed.map_err(|error| ReplicaError::NoThread(error.to_string()))?);
        }
        if !options.read_only {
            self.sealer.drop_unfinished()?;
        }
        Ok(())
    }

    /// Ends what goes on beside scripts, and lets go of files.
    pub fn close(&self) {
        self.sealer.close();
        self.follower.close();
        self.events.readers.close();
    }

    /// Publishes all that the shared log has, if a script that begins now must see it.
    #[inline]
    pub fn refresh(&self) -> Result<(), TxnError> {
        if self.reads_latest { self.pipeline.catch_up().map(drop) } else { Ok(()) }
    }

    /// A budget with the memory of a query.
    pub fn budget(&self, interrupt: &Interrupt, timeout_seconds: f64) -> Budget {
        Budget::new(interrupt.clone(), timeout_seconds, self.query_memory_bytes).spilling_above(self.spill_above)
    }

    /// Parses a script, which the interrupt can stop, and caches it.
    pub fn parse(&self, source: &str, interrupt: &Interrupt) -> miette::Result<CachedRef<'_, CachedScript>> {
        let budget = self.budget(interrupt, DEFAULT_TIMEOUT_SECONDS);
        let reading = budget.enter();
        let script = CompiledScript::new(parse_script(source)?);
        let bytes = self.query_memory_bytes - budget.spare_bytes();
        drop(reading);
        let warnings = self.warnings(&script);
        let script = Arc::new(CachedScript { source: source.into(), script, warnings, bytes });
        self.scripts.insert(&script);
        Ok(script.into())
    }

    /// What the queries of a script probably do not mean.
    fn warnings(&self, script: &CompiledScript) -> Vec<String> {
        let rules = self.fixed_rules.current();
        let options_of = |name: &str| match rules.find(name) {
            Some(Rule::BuiltIn(rule)) => Some(rule.options.iter().map(|option| option.name).collect()),
            _ => None,
        };
        let is_alone = matches!(script, CompiledScript::Query(_));
        let queries = script.queries();
        let found: Vec<String> = queries.into_iter().flat_map(|query| warnings(query, is_alone, &options_of)).collect();
        if !found.is_empty() {
            self.has_warned.store(true, Ordering::Relaxed);
        }
        found
    }

    /// A script, from the cache or parsed now.
    pub fn prepared(&self, source: &str, interrupt: &Interrupt) -> miette::Result<CachedRef<'_, CachedScript>> {
        self.scripts.find(source).map_or_else(|| self.parse(source, interrupt), Ok)
    }

    /// Commits. When this returns, the callbacks have their messages.
    pub fn commit(&self, txn: &mut Transaction) -> Result<(), TxnError> {
        let noted = txn.has_after_commit();
        let searched = txn.take_searched();
        txn.commit()?;
        if !searched.is_empty() {
            self.sealer.note(&searched);
        }
        if noted {
            self.events.callbacks.deliver();
        }
        Ok(())
    }
}
