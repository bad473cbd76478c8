//! The first rows of an order, where no others are wanted (`:order` with `:limit`).
//!
//! Once there are as many rows as are wanted, the last of them is a threshold: what sorts after it is dropped as it comes.
//! Where the relation that is read first lies in that order, or in its reverse, it is read in chunks from the end that
//! is wanted, until no chunk can hold a row before the threshold: the newest ten of a million are found by reading ten.

use std::cmp::Ordering;

use super::stored::Stored;
use super::table::Table;
use crate::plan::SortKey;
use crate::storage::{End, KeyRange};
use crate::value::{Batch, DataValue};

/// The order of two rows: by some columns, and where they tie in them by all columns.
pub fn compare(keys: &[SortKey], a: (&Batch, usize), b: (&Batch, usize)) -> Ordering {
    let by_key = keys.iter().map(|key| {
        let order = a.0.columns[key.column].compare_at(a.1, &b.0.columns[key.column], b.1);
        if key.descending { order.reverse() } else { order }
    });
    by_key.into_iter().find(|order| order.is_ne()).unwrap_or_else(|| a.0.compare_rows(a.1, b.0, b.1))
}

/// Which rows are wanted.
#[derive(Clone, Debug)]
pub struct TopKSpec {
    /// The order, by one column at least.
    pub keys: Vec<SortKey>,
    /// How many from its beginning, at least one.
    pub rows: usize,
}

/// Keeps a table to the rows that are wanted, and some more.
#[derive(Clone, Debug)]
pub struct TopK {
    wanted: TopKSpec,
    /// The last row that is wanted of those so far, if there are so many.
    threshold: Option<Batch>,
}

/// A table is cut when it has twice the rows that are wanted, and so many more.
const SLACK: usize = 1024;

impl TopK {
    pub fn new(wanted: TopKSpec) -> Self {
        TopK { wanted, threshold: None }
    }

    /// The rows that do not sort after the threshold; nothing if none does.
    pub fn before_threshold(&self, rows: &Batch) -> Option<Vec<u32>> {
        let threshold = self.threshold.as_ref()?;
        let leading = self.leading_key();
        let [ints, last] = [rows, threshold].map(|batch| batch.columns[leading.column].as_dense_ints());
        let is_ahead = |row: usize| match (ints, last) {
            // Nearly all comparisons are decided by the first column.
            (Some(ints), Some(last)) if ints[row] != last[0] => (ints[row] > last[0]) == leading.descending,
            _ => compare(&self.wanted.keys, (rows, row), (threshold, 0)).is_le(),
        };
        let ahead: Vec<u32> = (0..rows.len as u32).filter(|row| is_ahead(*row as usize)).collect();
        (ahead.len() < rows.len).then_some(ahead)
    }

    /// How many rows are wanted.
    pub fn wanted_rows(&self) -> usize {
        self.wanted.rows
    }

    /// The column that is sorted by first.
    pub fn leading_key(&self) -> SortKey {
        self.wanted.keys[0]
    }

    /// Whether a table has grown so much that it is worth cutting.
    pub fn is_worth_cutting(&self, table: &Table) -> bool {
        table.len() / 2 > self.wanted.rows.saturating_add(SLACK / 2)
    }

    /// Whether a table has all rows that are wanted for the first time, so that cutting it sets the threshold.
    pub fn has_enough(&self, table: &Table) -> bool {
        self.threshold.is_none() && table.len() >= self.wanted.rows
    }

    /// Cuts a table, which has as many rows as are wanted, to those, and sets the threshold.
    pub fn cut(&mut self, table: &mut Table) {
        let wanted = self.wanted.rows;
        let rows = std::mem::replace(table, Table::set(table.rows().columns.len())).into_rows();
        let mut order: Vec<u32> = (0..rows.len as u32).collect();
        let keys = &self.wanted.keys;
        order.select_nth_unstable_by(wanted - 1, |a, b| compare(keys, (&rows, *a as usize), (&rows, *b as usize)));
        self.threshold = Some(rows.take(&order[wanted - 1..wanted]));
        *table = Table::of_distinct(if rows.len == wanted { rows } else { rows.take(&order[..wanted]) });
    }

    /// Whether all rows sort after the threshold whose column that is sorted by first lies on the far side of a value, or has it, unless
    /// that is `without` it.
    pub fn is_past(&self, value: &DataValue, without: bool) -> bool {
        let Some(threshold) = &self.threshold else { return false };
        let key = self.leading_key();
        let order = value.cmp(&threshold.columns[key.column].get(0));
        let is_after = if key.descending { order.is_lt() } else { order.is_gt() };
        is_after || (without && order.is_eq())
    }
}

/// If the rows that are wanted are not those at the end, the second chunk has about so many rows; the next one may have twice as many,
const MORE_ROWS: u64 = 64;

/// and so on, up to so many.
const MAX_ROWS: u64 = 1024;

/// Into so many parts a range is cut at a time, until they are chunks, where an engine knows no better.
const PARTS: u64 = 4;

/// The chunks of what a rule reads first, the wanted end first.
pub struct OrderedScan<'a> {
    stored: Stored<'a>,
    /// What is left, the next range last, and about how many rows each has at most, if that has been asked.
    ranges: Vec<(KeyRange, Option<u64>)>,
    /// Up to so many rows are one chunk.
    chunk_rows: u64,
    end: End,
}

impl<'a> OrderedScan<'a> {
    /// The chunks of a range whose rows come in an order, in which so many are wanted.
    pub fn new(stored: Stored<'a>, range: KeyRange, wanted: usize, end: End) -> Self {
        OrderedScan { stored, ranges: vec![(range, None)], chunk_rows: wanted as u64, end }
    }

    /// The next chunk, unless it and all after it are at a value or on its far side that `is_past` says is of no use; if it is told so,
    /// they are without that value.
    pub fn next(&mut self, is_past: impl Fn(&DataValue, bool) -> bool) -> Option<KeyRange> {
        loop {
            let (range, rows) = self.ranges.pop()?;
            let bound = match self.end {
                End::First => &range.lower,
                End::Last => &range.upper,
            };
            // What comes before a single value has not got it; what comes before several may begin with the same.
            let without = self.end == End::Last && bound.as_ref().is_some_and(|bound| bound.len() == 1);
            if bound.as_ref().and_then(|bound| bound.first()).is_some_and(|value| is_past(value, without)) {
                return None;
            }
            if let Some((chunk, rest)) = self.stored.split_at_rank(&range, self.chunk_rows, self.end) {
                self.ranges.extend(rest.map(|rest| (rest, None)));
                return Some(self.grow(chunk));
            }
            let rows = rows.unwrap_or_else(|| self.stored.most_rows(&range));
            let parts = rows.div_ceil(self.chunk_rows.max(MORE_ROWS)).min(PARTS);
            let mut parts = if parts > 1 { self.stored.parts(&range, parts as usize) } else { vec![] };
            if parts.len() < 2 {
                return Some(self.grow(range));
            }
            if self.end == End::First {
                parts.reverse();
            }
            let rows = rows / parts.len() as u64;
            self.ranges.extend(parts.into_iter().map(|part| (part, Some(rows))));
        }
    }

    /// Has the chunk after this one be larger.
    fn grow(&mut self, chunk: KeyRange) -> KeyRange {
        self.chunk_rows = self.chunk_rows.max(self.chunk_rows.saturating_mul(2).clamp(MORE_ROWS, MAX_ROWS));
        chunk
    }
}
