//! The thread that publishes what other processes commit to a shared log.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use crate::replica::Replica;
use crate::sync::Mutex;
use crate::txn::Pipeline;

/// How long the thread waits for an entry before it looks whether the database is closed.
const LOOK: Duration = Duration::from_millis(200);

/// How long it waits after a failure of the log.
const AFTER_FAILURE: Duration = Duration::from_millis(200);

/// Follows the log of a replica until it is closed.
#[derive(Default)]
pub struct Follower {
    is_closed: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Follower {
    /// Begins to follow, if the database has a shared log.
    pub fn follow(&self, pipeline: &Arc<Pipeline>) -> std::io::Result<()> {
        let Some(replica) = pipeline.replica().cloned() else { return Ok(()) };
        let (pipeline, is_closed) = (Arc::downgrade(pipeline), self.is_closed.clone());
        let run = move || follow(&replica, &pipeline, &is_closed);
        *self.thread.lock() = Some(std::thread::Builder::new().name("cozo-follower".to_string()).spawn(run)?);
        Ok(())
    }

    /// Ends the thread, and waits for its end.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.lock().take() {
            // A panic has been reported when it happened.
            let _ = thread.join();
        }
    }
}

fn follow(replica: &Replica, pipeline: &Weak<Pipeline>, is_closed: &AtomicBool) {
    while !is_closed.load(Ordering::Relaxed) {
        let outcome = match replica.wait(LOOK) {
            Ok(false) => continue,
            Ok(true) => match pipeline.upgrade() {
                Some(pipeline) => pipeline.catch_up().map(drop).is_ok(),
                None => return,
            },
            Err(_) => false,
        };
        // Reads go on, and say how old they are; commits report what is wrong.
        if !outcome {
            sleep(AFTER_FAILURE);
        }
    }
}
