//! Whether an index holds what follows from the rows of its relation.
//!
//! What the parts hold together is compared with an index that is made anew from the relation.
//!
//! | index | compared |
//! |---|---|
//! | vectors | the links of graphs; the place of each live vector, and its elements or codes |
//! | texts | the merged postings, to the byte; the statistics of deleted texts |
//! | near-duplicates | all rows |
//!
//! Links depend on the order in which an index was made, so they need not be those of the new one.

use super::error::SearchIndexError;
use super::follow::derived_duplicates;
use super::rows::scanned;
use super::segment::{Content, Merged, Segment, SegmentBuilder};
use super::vector_content::VectorContent;
use super::view::{IndexView, Indexed, Part};
use crate::schema::SchemaRef;
use crate::search::vectors::LinkFault;
use crate::storage::{KeyRange, Snapshot};
use crate::value::sort::sorted;
use crate::value::{Batch, DataValue, compare_columns};

/// The rows that are read at once.
const BATCH_ROWS: usize = 4096;

/// From so many links of a node on, a graph is connected. Unit: links. Bench: none; fewer find little.
const LINKS_OF_CONNECTED: usize = 3;

/// The problems of an index, in words.
pub fn verify(of: Indexed<'_>) -> Result<Vec<String>, SearchIndexError> {
    let name = &of.index.listing.name;
    if of.extractor.duplicates().is_some() {
        let derived = derived_duplicates(of)?;
        let mut agrees = true;
        for (schema, rows) in of.index.stored.iter().zip(&derived) {
            agrees &= holds(schema, rows, of.snapshot)?;
        }
        return Ok(if agrees { vec![] } else { vec![disagreement(of)] });
    }
    let view = IndexView::open(of)?;
    if view.is_made_anew {
        let what = if view.manifest.is_some() { "a segment" } else { "the list of segments" };
        let until = "until '::reindex' makes the index anew";
        return Ok(vec![format!("{what} of the index '{name}' is damaged: searches read the whole relation {until}")]);
    }
    let mut anew = SegmentBuilder::new(of.extractor, of.relation.keys.len());
    scanned(of.base(), |rows| anew.add(&rows))?;
    let anew = Part::alive(anew.finish(false)?);
    match &anew.segment.content {
        Content::Vectors(_) => Ok(problems_of_vectors(of, &view.parts, &anew)),
        Content::Text(_) => problems_of_texts(of, &view.parts, &anew.segment),
    }
}

/// That an index holds other rows than it should.
fn disagreement(of: Indexed<'_>) -> String {
    let name = &of.index.listing.name;
    format!("the index '{name}' does not agree with its relation: '::reindex {name}' makes it anew")
}

/// The problems of an index of vectors.
fn problems_of_vectors(of: Indexed<'_>, parts: &[Part], anew: &Part) -> Vec<String> {
    let name = &of.index.listing.name;
    let mut problems = vec![];
    for content in parts.iter().filter_map(vectors_of) {
        let mut broken = content.index.verify();
        if content.index.max_links() < LINKS_OF_CONNECTED {
            // So few links may leave nodes without a way to them.
            broken.retain(|link| link.fault != LinkFault::Unreachable);
        }
        if let Some(first) = broken.first() {
            let problem = format!("has {} broken links, the first: {first}", broken.len());
            problems.push(format!("the index '{name}' {problem}: '::reindex {name}' makes it anew"));
        }
    }
    let keys = of.relation.keys.len();
    let (held, wanted) = (vectors(parts, keys), vectors(std::slice::from_ref(anew), keys));
    let same_place =
        |row: &usize| compare_columns(&held.columns[..keys + 2], *row, &wanted.columns[..keys + 2], *row).is_eq();
    if held.len != wanted.len || !(0..held.len).all(|row| same_place(&row)) {
        problems.push(disagreement(of));
        return problems;
    }
    let number = |of: &Batch, row: usize, column: usize| of.columns[column].get(row).get_int().unwrap_or(0);
    let same_vector = |row: &usize| {
        let held_by = vectors_of(&parts[number(&held, *row, keys + 2) as usize]);
        let [node, fresh] = [&held, &wanted].map(|of| number(of, *row, keys + 3) as u32);
        held_by
            .zip(vectors_of(anew))
            .is_some_and(|(held_by, anew)| held_by.index.has_vector_of(node, &anew.index, fresh))
    };
    let others: Vec<usize> = (0..held.len).filter(|row| !same_vector(row)).collect();
    if let Some(first) = others.first() {
        let key: Vec<String> = held.columns[..keys].iter().map(|column| column.get(*first).to_string()).collect();
        problems.push(format!(
            "the index '{name}' has {} vectors that differ from those of its relation, the first at [{}]: '::reindex {name}' makes it anew",
            others.len(),
            key.join(", ")
        ));
    }
    problems
}

/// The live vectors of parts, in order: the keys, the column, the place in a list, and then the part and the node.
fn vectors(parts: &[Part], keys: usize) -> Batch {
    let mut all = Batch::empty(keys + 4);
    for (number, part) in parts.iter().enumerate() {
        let Some(content) = vectors_of(part) else { continue };
        for node in 0..content.index.len() as u32 {
            if part.live_nodes.as_ref().is_none_or(|live| live.set.contains(node as usize)) {
                let place = content.places.of(node);
                let mut row = part.segment.keys.row(place.doc as usize);
                let numbers = [i64::from(place.column), i64::from(place.element), number as i64, i64::from(node)];
                row.extend(numbers.map(DataValue::from));
                all.push_row(&row);
            }
        }
    }
    sorted(all, keys + 2)
}

fn vectors_of(part: &Part) -> Option<&VectorContent> {
    match &part.segment.content {
        Content::Vectors(content) => Some(content),
        Content::Text(_) => None,
    }
}

/// The problems of an index of texts. The merged segment of what is alive must be the one that is made anew.
fn problems_of_texts(of: Indexed<'_>, parts: &[Part], anew: &Segment) -> Result<Vec<String>, SearchIndexError> {
    let mut problems = vec![];
    for part in parts {
        let (Content::Text(content), Some(deletions)) = (&part.segment.content, &part.deletions) else { continue };
        let docs: Vec<u32> = deletions.docs().collect();
        if content.postings.delete(&docs, None) != **deletions {
            let name = &of.index.listing.name;
            problems
                .push(format!("the index '{name}' counts its deleted texts wrongly: '::reindex {name}' makes it anew"));
        }
    }
    let merged: Vec<Merged<'_>> =
        parts.iter().map(|part| Merged { segment: &part.segment, dead: &part.dead }).collect();
    let held = if merged.is_empty() { None } else { Some(Segment::merge(&merged)?) };
    let agrees = match &held {
        Some(held) if held.len() + anew.len() > 0 => {
            let same_key = |row: usize| held.keys.compare_rows(row, &anew.keys, row).is_eq();
            let postings = [held, anew].map(|segment| match &segment.content {
                Content::Text(content) => Some(&content.postings),
                Content::Vectors(_) => None,
            });
            held.len() == anew.len() && (0..held.len()).all(same_key) && postings[0] == postings[1]
        }
        _ => anew.len() == 0,
    };
    if !agrees {
        problems.push(disagreement(of));
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
