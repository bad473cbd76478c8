//! Transactions that wait for a leader, and how their threads wait where a leader takes long.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::request::CommitRequest;
use crate::sync::{Condvar, Mutex as LongMutex};
use crate::txn::error::TxnError;
use crate::txn::sync::Mutex;

/// A transaction waiting for a leader.
pub struct Waiting {
    request: Mutex<Option<CommitRequest>>,
    outcome: OnceLock<Result<(), TxnError>>,
}

impl Waiting {
    /// A request that waits.
    pub fn new(request: CommitRequest) -> Arc<Self> {
        Arc::new(Waiting { request: Mutex::new(Some(request)), outcome: OnceLock::new() })
    }

    /// The request, for the first who takes it.
    pub fn take(&self) -> Option<CommitRequest> {
        self.request.lock().take()
    }

    /// Notes how the commit ended.
    pub fn ends(&self, outcome: Result<(), TxnError>) {
        let _ = self.outcome.set(outcome);
    }

    /// How the commit ended, if it has.
    pub fn outcome(&self) -> Option<Result<(), TxnError>> {
        self.outcome.get().cloned()
    }
}

/// Wakes the threads whose requests wait for a leader, when it has ended. They wait for the outcome and not for the leader's lock: each
/// would take the lock to learn that it is done, and the next group would be those few that came between.
#[derive(Default)]
pub struct Turns {
    lock: LongMutex<()>,
    ended: Condvar,
}

/// How long a thread waits before it looks by itself whether nobody leads. Unit: time. Bench: `shared`.
const LOOK: Duration = Duration::from_millis(2);

impl Turns {
    /// Wakes all that wait.
    pub fn end(&self) {
        drop(self.lock.lock());
        self.ended.notify_all();
    }

    /// The outcome, or nothing when a turn has ended without one.
    pub fn wait(&self, waiting: &Waiting) -> Option<Result<(), TxnError>> {
        let guard = self.lock.lock();
        waiting.outcome().or_else(|| {
            drop(self.ended.wait_until(guard, Instant::now() + LOOK));
            waiting.outcome()
        })
    }
}
