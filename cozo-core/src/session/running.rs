//! The scripts that run at the moment.

use std::ops::Deref;

use parking_lot::Mutex;

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
    /// Those that run; few enough to look through.
    running: Vec<RunningScript>,
    /// The switch of one that has ended, for the next that has none: both of the references that are needed, so that none is counted.
    spare: Option<[Interrupt; 2]>,
}

struct RunningScript {
    number: u64,
    /// When it began, in microseconds since the epoch.
    began_micros: i64,
    interrupt: Interrupt,
}

/// Keeps a script on the list until it is dropped.
pub struct Entry<R: Deref<Target = Running>> {
    running: R,
    number: u64,
    /// There until it is dropped.
    interrupt: Option<Interrupt>,
}

impl Running {
    /// Puts a script on the list that the interrupt stops, or one of its own if there is none.
    pub fn enter<R: Deref<Target = Running>>(running: R, interrupt: Option<&Interrupt>, began_micros: i64) -> Entry<R> {
        let part = part_of_thread();
        let mut scripts = running.parts[part].lock();
        scripts.count += 1;
        let number = scripts.count * THREAD_PARTS as u64 + part as u64;
        let spare = match interrupt {
            Some(_) => None,
            None => scripts.spare.take(),
        };
        let [own, listed] = spare.unwrap_or_else(|| {
            let interrupt = interrupt.cloned().unwrap_or_default();
            [interrupt.clone(), interrupt]
        });
        scripts.running.push(RunningScript { number, began_micros, interrupt: listed });
        drop(scripts);
        Entry { running, number, interrupt: Some(own) }
    }

    fn part_of(&self, number: u64) -> &Mutex<Scripts> {
        &self.parts[number as usize % THREAD_PARTS]
    }

    fn for_each(&self, mut call: impl FnMut(&RunningScript)) {
        for part in &self.parts {
            part.lock().running.iter().for_each(&mut call);
        }
    }

    /// The numbers of the running scripts, and when they began in seconds since the epoch; the oldest come first.
    pub fn list(&self) -> Vec<(u64, f64)> {
        let mut list = vec![];
        self.for_each(|script| list.push((script.began_micros, script.number)));
        list.sort_unstable();
        list.into_iter().map(|(began_micros, number)| (number, began_micros as f64 / 1e6)).collect()
    }

    /// Stops a script; whether there is one of this number.
    pub fn kill(&self, number: u64) -> bool {
        let scripts = self.part_of(number).lock();
        scripts.running.iter().find(|script| script.number == number).map(|script| script.interrupt.kill()).is_some()
    }

    /// Stops all scripts.
    pub fn kill_all(&self) {
        self.for_each(|script| script.interrupt.kill());
    }

    /// Stops all scripts since the database is being closed.
    pub fn close(&self) {
        self.for_each(|script| script.interrupt.close());
    }
}

impl<R: Deref<Target = Running>> Entry<R> {
    /// Stops the script.
    pub fn interrupt(&self) -> &Interrupt {
        self.interrupt.as_ref().expect("an entry has it until it is dropped")
    }
}

impl<R: Deref<Target = Running>> Drop for Entry<R> {
    fn drop(&mut self) {
        let mut scripts = self.running.part_of(self.number).lock();
        let Some(place) = scripts.running.iter().rposition(|script| script.number == self.number) else { return };
        let listed = scripts.running.swap_remove(place).interrupt;
        // Besides these two references nobody has one, who could still stop what begins with it.
        if listed.holders() == 2 && listed.check().is_ok() {
            scripts.spare = self.interrupt.take().map(|own| [own, listed]);
        }
    }
}
