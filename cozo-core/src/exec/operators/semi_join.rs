//! Keeps input rows that have a match in a relation, or, if negated, those that have none.
//!
//! An `exists` or a negated atom needs no rows of the relation, only the answer for each input row. [`PrefixSemiJoin`] asks the
//! engine for a key prefix of a stored relation, until an index is faster ([`LookupCounter`]). [`IndexSemiJoin`] asks an index on
//! the bound columns, of a derived table or of a stored relation that it reads once ([`BuildSide`]). Both then emit the rows that
//! hold in one batch.

use super::filter::emit_where;
use super::{Emit, Operator, Shape, key_columns, probe_columns};
use crate::exec::access::build_side::BuildSide;
use crate::exec::access::lookup_counter::LookupCounter;
use crate::exec::access::stored::Stored;
use crate::exec::error::ExecError;
use crate::exec::run::Worker;
use crate::exec::sink::Flow;
use crate::plan::SemiJoinPlan;
use crate::value::Batch;

/// Tests for stored rows with a key prefix.
pub struct PrefixSemiJoin<'a> {
    pub plan: &'a SemiJoinPlan,
    pub shape: Shape<'a>,
    pub stored: Stored<'a>,
    pub counter: LookupCounter<'a>,
}

impl Operator for PrefixSemiJoin<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let found = match self.counter.index_instead(input.len)? {
            Some(rows) => matches_any(rows, self.plan, &input, worker)?,
            None => self.stored.contains(&probe_columns(&self.plan.keys, &input, worker)?)?,
        };
        emit_where(&self.shape, input, &wanted(found, self.plan), worker, emit)
    }
}

/// Tests by an index.
pub struct IndexSemiJoin<'a> {
    pub plan: &'a SemiJoinPlan,
    pub shape: Shape<'a>,
    pub rows: BuildSide<'a>,
}

impl Operator for IndexSemiJoin<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let found = matches_any(&self.rows, self.plan, &input, worker)?;
        emit_where(&self.shape, input, &wanted(found, self.plan), worker, emit)
    }
}

/// Which rows have a match by the index.
fn matches_any(
    rows: &BuildSide<'_>,
    plan: &SemiJoinPlan,
    input: &Batch,
    worker: &Worker<'_>,
) -> Result<Vec<bool>, ExecError> {
    let keys = key_columns(&plan.keys, input, worker)?;
    Ok(rows.resolve()?.matches_any(&keys.iter().map(AsRef::as_ref).collect::<Vec<_>>(), input.len))
}

/// Which rows are kept, of those that have a match.
fn wanted(mut found: Vec<bool>, plan: &SemiJoinPlan) -> Vec<bool> {
    if plan.negated {
        found.iter_mut().for_each(|found| *found = !*found);
    }
    found
}
