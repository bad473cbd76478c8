//! The scripts that run at the moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::exec::Interrupt;

/// The running scripts by number.
#[derive(Default)]
pub struct Running {
    next: AtomicU64,
    scripts: Mutex<FxHashMap<u64, RunningScript>>,
}

struct RunningScript {
    started: SystemTime,
    interrupt: Interrupt,
}

/// Keeps a script on the list until it is dropped.
pub struct Entry {
    running: Arc<Running>,
    number: u64,
    /// Stops the script.
    pub interrupt: Interrupt,
}

impl Running {
    /// Puts a script on the list that the interrupt stops.
    pub fn enter(self: &Arc<Self>, interrupt: Interrupt) -> Entry {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let script = RunningScript { started: SystemTime::now(), interrupt: interrupt.clone() };
        self.scripts.lock().insert(number, script);
        Entry { running: self.clone(), number, interrupt }
    }

    /// The numbers of the running scripts, and when they started in seconds since the epoch.
    pub fn list(&self) -> Vec<(u64, f64)> {
        let scripts = self.scripts.lock();
        let started =
            |script: &RunningScript| script.started.duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64());
        let mut list: Vec<(u64, f64)> = scripts.iter().map(|(number, script)| (*number, started(script))).collect();
        list.sort_by_key(|(number, _)| *number);
        list
    }

    /// Stops a script; whether there is one of this number.
    pub fn kill(&self, number: u64) -> bool {
        let scripts = self.scripts.lock();
        scripts.get(&number).map(|script| script.interrupt.kill()).is_some()
    }

    /// Stops all scripts.
    pub fn kill_all(&self) {
        self.scripts.lock().values().for_each(|script| script.interrupt.kill());
    }

    /// Stops all scripts since the database is being closed.
    pub fn close(&self) {
        self.scripts.lock().values().for_each(|script| script.interrupt.close());
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.running.scripts.lock().remove(&self.number);
    }
}
