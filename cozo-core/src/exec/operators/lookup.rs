//! Joins input rows with the rows of a stored relation that have a given key prefix.

use super::probe::HashJoin;
use super::scan::place;
use super::{Emit, Operator, Shape, key_columns, stopped};
use crate::exec::sink::{CONTINUE, Flow};
use crate::exec::stored::Stored;
use crate::exec::{Run, Worker};
use crate::plan::{JoinPlan, OperatorKind, OperatorPlan};
use crate::storage::KeyRange;
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
    /// What takes its place when that is quicker, in a rule that runs again and again.
    join: Option<HashJoin<'a>>,
}

/// To look up so many rows costs what it costs to read that many times as many one after the other, and to index them.
const ROWS_PER_LOOKUP: u64 = 4;

/// Whether an operator looked up so much that a join has taken its place.
pub fn is_joined(operator: &OperatorPlan, run: &Run<'_>) -> bool {
    let OperatorKind::Join(join) = &operator.kind else { return false };
    run.lookups_left.lock().get(&identity(join)) == Some(&0)
}

/// What tells look-ups apart.
fn identity(plan: &JoinPlan) -> usize {
    std::ptr::from_ref(plan) as usize
}

impl<'a> PrefixLookup<'a> {
    pub fn new(plan: &'a JoinPlan, shape: Shape<'a>, stored: Stored<'a>, join: Option<HashJoin<'a>>) -> Self {
        let columns = plan.outputs.iter().map(|(column, _)| *column).collect();
        PrefixLookup { plan, shape, stored, columns, join }
    }

    /// The join that takes its place from now on, if all rows looked up in the run, these many more with them, have cost as much
    /// as that would.
    fn join_instead(&self, rows: usize, run: &Run<'_>) -> Option<&HashJoin<'a>> {
        let join = self.join.as_ref()?;
        let mut left = run.lookups_left.lock();
        let left = left
            .entry(identity(self.plan))
            .or_insert_with(|| self.stored.most_rows(&KeyRange::all()) / ROWS_PER_LOOKUP);
        *left = left.saturating_sub(rows as u64);
        (*left == 0).then_some(join)
    }
}

impl Operator for PrefixLookup<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        if let Some(join) = self.join_instead(input.len, worker.run) {
            return join.push(input, worker, emit);
        }
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
