//! Ordinary indices: built from existing rows, and updated with every write.
//!
//! ```text
//! relation r {k => v, w}, index r:i {v, k}
//! :put [2, 'b', 0] over [2, 'a', 0]      r:i removes ['a', 2], puts ['b', 2]
//! :put [2, 'b', 7] over [2, 'b', 0]      r:i stays as it is
//! :rm  [2]                               r:i removes ['b', 2]
//! ```
//!
//! The rows of the relation come in key order. A stable sort by the leading columns of the index then gives the rows of the index
//! in order, since the keys that follow are in order already.

use crate::index::changes::kept;
use crate::schema::{IndexDefinition, RelationSchema, SchemaRef};
use crate::storage::{ChangeKind, KeyRange, Snapshot, StorageError};
use crate::txn::{Transaction, TxnError};
use crate::value::Batch;
use crate::value::sort::sorted;

/// The rows that are read between two checks of the budget.
const BATCH_ROWS: usize = 16 * 1024;

/// Fills a new index from the rows of its relation. `check` fails if the work must stop.
pub fn build<E: From<StorageError> + From<TxnError>>(
    relation: &SchemaRef,
    index: &IndexDefinition,
    txn: &mut Transaction,
    check: impl Fn() -> Result<(), E>,
) -> Result<(), E> {
    let view = txn.view(&[relation.id])?;
    let entries = derived(relation, index, view.of(relation.id), &check)?;
    check()?;
    txn.write_derived(&index.schema, ChangeKind::Put, entries);
    Ok(())
}

/// All rows that an index must have.
fn derived<E: From<StorageError>>(
    relation: &RelationSchema,
    index: &IndexDefinition,
    snapshot: &dyn Snapshot,
    check: impl Fn() -> Result<(), E>,
) -> Result<Batch, E> {
    let mut rows = Batch::empty(index.columns.len());
    let mut cursor = snapshot.scan(relation.id, &KeyRange::all(), &index.columns, None)?;
    while let Some(batch) = cursor.next_batch(BATCH_ROWS)? {
        check()?;
        rows.append(&batch);
    }
    Ok(sorted(rows, index.sort_width(relation)))
}

/// Whether an index has the rows that follow from its relation, and no others.
pub fn agrees(
    relation: &RelationSchema,
    index: &IndexDefinition,
    snapshot: &dyn Snapshot,
) -> Result<bool, StorageError> {
    let expected = derived(relation, index, snapshot, || Ok::<(), StorageError>(()))?;
    let columns: Vec<usize> = (0..index.columns.len()).collect();
    let mut cursor = snapshot.scan(index.schema.id, &KeyRange::all(), &columns, None)?;
    let mut row = 0;
    while let Some(batch) = cursor.next_batch(BATCH_ROWS)? {
        let same = |at: usize| row + at < expected.len && expected.compare_rows(row + at, &batch, at).is_eq();
        if !(0..batch.len).all(same) {
            return Ok(false);
        }
        row += batch.len;
    }
    Ok(row == expected.len)
}

/// Updates the indices of a relation after a write: `rows` are put (all columns) or removed (key columns), `old` are the full
/// rows that were there under these keys. Both are sorted by key, each key once.
pub fn follow(relation: &RelationSchema, kind: ChangeKind, rows: &Batch, old: &Batch, txn: &mut Transaction) {
    for index in &relation.indices {
        let width = index.sort_width(relation);
        let (gone, come) = changes(relation, index, kind, rows, old);
        txn.write_derived(&index.schema, ChangeKind::Remove, sorted(gone, width));
        txn.write_derived(&index.schema, ChangeKind::Put, sorted(come, width));
    }
}

/// The rows that an index loses and gets, in no order, by a write as in [`follow`].
pub fn changes(
    relation: &RelationSchema,
    index: &IndexDefinition,
    kind: ChangeKind,
    rows: &Batch,
    old: &Batch,
) -> (Batch, Batch) {
    if kind != ChangeKind::Put {
        return (entries(index, old, std::iter::empty()), Batch::empty(index.columns.len()));
    }
    let keys = relation.keys.len();
    let values: Vec<usize> = index.columns.iter().copied().filter(|column| *column >= keys).collect();
    let kept = kept(rows, old, keys, &values);
    let gone = entries(index, old, kept.iter().map(|(_, old)| *old));
    (gone, entries(index, rows, kept.iter().map(|(new, _)| *new)))
}

/// The index rows of the relation's rows, without those whose numbers are in `kept`, which ascend.
fn entries(index: &IndexDefinition, rows: &Batch, kept: impl ExactSizeIterator<Item = u32>) -> Batch {
    if kept.len() == 0 {
        let columns = index.columns.iter().map(|column| rows.columns[*column].clone()).collect();
        return Batch { columns, len: rows.len };
    }
    let mut kept = kept.peekable();
    let changed: Vec<u32> = (0..rows.len as u32).filter(|row| kept.next_if_eq(row).is_none()).collect();
    let columns = index.columns.iter().map(|column| rows.columns[*column].take(&changed)).collect();
    Batch { columns, len: changed.len() }
}
