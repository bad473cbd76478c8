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
    /// The parameters, by number.
    pub parameters: &'a [&'a DataValue],
    /// The stored relations.
    pub view: View<'a>,
    /// The rows of given relations, by number.
    pub given: &'a [Batch],
    /// Where graphs are kept for other queries.
    pub graphs: Option<&'a GraphCache>,
    /// Where indexes are kept for other queries.
    pub index_cache: Option<&'a IndexCache>,
    /// Whether to stop.
    pub budget: &'a Budget,
    /// How many distinct rows of the entry are enough.
    pub enough: Option<usize>,
    /// Which rows of the entry are wanted, if not all.
    pub top: Option<TopKSpec>,
    /// Whether large inputs may be split among threads.
    pub parallel: bool,
    /// The times of the plan, as timestamps; evaluated once, so that all rounds and threads read at the same.
    times: Vec<i64>,
    /// Where it is noted what each operator does, if anybody wants to know.
    pub profile: Option<Profile>,
    /// Indexes made of stored relations; nothing for those that are too large to be made if not necessary.
    indexes: Mutex<HashMap<Indexed, Option<Arc<IndexedRows>>>>,
    /// In recursion, how many more rows are looked up before a join takes the look-up's place, by its number: none if it
    /// has.
    lookups_left: Mutex<FxHashMap<usize, u64>>,
    /// The lists of intersections, by the numbers of their operators.
    lists: Mutex<FxHashMap<usize, Arc<SortedLists>>>,
    /// The rows of joins by equal expressions, by the numbers of their operators.
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
        Ok(Run {
            plan,
            parameters,
            view,
            budget,
            given: &[],
            graphs: None,
            enough: None,
            top: None,
            parallel: true,
            profile: None,
            times: plan.times.iter().map(timestamp).collect::<Result<_, _>>()?,
            index_cache: None,
            indexes: Mutex::default(),
            lookups_left: Mutex::default(),
            lists: Mutex::default(),
            equal_rows: Mutex::default(),
        })
    }

    /// The timestamp that one of the plan's times stands for in this execution.
    fn timestamp(&self, time: &Expr) -> i64 {
        let number = self.plan.times.iter().position(|known| known.span() == time.span());
        self.times[number.expect("the plan lists the times of all its sources")]
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
        let batch_rows = run.enough.map_or(MAX_BATCH_ROWS, |enough| enough.clamp(1, FIRST_BATCH_ROWS));
        let clock = run.profile.as_ref().map(|_| Clock::new(rule.operators.len()));
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
        if let (Some(profile), Some(mut clock)) = (&self.run.profile, self.clock) {
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
