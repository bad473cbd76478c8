//! Joins whose matches come in the order of the input, and then in the order of the relation.
//!
//! Such an order matters only to aggregations like `collect`, whose result depends on it (`TableKind::order_matters`). A look-up
//! gives it by itself. [`RowByRow`] wraps a scan: a scan reads a block of the relation and joins it with the whole batch, so it
//! gets input rows one at a time. [`Sorted`] wraps a join through an index whose order differs from the order of its relation: it
//! numbers the input rows in a slot of their own, gathers all matches of a batch, and sorts them by that number and then by the
//! columns of the relation's key.

use super::{Emit, Operator, Shape, empty_slots, stopped};
use crate::budget::temporary;
use crate::exec::run::Worker;
use crate::exec::sink::{CONTINUE, Flow};
use crate::exec::thresholds::MAX_BATCH_ROWS;
use crate::value::{Batch, Column, compare_columns};

/// Joins the input with a scan, one row at a time. For a whole batch, the scan would join each block of rows with all input rows.
pub struct RowByRow<'a> {
    pub scan: Box<dyn Operator + 'a>,
    pub shape: Shape<'a>,
}

impl Operator for RowByRow<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        if input.len == 1 {
            return self.scan.push(input, worker, emit);
        }
        for row in 0..input.len as u32 {
            let flow = self.scan.push(self.shape.take(&input, &[row])?, worker, emit)?;
            if stopped(&flow) {
                return Ok(flow);
            }
        }
        CONTINUE
    }
}

/// Sorts the matches of each batch by the number of the input row and then by some slots.
pub struct Sorted<'a> {
    pub join: Box<dyn Operator + 'a>,
    pub shape: Shape<'a>,
    /// The slot for the number of the input row.
    pub row: usize,
    /// The slots to sort by.
    pub by: &'a [usize],
}

impl Operator for Sorted<'_> {
    fn push(&self, mut input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        input.columns[self.row] = Column::ints((0..input.len as i64).collect());
        let (gathering, mut bytes) = (temporary(), 0);
        let mut all = Batch { columns: empty_slots(self.shape.slots), len: 0 };
        let _ = self.join.push(input, worker, &mut |matches, _| {
            bytes += matches.memory_bytes();
            all.append_all(matches);
            gathering.holds(bytes)?;
            CONTINUE
        })?;
        gathering.leave(bytes)?;
        let keys: Vec<Column> =
            [self.row].iter().chain(self.by).map(|slot| std::mem::take(&mut all.columns[*slot])).collect();
        let mut order: Vec<u32> = (0..all.len as u32).collect();
        order.sort_by(|a, b| compare_columns(&keys, *a as usize, &keys, *b as usize));
        for (slot, column) in self.by.iter().zip(keys.into_iter().skip(1)) {
            all.columns[*slot] = column;
        }
        for rows in order.chunks(MAX_BATCH_ROWS) {
            let _passing = temporary();
            worker.next_batch_rows()?;
            let flow = emit(all.take(rows), worker)?;
            if stopped(&flow) {
                return Ok(flow);
            }
        }
        CONTINUE
    }
}
