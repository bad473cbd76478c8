//! Cursors over a tree: scans of a range of row numbers, and look-ups of key prefixes.

use std::ops::Range;

use smallvec::SmallVec;

use super::finger::Finger;
use super::limits::{BATCH_VECTOR_BYTES, MAX_LEAF_ROWS};
use super::loads::load;
use super::node::Node;
use super::prefetch::{MAX_WALKS, PrefetchWalks};
use crate::storage::cursor::{BatchCursor, LookupCursor, Matches, probe_count};
use crate::storage::error::StorageError;
use crate::storage::key::{Key, ProbeKeys, keys_at};
use crate::value::{Batch, Column, DataValue, compare_columns};

/// Rows of a key range, in key order.
pub struct ScanCursor<'a> {
    finger: Finger<'a>,
    /// The next row of the finger's leaf.
    row: usize,
    remaining: u64,
    columns: SmallVec<[usize; 6]>,
}

impl<'a> ScanCursor<'a> {
    /// The rows of a range of row numbers.
    pub(super) fn new(root: &'a Node, ranks: Range<u64>, columns: &[usize]) -> Self {
        let (finger, row) = Finger::at_rank(root, ranks.start);
        ScanCursor { finger, row, remaining: ranks.end.saturating_sub(ranks.start), columns: columns.into() }
    }
}

impl BatchCursor for ScanCursor<'_> {
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError> {
        let mut rows = self.remaining.min(max_rows.max(1) as u64) as usize;
        if rows == 0 {
            return Ok(None);
        }
        let mut batch = Batch::empty(self.columns.len());
        while batch.len < rows {
            if self.row == self.finger.leaf.len {
                let moved = self.finger.next_leaf();
                debug_assert!(moved, "rows remain");
                self.row = 0;
            }
            let wanted = (self.remaining - batch.len as u64).min(MAX_LEAF_ROWS as u64) as usize;
            let (rest, free) = (wanted.min(self.finger.leaf.len - self.row), rows - batch.len);
            // A batch ends with a whole leaf rather than with a part of the next one.
            if rest > free && free < rows / 2 {
                break;
            }
            let count = rest.min(free);
            append(&self.finger, self.row..self.row + count, &self.columns, &mut batch);
            self.row += count;
            // The first leaf determines the types of the columns. Reserving the rest now avoids a copy with each further leaf.
            if batch.len == count && count < rows {
                rows = rows.min(rows_of_vectors(&batch)).max(count);
                batch.columns.iter_mut().for_each(|column| column.try_reserve(rows - count));
            }
        }
        self.remaining -= batch.len as u64;
        Ok(Some(batch))
    }
}

/// The number of rows of a batch with vectors like those of a first leaf.
fn rows_of_vectors(first: &Batch) -> usize {
    let bytes = |column: &Column| if let Column::Vec(vectors) = column { vectors.row_bytes() } else { 0 };
    BATCH_VECTOR_BYTES.checked_div(first.columns.iter().map(bytes).sum()).unwrap_or(usize::MAX)
}

/// Appends columns of rows of the finger's leaf.
#[inline]
pub(super) fn append(finger: &Finger, rows: Range<usize>, columns: &[usize], batch: &mut Batch) {
    batch.len += rows.len();
    for (column, target) in columns.iter().zip(&mut batch.columns) {
        finger.leaf.columns[*column].append_range(rows.clone(), target);
    }
}

/// Finds the rows of one probe after another.
///
/// Probes are handled in groups. If the probes of a group jumped between leaves, the next group is prefetched together.
/// Otherwise each probe is found from the finger of the one before.
pub(super) struct Seeker<'a> {
    root: &'a Node,
    pub prefixes: &'a [Column],
    /// A value that follows each of the prefixes.
    last: Option<DataValue>,
    /// The columns to be read of the rows.
    pub columns: SmallVec<[usize; 6]>,
    pub finger: Option<Finger<'a>>,
    /// The last probe.
    pub probe: usize,
    /// The rows of the last probe in the finger's leaf. If there are none, the range is empty and lies where they would be.
    pub found: Range<usize>,
    /// Whether the probe's rows began in an earlier leaf.
    moved: bool,
    /// The probes of the current group.
    group: Range<usize>,
    /// The position of each probe of the group; empty if the group is not prefetched.
    sought: Vec<(Finger<'a>, Range<usize>)>,
    /// The number of probes of the group that lie in another leaf than the probe before.
    jumps: usize,
}

/// The number of probes in a group.
const GROUP: usize = MAX_WALKS;

/// After a group with fewer jumps the next group is not prefetched. Probes that stay in one leaf find its memory in the cache.
const MANY_JUMPS: usize = GROUP * 3 / 4;

impl<'a> Seeker<'a> {
    pub fn new(root: &'a Node, prefixes: &'a [Column], last: Option<DataValue>, columns: &[usize]) -> Self {
        Seeker {
            root,
            prefixes,
            last,
            columns: columns.into(),
            finger: None,
            probe: 0,
            found: 0..0,
            moved: false,
            group: 0..0,
            sought: vec![],
            jumps: if begins_in_one_run(prefixes) { 0 } else { GROUP },
        }
    }

