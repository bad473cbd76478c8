//! Joins input rows with the rows of a stored relation that have a given key prefix.

use super::scan::place;
use super::{Emit, Operator, Shape, key_columns, stopped};
use crate::exec::Worker;
use crate::exec::sink::{CONTINUE, Flow};
use crate::exec::stored::Stored;
use crate::plan::JoinPlan;
use crate::value::sort::sort_by_ints;
use crate::value::{Batch, Column};

/// So many look-ups are worth putting in order: neighbours then share their way through the relation.
const WORTH_SORTING: usize = 64;

/// The order in which the rows of a column ascend, if they do not yet and it is quickly found.
fn lookup_order(column: &Column) -> Option<Vec<u32>> {
    let values = column.as_dense_ints().filter(|values| values.len() >= WORTH_SORTING && !values.is_sorted())?;
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
}

impl<'a> PrefixLookup<'a> {
    pub fn new(plan: &'a JoinPlan, shape: Shape<'a>, stored: Stored<'a>) -> Self {
        let columns = plan.outputs.iter().map(|(column, _)| *column).collect();
        PrefixLookup { plan, shape, stored, columns }
    }
}

impl Operator for PrefixLookup<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let mut prefixes = key_columns(&self.plan.keys, &input, worker)?;
        let order = if self.plan.keeps_order { None } else { lookup_order(&prefixes[0]) };
        let input = match order {
            Some(order) => {
                prefixes.iter_mut().for_each(|column| *column = column.take(&order));
                self.shape.take(&input, &order)
            }
            None => input,
        };
        let mut cursor = self.stored.lookup(&prefixes, &self.columns)?;
        loop {
            let room = worker.next_batch_rows()?;
            let Some(matches) = cursor.next_matches(room)? else { return CONTINUE };
            let kept = self.shape.take(&input, &matches.probe_rows);
            let flow = emit(place(self.plan, kept, matches.batch), worker)?;
            if stopped(&flow) {
                return Ok(flow);
            }
        }
    }
}
