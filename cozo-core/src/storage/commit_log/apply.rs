//! The thread that applies the log.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use super::{APPLIED_AT, PERIOD, Shared};
use crate::threads;

/// The running thread.
pub struct Applier(JoinHandle<()>);

impl Applier {
    /// Starts the thread. Without one the log is applied when it is as long as it may be.
    pub fn start(shared: &Arc<Shared>) -> Option<Self> {
        let shared = shared.clone();
        threads::start("cozo-commits", move || run(&shared)).ok().map(Applier)
    }

    /// Waits for its end.
    pub fn join(self) {
        // A panic there was reported there; what was not applied still is in the log.
        let _ = self.0.join();
    }
}

fn run(shared: &Shared) {
    while wait(shared) {
        if shared.apply().is_err() {
            // It stays in the log, and the next attempt may find space on the disk.
            pause(shared);
        }
    }
}

/// Waits for something to apply; false when the log is closed.
fn wait(shared: &Shared) -> bool {
    let mut state = shared.state.lock();
    while state.bytes == 0 && !state.is_closed {
        state = shared.news.wait(state);
    }
    let deadline = Instant::now() + PERIOD;
    while !state.is_closed && state.newest.end() < shared.max_bytes / APPLIED_AT {
        let timed_out;
        (state, timed_out) = shared.news.wait_until(state, deadline);
        if timed_out {
            break;
        }
    }
    !state.is_closed
}

fn pause(shared: &Shared) {
    let mut state = shared.state.lock();
    let deadline = Instant::now() + PERIOD;
    let mut timed_out = false;
    while !state.is_closed && !timed_out {
        (state, timed_out) = shared.news.wait_until(state, deadline);
    }
}
