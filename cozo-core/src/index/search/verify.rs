//! Whether an index holds what follows from the rows of its relation.
//!
//! The live entries of all parts are compared with an index that is made anew from the relation.

use super::error::SearchIndexError;
use super::follow::derived_duplicates;
use super::listing::words;
use super::rows::scanned;
use super::segment::{Content, SegmentBuilder};
use super::view::{IndexView, Indexed, Part};
use crate::schema::SchemaRef;
use crate::storage::{KeyRange, Snapshot};
use crate::value::sort::sorted;
use crate::value::{Batch, DataValue};

/// The rows that are read at once.
const BATCH_ROWS: usize = 4096;

/// The problems of an index, in words.
pub fn verify(of: Indexed<'_>) -> Result<Vec<String>, SearchIndexError> {
    let name = &of.index.listing.name;
    if of.extractor.duplicates().is_some() {
        let derived = derived_duplicates(of)?;
        let mut agrees = true;
        for (schema, rows) in of.index.stored.iter().zip(&derived) {
            agrees &= holds(schema, rows, of.snapshot)?;
        }
        let problem = format!("the index '{name}' does not agree with its relation: drop it and create it again");
        return Ok(if agrees { vec![] } else { vec![problem] });
    }
    let view = IndexView::open(of)?;
    if view.is_made_anew {
        let what = if view.manifest.is_some() { "a segment" } else { "the list of segments" };
        let until = "until the index is dropped and created again";
        return Ok(vec![format!("{what} of the index '{name}' is damaged: searches read the whole relation {until}")]);
    }
    let mut problems = vec![];
    for part in &view.parts {
        let Content::Vectors(content) = &part.segment.content else { continue };
        let broken = content.index.verify();
        if let Some(first) = broken.first() {
            problems.push(format!("the index '{name}' has {} broken links, the first: {first:?}", broken.len()));
        }
    }
    let mut anew = SegmentBuilder::new(of.extractor, of.relation.keys.len());
    scanned(of.base(), |rows| anew.add(&rows))?;
    let anew = Part::alive(anew.finish(false)?);
    let (held, wanted) = (entries(of, &view.parts)?, entries(of, std::slice::from_ref(&anew))?);
    let same = |row: usize| held.compare_rows(row, &wanted, row).is_eq();
    if held.len != wanted.len || !(0..held.len).all(same) {
        problems.push(format!("the index '{name}' does not agree with its relation: drop it and create it again"));
    }
    Ok(problems)
}

/// Whether a relation has these rows and no others.
fn holds(schema: &SchemaRef, rows: &Batch, snapshot: &dyn Snapshot) -> Result<bool, SearchIndexError> {
    let columns: Vec<usize> = (0..schema.arity()).collect();
    let mut cursor = snapshot.scan(schema.id, &KeyRange::all(), &columns, None)?;
    let mut row = 0;
    while let Some(batch) = cursor.next_batch(BATCH_ROWS)? {
        let same = |at: usize| row + at < rows.len && rows.compare_rows(row + at, &batch, at).is_eq();
        if !(0..batch.len).all(same) {
            return Ok(false);
        }
        row += batch.len;
    }
    Ok(row == rows.len)
}

/// The live entries of parts, in order: the keys, columns and places in lists of vectors, or the words of texts.
fn entries(of: Indexed<'_>, parts: &[Part]) -> Result<Batch, SearchIndexError> {
    let keys = of.relation.keys.len();
    let width = if of.extractor.vectors().is_some() { keys + 2 } else { of.index.listing.arity() };
    let mut entries = Batch::empty(width);
    for part in parts {
        let content = match &part.segment.content {
            Content::Vectors(content) => content,
            Content::Text(content) => {
                words(part, content, &mut entries)?;
                continue;
            }
        };
        for node in 0..content.index.len() as u32 {
            if part.live_nodes.as_ref().is_none_or(|live| live.set.contains(node as usize)) {
                let place = content.places.of(node);
                let mut row = part.segment.keys.row(place.doc as usize);
                row.extend([i64::from(place.column), i64::from(place.element)].map(DataValue::from));
                entries.push_row(&row);
            }
        }
    }
    Ok(sorted(entries, width))
}
