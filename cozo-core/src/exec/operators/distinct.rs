//! Drops rows that came before, so that the joins that follow do no work twice.
//!
//! The [`Worker`] holds the rows seen so far, so each thread drops its own duplicates only. That is enough, since the sink at the
//! end of the rule is exact.

use super::{Emit, Operator, Shape};
use crate::exec::rowset::seen::Seen;
use crate::exec::run::Worker;
use crate::exec::sink::{CONTINUE, Flow};
use crate::exec::thresholds::REMEMBERED_ROWS;
use crate::value::Batch;

/// Drops rows that came before in the same thread.
pub struct Distinct<'a> {
    /// The operator's position in its rule, by which the worker finds the rows seen so far.
    pub position: usize,
    pub shape: Shape<'a>,
}

impl Operator for Distinct<'_> {
    fn push(&self, mut input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let kept = self.shape.keep;
        let seen = worker.seen.entry(self.position).or_default();
        if seen.len() > REMEMBERED_ROWS {
            *seen = Seen::default();
        }
        let columns = kept.iter().map(|slot| std::mem::take(&mut input.columns[*slot])).collect();
        let fresh = seen.add(Batch { columns, len: input.len });
        if fresh.is_empty() {
            return CONTINUE;
        }
        let mut output = self.shape.pass(input);
        output.len = fresh.len;
        for (slot, column) in kept.iter().zip(fresh.columns) {
            output.columns[*slot] = column;
        }
        emit(output, worker)
    }
}
