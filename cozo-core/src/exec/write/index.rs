//! Building an ordinary index of more rows than memory should hold.

use std::sync::Arc;

use crate::exec::error::ExecError;
use crate::exec::sorting::{Disk, RunOrder, SortedRuns};
use crate::exec::thresholds::MAX_BATCH_ROWS;
use crate::index::secondary;
use crate::schema::{IndexDefinition, SchemaRef};
use crate::spill::SpillSpace;
use crate::storage::{ChangeKind, KeyRange};
use crate::txn::Transaction;

/// Fills a new index from the rows of its relation. If they are many, they are sorted on disk.
pub fn build_index(
    relation: &SchemaRef,
    index: &IndexDefinition,
    txn: &mut Transaction,
    space: &Arc<SpillSpace>,
) -> Result<(), ExecError> {
    let disk = Disk::of_current(space);
    let budget = disk.budget();
    let view = txn.view(&[relation.id])?;
    let snapshot = view.of(relation.id);
    let rows = snapshot.row_count_within(relation.id, &KeyRange::all());
    if (rows as usize).saturating_mul(index.columns.len() * size_of::<i64>()) <= budget.hold_bytes() {
        return secondary::build(relation, index, txn, || Ok(budget.check()?));
    }
    let mut runs = SortedRuns::new(RunOrder::Keys(index.columns.len()), &disk);
    let mut cursor = snapshot.scan(relation.id, &KeyRange::all(), &index.columns, None)?;
    while let Some(batch) = cursor.next_batch(MAX_BATCH_ROWS)? {
        runs.push(batch)?;
    }
    drop(cursor);
    txn.write_derived(&index.schema, ChangeKind::Put, runs.into_rows()?);
    Ok(())
}
