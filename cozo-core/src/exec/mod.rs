//! Execution: plans become rows.
//!
//! 1. [`fixpoint`] goes through the components of a plan and fills a [`table::Table`] for each predicate; a recursive
//!    component runs until a round adds nothing.
//! 2. For each rule, [`operators`] turns the planned operators into running ones and pushes batches through them, depth
//!    first, so that what is under way stays small however large the result.
//! 3. A [`sink::Sink`] at the end drops duplicates, or aggregates.
//! 4. [`results`] sorts and cuts the entry's table, and [`mutate`] applies an operation on a stored relation.
//!
//! Each batch boundary checks [`Cancellation`]. **exec never sees text, names or the catalog.**

mod cancel;
mod error;
mod fixpoint;
mod grouping;
mod index;
mod mutate;
mod operators;
mod results;
mod sink;
mod table;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

pub use cancel::{Cancellation, Interrupt};
pub use error::ExecError;
pub use fixpoint::evaluate;
pub use mutate::{Mutated, mutate};
pub use results::{Answer, AnswerError, answer, timeout_seconds};

use crate::plan::Plan;
use crate::schema::RelationId;
use crate::txn::View;
use crate::value::DataValue;
use index::IndexedRows;
use rustc_hash::FxHashMap;
use table::Table;

/// The most rows that operators hand on at a time.
pub const MAX_BATCH_ROWS: usize = 2048;

/// The rows of the first batches where only a few results are wanted.
const FIRST_BATCH_ROWS: usize = 16;

/// What a hash table of a stored relation holds: the relation, the columns that it is by, the columns that it gives.
type HashedColumns = (RelationId, Vec<usize>, Vec<usize>);

/// One execution of a plan: all that its operators share.
pub struct Run<'a> {
    /// What is run.
    pub plan: &'a Plan,
    /// The parameters, by number.
    pub parameters: &'a [DataValue],
    /// The stored relations.
    pub view: &'a View,
    /// Whether to stop.
    pub cancellation: &'a Cancellation,
    /// How many distinct rows of the entry are enough.
    pub enough: Option<usize>,
    /// Whether large inputs may be split among threads.
    pub parallel: bool,
    /// Hash tables of stored relations.
    hashed: Mutex<HashMap<HashedColumns, Arc<IndexedRows>>>,
}

impl<'a> Run<'a> {
    /// An execution that wants all rows.
    pub fn new(plan: &'a Plan, parameters: &'a [DataValue], view: &'a View, cancellation: &'a Cancellation) -> Self {
        Run { plan, parameters, view, cancellation, enough: None, parallel: true, hashed: Mutex::default() }
    }
}

/// What one thread needs to push batches through operators.
pub struct Worker<'r> {
    run: &'r Run<'r>,
    batch_rows: usize,
    /// What the operators that drop repetitions have seen, by their positions.
    seen: FxHashMap<usize, Table>,
}

impl<'r> Worker<'r> {
    fn new(run: &'r Run<'r>) -> Self {
        let batch_rows = if run.enough.is_some() { FIRST_BATCH_ROWS } else { MAX_BATCH_ROWS };
        Worker { run, batch_rows, seen: FxHashMap::default() }
    }

    /// How many rows to hand on next: few at first if few are wanted, then more and more. Fails if the run is
    /// cancelled.
    fn next_batch_rows(&mut self) -> Result<usize, ExecError> {
        self.run.cancellation.check()?;
        let rows = self.batch_rows;
        self.batch_rows = (rows * 2).min(MAX_BATCH_ROWS);
        Ok(rows)
    }
}
