//! What each operator of a run did: for `::explain analyze`.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::plan::RulePlan;
use crate::sync::Mutex;

/// What one operator did, in all rounds and threads together.
#[derive(Clone, Copy, Debug, Default)]
pub struct OperatorProfile {
    /// The rows that it emitted; for a rule's end, the rows that it took.
    pub rows: u64,
    /// The number of batches of these rows.
    pub batches: u64,
    /// The time spent in it alone, summed over threads.
    pub time: Duration,
}

/// What the operators of all rules did.
#[derive(Debug, Default)]
pub struct Profile {
    /// By the address of a rule: its operators, and then its end.
    rules: Mutex<HashMap<usize, Vec<OperatorProfile>>>,
}

impl Profile {
    /// What an operator did; the position after the last is the rule's end.
    pub fn of(&self, rule: &RulePlan, position: usize) -> OperatorProfile {
        let rules = self.rules.lock();
        rules.get(&address(rule)).and_then(|operators| operators.get(position)).copied().unwrap_or_default()
    }

    /// Adds what one thread did.
    pub(super) fn add(&self, rule: &RulePlan, clock: Clock) {
        let mut rules = self.rules.lock();
        let known = rules.entry(address(rule)).or_insert_with(|| vec![OperatorProfile::default(); clock.spent.len()]);
        // The clock counts from the end.
        for (known, more) in known.iter_mut().rev().zip(clock.spent) {
            known.rows += more.rows;
            known.batches += more.batches;
            known.time += more.time;
        }
    }
}

fn address(rule: &RulePlan) -> usize {
    std::ptr::from_ref(rule) as usize
}

/// Measures which operator of a rule runs, in one thread. An operator is named by the number of operators after it; the rule's
/// end counts as one.
#[derive(Debug)]
pub struct Clock {
    spent: Vec<OperatorProfile>,
    running: usize,
    since: Instant,
}

impl Clock {
    /// A clock for a rule of so many operators.
    pub fn new(operators: usize) -> Self {
        let spent = vec![OperatorProfile::default(); operators + 1];
        Clock { spent, running: operators, since: Instant::now() }
    }

    /// Another operator runs from now on.
    pub fn switch_to(&mut self, operator: usize) {
        let now = Instant::now();
        self.spent[self.running].time += now - self.since;
        (self.running, self.since) = (operator, now);
    }

    /// Counts a batch that an operator emitted.
    pub fn count(&mut self, operator: usize, rows: usize) {
        self.spent[operator].rows += rows as u64;
        self.spent[operator].batches += 1;
    }
}
