//! Histories read as of a time. The visible version of a history is found by seeking, and so is the end of a long history.
//!
//! A prefix of all key columns but the Validity takes one seek ([`VersionLookup`]). A scan, or a shorter prefix, walks through
//! the histories:
//!
//! ```text
//!  row of the leaf   0        1        2        3        4        5       | next leaf
//!  key               a        a        a        b        b        c       | c ...
//!  at                30       20       10       25       5        40      | 12
//!
//!  as of 22:         a: gallop to row 1, the version; gallop to row 3, the end
//!                    b: row 4 is the version, the end is row 5
//!                    c: open at the end of the leaf: seek (c, 22), and then past the end of c
//! ```

use std::ops::Range;
use std::ptr;

use smallvec::SmallVec;

use super::columns::equal_range;
use super::cursor::{Seeker, append};
use super::finger::Finger;
use super::leaf::Leaf;
use super::leaf_column::LeafColumn;
use super::node::Node;
use super::search::run_end;
use crate::storage::cursor::{BatchCursor, LookupCursor, Matches, probe_count};
use crate::storage::error::StorageError;
use crate::storage::key::{Key, Probe, keys_at};
use crate::storage::range::AsOf;
use crate::value::{Batch, Column, DataValue, Validity};

/// The first version that may be visible: the assertion at the time itself.
fn first_candidate(as_of: AsOf) -> Validity {
    Validity::from((as_of.micros, true))
}

/// The last possible version of a history.
const OLDEST: (i64, bool) = (i64::MIN, false);

impl Leaf {
    /// The end of the row's history: of the rows up to `limit` with the same values before the Validity.
    fn history_end(&self, row: usize, limit: usize, as_of: AsOf) -> usize {
        // Columns are taken in order, since a column is sorted only within the runs of the columns before it.
        self.columns[..as_of.column].iter().fold(limit, |end, column| column.run_end(row..end))
    }

    /// The first row, in a part of a history, at or before the time; otherwise the end of the part.
    fn version(&self, history: Range<usize>, as_of: AsOf) -> usize {
        let (column, candidate) = (&self.columns[as_of.column], first_candidate(as_of));
        run_end(history, |row| column.validity(row).is_some_and(|validity| validity < candidate))
    }

    fn asserts(&self, row: usize, as_of: AsOf) -> bool {
        self.columns[as_of.column].validity(row).is_some_and(|validity| validity.asserts())
    }

    /// Whether the row exists and begins with the probe.
    fn begins_with(&self, row: usize, probe: Probe) -> bool {
        row < self.len && !equal_range(&self.columns, row..row + 1, probe).is_empty()
    }
}

/// The end of a walk. It always lies between two histories.
enum End<'a> {
    /// The walk ends before a row of a leaf.
    Before(&'a Leaf, usize),
    /// The walk ends after the rows that begin with a row of these columns.
    Prefix(&'a [Column], usize),
}

impl End<'_> {
    /// The end of the walk's rows in a leaf, from `row` on.
    fn limit(&self, leaf: &Leaf, row: usize) -> usize {
        match self {
            End::Before(last, end) if ptr::eq(leaf, *last) => *end,
            End::Before(..) => leaf.len,
            End::Prefix(columns, probe) => leaf.equal_range(row, &keys_at(columns, *probe)).end,
        }
    }
}

/// A walk through consecutive histories, which finds the visible version of each.
struct Walk<'a> {
    finger: Finger<'a>,
    /// The first row of the next history, in the finger's leaf.
    row: usize,
    end: End<'a>,
    as_of: AsOf,
}

/// A history that reaches the end of its leaf and may continue in the next.
struct Open {
    /// One of its rows.
    row: usize,
    /// Whether its version is found.
    decided: bool,
}

