//! Joins every input row with every row of a relation.
//!
//! A [`TableScan`] reads a range of rows of a derived table, such as the delta of a round; a [`StoredScan`] reads a key range of
//! a stored relation. Both read blocks of rows and join each block with the whole input batch (`product`). The first operator of
//! a rule gets one input row without slots: the block itself is then the output.

use std::ops::Range;

use super::{Emit, Operator, Shape, stopped};
use crate::budget::{Stop, make_room, temporary};
use crate::exec::access::stored::Stored;
use crate::exec::rowset::table::Table;
use crate::exec::run::Worker;
use crate::exec::sink::{CONTINUE, Flow, project};
use crate::exec::thresholds::{MAX_BATCH_ROWS, SORT_MIN_ROWS};
use crate::plan::JoinPlan;
use crate::spill::SpilledRows;
use crate::storage::KeyRange;
use crate::value::sort::sort_by_ints;
use crate::value::{Batch, Column};

/// Reads a range of rows of a derived table.
pub struct TableScan<'a> {
    pub plan: &'a JoinPlan,
    pub shape: Shape<'a>,
    pub table: &'a Table,
    pub range: Range<usize>,
    /// See [`JoinPlan::sort_by`].
    pub sort_by: Option<usize>,
}

impl TableScan<'_> {
    /// The rows to read in their order, unless that is the range as it is.
    fn order(&self) -> Option<Vec<u32>> {
        let living = || self.table.living(self.range.clone());
        match self.sort_by {
            Some(column) if self.range.len() >= SORT_MIN_ROWS => {
                let mut rows = living();
                let column = &self.table.rows().columns[column];
                match column.as_dense_ints() {
                    Some(values) => sort_by_ints(&mut rows, values),
                    None => rows.sort_by(|a, b| column.compare_at(*a as usize, column, *b as usize)),
                }
                Some(rows)
            }
            _ => self.table.has_dead().then(living),
        }
    }
}

impl TableScan<'_> {
    /// [`Operator::push`] for rows on disk.
    fn push_spilled(&self, rows: &SpilledRows, input: &Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let mut reader = rows.read(self.range.clone());
        loop {
            let _passing = temporary();
            let Some(mut rows) = reader.next_rows(worker.next_batch_rows()?)? else { return CONTINUE };
            make_room(rows.memory_bytes())?;
            let columns: Vec<usize> = self.plan.outputs.iter().map(|(column, _)| *column).collect();
            let rows = project(&mut rows, &columns, &[]);
            let flow = product(self.plan, &self.shape, input, rows, worker, emit)?;
            if stopped(&flow) {
                return Ok(flow);
            }
        }
    }
}

impl Operator for TableScan<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        if let Some(rows) = self.table.spilled() {
            return self.push_spilled(rows, &input, worker, emit);
        }
        let order = self.order();
        let count = order.as_ref().map_or(self.range.len(), Vec::len);
        let mut done = 0;
        while done < count {
            let end = (done + worker.next_batch_rows()?).min(count);
            let _passing = temporary();
            let mut columns = Vec::with_capacity(self.plan.outputs.len());
            for (column, _) in &self.plan.outputs {
                let column = &self.table.rows().columns[*column];
                columns.push(match &order {
                    Some(order) => column.copy_rows(&order[done..end])?,
                    None => column.copy_range(self.range.start + done..self.range.start + end)?,
                });
            }
            let rows = Batch { columns, len: end - done };
            let flow = product(self.plan, &self.shape, &input, rows, worker, emit)?;
            if stopped(&flow) {
                return Ok(flow);
            }
            done = end;
        }
        CONTINUE
    }
}

/// Reads a stored relation.
pub struct StoredScan<'a> {
    plan: &'a JoinPlan,
    shape: Shape<'a>,
    stored: Stored<'a>,
    columns: Vec<usize>,
    /// The part of the relation to read.
    range: KeyRange,
}

impl<'a> StoredScan<'a> {
    pub fn new(plan: &'a JoinPlan, shape: Shape<'a>, stored: Stored<'a>, range: KeyRange) -> Self {
        let columns = plan.outputs.iter().map(|(column, _)| *column).collect();
        StoredScan { plan, shape, stored, columns, range }
    }
}

impl Operator for StoredScan<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let mut cursor = self.stored.scan(&self.range, &self.columns)?;
        loop {
            let _passing = temporary();
            let room = worker.next_batch_rows()?;
            let Some(rows) = cursor.next_batch(room)? else { return CONTINUE };
            make_room(rows.large_bytes())?;
            let flow = product(self.plan, &self.shape, &input, rows, worker, emit)?;
            if stopped(&flow) {
                return Ok(flow);
            }
        }
    }
}

/// Emits each input row with each row of the relation.
fn product(
    plan: &JoinPlan,
    shape: &Shape<'_>,
    input: &Batch,
    rows: Batch,
    worker: &mut Worker<'_>,
    emit: &mut Emit<'_>,
) -> Flow {
    if input.len == 1 && shape.keeps_nothing() {
        return emit(place(plan, shape.take(input, &[])?, rows), worker);
    }
    let most_rows = shape.batch_rows(input, MAX_BATCH_ROWS);
    if most_rows < rows.len {
        return product_of_large(plan, shape, input, &rows, most_rows, worker, emit);
    }
    let per_chunk = (most_rows / rows.len.max(1)).max(1);
    let mut start = 0;
    while start < input.len {
        let _passing = temporary();
        worker.next_batch_rows()?;
        let end = (start + per_chunk).min(input.len);
        let left: Vec<u32> = (start..end).flat_map(|row| std::iter::repeat_n(row as u32, rows.len)).collect();
        make_room(rows.large_bytes().saturating_mul(end - start))?;
        let mut repeated = Batch { columns: vec![Column::default(); rows.columns.len()], len: left.len() };
        for (column, source) in repeated.columns.iter_mut().zip(&rows.columns) {
            (start..end).for_each(|_| column.append_range(source, 0..rows.len));
        }
        let flow = emit(place(plan, shape.take(input, &left)?, repeated), worker)?;
        if stopped(&flow) {
            return Ok(flow);
        }
        start = end;
    }
    CONTINUE
}

/// [`product`] for large input rows, of which a batch may have fewer than a block has rows.
fn product_of_large(
    plan: &JoinPlan,
    shape: &Shape<'_>,
    input: &Batch,
    rows: &Batch,
    most_rows: usize,
    worker: &mut Worker<'_>,
    emit: &mut Emit<'_>,
) -> Flow {
    for row in 0..input.len {
        for start in (0..rows.len).step_by(most_rows) {
            let _passing = temporary();
            worker.next_batch_rows()?;
            let part = start..(start + most_rows).min(rows.len);
            let left = shape.take(input, &vec![row as u32; part.len()])?;
            let right = rows.columns.iter().map(|column| column.copy_range(part.clone()));
            let right = Batch { columns: right.collect::<Result<_, Stop>>()?, len: part.len() };
            let flow = emit(place(plan, left, right), worker)?;
            if stopped(&flow) {
                return Ok(flow);
            }
        }
    }
    CONTINUE
}

/// Moves the columns of a relation into their slots.
pub fn place(plan: &JoinPlan, mut output: Batch, rows: Batch) -> Batch {
    output.len = rows.len;
    for ((_, slot), column) in plan.outputs.iter().zip(rows.columns) {
        output.columns[*slot] = column;
    }
    output
}
