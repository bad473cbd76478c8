//! Keeps input rows that have a match in a relation, or, if negated, those that have none.
//!
//! An `exists` or a negated atom needs no rows of the relation, only the answer for each input row. [`PrefixSemiJoin`] asks the
//! engine for a key prefix of a stored relation. [`IndexSemiJoin`] asks an index on the bound columns, of a derived table or of a
//! stored relation that it reads once ([`BuildSide`]). Both then emit the rows that hold in one batch.

use super::filter::emit_where;
use super::{Emit, Operator, Shape, key_columns, probe_columns};
use crate::exec::Worker;
use crate::exec::build_side::BuildSide;
use crate::exec::sink::Flow;
use crate::exec::stored::Stored;
use crate::plan::SemiJoinPlan;
use crate::value::Batch;

/// Tests for stored rows with a key prefix.
pub struct PrefixSemiJoin<'a> {
    pub plan: &'a SemiJoinPlan,
    pub shape: Shape<'a>,
    pub stored: Stored<'a>,
}

impl Operator for PrefixSemiJoin<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let mut holds = self.stored.contains(&probe_columns(&self.plan.keys, &input, worker)?)?;
        if self.plan.negated {
            holds.iter_mut().for_each(|found| *found = !*found);
        }
        emit_where(&self.shape, input, &holds, worker, emit)
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
        let probe = self.rows.resolve()?;
        let keys = key_columns(&self.plan.keys, &input, worker)?;
        let mut holds = probe.matches_any(&keys.iter().map(AsRef::as_ref).collect::<Vec<_>>(), input.len);
        if self.plan.negated {
            holds.iter_mut().for_each(|found| *found = !*found);
        }
        emit_where(&self.shape, input, &holds, worker, emit)
    }
}
