//! Execution: plans become rows.
//!
//! 1. [`fixpoint`] goes through the components of a plan and fills a [`table::Table`] for each predicate; a recursive
//!    component runs until a round adds nothing.
//! 2. For each rule, [`operators`] turns the planned operators into running ones and pushes batches through them, depth
//!    first, so that what is under way stays small however large the result.
//! 3. A [`sink::Sink`] at the end drops duplicates, or aggregates.
//! 4. [`results`] sorts and cuts the entry's table, and [`mutate`] applies an operation on a stored relation.
//!
//! A query for a single row by its key goes another way: [`point`]. [`write_row`] writes it. [`Rows`] are one or many, up to the storage.
//!
//! Each batch boundary checks the [`Budget`]. **exec never sees text, names or the catalog.**

mod clustered_rows;
mod dedup_index;
mod error;
mod fixed;
mod fixpoint;
mod grouping;
mod index;
mod index_cache;
mod int_collector;
mod int_set;
mod mutate;
mod operators;
mod packed_key;
mod point;
mod profile;
mod results;
mod row_program;
mod row_recursion;
mod sink;
mod sorted_lists;
mod stored;
mod table;
mod top_k;
mod write_row;

use std::collections::HashMap;
use std::sync::Arc;

pub use error::ExecError;
pub use fixpoint::evaluate;
pub use index_cache::IndexCache;
pub use mutate::{Mutated, write};
pub use point::single_row;
pub use profile::Profile;
pub use results::{Answer, answer, timeout_seconds};

use crate::budget::Budget;
use crate::expr::Expr;
use crate::fixed_rule::graph::GraphCache;
use crate::plan::{Plan, RulePlan};
use crate::program::checked_time;
use crate::sync::Mutex;
use crate::txn::View;
use crate::value::{Batch, DataValue, Tuple};
use index::IndexedRows;
use index_cache::Indexed;
use operators::{EqualRows, Seen};
use profile::Clock;
use rustc_hash::FxHashMap;
use sorted_lists::SortedLists;
use top_k::TopKSpec;

/// The rows that a query gives.
pub enum Rows {
    /// One, or none, and the bytes of its values: from a run on single values.
    One(Option<Tuple>, usize),
    /// Any number, from a run on batches.
    Many(Batch),
}

/// The most rows that operators hand on at a time.
pub const MAX_BATCH_ROWS: usize = 2048;

/// The most rows of the first batch where only a few results are wanted.
const FIRST_BATCH_ROWS: usize = 16;

/// One execution of a plan: all that its operators share.
pub struct Run<'a> {
    /// What is run.
    pub plan: &'a Plan,
    /// What it is run on.
    pub input: Input<'a>,
    /// Which rows of the entry are wanted.
    pub wanted: Wanted,
    /// What other queries have made, and may use.
    pub caches: Caches<'a>,
    /// Whether to stop.
    pub budget: &'a Budget,
    /// What is found out and made on the way.
    pub notes: Notes,
}

/// What a plan is run on.
pub struct Input<'a> {
    /// The parameters, by number.
    pub parameters: &'a [&'a DataValue],
    /// The stored relations.
    pub view: View<'a>,
    /// The rows of given relations, by number.
    pub given: &'a [Batch],
    /// The times of the plan, as timestamps; evaluated once, so that all rounds and threads read at the same.
    times: Vec<i64>,
}

/// Which rows of the entry are wanted.
pub struct Wanted {
    /// How many distinct rows are enough.
    pub enough: Option<usize>,
    /// The first rows in some order, if not all.
    pub top: Option<TopKSpec>,
}

/// What is kept from one query to the next.
#[derive(Clone, Copy, Default)]
pub struct Caches<'a> {
    /// Graphs of stored relations.
    pub graphs: Option<&'a GraphCache>,
    /// Indexes of stored relations.
    pub indexes: Option<&'a IndexCache>,
}

/// What a run finds out and makes on the way. Operators go by their numbers.
#[derive(Default)]
pub struct Notes {
    /// What each operator does, if somebody asks.
    pub profile: Option<Profile>,
    /// Indexes made of stored relations; nothing for those that are too large to be made if not necessary.
    indexes: Mutex<HashMap<Indexed, Option<Arc<IndexedRows>>>>,
    /// In recursion, how many more rows an operator looks up before a join takes its place: none if it has.
    lookups_left: Mutex<FxHashMap<usize, u64>>,
    /// The lists of intersections.
    lists: Mutex<FxHashMap<usize, Arc<SortedLists>>>,
    /// The rows of joins by equal expressions.
    equal_rows: Mutex<FxHashMap<usize, Arc<EqualRows>>>,
}

impl<'a> Run<'a> {
    /// An execution that wants all rows.
    pub fn new(
        plan: &'a Plan,
        parameters: &'a [&'a DataValue],
        view: View<'a>,
        budget: &'a Budget,
    ) -> Result<Self, ExecError> {
        let timestamp = |time: &Expr| -> Result<i64, ExecError> {
            Ok(checked_time(&time.eval_closed(parameters)?, view.now_micros(), time.span())?)
        };
        let times = plan.times.iter().map(timestamp).collect::<Result<_, _>>()?;
        Ok(Run {
            plan,
            input: Input { parameters, view, given: &[], times },
            wanted: Wanted { enough: None, top: None },
            caches: Caches::default(),
            budget,
            notes: Notes::default(),
        })
    }

    /// The timestamp that one of the plan's times stands for in this execution.
    fn timestamp(&self, time: &Expr) -> i64 {
        let number = self.plan.times.iter().position(|known| known.span() == time.span());
        self.input.times[number.expect("the plan lists the times of all its sources")]
    }
}

/// What one thread needs to push batches through operators.
pub struct Worker<'r> {
    run: &'r Run<'r>,
    batch_rows: usize,
    /// What the operators that drop repetitions have seen, by their positions.
    seen: FxHashMap<usize, Seen>,
    /// Notes what runs when, if the run has a profile.
    clock: Option<Clock>,
}

impl<'r> Worker<'r> {
    fn new(run: &'r Run<'r>, rule: &RulePlan) -> Self {
        // The next operator may already hand on twice as many.
        let batch_rows = run.wanted.enough.map_or(MAX_BATCH_ROWS, |enough| enough.clamp(1, FIRST_BATCH_ROWS));
        let clock = run.notes.profile.as_ref().map(|_| Clock::new(rule.operators.len()));
        Worker { run, batch_rows, seen: FxHashMap::default(), clock }
    }

    /// Notes that the operator with so many after it runs now.
    fn runs(&mut self, operator: usize) {
        if let Some(clock) = &mut self.clock {
            clock.switch_to(operator);
        }
    }

    /// Notes that it gave a batch.
    fn gave(&mut self, operator: usize, rows: usize) {
        if let Some(clock) = &mut self.clock {
            clock.count(operator, rows);
        }
    }

    /// Adds what was noted to the run's profile.
    fn finish(self, rule: &RulePlan) {
        if let (Some(profile), Some(mut clock)) = (&self.run.notes.profile, self.clock) {
            clock.switch_to(0);
            profile.add(rule, clock);
        }
    }

    /// How many rows to hand on next: few at first if few are wanted, then more and more. Fails if the run is
    /// cancelled.
    fn next_batch_rows(&mut self) -> Result<usize, ExecError> {
        self.run.budget.check()?;
        let rows = self.batch_rows;
        self.batch_rows = (rows * 2).min(MAX_BATCH_ROWS);
        Ok(rows)
    }
}