impl Walk<'_> {
    /// Appends columns of visible rows until the batch has `max_rows` or no history is left.
    fn fill(&mut self, max_rows: usize, columns: &[usize], batch: &mut Batch) {
        let mut rows = vec![];
        while batch.len < max_rows
            && let Some(limit) = self.enter()
        {
            let open = self.visible_in_leaf(limit, max_rows - batch.len, &mut rows);
            append_rows(self.finger.leaf, &rows, columns, batch);
            rows.clear();
            if let Some(open) = open {
                self.leave(open, columns, batch);
            }
        }
    }

    /// Moves to the next leaf at the end of this one. Returns the end of the walk's rows in the leaf, if there are any.
    fn enter(&mut self) -> Option<usize> {
        if self.row == self.finger.leaf.len {
            if !self.finger.next_leaf() {
                return None;
            }
            self.row = 0;
        }
        let limit = self.end.limit(self.finger.leaf, self.row);
        (self.row < limit).then_some(limit)
    }

    /// Collects at most `room` visible rows of the finger's leaf. Stops at a history that may continue in the next leaf.
    fn visible_in_leaf(&mut self, limit: usize, room: usize, rows: &mut Vec<u32>) -> Option<Open> {
        let leaf = self.finger.leaf;
        while self.row < limit && rows.len() < room {
            let row = self.row;
            let end = leaf.history_end(row, limit, self.as_of);
            let version = leaf.version(row..end, self.as_of);
            if version < end && leaf.asserts(version, self.as_of) {
                rows.push(version as u32);
            }
            self.row = end;
            if end == leaf.len {
                return Some(Open { row, decided: version < end });
            }
        }
        None
    }

    /// Leaves an open history. Seeks its version, if it is not found yet, and then its end.
    fn leave(&mut self, open: Open, columns: &[usize], batch: &mut Batch) {
        let key = &self.finger.leaf.columns[..self.as_of.column];
        let key: Vec<Column> = key.iter().map(|column| one_row(column, open.row)).collect();
        if !open.decided {
            self.seek(&key, first_candidate(self.as_of));
            let leaf = self.finger.leaf;
            if leaf.begins_with(self.row, &keys_at(&key, 0)) && leaf.asserts(self.row, self.as_of) {
                append(&self.finger, self.row..self.row + 1, columns, batch);
            }
        }
        self.seek(&key, Validity::from(OLDEST));
    }

    /// Moves forward to the first row at or after a version.
    fn seek(&mut self, key: &[Column], validity: Validity) {
        let last = DataValue::Validity(validity);
        let mut probe = keys_at(key, 0);
        probe.push(Key::of(&last));
        self.row = self.finger.seek_forward(self.row, &probe).start;
    }
}

fn one_row(column: &LeafColumn, row: usize) -> Column {
    let mut value = Column::default();
    column.append_range(row..row + 1, &mut value);
    value
}

/// Appends columns of ascending rows of a leaf.
fn append_rows(leaf: &Leaf, rows: &[u32], columns: &[usize], batch: &mut Batch) {
    if rows.is_empty() {
        return;
    }
    batch.len += rows.len();
    for (column, target) in columns.iter().zip(&mut batch.columns) {
        leaf.columns[*column].append_rows(rows, target);
    }
}

/// Visible rows of a key range, in key order.
pub(super) struct AsOfScan<'a> {
    walk: Walk<'a>,
    columns: SmallVec<[usize; 6]>,
}

impl<'a> AsOfScan<'a> {
    /// The visible rows in a range of row numbers that does not cut a history.
    pub fn new(root: &'a Node, ranks: Range<u64>, columns: &[usize], as_of: AsOf) -> Self {
        let (finger, row) = Finger::at_rank(root, ranks.start);
        let (end, end_row) = Finger::at_rank(root, ranks.end.max(ranks.start));
        let walk = Walk { finger, row, end: End::Before(end.leaf, end_row), as_of };
        AsOfScan { walk, columns: columns.into() }
    }
}

impl BatchCursor for AsOfScan<'_> {
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError> {
        let mut batch = Batch::empty(self.columns.len());
        self.walk.fill(max_rows.max(1), &self.columns, &mut batch);
        Ok((batch.len > 0).then_some(batch))
    }
}

/// The look-up for prefixes of all key columns but the Validity. One seek finds the visible version of each.
pub(super) struct VersionLookup<'a> {
    seeker: Seeker<'a>,
    as_of: AsOf,
    /// The next prefix to seek.
    next: usize,
}

