//! Searching for near-duplicates: the rows that share a band with what is searched for.

use super::error::SearchIndexError;
use super::extractor::{Extractor, Scratch};
use super::hits::{Hits, SearchColumn, SearchWork, Way};
use crate::budget::make_room;
use crate::schema::{SchemaRef, SearchIndex};
use crate::storage::Snapshot;
use crate::text::Signature;
use crate::value::sort::last_of_each_key;
use crate::value::{Batch, Column, DataValue};

/// The rows that are read at once.
const BATCH_ROWS: usize = 16 * 1024;

/// The candidates for near-duplicates, in key order, if they are similar enough. `extras` lists what is wanted besides the keys.
pub fn candidates(
    index: &SearchIndex,
    extractor: &Extractor,
    query: &DataValue,
    min_similarity: Option<f64>,
    extras: &[SearchColumn],
    snapshot: &dyn Snapshot,
) -> Result<Hits, SearchIndexError> {
    let duplicates = extractor.duplicates().expect("the index is one of near-duplicates");
    let [bands, signatures] = &index.stored;
    let keys = signatures.keys.len();
    let mut found = Batch::empty(keys);
    let mut work = SearchWork::default();
    if matches!(query, DataValue::Null) {
        return Ok(Hits { keys: found, extras: Batch::empty(extras.len()), is_all: true, work });
    }
    let Some(signature) = duplicates.signature(query, &mut Scratch::default())? else {
        return Err(extractor.cannot_search(query, "a string, a list or null"));
    };
    let hashes = signature.band_keys(duplicates.parameters).map(|key| DataValue::Bytes(key.to_vec())).collect();
    let prefixes = [Column::Any(hashes)];
    let columns: Vec<usize> = (1..=keys).collect();
    let mut cursor = snapshot.lookup(bands.id, &prefixes, &columns, None)?;
    while let Some(matches) = cursor.next_matches(BATCH_ROWS)? {
        make_room(matches.batch.memory_bytes())?;
        found.append(&matches.batch);
    }
    drop(cursor);
    let found = last_of_each_key(found, keys);
    work.note(Way::Bands, found.len);
    if extras.is_empty() && min_similarity.is_none() {
        return Ok(Hits { extras: Batch { columns: vec![], len: found.len }, keys: found, is_all: true, work });
    }
    let similarities = similarities(&signature, &found, signatures, snapshot)?;
    let least = min_similarity.unwrap_or(0.0);
    let alike: Vec<u32> = (0..found.len as u32).filter(|row| similarities[*row as usize] >= least).collect();
    let column = Column::floats(similarities);
    let extras = Batch { columns: extras.iter().map(|_| column.clone()).collect(), len: found.len };
    Ok(Hits { keys: found, extras, is_all: true, work }.take(&alike))
}

/// The estimated similarity of each row to a signature.
fn similarities(
    signature: &Signature,
    rows: &Batch,
    signatures: &SchemaRef,
    snapshot: &dyn Snapshot,
) -> Result<Vec<f64>, SearchIndexError> {
    let mut similarities = vec![0.0; rows.len];
    if rows.is_empty() {
        return Ok(similarities);
    }
    let mut cursor = snapshot.lookup(signatures.id, &rows.columns, &[signatures.keys.len()], None)?;
    while let Some(matches) = cursor.next_matches(BATCH_ROWS)? {
        for (i, row) in matches.probe_rows.iter().enumerate() {
            let stored = matches.batch.columns[0].get(i);
            let other = stored.get_bytes().and_then(Signature::from_bytes);
            similarities[*row as usize] = other.map_or(0.0, |other| signature.similarity(&other));
        }
    }
    Ok(similarities)
}
