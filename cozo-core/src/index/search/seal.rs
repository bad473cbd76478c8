//! Sealing: moving the tail of an index into a segment, in a commit of its own after which every search has the same answers.
//!
//! ```text
//! prepare   in a snapshot, which may take long:  the new segment: the tail, and sealed segments that are small beside it
//! apply     in a transaction, which is short:    writes it; a key stays in `changed` if its row has changed since the snapshot
//! ```
//!
//! Segments are merged so that each is several times larger than all after it together: a row is written again few times, and a search
//! looks into few segments. A segment with many dead rows is merged, too.

use std::sync::Arc;

use super::error::SearchIndexError;
use super::extractor::Extractor;
use super::rows::{keys_of, looked_up};
use super::segment::{Merged, Segment, SegmentBuilder};
use super::segments::Manifest;
use super::thresholds::{MAX_DEAD_SHARE, MERGE_RATIO};
use super::view::{IndexView, Indexed, Part, build_segment};
use crate::schema::{SchemaRef, SearchIndex};
use crate::storage::ChangeKind;
use crate::txn::Transaction;
use crate::value::{Batch, Column, compare_columns};

/// A new segment before it is written.
pub struct Prepared {
    /// The manifest that it follows. None if it cannot be read.
    before: Option<Manifest>,
    /// The segments that it replaces, by their places in the manifest.
    merged: Vec<usize>,
    /// The segments that were there.
    parts: Vec<Part>,
    /// The new segment, unless it has no rows.
    segment: Option<Arc<Segment>>,
    /// The keys of the tail.
    keys: Batch,
    /// The rows of the tail, as far as there are any.
    rows: Batch,
    /// Whether the segment has all rows of the relation, and is of use even if all rows of the tail change meanwhile.
    is_whole: bool,
}

/// The segments after a sealing.
pub struct Sealed {
    /// The new segment with its number, unless it has no rows.
    pub segment: Option<(u64, Arc<Segment>)>,
    /// The numbers of all segments.
    pub numbers: Vec<u64>,
}

/// Makes the segment that replaces the tail.
pub fn prepare(of: Indexed<'_>) -> Result<Prepared, SearchIndexError> {
    let view = IndexView::open(of)?;
    if view.is_made_anew {
        let segment = view.parts.first().map(|part| part.segment.clone());
        return whole(of, view.manifest.clone(), segment);
    }
    let keys = keys_of(&of.index.stored[0], of.snapshot)?;
    let rows = looked_up(of.base(), &keys)?;
    let sealed = &view.parts[..view.sealed];
    let merged = to_merge(sealed, rows.len);
    let mut tail = SegmentBuilder::new(of.extractor, of.relation.keys.len());
    tail.add(&rows)?;
    let segment = match merged.is_empty() {
        true => tail.finish(true)?,
        false => {
            let tail = tail.finish(false)?;
            let of_part = |at: &usize| Merged { segment: &sealed[*at].segment, dead: &sealed[*at].dead };
            let parts: Vec<Merged<'_>> =
                merged.iter().map(of_part).chain([Merged { segment: &tail, dead: &[] }]).collect();
            Segment::merge(&parts)?
        }
    };
    let segment = (segment.len() > 0).then(|| Arc::new(segment));
    let parts = sealed.to_vec();
    Ok(Prepared { before: view.manifest.clone(), merged, parts, segment, keys, rows, is_whole: false })
}

/// Makes one segment of all rows of the relation, in place of all that the index has.
pub fn prepare_anew(of: Indexed<'_>) -> Result<Prepared, SearchIndexError> {
    let before = Manifest::read(&of.index.stored[1], of.snapshot)?;
    let segment = build_segment(of)?;
    whole(of, before, (segment.len() > 0).then(|| Arc::new(segment)))
}

/// A segment of all rows of the relation, in place of all that a manifest lists.
fn whole(
    of: Indexed<'_>,
    before: Option<Manifest>,
    segment: Option<Arc<Segment>>,
) -> Result<Prepared, SearchIndexError> {
    let keys = keys_of(&of.index.stored[0], of.snapshot)?;
    let rows = looked_up(of.base(), &keys)?;
    let merged = (0..before.as_ref().map_or(0, |manifest| manifest.segments.len())).collect();
    Ok(Prepared { before, merged, parts: vec![], segment, keys, rows, is_whole: true })
}

