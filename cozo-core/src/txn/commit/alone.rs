//! A thread that keeps all others from committing, so that what it reads is what its commit changes.
//!
//! A change of a definition reads a whole relation. While others write the relation all the time, each of its commits would be a
//! conflict. So after some attempts it leads first, and reads then: writers wait, and readers do not.

use super::history::History;
use super::pipeline::Pipeline;
use super::request::CommitRequest;
use super::write_batcher::Closed;
use crate::txn::error::TxnError;
use crate::txn::sync::{CachePadded, MutexGuard};

/// The lead of the pipeline, held over several calls. Commits of other threads wait for its end.
pub struct Alone<'p> {
    // Opened again before the lead ends.
    _closed: Closed<'p>,
    history: MutexGuard<'p, CachePadded<History>>,
    pipeline: &'p Pipeline,
}

impl Pipeline {
    /// Leads until the result is dropped. The calling thread must not commit in another way meanwhile.
    pub fn alone(&self) -> Alone<'_> {
        let mut history = self.leader.lock();
        let closed = self.batcher.close();
        self.commit_batched(&mut history.0);
        Alone { _closed: closed, history, pipeline: self }
    }
}

impl Alone<'_> {
    /// Commits a transaction.
    pub fn commit(&mut self, request: &mut CommitRequest) -> Result<(), TxnError> {
        let base = request.base;
        let outcome = self.pipeline.commit_leading(&mut self.history.0, request);
        if let (Some(base), Err(_)) = (base, &outcome) {
            self.pipeline.active.end_readings([base]);
        }
        outcome
    }
}
