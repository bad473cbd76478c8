//! Drops rows that came before, so that what follows is not done twice for them.

use super::{Emit, Operator, Shape};
use crate::exec::Worker;
use crate::exec::sink::{CONTINUE, Flow};
use crate::exec::table::Table;
use crate::value::Batch;

/// Drops rows that came before in the same thread.
pub struct Distinct<'a> {
    /// Where it stands in its rule: what it has seen is kept by the worker.
    pub position: usize,
    pub shape: Shape<'a>,
}

/// So many rows are remembered; then it begins anew, since a repetition costs time and a row remembered space.
const REMEMBERED_ROWS: usize = 1 << 20;

impl Operator for Distinct<'_> {
    fn push(&self, mut input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let kept = self.shape.keep;
        let seen = worker.seen.entry(self.position).or_insert_with(|| Table::set(kept.len()));
        if seen.len() > REMEMBERED_ROWS {
            *seen = Table::set(kept.len());
        }
        let before = seen.len();
        let len = input.len;
        let columns = kept.iter().map(|slot| std::mem::take(&mut input.columns[*slot])).collect();
        seen.insert(Batch { columns, len });
        if seen.len() == before {
            return CONTINUE;
        }
        let fresh = seen.rows().slice(before..seen.len());
        let mut output = self.shape.pass(input);
        output.len = fresh.len;
        for (slot, column) in kept.iter().zip(fresh.columns) {
            output.columns[*slot] = column;
        }
        emit(output, worker)
    }
}