impl<'a> VersionLookup<'a> {
    pub fn new(root: &'a Node, prefixes: &'a [Column], columns: &[usize], as_of: AsOf) -> Self {
        let candidate = DataValue::Validity(first_candidate(as_of));
        let seeker = Seeker::new(root, prefixes, Some(candidate), columns);
        VersionLookup { seeker, as_of, next: 0 }
    }

    /// The visible row of a prefix, in the finger's leaf.
    fn visible(&mut self, prefix: usize) -> Option<usize> {
        let exact = self.seeker.seek(prefix);
        let (leaf, row) = (self.seeker.finger.as_ref()?.leaf, self.seeker.found.start);
        let here = exact || leaf.begins_with(row, &keys_at(self.seeker.prefixes, prefix));
        (here && leaf.asserts(row, self.as_of)).then_some(row)
    }
}

impl LookupCursor for VersionLookup<'_> {
    fn next_matches(&mut self, max_rows: usize) -> Result<Option<Matches>, StorageError> {
        let mut matches = Matches { probe_rows: vec![], batch: Batch::empty(self.seeker.columns.len()) };
        while matches.batch.len < max_rows.max(1) && self.next < probe_count(self.seeker.prefixes) {
            if let Some(row) = self.visible(self.next) {
                let finger = self.seeker.finger.as_ref().expect("a row was found");
                append(finger, row..row + 1, &self.seeker.columns, &mut matches.batch);
                matches.probe_rows.push(self.next as u32);
            }
            self.next += 1;
        }
        Ok((matches.batch.len > 0).then_some(matches))
    }
}

/// The look-up for shorter prefixes. It finds the visible versions of all histories that begin with each.
pub(super) struct HistoryLookup<'a> {
    seeker: Seeker<'a>,
    as_of: AsOf,
    /// The next prefix to seek.
    next: usize,
    /// The walk through the histories of the prefix before `next`.
    walk: Option<Walk<'a>>,
}

impl<'a> HistoryLookup<'a> {
    pub fn new(root: &'a Node, prefixes: &'a [Column], columns: &[usize], as_of: AsOf) -> Self {
        let seeker = Seeker::new(root, prefixes, None, columns);
        HistoryLookup { seeker, as_of, next: 0, walk: None }
    }

    /// A walk through the histories of a prefix, if there are any.
    fn walk(&mut self, prefix: usize) -> Option<Walk<'a>> {
        if !self.seeker.seek(prefix) {
            return None;
        }
        let finger = self.seeker.finger.clone()?;
        let (row, end) = (self.seeker.found.start, End::Prefix(self.seeker.prefixes, prefix));
        Some(Walk { finger, row, end, as_of: self.as_of })
    }
}

impl LookupCursor for HistoryLookup<'_> {
    fn next_matches(&mut self, max_rows: usize) -> Result<Option<Matches>, StorageError> {
        let mut matches = Matches { probe_rows: vec![], batch: Batch::empty(self.seeker.columns.len()) };
        while matches.batch.len < max_rows.max(1) {
            let Some(walk) = &mut self.walk else {
                if self.next == probe_count(self.seeker.prefixes) {
                    break;
                }
                self.walk = self.walk(self.next);
                self.next += 1;
                continue;
            };
            walk.fill(max_rows.max(1), &self.seeker.columns, &mut matches.batch);
            matches.probe_rows.resize(matches.batch.len, self.next as u32 - 1);
            if matches.batch.len < max_rows.max(1) {
                self.walk = None;
            }
        }
        Ok((matches.batch.len > 0).then_some(matches))
    }
}

/// For each prefix of columns before the Validity column, whether a row that begins with it is visible at a time.
pub(super) fn contains_as_of(root: &Node, prefixes: &[Column], as_of: AsOf) -> Vec<bool> {
    if prefixes.len() == as_of.column {
        let mut versions = VersionLookup::new(root, prefixes, &[], as_of);
        return (0..probe_count(prefixes)).map(|prefix| versions.visible(prefix).is_some()).collect();
    }
    let mut histories = HistoryLookup::new(root, prefixes, &[], as_of);
    let mut shows_any = |prefix| {
        let mut first = Batch::empty(0);
        if let Some(mut walk) = histories.walk(prefix) {
            walk.fill(1, &[], &mut first);
        }
        first.len > 0
    };
    (0..probe_count(prefixes)).map(&mut shows_any).collect()
}
