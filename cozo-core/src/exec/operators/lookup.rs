//! Joins input rows with the rows of a stored relation that have a given key prefix.
//!
//! A [`PrefixLookup`] sorts the prefixes of a batch, so that neighbours share their way through the relation, and passes them to
//! the engine's cursor. Once look-ups have cost as much as an index would ([`LookupCounter`]), a [`Join`] by an index replaces them.

use super::probe::Join;
use super::scan::place;
use super::{Emit, Operator, Shape, probe_columns, stopped};
use crate::budget::{make_room, temporary};
use crate::exec::access::lookup_counter::LookupCounter;
use crate::exec::access::stored::Stored;
use crate::exec::run::{Run, Worker};
use crate::exec::sink::{CONTINUE, Flow};
use crate::exec::thresholds::{MAX_BATCH_ROWS, SORT_MIN_ROWS};
use crate::plan::{JoinPlan, MatchOrder};
use crate::value::sort::sort_by_ints;
use crate::value::{Batch, Column};

/// The order that sorts the rows of a column, if they are many unsorted integers.
fn lookup_order(column: &Column) -> Option<Vec<u32>> {
    let values = column.as_dense_ints().filter(|values| values.len() >= SORT_MIN_ROWS && !values.is_sorted())?;
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    sort_by_ints(&mut order, values);
    Some(order)
}

/// Looks up key prefixes.
pub struct PrefixLookup<'a> {
    plan: &'a JoinPlan,
    shape: Shape<'a>,
    stored: Stored<'a>,
    columns: Vec<usize>,
    counter: LookupCounter<'a>,
}

impl<'a> PrefixLookup<'a> {
    pub fn new(plan: &'a JoinPlan, shape: Shape<'a>, stored: Stored<'a>, recursive: bool, run: &'a Run<'a>) -> Self {
        let columns = plan.outputs.iter().map(|(column, _)| *column).collect();
        let counter = LookupCounter::new(stored, &plan.keys, &plan.outputs, shape.number, recursive, run);
        PrefixLookup { plan, shape, stored, columns, counter }
    }
}

impl Operator for PrefixLookup<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        if let Some(rows) = self.counter.index_instead(input.len)? {
            return Join { plan: self.plan, shape: self.shape, rows }.push(input, worker, emit);
        }
        let mut prefixes = probe_columns(&self.plan.keys, &input, worker)?;
        let order = if self.plan.order == MatchOrder::Any { lookup_order(&prefixes[0]) } else { None };
        let input = match order {
            Some(order) => {
                prefixes.iter_mut().for_each(|column| *column = column.take(&order));
                self.shape.take(&input, &order)?
            }
            None => input,
        };
        let mut cursor = self.stored.lookup(&prefixes, &self.columns)?;
        let mut found = 0;
        let most_rows = self.shape.batch_rows(&input, MAX_BATCH_ROWS);
        loop {
            let _passing = temporary();
            let room = worker.next_batch_rows()?.min(most_rows);
            let Some(matches) = cursor.next_matches(room)? else {
                self.counter.found(found, input.len);
                return CONTINUE;
            };
            make_room(matches.batch.large_bytes())?;
            found += matches.probe_rows.len();
            let kept = self.shape.take(&input, &matches.probe_rows)?;
            let flow = emit(place(self.plan, kept, matches.batch), worker)?;
            if stopped(&flow) {
                return Ok(flow);
            }
        }
    }
}
