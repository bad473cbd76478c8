//! The running scripts, for `::running`, `::kill` and the closing of a database.
//!
//! Each thread shard has one slot, which a script takes and leaves with a few atomic operations, and a locked list for further
//! scripts. A script's number tells its shard and whether it is in the slot.
//!
//! ```text
//!  slot.number:  FREE ──compare_exchange──> TAKEN ──time and interrupt are set──> number ──drop of Entry──> FREE
//! ```
//!
//! Invariant: a number is never used twice, so a late `::kill` never stops another script. The interrupt of a slot is armed for
//! one number, and a kill for another number does nothing.

use std::ops::Deref;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use crate::budget::Interrupt;
use crate::sync::Mutex;
use crate::txn::{CachePadded, THREAD_PARTS, thread_shard};

/// The running scripts, in the shards of their threads. Threads that run short scripts do not wait for one another.
#[derive(Default)]
pub struct Running {
    parts: [CachePadded<Part>; THREAD_PARTS],
}

/// The scripts of one thread shard. There is nearly always one at a time, which has the slot.
#[derive(Default)]
struct Part {
    place: RunningSlot,
    others: Mutex<Others>,
}

/// A slot for one script at a time.
#[derive(Default)]
struct RunningSlot {
    /// The number of the script in the slot; or [`FREE`]; or [`TAKEN`] by a script that has no number yet.
    number: AtomicU64,
    /// The number of scripts so far. Only the script in the slot changes it.
    count: AtomicU64,
    /// The beginning of the script, in microseconds since the epoch.
    began_micros: AtomicI64,
    /// The interrupt, armed for the script with `number`.
    interrupt: Interrupt,
}

const FREE: u64 = 0;
const TAKEN: u64 = 1;

/// The scripts beside the slot: those that found it taken, and those with an interrupt of the host.
#[derive(Default)]
struct Others {
    /// The number of such scripts so far.
    count: u64,
    /// The running ones. They are few enough for a linear search.
    running: Vec<RunningScript>,
}

/// A running script, as it is listed.
#[derive(Debug)]
pub struct Listed {
    /// Its number.
    pub number: u64,
    /// Its beginning, in microseconds since the epoch.
    pub began_micros: i64,
    /// What its query has in memory, as far as that counts against the limit; 0 for a query too small to be measured.
    pub memory_bytes: usize,
    /// What its query has on disk.
    pub disk_bytes: u64,
}

struct RunningScript {
    number: u64,
    /// The beginning of the script, in microseconds since the epoch.
    began_micros: i64,
    interrupt: Interrupt,
}

/// The entry of a script on the list. Dropping it removes the script.
pub struct Entry<R: Deref<Target = Running>> {
    running: R,
    number: u64,
    /// The interrupt, unless the script is in a slot.
    interrupt: Option<Interrupt>,
}

/// The number of the `count`th script of a shard, in the slot or beside it.
fn number_of(count: u64, has_place: bool, part: usize) -> u64 {
    (count * 2 + u64::from(!has_place)) * THREAD_PARTS as u64 + part as u64
}

/// Whether the script with this number is in a slot.
fn has_place(number: u64) -> bool {
    (number / THREAD_PARTS as u64).is_multiple_of(2)
}

impl RunningSlot {
    /// Takes the slot, if it is free. Returns the script's number.
    fn take(&self, part: usize, began_micros: i64) -> Option<u64> {
        self.number.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).ok()?;
        let count = self.count.load(Ordering::Relaxed) + 1;
        self.count.store(count, Ordering::Relaxed);
        let number = number_of(count, true, part);
        // A thread that reads this time does not read an earlier number afterwards.
        self.began_micros.store(began_micros, Ordering::Release);
        self.interrupt.serve(number);
        self.number.store(number, Ordering::Release);
        Some(number)
    }

    fn leave(&self) {
        self.number.store(FREE, Ordering::Release);
    }

    /// The number of the script in the slot.
    fn script(&self) -> Option<u64> {
        Some(self.number.load(Ordering::Acquire)).filter(|number| *number != FREE && *number != TAKEN)
    }

    /// The beginning and the number of the script in the slot.
    fn listed(&self) -> Option<(i64, u64)> {
        let number = self.script()?;
        let began_micros = self.began_micros.load(Ordering::Acquire);
        (self.script() == Some(number)).then_some((began_micros, number))
    }
}

impl Running {
    /// Adds a script to the list. `interrupt` stops it; without one it gets its own.
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

    /// The running scripts. The oldest comes first, and the asking script last.
    pub fn list(&self, asking: u64) -> Vec<Listed> {
        let mut list = vec![];
        for part in &self.parts {
            let of = |(began_micros, number), interrupt: &Interrupt| {
                let usage = interrupt.usage();
                let (memory_bytes, disk_bytes) = usage.map_or((0, 0), |usage| (usage.memory(), usage.disk()));
                Listed { number, began_micros, memory_bytes, disk_bytes }
            };
            list.extend(part.place.listed().map(|listed| of(listed, &part.place.interrupt)));
            let others = part.others.lock();
            list.extend(others.running.iter().map(|s| of((s.began_micros, s.number), &s.interrupt)));
        }
        list.sort_unstable_by_key(|script| (script.number == asking, script.began_micros, script.number));
        list
    }

    /// Stops a script. Returns whether there is one with this number.
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

    /// Stops all scripts because the database closes.
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

    /// The interrupt that stops the script.
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
        assert_eq!(running.list(0).iter().map(|script| script.number).collect::<Vec<_>>(), numbers);
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
