//! Putting more rows than memory holds.
//!
//! Rows of a stream are coerced batch by batch, and sorted by key on disk. The transaction gets a source that reads them from there, so
//! that they are in memory only where the engine has them.

use std::sync::Arc;

use super::batch::Mutation;
use crate::budget::Budget;
use crate::exec::error::ExecError;
use crate::exec::sorting::{Disk, RunOrder, SortedRuns};
use crate::exec::thresholds::{MAX_BATCH_ROWS, WRITE_COPIES};
use crate::parse::ast::MutationOp;
use crate::plan::MutationPlan;
use crate::schema::SchemaRef;
use crate::spill::SpilledRows;
use crate::storage::{BatchCursor, ChangeKind, ChangedRows, RowSource};
use crate::txn::{Transaction, is_ephemeral};
use crate::value::{Batch, DataValue};

/// Whether a plan can put rows of a stream: nothing needs to know the old rows.
pub fn is_streamed(plan: &MutationPlan, schema: &SchemaRef) -> bool {
    let puts = matches!(plan.op, MutationOp::Create | MutationOp::Replace | MutationOp::Put);
    puts && !schema.has_indices() && !is_ephemeral(schema.id)
}

/// Whether the memory does not suffice for the copies of rows that a write makes.
pub fn is_large(rows: &Batch) -> bool {
    Budget::current().is_some_and(|budget| budget.spare_bytes() / WRITE_COPIES < rows.memory_bytes())
}

/// Gives the rows of a batch in parts.
pub fn in_parts(rows: &Batch) -> impl FnMut() -> Result<Option<Batch>, ExecError> {
    let mut start = 0;
    move || {
        let part = start..rows.len.min(start + MAX_BATCH_ROWS);
        start = part.end;
        Ok((!part.is_empty()).then(|| rows.slice(part)))
    }
}

/// Puts rows that come in batches. Of rows with the same key, the last remains. Returns the number of rows.
pub fn put_stream(
    plan: &MutationPlan,
    schema: &SchemaRef,
    mut next: impl FnMut() -> Result<Option<Batch>, ExecError>,
    parameters: &[&DataValue],
    txn: &mut Transaction,
    disk: &Disk,
) -> Result<usize, ExecError> {
    let mutation = Mutation::new(plan, schema, parameters, txn);
    let mut runs = SortedRuns::new(RunOrder::Keys(schema.keys.len()), disk);
    let mut given = 0;
    while let Some(batch) = next()? {
        given += batch.len;
        runs.push(mutation.columns(batch)?.rows)?;
    }
    drop(next);
    let sorted: Arc<dyn RowSource> = Arc::new(runs.into_rows()?);
    txn.write(schema, ChangeKind::Put, ChangedRows::Source(sorted))?;
    Ok(given)
}

impl RowSource for SpilledRows {
    fn row_count(&self) -> usize {
        self.len()
    }

    fn read(&self) -> Box<dyn BatchCursor + '_> {
        Box::new(self.read_all())
    }
}