/// The segments to merge with a tail of so many rows.
fn to_merge(sealed: &[Part], tail: usize) -> Vec<usize> {
    let live = |part: &Part| part.segment.len() - part.dead.len();
    let mut merged: Vec<usize> = vec![];
    let mut rows = tail;
    for (at, part) in sealed.iter().enumerate().rev() {
        let is_small = live(part) < rows.saturating_mul(MERGE_RATIO);
        if is_small || part.dead.len() as f64 > part.segment.len() as f64 * MAX_DEAD_SHARE {
            rows += live(part);
            merged.push(at);
        }
    }
    merged.reverse();
    merged
}

impl Prepared {
    /// Writes the segment, if the index is as it was and a row of the tail, too. The transaction must have begun after the preparation.
    pub fn apply(
        &self,
        relation: &SchemaRef,
        index: &SearchIndex,
        extractor: &Extractor,
        txn: &mut Transaction,
    ) -> Result<Option<Sealed>, SearchIndexError> {
        let [changed, segments] = &index.stored;
        let view = txn.view(&[relation.id])?;
        let of = Indexed { relation, index, extractor, snapshot: view.of(relation.id), cache: None };
        let now = Manifest::read(segments, of.snapshot)?;
        if now != self.before {
            return Ok(None);
        }
        let settled = self.settled(of)?;
        if settled.is_empty() && !self.is_whole {
            return Ok(None);
        }
        let lost = if now.is_none() { keys_of(segments, of.snapshot)? } else { Batch::default() };
        let mut manifest = now.unwrap_or_else(|| Manifest::cleared(segments, lost, txn));
        for (at, part) in self.parts.iter().enumerate().filter(|(at, _)| !self.merged.contains(at)) {
            let entry = &manifest.segments[at];
            if part.dead.len() == entry.deleted as usize {
                continue;
            }
            entry.deletions.iter().for_each(|blob| blob.remove(segments, txn));
            let blob = manifest.write_blob(segments, &part.deletions_to_bytes(), txn)?;
            (manifest.segments[at].deletions, manifest.segments[at].deleted) = (Some(blob), part.dead.len() as u32);
        }
        for at in self.merged.iter().rev() {
            let entry = manifest.segments.remove(*at);
            [Some(entry.blob), entry.deletions].iter().flatten().for_each(|blob| blob.remove(segments, txn));
        }
        let mut segment = None;
        if let Some(new) = &self.segment {
            segment = Some((manifest.add(new, segments, txn)?.number, new.clone()));
        }
        manifest.write(segments, txn);
        txn.write_derived(changed, ChangeKind::Remove, settled.clone());
        txn.rely_on(relation, &settled.into())?;
        txn.keep_answers();
        Ok(Some(Sealed { segment, numbers: manifest.segments.iter().map(|entry| entry.blob.number).collect() }))
    }

    /// The keys of the tail whose rows are as they were.
    fn settled(&self, of: Indexed<'_>) -> Result<Batch, SearchIndexError> {
        let width = of.relation.keys.len();
        let now = looked_up(of.base(), &self.keys)?;
        let (mut before_row, mut now_row) = (0, 0);
        let mut settled: Vec<u32> = vec![];
        for key in 0..self.keys.len {
            let before = at_key(&self.rows, &mut before_row, &self.keys, key, width);
            let now_at = at_key(&now, &mut now_row, &self.keys, key, width);
            let is_same = match (before, now_at) {
                (Some(a), Some(b)) => {
                    let columns = of.extractor.columns().iter();
                    columns.into_iter().all(|column| self.rows.columns[*column].equals_at(a, &now.columns[*column], b))
                }
                (None, None) => true,
                _ => false,
            };
            if is_same {
                settled.push(key as u32);
            }
        }
        Ok(self.keys.take(&settled))
    }
}

/// The row with a key, if there is one, and moves past it. Rows and keys ascend.
fn at_key(rows: &Batch, row: &mut usize, keys: &Batch, key: usize, width: usize) -> Option<usize> {
    let of: &[Column] = &rows.columns[..width];
    let is_here = *row < rows.len && compare_columns(of, *row, &keys.columns, key).is_eq();
    is_here.then(|| {
        *row += 1;
        *row - 1
    })
}
