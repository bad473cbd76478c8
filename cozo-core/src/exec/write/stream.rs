//! Putting more rows than memory holds.
//!
//! Rows of a stream are coerced batch by batch, and sorted by key on disk. The transaction gets a source that reads them from there, so
//! that they are in memory only where the engine has them.

use std::sync::Arc;

use super::batch::Mutation;
use crate::exec::error::ExecError;
use crate::exec::rows::RowStream;
use crate::exec::sorting::{Disk, RunOrder, SortedRuns};
use crate::parse::ast::MutationOp;
use crate::plan::MutationPlan;
use crate::schema::SchemaRef;
use crate::spill::SpilledRows;
use crate::storage::{BatchCursor, ChangeKind, ChangedRows, RowSource};
use crate::txn::{Transaction, is_ephemeral};
use crate::value::DataValue;

/// Whether a plan can put rows of a stream: nothing needs to know the old rows.
pub fn is_streamed(plan: &MutationPlan, schema: &SchemaRef) -> bool {
    let puts = matches!(plan.op, MutationOp::Create | MutationOp::Replace | MutationOp::Put);
    puts && !schema.has_indices() && !is_ephemeral(schema.id)
}

/// Puts the rows of a stream. Of rows with the same key, the last remains. Returns the number of rows.
pub fn put_stream(
    plan: &MutationPlan,
    schema: &SchemaRef,
    mut rows: RowStream,
    parameters: &[&DataValue],
    txn: &mut Transaction,
    disk: &Disk,
) -> Result<usize, ExecError> {
    let mutation = Mutation::new(plan, schema, parameters, txn);
    let mut runs = SortedRuns::new(RunOrder::Keys(schema.keys.len()), disk);
    let mut given = 0;
    while let Some(batch) = rows.next_rows()? {
        given += batch.len;
        runs.push(mutation.columns(batch)?.rows)?;
    }
    drop(rows);
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
