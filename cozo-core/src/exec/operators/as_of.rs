//! Joins input rows with the histories of a relation, each as of the time of its row.
//!
//! SameTime that follow each other with one time share a look-up of the engine as of that time, which seeks in each history. Without a key that is
//! bound, the whole relation is read as of each time. A row without a time (null) finds nothing.

use super::{Emit, Operator, Shape, frame, probe_columns, stopped};
use crate::budget::{make_room, temporary};
use crate::exec::run::{Run, Worker};
use crate::exec::sink::{CONTINUE, Flow};
use crate::exec::thresholds::MAX_BATCH_ROWS;
use crate::plan::AsOfPlan;
use crate::program::checked_time_of_row;
use crate::schema::RelationSchema;
use crate::storage::{AsOf, KeyRange, Snapshot};
use crate::value::{Batch, Column};

/// Reads histories as of the time of each row.
pub struct AsOfJoin<'a> {
    plan: &'a AsOfPlan,
    shape: Shape<'a>,
    schema: &'a RelationSchema,
    snapshot: &'a dyn Snapshot,
    columns: Vec<usize>,
}

impl<'a> AsOfJoin<'a> {
    pub fn new(plan: &'a AsOfPlan, shape: Shape<'a>, run: &'a Run<'a>) -> Self {
        let schema = plan.schema();
        let columns = plan.outputs.iter().map(|(column, _)| *column).collect();
        AsOfJoin { plan, shape, schema, snapshot: run.input.view.of(schema.id), columns }
    }
}

impl Operator for AsOfJoin<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let times = self.plan.time.eval(frame(&input, worker))?.into_shared_column(input.len)?;
        let keys = probe_columns(&self.plan.keys, &input, worker)?;
        let mut from = 0;
        while from < input.len {
            worker.run.budget.check()?;
            let time = times.get(from);
            let to = (from + 1..input.len).find(|row| times.get(*row) != time).unwrap_or(input.len);
            if !time.is_null() {
                let micros = checked_time_of_row(&time, worker.run.input.view.now_micros(), self.plan.time.span())?;
                let rows = SameTime { input: &input, keys: &keys, from: from as u32, to: to as u32 };
                let flow = self.read(&rows, micros, worker, emit)?;
                if stopped(&flow) {
                    return Ok(flow);
                }
            }
            from = to;
        }
        CONTINUE
    }
}

/// Consecutive rows with one time.
struct SameTime<'r> {
    input: &'r Batch,
    keys: &'r [Column],
    from: u32,
    to: u32,
}

impl AsOfJoin<'_> {
    fn read(&self, rows: &SameTime<'_>, micros: i64, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let as_of = Some(AsOf { column: self.schema.keys.len() - 1, micros });
        if rows.keys.is_empty() {
            return self.read_all(rows, as_of, worker, emit);
        }
        let numbers: Vec<u32> = (rows.from..rows.to).collect();
        let prefixes: Vec<Column> = rows.keys.iter().map(|column| column.take(&numbers)).collect();
        let mut cursor = self.snapshot.lookup(self.schema.id, &prefixes, &self.columns, as_of)?;
        let most_rows = self.shape.batch_rows(rows.input, MAX_BATCH_ROWS);
        loop {
            let _passing = temporary();
            let room = worker.next_batch_rows()?.min(most_rows);
            let Some(matches) = cursor.next_matches(room)? else { return CONTINUE };
            make_room(matches.batch.large_bytes())?;
            let found: Vec<u32> = matches.probe_rows.iter().map(|row| rows.from + row).collect();
            let flow = emit(self.placed(rows.input, &found, matches.batch)?, worker)?;
            if stopped(&flow) {
                return Ok(flow);
            }
        }
    }

    /// Every input row with every row of the relation.
    fn read_all(&self, rows: &SameTime<'_>, as_of: Option<AsOf>, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        for row in rows.from..rows.to {
            let mut cursor = self.snapshot.scan(self.schema.id, &KeyRange::all(), &self.columns, as_of)?;
            loop {
                let _passing = temporary();
                let room = self.shape.batch_rows(rows.input, worker.next_batch_rows()?);
                let Some(batch) = cursor.next_batch(room)? else { break };
                make_room(batch.large_bytes())?;
                let flow = emit(self.placed(rows.input, &vec![row; batch.len], batch)?, worker)?;
                if stopped(&flow) {
                    return Ok(flow);
                }
            }
        }
        CONTINUE
    }

    /// The rows of the input, each with the row of the relation beside it.
    fn placed(&self, input: &Batch, rows: &[u32], found: Batch) -> Result<Batch, crate::exec::error::ExecError> {
        let mut output = self.shape.take(input, rows)?;
        output.len = found.len;
        for ((_, slot), column) in self.plan.outputs.iter().zip(found.columns) {
            output.columns[*slot] = column;
        }
        Ok(output)
    }
}
