//! How a search index follows the rows of its relation.
//!
//! ```text
//! relation doc {id => text, seen}, doc:words an index of texts, doc:like an index of near-duplicates
//! :put [1, 'new', 0] over [1, 'old', 0]     doc:words:changed puts [1]        doc:like replaces the bands and the signature of 1
//! :put [1, 'new', 9] over [1, 'new', 0]     nothing                           nothing
//! :rm  [1]                                  doc:words:changed puts [1]        doc:like removes them
//! ```

use super::error::SearchIndexError;
use super::extractor::{Extractor, Scratch};
use super::rows::{BaseRows, scanned, scanned_from};
use super::segment::Segment;
use super::segments::Manifest;
use super::view::{Indexed, build_segment};
use crate::budget::make_room;
use crate::index::changes::changed;
use crate::schema::{RelationSchema, SchemaRef, SearchIndex};
use crate::storage::ChangeKind;
use crate::txn::Transaction;
use crate::value::sort::sorted;
use crate::value::{Batch, Column, DataValue};

/// Updates the search indices of a relation after a write: `rows` are put (all columns) or removed (key columns), `old` are the full
/// rows that were there under these keys. Both are sorted by key, each key once. `extractors` are those of the indices, in order.
pub fn follow(
    relation: &RelationSchema,
    extractors: &[Extractor],
    kind: ChangeKind,
    rows: &Batch,
    old: &Batch,
    txn: &mut Transaction,
) -> Result<(), SearchIndexError> {
    let keys = relation.keys.len();
    for (index, extractor) in relation.searches.iter().zip(extractors) {
        let (come, gone) = match kind {
            ChangeKind::Put => changed(rows, old, keys, extractor.columns()),
            ChangeKind::Remove => (vec![], (0..old.len as u32).collect()),
        };
        let (come, gone) = (taken(rows, &come), taken(old, &gone));
        // Also finds rows that the index cannot hold.
        let values = if come.is_empty() { Column::default() } else { extractor.values(&come)? };
        if extractor.duplicates().is_none() {
            let rows = if kind == ChangeKind::Put { come } else { gone };
            if !rows.is_empty() {
                txn.write_derived(&index.stored[0], ChangeKind::Put, key_columns(rows, keys));
                txn.note_search(&relation.name);
            }
            continue;
        }
        remove_duplicates(index, extractor, keys, gone, txn)?;
        put_duplicates(index, extractor, keys, come, &values, txn)?;
    }
    Ok(())
}

/// Fills a new index with the rows of its relation.
pub fn build(
    relation: &SchemaRef,
    index: &SearchIndex,
    extractor: &Extractor,
    txn: &mut Transaction,
) -> Result<(), SearchIndexError> {
    let view = txn.view(&[relation.id])?;
    let of = Indexed { relation, index, extractor, snapshot: view.of(relation.id), cache: None };
    if extractor.duplicates().is_none() {
        let segment = build_segment(of)?;
        return write_first(&segment, index, txn);
    }
    let [bands, signatures] = derived_duplicates(of)?;
    txn.write_derived(&index.stored[0], ChangeKind::Put, bands);
    txn.write_derived(&index.stored[1], ChangeKind::Put, signatures);
    Ok(())
}

/// Writes the first segment of an index, unless it is empty, and the manifest.
pub fn write_first(segment: &Segment, index: &SearchIndex, txn: &mut Transaction) -> Result<(), SearchIndexError> {
    let mut manifest = Manifest::default();
    if segment.len() > 0 {
        manifest.add(segment, &index.stored[1], txn)?;
    }
    manifest.write(&index.stored[1], txn);
    Ok(())
}

/// Writes the bands and signatures of the rows of a relation from a key on, at most so many. The commit fails if another
/// transaction changes one of them before. Returns the key of the next row, if there is one.
pub fn write_duplicates(
    relation: &SchemaRef,
    index: &SearchIndex,
    extractor: &Extractor,
    from: Option<Vec<DataValue>>,
    most_rows: usize,
    txn: &mut Transaction,
) -> Result<Option<Vec<DataValue>>, SearchIndexError> {
    let view = txn.view(&[relation.id])?;
    let of = BaseRows { relation, extractor, snapshot: view.of(relation.id) };
    let (rows, next) = scanned_from(of, from, most_rows)?;
    let values = extractor.values(&rows)?;
    let keys = relation.keys.len();
    put_duplicates(index, extractor, keys, rows.clone(), &values, txn)?;
    txn.rely_on(relation, &key_columns(rows, keys).into())?;
    // No search reads the index before it is ready.
    txn.keep_answers();
    Ok(next)
}

