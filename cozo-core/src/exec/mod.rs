//! Execution: plans become rows, and rows are written.
//!
//! [`single_row`] runs a plan that gives one row at most on single values. [`answer`] runs any other: [`evaluate`] fills a
//! `Table` for each predicate of the plan, component by component. A recursive component runs in rounds until a round adds
//! nothing. Each rule pushes batches through its `Operator`s, depth first, into a `Sink`, so that the batches in flight stay
//! small however large the result is. The sink drops duplicates or aggregates. `results` then sorts and cuts the table of the
//! entry. [`write`](write()) writes rows into a stored relation; [`Rows`] are one or many all the way to the storage.
//!
//! The plan chooses how it runs (`plan/passes`); a [`Run`] holds the state of one execution, and a [`Worker`] the state of one
//! thread.
//!
//! | a plan or a rule runs | when | file |
//! |---|---|---|
//! | on single values | the plan gives one row at most, or a count that the engine knows | `point` |
//! | row by row | recursion: each row gives one new row at most, and few rows are new | `row_recursion`, `row_program` |
//! | chunk by chunk | an end of a key order is enough: `min`, `max`, `:order` with `:limit` | `fixpoint`, `top_k` |
//! | in batches, on several threads | the first scan is large, and all rows are wanted | `fixpoint` |
//! | in batches, on one thread | otherwise | `fixpoint` |
//!
//! | from a key to rows | when | file |
//! |---|---|---|
//! | a look-up in the engine | leading key columns are bound | `operators/lookup` |
//! | the leaf directory of a tree | many look-ups by an integer key, in a large relation | `build_side` |
//! | rows clustered by key | the same, in a smaller relation | `clustered_rows` |
//! | a hash table, or an array by packed key | any other columns are bound; derived tables | `index` |
//! | sorted lists | several relations must agree on a value | `sorted_lists` |
//!
//! Rows are told apart by comparison, order, bitmap or hash table (`dedup_index`), and by sorting (`int_collector`). Groups are
//! told apart in `grouping`.
//!
//! Each batch boundary checks the [`Budget`]. **exec never sees text, names or the catalog.**

mod build_side;
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

/// The rows of a query.
pub enum Rows {
    /// One row or none, and the bytes of its values, from a run on single values.
    One(Option<Tuple>, usize),
    /// Any number of rows, from a run on batches.
    Many(Batch),
}

/// The most rows of a batch.
pub const MAX_BATCH_ROWS: usize = 2048;

/// The most rows of the first batch if only a few results are wanted.
const FIRST_BATCH_ROWS: usize = 16;

/// One execution of a plan: the state that all its operators share.
pub struct Run<'a> {
    /// The plan that runs.
    pub plan: &'a Plan,
    /// The input of the plan.
    pub input: Input<'a>,
    /// Which rows of the entry are wanted.
    pub wanted: Wanted,
    /// The caches, which other queries share.
    pub caches: Caches<'a>,
    /// Says when to stop.
    pub budget: &'a Budget,
    /// What the operators measure and build during the run.
    pub notes: Notes,
}

/// The input of a plan.
pub struct Input<'a> {
    /// The parameters, by number.
    pub parameters: &'a [&'a DataValue],
    /// The stored relations.
    pub view: View<'a>,
    /// The rows that the host passes in as relations, by number.
    pub given: &'a [Batch],
    /// The times of the plan, as timestamps. They are evaluated once, so that all rounds and threads read at the same times.
    times: Vec<i64>,
}

/// Which rows of the entry are wanted.
pub struct Wanted {
    /// How many distinct rows are enough.
    pub enough: Option<usize>,
    /// The first rows in some order, if not all.
    pub top: Option<TopKSpec>,
}

/// The caches of a database.
#[derive(Clone, Copy, Default)]
pub struct Caches<'a> {
    /// Graphs of stored relations.
    pub graphs: Option<&'a GraphCache>,
    /// Indexes of stored relations.
    pub indexes: Option<&'a IndexCache>,
}

/// What operators measure and build during a run, by the number of the operator.
#[derive(Default)]
pub struct Notes {
    /// What each operator did, if a profile is asked for.
    pub profile: Option<Profile>,
    /// The indexes of stored relations. `None` stands for an index that is too large to build unless the plan needs it.
    indexes: Mutex<HashMap<Indexed, Option<Arc<IndexedRows>>>>,
    /// In recursion, how many more rows each look-up finds before an index join replaces it, by the number of its operator. At 0
    /// it is replaced.
    lookups_left: Mutex<FxHashMap<usize, u64>>,
    /// The sorted lists of intersections.
    lists: Mutex<FxHashMap<usize, Arc<SortedLists>>>,
    /// The indexed rows of joins by equal expressions.
    equal_rows: Mutex<FxHashMap<usize, Arc<EqualRows>>>,
}

impl<'a> Run<'a> {
    /// An execution that gives all rows.
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

    /// The timestamp of one of the plan's times in this execution.
    fn timestamp(&self, time: &Expr) -> i64 {
        let number = self.plan.times.iter().position(|known| known.span() == time.span());
        self.input.times[number.expect("the plan lists the times of all its sources")]
    }
}

/// The state of one thread that pushes batches through operators.
pub struct Worker<'r> {
    run: &'r Run<'r>,
    batch_rows: usize,
    /// The rows that each `Distinct` operator has seen, by the operator's position.
    seen: FxHashMap<usize, Seen>,
    /// Measures the operators, if the run has a profile.
    clock: Option<Clock>,
}

impl<'r> Worker<'r> {
    fn new(run: &'r Run<'r>, rule: &RulePlan) -> Self {
        // `next_batch_rows` doubles the number with each call.
        let batch_rows = run.wanted.enough.map_or(MAX_BATCH_ROWS, |enough| enough.clamp(1, FIRST_BATCH_ROWS));
        let clock = run.notes.profile.as_ref().map(|_| Clock::new(rule.operators.len()));
        Worker { run, batch_rows, seen: FxHashMap::default(), clock }
    }

    /// Notes that an operator runs now. `operator` is the number of operators after it.
    fn runs(&mut self, operator: usize) {
        if let Some(clock) = &mut self.clock {
            clock.switch_to(operator);
        }
    }

    /// Notes that an operator emitted a batch.
    fn gave(&mut self, operator: usize, rows: usize) {
        if let Some(clock) = &mut self.clock {
            clock.count(operator, rows);
        }
    }

    /// Adds this thread's measurements to the run's profile.
    fn finish(self, rule: &RulePlan) {
        if let (Some(profile), Some(mut clock)) = (&self.run.notes.profile, self.clock) {
            clock.switch_to(0);
            profile.add(rule, clock);
        }
    }

    /// How many rows the next batch may have: few at first if few are wanted, then more and more. Fails if the run is cancelled.
    fn next_batch_rows(&mut self) -> Result<usize, ExecError> {
        self.run.budget.check()?;
        let rows = self.batch_rows;
        self.batch_rows = (rows * 2).min(MAX_BATCH_ROWS);
        Ok(rows)
    }
}
