//! Seals the tails of search indices, in a thread that lives as long as there is something to do.
//!
//! ```text
//! commit ── note ── tail below its bound: nothing
//!                ├─ above it: the thread seals it, and the commit goes on
//!                └─ far above it: the committing thread seals it, so that it does not grow without bound
//! ```
//!
//! A failure leaves the tail as it is: searches are slower, and the next commit tries again.

use std::sync::Arc;
use std::thread::JoinHandle;

use crate::budget::{Budget, Interrupt};
use crate::index::search::{
    HELP_RATIO, Indexed, Prepared, SearchCache, SearchIndexError, prepare, prepare_anew, tail_bound,
};
use crate::program::extractor;
use crate::sync::Mutex;
use crate::threads;
use crate::txn::{Pipeline, Transaction, TxnError};
use crate::value::SmallStr;

/// How often a sealing is written again if rows change meanwhile.
const ATTEMPTS: usize = 8;

/// Seals the tails of search indices.
pub struct Sealer {
    pipeline: Arc<Pipeline>,
    cache: Arc<SearchCache>,
    /// Held while an index is sealed.
    sealing: Mutex<()>,
    state: Mutex<State>,
    interrupt: Interrupt,
}

#[derive(Default)]
struct State {
    /// Relations whose tails are to be sealed.
    waiting: Vec<SmallStr>,
    /// The last thread that was started.
    thread: Option<JoinHandle<()>>,
    is_running: bool,
    is_closed: bool,
}

impl Sealer {
    /// A sealer without a thread.
    pub fn new(pipeline: Arc<Pipeline>, cache: Arc<SearchCache>) -> Self {
        let (sealing, state, interrupt) = Default::default();
        Sealer { pipeline, cache, sealing, state, interrupt }
    }

    /// Takes note of relations that were written.
    pub fn note(self: &Arc<Self>, relations: &[SmallStr]) {
        for relation in relations {
            match self.excess(relation) {
                0 => {}
                excess if excess < HELP_RATIO => self.hand_over(relation),
                _ => self.seal(relation),
            }
        }
    }

    /// How many times the bound the longest tail of a relation has reached.
    fn excess(&self, relation: &str) -> u64 {
        let version = self.pipeline.current();
        let Some(schema) = version.catalog.find(relation) else { return 0 };
        let times = schema.searches.iter().filter(|index| index.is_ready).filter_map(|index| {
            let bound = tail_bound(&index.options)?;
            Some(version.snapshot.row_count(index.stored[0].id) / bound)
        });
        times.max().unwrap_or(0)
    }

    /// Has the thread seal the tails of a relation.
    fn hand_over(self: &Arc<Self>, relation: &SmallStr) {
        let mut state = self.state.lock();
        if state.is_closed || state.waiting.contains(relation) {
            return;
        }
        state.waiting.push(relation.clone());
        if state.is_running {
            return;
        }
        let sealer = self.clone();
        match threads::start("cozo-seal", move || sealer.run()) {
            Ok(thread) => (state.thread, state.is_running) = (Some(thread), true),
            // Without the thread, a committing thread seals the tail when it is long.
            Err(_) => state.waiting.clear(),
        }
    }

    fn run(&self) {
        loop {
            let next = {
                let mut state = self.state.lock();
                let next = if state.is_closed { None } else { state.waiting.pop() };
                state.is_running = next.is_some();
                next
            };
            let Some(relation) = next else { return };
            self.seal(&relation);
        }
    }

    /// Seals the tails of a relation that have reached their bounds.
    fn seal(&self, relation: &str) {
        let _turn = self.sealing.lock();
        let budget = Budget::new(self.interrupt.clone(), 0.0, usize::MAX);
        let _entered = budget.enter();
        let version = self.pipeline.current();
        let Some(schema) = version.catalog.find(relation) else { return };
        for index in schema.searches.iter().filter(|index| index.is_ready) {
            let is_long = |bound| version.snapshot.row_count(index.stored[0].id) >= bound;
            if tail_bound(&index.options).is_some_and(is_long) {
                // The tail stays as it is; the next commit tries again.
                let _ = self.seal_index(relation, &index.name);
            }
        }
    }

    /// Makes an index anew of the rows of its relation.
    pub fn renew(&self, relation: &str, name: &str) -> Result<(), SealError> {
        let _turn = self.sealing.lock();
        if self.rewrite(relation, name, prepare_anew)? { Ok(()) } else { Err(SealError::Busy) }
    }

    /// Seals the tail of an index, however short.
    pub fn seal_index(&self, relation: &str, name: &str) -> Result<(), SealError> {
        self.rewrite(relation, name, prepare)?;
        Ok(())
    }

    /// Replaces segments of an index and its tail by a new segment. Returns whether it could: others may change the index too often.
    fn rewrite(
        &self,
        relation: &str,
        name: &str,
        prepare: fn(Indexed<'_>) -> Result<Prepared, SearchIndexError>,
    ) -> Result<bool, SealError> {
        let prepared = {
            let version = self.pipeline.current();
            let Some(schema) = version.catalog.find(relation) else { return Ok(true) };
            let Some(index) = schema.search(name) else { return Ok(true) };
            let extractor = extractor(schema, index)?;
            let (snapshot, cache) = (&*version.snapshot, Some(&*self.cache));
            prepare(Indexed { relation: schema, index, extractor: &extractor, snapshot, cache })?
        };
        for _ in 0..ATTEMPTS {
            let mut txn = Transaction::begin_held(&self.pipeline, true);
            let Some(schema) = txn.catalog().find(relation).cloned() else { return Ok(true) };
            let Some(index) = schema.search(name) else { return Ok(true) };
            let extractor = extractor(&schema, index)?;
            let Some(sealed) = prepared.apply(&schema, index, &extractor, &mut txn)? else { return Ok(false) };
            match txn.commit() {
                Err(TxnError::Conflict) => continue,
                Err(error) => return Err(error.into()),
                Ok(()) => {
                    self.cache.keep_only(index.stored[1].id, &sealed.numbers);
                    if let Some((number, segment)) = &sealed.segment {
                        self.cache.segments.keep(index.stored[1].id, *number, segment);
                    }
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Drops the indices whose building was interrupted. Called when a database is opened, before anything else uses it.
    pub fn drop_unfinished(&self) -> Result<(), TxnError> {
        let version = self.pipeline.current();
        for schema in version.catalog.iter().filter(|schema| schema.searches.iter().any(|index| !index.is_ready)) {
            for index in schema.searches.iter().filter(|index| !index.is_ready) {
                let mut txn = Transaction::begin(&self.pipeline, true);
                if let Some(schema) = txn.catalog().find(&schema.name).cloned() {
                    txn.drop_search(&schema, index);
                    txn.commit()?;
                }
            }
        }
        Ok(())
    }

    /// Stops the thread, and waits for it.
    pub fn close(&self) {
        let thread = {
            let mut state = self.state.lock();
            state.is_closed = true;
            state.thread.take()
        };
        self.interrupt.close();
        if let Some(thread) = thread {
            // A panic has been reported when it happened.
            let _ = thread.join();
        }
    }
}

/// An index could not be sealed.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum SealError {
    /// The index could not be read or written.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Index(#[from] SearchIndexError),
    /// Others change it too often.
    #[error("the index could not be made anew: its relation changes too often")]
    #[diagnostic(code(tx::reindex_conflict), help("try again; the index is as it was"))]
    Busy,
    /// Its expression could not be resolved.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Program(#[from] crate::program::ProgramError),
    /// The commit failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Txn(#[from] TxnError),
}