/// The bands and the signatures that an index of near-duplicates must have, in key order.
pub fn derived_duplicates(of: Indexed<'_>) -> Result<[Batch; 2], SearchIndexError> {
    let keys = of.relation.keys.len();
    let (mut bands, mut signatures) = (Batch::empty(keys + 1), Batch::empty(keys + 1));
    scanned(of.base(), |rows| {
        let values = of.extractor.values(&rows)?;
        let (of_bands, of_signatures) = duplicate_rows(of.extractor, keys, &rows, &values)?;
        make_room(of_bands.memory_bytes() + of_signatures.memory_bytes())?;
        bands.append(&of_bands);
        signatures.append(&of_signatures);
        Ok(())
    })?;
    Ok([sorted(bands, keys + 1), signatures])
}

/// Some rows of a batch.
fn taken(batch: &Batch, rows: &[u32]) -> Batch {
    if rows.len() == batch.len {
        return batch.clone();
    }
    Batch { columns: batch.columns.iter().map(|column| column.take(rows)).collect(), len: rows.len() }
}

fn key_columns(mut batch: Batch, keys: usize) -> Batch {
    batch.columns.truncate(keys);
    batch
}

/// The bands and the signatures of rows, as rows of the relations that keep them. The bands are in the order of the rows.
fn duplicate_rows(
    extractor: &Extractor,
    keys: usize,
    rows: &Batch,
    values: &Column,
) -> Result<(Batch, Batch), SearchIndexError> {
    let duplicates = extractor.duplicates().expect("the index is one of near-duplicates");
    let mut scratch = Scratch::default();
    let (mut of_bands, mut bands) = (vec![], vec![]);
    let (mut of_signatures, mut signatures) = (vec![], vec![]);
    for row in 0..rows.len {
        let Some(signature) = duplicates.signature(&values.get(row), &mut scratch)? else { continue };
        make_room(duplicates.parameters.bands * size_of::<DataValue>())?;
        for key in signature.band_keys(duplicates.parameters) {
            of_bands.push(row as u32);
            bands.push(DataValue::Bytes(key.to_vec()));
        }
        of_signatures.push(row as u32);
        signatures.push(DataValue::Bytes(signature.to_bytes()));
    }
    let key = |rows_of: &[u32]| rows.columns[..keys].iter().map(|column| column.take(rows_of)).collect::<Vec<_>>();
    let columns = std::iter::once(Column::Any(bands)).chain(key(&of_bands)).collect();
    let bands = Batch { columns, len: of_bands.len() };
    let columns = key(&of_signatures).into_iter().chain([Column::Any(signatures)]).collect();
    Ok((bands, Batch { columns, len: of_signatures.len() }))
}

fn put_duplicates(
    index: &SearchIndex,
    extractor: &Extractor,
    keys: usize,
    rows: Batch,
    values: &Column,
    txn: &mut Transaction,
) -> Result<(), SearchIndexError> {
    let (bands, signatures) = duplicate_rows(extractor, keys, &rows, values)?;
    txn.write_derived(&index.stored[0], ChangeKind::Put, sorted(bands, keys + 1));
    txn.write_derived(&index.stored[1], ChangeKind::Put, signatures);
    Ok(())
}

fn remove_duplicates(
    index: &SearchIndex,
    extractor: &Extractor,
    keys: usize,
    rows: Batch,
    txn: &mut Transaction,
) -> Result<(), SearchIndexError> {
    if rows.is_empty() {
        return Ok(());
    }
    let values = extractor.values(&rows)?;
    let (bands, signatures) = duplicate_rows(extractor, keys, &rows, &values)?;
    txn.write_derived(&index.stored[0], ChangeKind::Remove, sorted(bands, keys + 1));
    txn.write_derived(&index.stored[1], ChangeKind::Remove, key_columns(signatures, keys));
    Ok(())
}
