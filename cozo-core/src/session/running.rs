//! The scripts that run at the moment.

use std::ops::Deref;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::exec::Interrupt;
use crate::txn::{Apart, THREAD_PARTS, part_of_thread};

/// The running scripts by number, each in the part of its thread: threads that run short scripts do not wait for one another.
#[derive(Default)]
pub struct Running {
    parts: [Apart<Mutex<Scripts>>; THREAD_PARTS],
}

#[derive(Default)]
struct Scripts {
    /// How many there have been.
    count: u64,
    by_number: FxHashMap<u64, RunningScript>,
}

struct RunningScript {
    started: SystemTime,
    interrupt: Interrupt,
}

/// Keeps a script on the list until it is dropped.
pub struct Entry<R: Deref<Target = Running>> {
    running: R,
    number: u64,
    /// Stops the script.
    pub interrupt: Interrupt,
}

impl Running {
    /// Puts a script on the list that the interrupt stops.
    pub fn enter<R: Deref<Target = Running>>(running: R, interrupt: Interrupt) -> Entry<R> {
        let script = RunningScript { started: SystemTime::now(), interrupt: interrupt.clone() };
        let part = part_of_thread();
        let mut scripts = running.parts[part].lock();
        scripts.count += 1;
        let number = scripts.count * THREAD_PARTS as u64 + part as u64;
        scripts.by_number.insert(number, script);
        drop(scripts);
        Entry { running, number, interrupt }
    }

    fn part_of(&self, number: u64) -> &Mutex<Scripts> {
        &self.parts[number as usize % THREAD_PARTS]
    }

    fn for_each(&self, mut call: impl FnMut(u64, &RunningScript)) {
        for part in &self.parts {
            part.lock().by_number.iter().for_each(|(number, script)| call(*number, script));
        }
    }

    /// The numbers of the running scripts, and when they started in seconds since the epoch; the oldest come first.
    pub fn list(&self) -> Vec<(u64, f64)> {
        let mut list = vec![];
        self.for_each(|number, script| list.push((script.started, number)));
        list.sort_unstable();
        let seconds = |started: SystemTime| started.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        list.into_iter().map(|(started, number)| (number, seconds(started))).collect()
    }

    /// Stops a script; whether there is one of this number.
    pub fn kill(&self, number: u64) -> bool {
        self.part_of(number).lock().by_number.get(&number).map(|script| script.interrupt.kill()).is_some()
    }

    /// Stops all scripts.
    pub fn kill_all(&self) {
        self.for_each(|_, script| script.interrupt.kill());
    }

    /// Stops all scripts since the database is being closed.
    pub fn close(&self) {
        self.for_each(|_, script| script.interrupt.close());
    }
}

impl<R: Deref<Target = Running>> Drop for Entry<R> {
    fn drop(&mut self) {
        self.running.part_of(self.number).lock().by_number.remove(&self.number);
    }
}
