//! The scripts that run at the moment.

use std::ops::Deref;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use crate::budget::Interrupt;
use crate::sync::Mutex;
use crate::txn::{CachePadded, THREAD_PARTS, thread_shard};

/// The running scripts by number, each in the part of its thread: threads that run short scripts do not wait for one another.
#[derive(Default)]
pub struct Running {
    parts: [CachePadded<Part>; THREAD_PARTS],
}

/// The scripts of the threads of one part. Nearly always there is one at a time, which has a place that is taken in a single step.
#[derive(Default)]
struct Part {
    place: RunningSlot,
    others: Mutex<Others>,
}

/// The place of one script after the other.
#[derive(Default)]
struct RunningSlot {
    /// Of the script that has it, or [`FREE`], or [`TAKEN`] by one that has no number yet.
    number: AtomicU64,
    /// How many there have been; changed by who has the place.
    count: AtomicU64,
    /// When it began, in microseconds since the epoch.
    began_micros: AtomicI64,
    /// Serves the script of the number.
    interrupt: Interrupt,
}

const FREE: u64 = 0;
const TAKEN: u64 = 1;

/// Scripts beside the one that has the place, and those that bring an interrupt.
#[derive(Default)]
struct Others {
    /// How many there have been.
    count: u64,
    /// Those that run; few enough to look through.
    running: Vec<RunningScript>,
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
    /// What stops it, unless it has a place.
    interrupt: Option<Interrupt>,
}

/// The number of the script that is the `count`th of a part in its place, or beside it.
fn number_of(count: u64, has_place: bool, part: usize) -> u64 {
    (count * 2 + u64::from(!has_place)) * THREAD_PARTS as u64 + part as u64
}

/// Whether the script of a number has a place.
fn has_place(number: u64) -> bool {
    (number / THREAD_PARTS as u64).is_multiple_of(2)
}

impl RunningSlot {
    /// Takes the place, if it is free, and gives the script's number.
    fn take(&self, part: usize, began_micros: i64) -> Option<u64> {
        self.number.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).ok()?;
        let count = self.count.load(Ordering::Relaxed) + 1;
        self.count.store(count, Ordering::Relaxed);
        let number = number_of(count, true, part);
        // Who sees this time does not see an earlier number after it.
        self.began_micros.store(began_micros, Ordering::Release);
        self.interrupt.serve(number);
        self.number.store(number, Ordering::Release);
        Some(number)
    }

    fn leave(&self) {
        self.number.store(FREE, Ordering::Release);
    }

    /// The number of the script that has it.
    fn script(&self) -> Option<u64> {
        Some(self.number.load(Ordering::Acquire)).filter(|number| *number != FREE && *number != TAKEN)
    }

    /// The script that has it, and when it began.
    fn listed(&self) -> Option<(i64, u64)> {
        let number = self.script()?;
        let began_micros = self.began_micros.load(Ordering::Acquire);
        (self.script() == Some(number)).then_some((began_micros, number))
    }
}

impl Running {
    /// Puts a script on the list that the interrupt stops, or one of its own if there is none.
    pub fn enter<R: Deref<Target = Running>>(running: R, interrupt: Option<&Interrupt>, began_micros: i64) -> Entry<R> {
        let part = thread_shard();
        let Part { place, others } = &*running.parts[part];
        if interrupt.is_none()
            && let Some(number) = place.take(part, began_micros)
        {
            return Entry { running, number, interrupt: None };
        }
        let interrupt = interrupt.cloned().unwrap_or_default();
        let mut others = others.lock();
        others.count += 1;
        let number = number_of(others.count, false, part);
        others.running.push(RunningScript { number, began_micros, interrupt: interrupt.clone() });
        drop(others);
        Entry { running, number, interrupt: Some(interrupt) }
    }

    fn part_of(&self, number: u64) -> &Part {
        &self.parts[number as usize % THREAD_PARTS]
    }

    /// The numbers of the running scripts, and when they began in seconds since the epoch; the oldest come first, and the script
    /// that asks comes last.
    pub fn list(&self, asking: u64) -> Vec<(u64, f64)> {
        let mut list = vec![];
        for part in &self.parts {
            list.extend(part.place.listed());
            list.extend(part.others.lock().running.iter().map(|script| (script.began_micros, script.number)));
        }
        list.sort_unstable_by_key(|(began_micros, number)| (*number == asking, *began_micros, *number));
        list.into_iter().map(|(began_micros, number)| (number, began_micros as f64 / 1e6)).collect()
    }

    /// Stops a script; whether there is one of this number.
    pub fn kill(&self, number: u64) -> bool {
        let Part { place, others } = self.part_of(number);
        if has_place(number) {
            return place.script() == Some(number) && place.interrupt.kill_script(number);
        }
        let others = others.lock();
        others.running.iter().find(|script| script.number == number).map(|script| script.interrupt.kill()).is_some()
    }

    /// Stops all scripts.
    pub fn kill_all(&self) {
        for part in &self.parts {
            if let Some(number) = part.place.script() {
                part.place.interrupt.kill_script(number);
            }
            part.others.lock().running.iter().for_each(|script| script.interrupt.kill());
        }
    }

    /// Stops all scripts since the database is being closed.
    pub fn close(&self) {
        for part in &self.parts {
            if let Some(number) = part.place.script() {
                part.place.interrupt.close_script(number);
            }
            part.others.lock().running.iter().for_each(|script| script.interrupt.close());
        }
    }
}

impl<R: Deref<Target = Running>> Entry<R> {
    /// The script's number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Stops the script.
    pub fn interrupt(&self) -> &Interrupt {
        self.interrupt.as_ref().unwrap_or_else(|| &self.running.part_of(self.number).place.interrupt)
    }
}

impl<R: Deref<Target = Running>> Drop for Entry<R> {
    fn drop(&mut self) {
        let Part { place, others } = self.running.part_of(self.number);
        if self.interrupt.is_none() {
            place.leave();
            return;
        }
        let mut others = others.lock();
        if let Some(place) = others.running.iter().rposition(|script| script.number == self.number) {
            others.running.swap_remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_meets_the_script_of_its_number_alone() {
        let running = Running::default();
        let ended = Running::enter(&running, None, 1).number;
        let with_place = Running::enter(&running, None, 2);
        let beside = Running::enter(&running, None, 3);
        let interrupt = Interrupt::default();
        let own = Running::enter(&running, Some(&interrupt), 4);
        let numbers = [with_place.number, beside.number, own.number];
        assert_eq!(running.list(0).iter().map(|(number, _)| *number).collect::<Vec<_>>(), numbers);
        let stopped = || [&with_place, &beside, &own].map(|entry| entry.interrupt().check().is_err());
        assert!(!running.kill(ended) && !running.kill(0) && !running.kill(1));
        assert_eq!(stopped(), [false; 3]);
        for (killed, number) in numbers.into_iter().enumerate() {
            assert!(running.kill(number) && running.kill(number), "a script that was killed is still there");
            assert_eq!(stopped(), std::array::from_fn(|entry| entry <= killed));
        }
        drop((with_place, beside));
        assert_eq!(running.list(0).len(), 1);
        let next = Running::enter(&running, None, 5);
        assert!(next.interrupt().check().is_ok() && !running.kill(numbers[0]));
        running.close();
        assert!(next.interrupt().check().is_err());
    }
}
