//! Putting more rows than memory holds.
//!
//! Rows of a stream are coerced batch by batch, and sorted by key on disk. The transaction gets a source that reads them from there, so
//! that they are in memory only where the engine has them. The rows that indices lose and get are sorted on disk, too.

use std::sync::Arc;

use super::batch::Mutation;
use crate::budget::{Budget, temporary};
use crate::exec::error::ExecError;
use crate::exec::sorting::{Disk, RunOrder, SortedRuns};
use crate::exec::thresholds::{MAX_BATCH_ROWS, WRITE_COPIES};
use crate::index::secondary;
use crate::parse::ast::MutationOp;
use crate::plan::MutationPlan;
use crate::schema::{IndexDefinition, SchemaRef};
use crate::spill::SpilledRows;
use crate::storage::{BatchCursor, ChangeKind, ChangedRows, RowSource};
use crate::txn::{Transaction, is_ephemeral};
use crate::value::{Batch, DataValue};

/// Whether a plan can put rows of a stream.
pub fn is_streamed(plan: &MutationPlan, schema: &SchemaRef) -> bool {
    let puts = matches!(plan.op, MutationOp::Create | MutationOp::Replace | MutationOp::Put);
    puts && schema.searches.is_empty() && !is_ephemeral(schema.id)
}

/// Whether the memory does not suffice for the copies of rows that a write makes, of the rows of indices, too.
pub fn is_large(rows: &Batch, schema: &SchemaRef) -> bool {
    let copies = WRITE_COPIES * (1 + schema.indices.len());
    Budget::current().is_some_and(|budget| budget.spare_bytes() / copies < rows.memory_bytes())
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
    let sorted = runs.into_rows()?;
    if !schema.indices.is_empty() {
        follow(&mutation, schema, &sorted, txn, disk)?;
    }
    txn.write(schema, ChangeKind::Put, sorted)?;
    Ok(given)
}

/// Updates the indices of a relation before these rows are put. They are sorted by key, each key once.
fn follow(
    mutation: &Mutation<'_>,
    schema: &SchemaRef,
    sorted: &SpilledRows,
    txn: &mut Transaction,
    disk: &Disk,
) -> Result<(), ExecError> {
    let indices = &schema.indices;
    let runs =
        |index: &IndexDefinition| SortedRuns::one_of(2 * indices.len(), RunOrder::Keys(index.columns.len()), disk);
    let mut changes: Vec<[SortedRuns; 2]> = indices.iter().map(|index| [runs(index), runs(index)]).collect();
    let mut reader = sorted.read_all();
    while let Some(rows) = reader.next_rows(MAX_BATCH_ROWS)? {
        let _comparing = temporary();
        let old = mutation.stored(&rows, txn)?.rows;
        for (index, [gone, come]) in indices.iter().zip(&mut changes) {
            let (lost, got) = secondary::changes(schema, index, ChangeKind::Put, &rows, &old);
            gone.push(lost)?;
            come.push(got)?;
        }
    }
    for (index, [gone, come]) in indices.iter().zip(changes) {
        txn.write_derived(&index.schema, ChangeKind::Remove, gone.into_rows()?);
        txn.write_derived(&index.schema, ChangeKind::Put, come.into_rows()?);
    }
    Ok(())
}

impl From<SpilledRows> for ChangedRows {
    fn from(rows: SpilledRows) -> Self {
        ChangedRows::Source(Arc::new(rows))
    }
}

impl RowSource for SpilledRows {
    fn row_count(&self) -> usize {
        self.len()
    }

    fn read(&self) -> Box<dyn BatchCursor + '_> {
        Box::new(self.read_all())
    }
}
