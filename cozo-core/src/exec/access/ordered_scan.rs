//! A scan in key order of which only one end is wanted.
//!
//! If the relation that is read first lies in the wanted order, or in its reverse, an [`OrderedScan`] reads it in chunks from the
//! wanted end, until no chunk can hold a wanted row:
//!
//! ```text
//! :order -time, :limit 10      *log{time, text} ascends by time
//!
//! keys:   ...... not read ......  | chunk 3 (128) | chunk 2 (64) | chunk 1 (10) |
//!                                 ^ stop here: all rows left of it sort after the last wanted row
//! ```
//!
//! The first chunk has as many rows as are wanted; later chunks grow, since filters may drop most rows. Chunks are cut by rank
//! where the engine knows ranks ([`Stored::split_at_rank`]), and otherwise by dividing ranges into parts until they are small
//! enough. The same scan serves `min` and `max` of a key column, which want one row.

use crate::exec::access::stored::Stored;
use crate::exec::thresholds::{CHUNK_PARTS, MAX_CHUNK_ROWS, SECOND_CHUNK_ROWS};
use crate::storage::{End, KeyRange};
use crate::value::DataValue;

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
            let parts = rows.div_ceil(self.chunk_rows.max(SECOND_CHUNK_ROWS)).min(CHUNK_PARTS);
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
        self.chunk_rows =
            self.chunk_rows.max(self.chunk_rows.saturating_mul(2).clamp(SECOND_CHUNK_ROWS, MAX_CHUNK_ROWS));
        chunk
    }
}
