//! The poison: the means to stop a fixed rule that takes too much time or memory.

use std::fmt::{self, Debug, Formatter};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::budget::{Budget, Stop};

/// A check whether the query must stop: it was killed, is out of time or memory, or its database closes. Code checks it in every
/// loop that may be long.
#[derive(Clone)]
pub struct Poison {
    check: Arc<dyn Fn() -> miette::Result<()> + Send + Sync>,
    memory: Option<Arc<Memory>>,
}

/// The memory charged by a rule, on any of its threads. It is released when the last poison that shares it is dropped.
struct Memory {
    budget: Budget,
    charged: AtomicUsize,
    /// The reason of a refusal, even if the rule ignored it.
    stopped: OnceLock<Stop>,
}

/// The number of steps between two checks of the poison.
const STEPS_PER_CHECK: u32 = 1024;

/// A pace charges memory in pieces of this many bytes.
const PIECE: usize = 1 << 14;

impl Poison {
    /// A poison that calls `check`.
    pub fn new(check: impl Fn() -> miette::Result<()> + Send + Sync + 'static) -> Self {
        Poison { check: Arc::new(check), memory: None }
    }

    /// A poison for the work of a script. Clones share one count of memory; each call begins a new one.
    pub(crate) fn of(budget: &Budget) -> Self {
        let (budget, asked) = (budget.clone(), budget.clone());
        let memory = Memory { budget, charged: AtomicUsize::new(0), stopped: OnceLock::new() };
        Poison { memory: Some(Arc::new(memory)), ..Poison::new(move || Ok(asked.check()?)) }
    }

    /// The same poison with a count of memory of its own, which is released when it is dropped.
    pub(crate) fn for_a_while(&self) -> Self {
        self.memory.as_ref().map_or_else(|| self.clone(), |memory| Poison::of(&memory.budget))
    }

    /// Fails if the query must stop. The caller returns the error. It reads the clock; see [`Poison::pace`] for tight loops.
    pub fn check(&self) -> miette::Result<()> {
        if let Some(stop) = self.memory.as_ref().and_then(|memory| memory.stopped.get()) {
            return Err((*stop).into());
        }
        (self.check)()
    }

    /// Charges memory that the rule holds until its end. Fails if the query exceeds its limit. Then [`Poison::check`] fails too from
    /// then on.
    pub fn make_room(&self, bytes: usize) -> miette::Result<()> {
        let Some(memory) = &self.memory else { return Ok(()) };
        memory.budget.charge(bytes).map_err(|stop| *memory.stopped.get_or_init(|| stop))?;
        memory.charged.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Whether [`Poison::make_room`] would not fail now.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        self.memory.as_ref().is_none_or(|memory| bytes <= memory.budget.spare_bytes())
    }

    /// Stops the rule at its next check.
    pub(crate) fn stop(&self, stop: Stop) {
        if let Some(memory) = &self.memory {
            let _ = memory.stopped.set(stop);
        }
    }

    /// A counter of steps, which checks the poison about every thousand steps.
    pub fn pace(&self) -> Pace<'_> {
        Pace { poison: self, left: STEPS_PER_CHECK, bytes: 0 }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.budget.release(*self.charged.get_mut());
    }
}

/// A counter of steps and of small memory charges.
#[derive(Debug)]
pub struct Pace<'a> {
    poison: &'a Poison,
    left: u32,
    /// The number of bytes that are not charged yet.
    bytes: usize,
}

impl Pace<'_> {
    /// Counts a step. Fails if the query must stop.
    #[inline]
    pub fn step(&mut self) -> miette::Result<()> {
        self.left -= 1;
        if self.left == 0 {
            self.left = STEPS_PER_CHECK;
            return self.poison.check();
        }
        Ok(())
    }

    /// [`Poison::make_room`] for small values. The last few may remain uncounted.
    #[inline]
    pub fn make_room(&mut self, bytes: usize) -> miette::Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes >= PIECE {
            return self.poison.make_room(std::mem::take(&mut self.bytes));
        }
        Ok(())
    }
}

/// A poison that never stops.
impl Default for Poison {
    fn default() -> Self {
        Poison::new(|| Ok(()))
    }
}

impl Debug for Poison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Poison")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Interrupt;

    const MEGABYTE: usize = 1 << 20;

    #[test]
    fn what_a_rule_makes_counts_until_its_end() {
        let budget = Budget::new(Interrupt::default(), 0.0, 4 * MEGABYTE);
        let poison = Poison::of(&budget);
        poison.clone().make_room(3 * MEGABYTE).expect("there is room");
        let meanwhile = poison.for_a_while();
        meanwhile.make_room(MEGABYTE).expect("there is room");
        assert!(meanwhile.make_room(1).is_err() && meanwhile.check().is_err());
        drop(meanwhile);
        assert!(poison.check().is_ok(), "what did not fit was not its own");
        poison.make_room(MEGABYTE).expect("it was given back");
        assert!(poison.make_room(1).is_err());
        drop(poison);
        assert_eq!(budget.spare_bytes(), 4 * MEGABYTE);
    }

    #[test]
    fn a_rule_that_does_not_hear_stops_at_its_next_look() {
        let budget = Budget::new(Interrupt::default(), 0.0, MEGABYTE);
        let poison = Poison::of(&budget);
        let mut pace = poison.pace();
        assert!((0..MEGABYTE).map(|_| pace.make_room(2)).filter(Result::is_err).count() > 0);
        assert!(poison.check().is_err());
    }
}
