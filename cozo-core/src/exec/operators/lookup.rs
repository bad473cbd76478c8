//! Joins input rows with the rows of a stored relation that have a given key prefix.

use super::scan::place;
use super::{Emit, Operator, Shape, key_columns, stopped};
use crate::exec::Worker;
use crate::exec::sink::{CONTINUE, Flow};
use crate::plan::JoinPlan;
use crate::schema::RelationId;
use crate::storage::Snapshot;
use crate::value::Batch;

/// Looks up key prefixes.
pub struct PrefixLookup<'a> {
    plan: &'a JoinPlan,
    shape: Shape<'a>,
    snapshot: &'a dyn Snapshot,
    relation: RelationId,
    columns: Vec<usize>,
}

impl<'a> PrefixLookup<'a> {
    pub fn new(plan: &'a JoinPlan, shape: Shape<'a>, snapshot: &'a dyn Snapshot, relation: RelationId) -> Self {
        let columns = plan.outputs.iter().map(|(column, _)| *column).collect();
        PrefixLookup { plan, shape, snapshot, relation, columns }
    }
}

impl Operator for PrefixLookup<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let prefixes = key_columns(&self.plan.keys, &input, worker)?;
        let mut cursor = self.snapshot.lookup(self.relation, &prefixes, &self.columns)?;
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
