//! The first rows of an order, where no others are wanted (`:order` with `:limit`).
//!
//! A [`TopK`] cuts the table of the entry to the wanted rows whenever the table has grown to about twice as many. The last wanted
//! row is then the *threshold*: rows that sort after it are dropped as they come.
//!
//! If the relation that is read first lies in that order, or in its reverse, an [`OrderedScan`] reads it in chunks from the
//! wanted end, until no chunk can hold a row before the threshold:
//!
//! ```text
//! :order -time, :limit 10      *log{time, text} ascends by time
//!
//! keys:   ...... not read ......  | chunk 3 (128) | chunk 2 (64) | chunk 1 (10) |
//!                                 ^ stop here: all rows left of it sort after the threshold
//! ```
//!
//! The first chunk has as many rows as are wanted; later chunks grow, since filters may drop most rows. Chunks are cut by rank
//! where the engine knows ranks ([`Stored::split_at_rank`]), and otherwise by dividing ranges into parts until they are small
//! enough. The same scan serves `min` and `max` of a key column, which want one row.

use std::cmp::Ordering;

use super::stored::Stored;
use super::table::Table;
use crate::plan::SortKey;
use crate::storage::{End, KeyRange};
use crate::value::{Batch, DataValue};

/// The order of two rows: by some columns, and among equals by all columns.
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
    /// How many rows from its beginning, at least one.
    pub rows: usize,
}

/// Cuts a table to the wanted rows from time to time.
#[derive(Clone, Debug)]
pub struct TopK {
    wanted: TopKSpec,
    /// The last wanted row so far, if there are enough rows.
    threshold: Option<Batch>,
}

/// A table is cut when it has twice the wanted rows, and this many more.
const SLACK: usize = 1024;

impl TopK {
    pub fn new(wanted: TopKSpec) -> Self {
        TopK { wanted, threshold: None }
    }

    /// The rows that do not sort after the threshold; `None` if that is all of them.
    pub fn before_threshold(&self, rows: &Batch) -> Option<Vec<u32>> {
        let threshold = self.threshold.as_ref()?;
        let leading = self.leading_key();
        let [ints, last] = [rows, threshold].map(|batch| batch.columns[leading.column].as_dense_ints());
        let is_ahead = |row: usize| match (ints, last) {
            // Nearly all comparisons are decided by the leading column.
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

    /// Whether a table has enough rows for the first time, so that a cut sets the threshold.
    pub fn has_enough(&self, table: &Table) -> bool {
        self.threshold.is_none() && table.len() >= self.wanted.rows
    }

    /// Cuts a table to the wanted rows, and sets the threshold. The table must have enough rows.
    pub fn cut(&mut self, table: &mut Table) {
        let wanted = self.wanted.rows;
        let rows = std::mem::replace(table, Table::set(table.rows().columns.len())).into_rows();
        let mut order: Vec<u32> = (0..rows.len as u32).collect();
        let keys = &self.wanted.keys;
        order.select_nth_unstable_by(wanted - 1, |a, b| compare(keys, (&rows, *a as usize), (&rows, *b as usize)));
        self.threshold = Some(rows.take(&order[wanted - 1..wanted]));
        *table = Table::of_distinct(if rows.len == wanted { rows } else { rows.take(&order[..wanted]) });
    }

    /// Whether all rows with `value`, or one after it in the order, in the leading column sort after the threshold. `without`
    /// excludes `value` itself.
    pub fn is_past(&self, value: &DataValue, without: bool) -> bool {
        let Some(threshold) = &self.threshold else { return false };
        let key = self.leading_key();
        let order = value.cmp(&threshold.columns[key.column].get(0));
        let is_after = if key.descending { order.is_lt() } else { order.is_gt() };
        is_after || (without && order.is_eq())
    }
}

/// The second chunk has about this many rows, or more if more rows are wanted. Each chunk may be twice as large as the one
/// before,
const MORE_ROWS: u64 = 64;

/// up to this many rows.
const MAX_ROWS: u64 = 1024;

/// Where the engine knows no ranks, a range is divided into this many parts at a time, until the parts are chunks.
const PARTS: u64 = 4;

/// The chunks of an ordered scan, from the wanted end.
pub struct OrderedScan<'a> {
    stored: Stored<'a>,
    /// The ranges that are left, the next range last. Each has about its greatest number of rows, if that is known.
    ranges: Vec<(KeyRange, Option<u64>)>,
    /// The most rows of the next chunk.
    chunk_rows: u64,
    end: End,
}

impl<'a> OrderedScan<'a> {
    /// The chunks of a range whose rows come in the wanted order; `wanted` rows are wanted.
    pub fn new(stored: Stored<'a>, range: KeyRange, wanted: usize, end: End) -> Self {
        OrderedScan { stored, ranges: vec![(range, None)], chunk_rows: wanted as u64, end }
    }

    /// The next chunk; `None` if `is_past` says that no further row can matter. `is_past` gets the value that bounds all further
    /// rows, and whether they exclude it.
    pub fn next(&mut self, is_past: impl Fn(&DataValue, bool) -> bool) -> Option<KeyRange> {
        loop {
            let (range, rows) = self.ranges.pop()?;
            let bound = match self.end {
                End::First => &range.lower,
                End::Last => &range.upper,
            };
            // Keys below a bound of a single value do not have it; keys below a bound of several values may begin with the same
            // value.
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

    /// Lets the next chunk be larger.
    fn grow(&mut self, chunk: KeyRange) -> KeyRange {
        self.chunk_rows = self.chunk_rows.max(self.chunk_rows.saturating_mul(2).clamp(MORE_ROWS, MAX_ROWS));
        chunk
    }
}
