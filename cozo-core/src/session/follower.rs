//! The thread that publishes what other processes commit to a shared log.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::sleep;
use std::time::Duration;

use crate::replica::Replica;
use crate::sync::Mutex;
use crate::txn::Pipeline;

/// How long the thread waits for an entry before it looks whether the database is closed. Each look costs a log a few questions.
const LOOK: Duration = Duration::from_secs(2);

/// How long it waits after a failure of the log.
const AFTER_FAILURE: Duration = Duration::from_millis(200);

/// Follows the log of a replica until it is closed.
#[derive(Default)]
pub struct Follower {
    shared: Arc<Turn>,
}

/// What the thread and its owner share.
#[derive(Default)]
struct Turn {
    is_closed: AtomicBool,
    /// Held while entries are published.
    publishing: Mutex<()>,
}

impl Follower {
    /// Begins to follow, if the database has a shared log.
    pub fn follow(&self, pipeline: &Arc<Pipeline>) -> std::io::Result<()> {
        let Some(replica) = pipeline.replica().cloned() else { return Ok(()) };
        let (pipeline, turn) = (Arc::downgrade(pipeline), self.shared.clone());
        let thread = std::thread::Builder::new().name("cozo-follower".to_string());
        thread.spawn(move || while turn.follow(&replica, &pipeline) {}).map(drop)
    }

    /// Lets nothing be published any more. The thread ends by itself, and touches nothing of the database before.
    pub fn close(&self) {
        self.shared.is_closed.store(true, Ordering::Relaxed);
        drop(self.shared.publishing.lock());
    }
}

impl Turn {
    /// Waits for entries of the log, and publishes them. Returns whether to go on.
    fn follow(&self, replica: &Replica, pipeline: &Weak<Pipeline>) -> bool {
        let found = replica.wait(LOOK);
        let failed = {
            let _publishing = self.publishing.lock();
            if self.is_closed.load(Ordering::Relaxed) {
                return false;
            }
            match (&found, pipeline.upgrade()) {
                (_, None) => return false,
                (Ok(true), Some(pipeline)) => pipeline.catch_up().is_err(),
                (Ok(false), _) => false,
                (Err(_), _) => true,
            }
        };
        // Reads go on, and `::replica` says how old they are; commits report what is wrong.
        if failed {
            sleep(AFTER_FAILURE);
        }
        true
    }
}