    /// Seeks a probe. Returns whether there are rows.
    #[inline]
    pub fn seek(&mut self, row: usize) -> bool {
        if !self.group.contains(&row) {
            self.begin_group(row);
        }
        let keys = || probe_keys(self.prefixes, &self.last, row);
        let order = compare_columns(self.prefixes, row, self.prefixes, self.probe);
        match (&mut self.finger, self.sought.get(row - self.group.start)) {
            (Some(_), _) if order.is_eq() && !self.moved => {}
            (place, Some((finger, found))) => (*place, self.found) = (Some(finger.clone()), found.clone()),
            (Some(finger), None) if order.is_gt() => {
                let leaf = finger.leaf;
                self.found = finger.seek_forward(self.found.end, &keys());
                self.jumps += usize::from(!std::ptr::eq(leaf, finger.leaf));
            }
            (place, _) => {
                let (finger, found) = Finger::seek(self.root, &keys());
                (*place, self.found) = (Some(finger), found);
                self.jumps += 1;
            }
        }
        self.moved = false;
        self.probe = row;
        !self.found.is_empty()
    }

    /// Begins the group of probes from `row` on. After a group of many jumps it descends to all leaves together, so that their
    /// cache misses overlap.
    fn begin_group(&mut self, row: usize) {
        self.sought.clear();
        self.group = row..probe_count(self.prefixes).min(row + GROUP);
        let far = std::mem::take(&mut self.jumps) >= MANY_JUMPS;
        if !far || self.group.len() == 1 || matches!(self.root, Node::Leaf(_)) {
            return;
        }
        let mut walks = PrefetchWalks::default();
        for row in self.group.clone() {
            walks.push(self.root, probe_keys(self.prefixes, &self.last, row));
        }
        for walk in walks.into_leaves() {
            let before = self.sought.last().map(|(finger, _)| finger).or(self.finger.as_ref());
            self.jumps += usize::from(before.is_none_or(|before| !walk.aim.is_at(before.leaf)));
            self.sought.push(walk.aim.seek(&walk.key));
        }
        load(self.sought.iter().map(|(finger, found)| finger.leaf.prefetch_row(found.start, &self.columns)));
    }

    /// Moves on to rows of the same probe in the next leaf. Returns whether there are any.
    fn go_on(&mut self) -> bool {
        let Some(finger) = &mut self.finger else { return false };
        if self.found.end < finger.leaf.len || !finger.next_leaf() {
            return false;
        }
        self.moved = true;
        self.found = finger.leaf.equal_range(0, &keys_at(self.prefixes, self.probe));
        !self.found.is_empty()
    }
}

/// Whether the second probe differs from the first in the last column alone. Then their rows lie close together, and likely those
/// of the following probes too.
fn begins_in_one_run(prefixes: &[Column]) -> bool {
    match prefixes {
        [leading @ .., _] if !leading.is_empty() => {
            probe_count(prefixes) > 1 && compare_columns(leading, 0, leading, 1).is_eq()
        }
        _ => false,
    }
}

/// The keys of a probe.
#[inline]
fn probe_keys<'k>(prefixes: &'k [Column], last: &'k Option<DataValue>, row: usize) -> ProbeKeys<'k> {
    let mut keys = keys_at(prefixes, row);
    if let Some(last) = last {
        keys.push(Key::of(last));
    }
    keys
}

/// Rows that begin with the prefixes, in the order of the prefixes.
pub struct TreeLookupCursor<'a> {
    seeker: Seeker<'a>,
    /// The next prefix to seek.
    next: usize,
    /// The number of prefixes.
    len: usize,
    /// The rows of the current leaf that are not returned yet.
    pending: Range<usize>,
}

impl<'a> TreeLookupCursor<'a> {
    pub(super) fn new(root: &'a Node, prefixes: &'a [Column], columns: &[usize]) -> Self {
        let len = probe_count(prefixes);
        let seeker = Seeker::new(root, prefixes, None, columns);
        TreeLookupCursor { seeker, next: 0, len, pending: 0..0 }
    }

    /// Makes rows pending. Returns `false` after the last.
    #[inline]
    fn advance(&mut self) -> bool {
        let mut found = self.next > 0 && self.seeker.go_on();
        while !found && self.next < self.len {
            found = self.seeker.seek(self.next);
            self.next += 1;
        }
        if found {
            self.pending = self.seeker.found.clone();
        }
        found
    }
}

impl LookupCursor for TreeLookupCursor<'_> {
    fn next_matches(&mut self, max_rows: usize) -> Result<Option<Matches>, StorageError> {
        let max_rows = max_rows.max(1);
        let probe_rows = Vec::with_capacity(max_rows.min(self.len - self.next + 4));
        let mut matches = Matches { probe_rows, batch: Batch::empty(self.seeker.columns.len()) };
        while matches.batch.len < max_rows && (!self.pending.is_empty() || self.advance()) {
            let start = self.pending.start;
            let rows = start..self.pending.end.min(start + max_rows - matches.batch.len);
            self.pending.start = rows.end;
            matches.probe_rows.extend(std::iter::repeat_n(self.seeker.probe as u32, rows.len()));
            let finger = self.seeker.finger.as_ref().expect("rows were found");
            append(finger, rows, &self.seeker.columns, &mut matches.batch);
        }
        Ok((matches.batch.len > 0).then_some(matches))
    }
}
