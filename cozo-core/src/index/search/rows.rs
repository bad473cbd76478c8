//! Reading the rows of a relation that an index is made of.

use super::error::SearchIndexError;
use super::extractor::Extractor;
use crate::budget::{self, make_room};
use crate::schema::{RelationSchema, SchemaRef};
use crate::storage::{KeyRange, Snapshot};
use crate::value::{Batch, Column, DataValue};

/// The rows that are read at once.
const BATCH_ROWS: usize = 4 * 1024;

/// The rows of a relation in a snapshot, as an index reads them.
#[derive(Clone, Copy)]
pub struct BaseRows<'a> {
    pub relation: &'a RelationSchema,
    pub extractor: &'a Extractor,
    pub snapshot: &'a dyn Snapshot,
}

/// Hands over all rows of the relation in key order, with the key columns and those that the extractor reads.
pub fn scanned(
    of: BaseRows<'_>,
    mut take: impl FnMut(Batch) -> Result<(), SearchIndexError>,
) -> Result<(), SearchIndexError> {
    let read = read_columns(of);
    let mut cursor = of.snapshot.scan(of.relation.id, &KeyRange::all(), &read, None)?;
    while let Some(batch) = cursor.next_batch(BATCH_ROWS)? {
        make_room(batch.memory_bytes())?;
        take(in_place(batch, &read, of.relation.arity()))?;
    }
    Ok(())
}

/// The rows from a key on, at most so many, and the key of the next row.
pub fn scanned_from(
    of: BaseRows<'_>,
    from: Option<Vec<DataValue>>,
    most_rows: usize,
) -> Result<(Batch, Option<Vec<DataValue>>), SearchIndexError> {
    let read = read_columns(of);
    let range = KeyRange { lower: from, ..KeyRange::all() };
    let mut cursor = of.snapshot.scan(of.relation.id, &range, &read, None)?;
    let rows = cursor.next_batch(most_rows)?.unwrap_or_else(|| Batch::empty(read.len()));
    make_room(rows.memory_bytes())?;
    let next = cursor.next_batch(1)?.filter(|batch| batch.len > 0);
    // The keys are the first columns that are read.
    let next = next.map(|batch| batch.columns[..of.relation.keys.len()].iter().map(|key| key.get(0)).collect());
    Ok((in_place(rows, &read, of.relation.arity()), next))
}

/// The rows of the relation with these keys, in their order, as far as they exist.
pub fn looked_up(of: BaseRows<'_>, keys: &Batch) -> Result<Batch, SearchIndexError> {
    let read = read_columns(of);
    let mut rows = Batch::empty(read.len());
    if !keys.is_empty() {
        let mut cursor = of.snapshot.lookup(of.relation.id, &keys.columns, &read, None)?;
        while let Some(matches) = cursor.next_matches(BATCH_ROWS)? {
            make_room(matches.batch.memory_bytes())?;
            rows.append(&matches.batch);
        }
    }
    Ok(in_place(rows, &read, of.relation.arity()))
}

/// The exact number of rows of the relation, by a scan if the engine does not know it.
pub fn counted(of: BaseRows<'_>) -> Result<u64, SearchIndexError> {
    if let Some(rows) = of.snapshot.count(of.relation.id, &[]) {
        return Ok(rows);
    }
    let mut rows = 0;
    let mut cursor = of.snapshot.scan(of.relation.id, &KeyRange::all(), &[], None)?;
    while let Some(batch) = cursor.next_batch(BATCH_ROWS)? {
        budget::step(1)?;
        rows += batch.len as u64;
    }
    Ok(rows)
}

/// All keys in a relation of keys.
pub fn keys_of(relation: &SchemaRef, snapshot: &dyn Snapshot) -> Result<Batch, SearchIndexError> {
    let columns: Vec<usize> = (0..relation.keys.len()).collect();
    let mut keys = Batch::empty(columns.len());
    let mut cursor = snapshot.scan(relation.id, &KeyRange::all(), &columns, None)?;
    while let Some(batch) = cursor.next_batch(BATCH_ROWS)? {
        make_room(batch.memory_bytes())?;
        keys.append(&batch);
    }
    Ok(keys)
}

/// The columns that are read: the keys, and those of the extractor.
fn read_columns(of: BaseRows<'_>) -> Vec<usize> {
    let mut columns: Vec<usize> = (0..of.relation.keys.len()).chain(of.extractor.columns().iter().copied()).collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// Columns at their places in the relation; the others are empty.
fn in_place(batch: Batch, columns: &[usize], arity: usize) -> Batch {
    let mut placed: Vec<Column> = std::iter::repeat_with(Column::default).take(arity).collect();
    for (column, values) in columns.iter().zip(batch.columns) {
        placed[*column] = values;
    }
    Batch { columns: placed, len: batch.len }
}
