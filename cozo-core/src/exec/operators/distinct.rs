//! Drops rows that came before, so that the joins that follow do no work twice.
//!
//! The [`Worker`] holds the rows seen so far, so each thread drops its own duplicates only. That is enough, since the sink at the
//! end of the rule is exact.

use super::{Emit, Operator, Shape};
use crate::exec::Worker;
use crate::exec::int_set::IntSet;
use crate::exec::sink::{CONTINUE, Flow};
use crate::exec::table::Table;
use crate::value::Batch;

/// Drops rows that came before in the same thread.
pub struct Distinct<'a> {
    /// The operator's position in its rule, by which the worker finds the rows seen so far.
    pub position: usize,
    pub shape: Shape<'a>,
}

/// The operator forgets all rows when it has seen this many: a duplicate costs only time, but a remembered row costs memory.
const REMEMBERED_ROWS: usize = 1 << 20;

/// The rows that came before.
pub enum Seen {
    /// Rows of integers that lie close together, as a bitmap alone.
    Ints(IntSet),
    /// Any rows.
    Rows(Table),
}

impl Default for Seen {
    fn default() -> Self {
        Seen::Ints(IntSet::default())
    }
}

impl Seen {
    fn len(&self) -> usize {
        match self {
            Seen::Ints(set) => set.len(),
            Seen::Rows(table) => table.len(),
        }
    }

    /// Adds rows, and returns the new ones.
    fn add(&mut self, mut rows: Batch) -> Batch {
        if let Seen::Ints(set) = self {
            if set.add_fresh(&mut rows) {
                return rows;
            }
            let set = std::mem::take(set);
            *self = Seen::Rows(if set.len() == 0 { Table::set(rows.columns.len()) } else { Table::of_ints(set) });
        }
        let Seen::Rows(table) = self else { unreachable!("a set of integers that is none has become a table") };
        let before = table.len();
        table.insert(rows);
        table.rows().slice(before..table.len())
    }
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
