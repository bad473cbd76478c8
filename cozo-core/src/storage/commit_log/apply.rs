//! The thread that applies the log.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use super::{APPLIED_AT, PERIOD, Shared};
use crate::threads;

/// The running thread.
pub struct Applier(JoinHandle<()>);

impl Applier {
    /// Starts the thread. Without a thread the log is applied only when it has its greatest size.
    pub fn start(shared: &Arc<Shared>) -> Option<Self> {
        let shared = shared.clone();
        threads::start("cozo-commits", move || run(&shared)).ok().map(Applier)
    }

    /// Waits for the end of the thread.
    pub fn join(self) {
        // A panic in the thread was reported there, and the log still has its commits.
        let _ = self.0.join();
    }
}

fn run(shared: &Shared) {
    while wait(shared) {
        if shared.apply().is_err() {
            // The log still has the commits, and the next attempt may find space on the disk.
            pause(shared);
        }
    }
}

/// Waits for something to apply. Returns `false` when the log is closed.
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
