//! Cursors over a tree: scans of a range of row numbers, and look-ups of key prefixes.

use std::ops::Range;

use smallvec::SmallVec;

use super::finger::Finger;
use super::key::{Key, Probe, keys_at};
use super::node::Node;
use crate::storage::{BatchCursor, LookupCursor, Matches, StorageError, probe_count};
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
        let rows = self.remaining.min(max_rows.max(1) as u64) as usize;
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
            let count = (rows - batch.len).min(self.finger.leaf.len - self.row);
            append(&self.finger, self.row..self.row + count, &self.columns, &mut batch);
            self.row += count;
        }
        self.remaining -= rows as u64;
        Ok(Some(batch))
    }
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
pub(super) struct Seeker<'a> {
    root: &'a Node,
    pub prefixes: &'a [Column],
    /// What follows each of the prefixes.
    last: Option<DataValue>,
    pub finger: Option<Finger<'a>>,
    /// The probe sought last.
    pub probe: usize,
    /// Its rows in the finger's leaf; empty, at the place where they would be, if there are none.
    pub found: Range<usize>,
    /// Whether the probe's rows began in an earlier leaf.
    moved: bool,
}

impl<'a> Seeker<'a> {
    pub fn new(root: &'a Node, prefixes: &'a [Column], last: Option<DataValue>) -> Self {
        Seeker { root, prefixes, last, finger: None, probe: 0, found: 0..0, moved: false }
    }

    /// Seeks a probe; whether there are rows.
    #[inline]
    pub fn seek(&mut self, row: usize) -> bool {
        let mut keys = keys_at(self.prefixes, row);
        keys.extend(self.last.as_ref().map(Key::of));
        let probe: Probe = &keys;
        let order = compare_columns(self.prefixes, row, self.prefixes, self.probe);
        match &mut self.finger {
            Some(finger) if order.is_gt() => self.found = finger.seek_forward(self.found.end, probe),
            Some(_) if order.is_eq() && !self.moved => {}
            place => {
                let (finger, found) = Finger::seek(self.root, probe);
                (*place, self.found) = (Some(finger), found);
            }
        }
        self.moved = false;
        self.probe = row;
        !self.found.is_empty()
    }

    /// Moves on to rows of the same probe in the next leaf; whether there are any.
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

/// Rows that begin with the prefixes, in the order of the prefixes.
pub struct TreeLookupCursor<'a> {
    seeker: Seeker<'a>,
    /// The next prefix to seek.
    next: usize,
    /// The number of prefixes.
    len: usize,
    /// The rows of the current leaf that are still to be handed out.
    pending: Range<usize>,
    columns: SmallVec<[usize; 6]>,
}

impl<'a> TreeLookupCursor<'a> {
    pub(super) fn new(root: &'a Node, prefixes: &'a [Column], columns: &[usize]) -> Self {
        let len = probe_count(prefixes);
        let seeker = Seeker::new(root, prefixes, None);
        TreeLookupCursor { seeker, next: 0, len, pending: 0..0, columns: columns.into() }
    }

    /// Makes rows pending; `false` after the last.
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
        let mut matches = Matches { probe_rows, batch: Batch::empty(self.columns.len()) };
        while matches.batch.len < max_rows && (!self.pending.is_empty() || self.advance()) {
            let start = self.pending.start;
            let rows = start..self.pending.end.min(start + max_rows - matches.batch.len);
            self.pending.start = rows.end;
            matches.probe_rows.extend(std::iter::repeat_n(self.seeker.probe as u32, rows.len()));
            let finger = self.seeker.finger.as_ref().expect("rows were found");
            append(finger, rows, &self.columns, &mut matches.batch);
        }
        Ok((matches.batch.len > 0).then_some(matches))
    }
}
