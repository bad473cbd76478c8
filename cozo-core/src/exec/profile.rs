//! What each operator of a run did: for `::explain analyze`.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use crate::index::search::SearchWork;
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
    /// What it searched, if it asks a search index.
    pub searched: SearchWork,
    /// How it was done if its rows exceeded the memory.
    pub beyond_memory: Option<BeyondMemory>,
}

/// How rows that exceed the memory are processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeyondMemory {
    /// As sorted runs, which are merged.
    Runs,
    /// In partitions by hash, one after another.
    Partitions,
    /// Against one piece of a relation after another.
    Pieces,
    /// Recursion, one partition after another.
    Parts,
    /// Recursion in rounds over partitions.
    Rounds,
}

impl BeyondMemory {
    /// The way as `::explain analyze` names it.
    pub fn name(self) -> &'static str {
        match self {
            BeyondMemory::Runs => "sorted runs",
            BeyondMemory::Partitions => "partitions",
            BeyondMemory::Pieces => "pieces",
            BeyondMemory::Parts => "recursion by parts",
            BeyondMemory::Rounds => "rounds on disk",
        }
    }
}

/// What the operators of all rules did. **A profile never changes how a plan runs.**
#[derive(Debug, Default)]
pub struct Profile {
    /// By the number of a rule: its operators, and then its end.
    rules: Mutex<FxHashMap<usize, Vec<OperatorProfile>>>,
    /// What fixed rules did, by the number of their table.
    fixed: Mutex<FxHashMap<usize, OperatorProfile>>,
}

impl Profile {
    /// What an operator did; the position after the last is the rule's end.
    pub fn of(&self, rule: &RulePlan, position: usize) -> OperatorProfile {
        let rules = self.rules.lock();
        rules.get(&rule.number).and_then(|operators| operators.get(position)).copied().unwrap_or_default()
    }

    /// What the fixed rule did that fills a table.
    pub fn of_fixed(&self, table: usize) -> OperatorProfile {
        self.fixed.lock().get(&table).copied().unwrap_or_default()
    }

    /// Adds what the fixed rule did that fills a table.
    pub(super) fn add_fixed(&self, table: usize, done: OperatorProfile) {
        self.fixed.lock().insert(table, done);
    }

    /// The table of a fixed rule, if it is one, has so many rows.
    pub(super) fn fixed_has(&self, table: usize, rows: u64) {
        self.fixed.lock().entry(table).and_modify(|done| done.rows = rows);
    }

    /// Adds what one thread did.
    pub(super) fn add(&self, rule: &RulePlan, clock: Clock) {
        // The clock counts from the end.
        clock.spent.into_iter().rev().enumerate().for_each(|(position, more)| self.add_at(rule, position, more));
    }

    /// Adds the measurements of a run row by row: all at the end of the rule, since its operators are not timed one by one.
    pub fn add_rows(&self, rule: &RulePlan, rows: u64, time: Duration) {
        self.add_at(rule, rule.operators.len(), OperatorProfile { rows, time, ..OperatorProfile::default() });
    }

    /// Notes how an operator, or the end of a rule, processes rows that exceed the memory.
    pub(super) fn exceeds(&self, rule: &RulePlan, position: usize, how: BeyondMemory) {
        self.add_at(rule, position, OperatorProfile { beyond_memory: Some(how), ..OperatorProfile::default() });
    }

    fn add_at(&self, rule: &RulePlan, position: usize, more: OperatorProfile) {
        let mut rules = self.rules.lock();
        let known = rules.entry(rule.number).or_default();
        known.resize(rule.operators.len() + 1, OperatorProfile::default());
        known[position].rows += more.rows;
        known[position].batches += more.batches;
        known[position].time += more.time;
        known[position].searched.add(&more.searched);
        known[position].beyond_memory = more.beyond_memory.or(known[position].beyond_memory);
    }
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

    /// Adds what the running operator searched.
    pub fn searched(&mut self, work: &SearchWork) {
        self.spent[self.running].searched.add(work);
    }

    /// Counts a batch that an operator emitted.
    pub fn count(&mut self, operator: usize, rows: usize) {
        self.spent[operator].rows += rows as u64;
        self.spent[operator].batches += 1;
    }
}
