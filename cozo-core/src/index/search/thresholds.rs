//! The thresholds of search indices. Each has its unit, and the bench that shows whether it is right.

use crate::schema::SearchOptions;

/// From this many rows on a tail of vectors is sealed. A search compares all of them.
/// Unit: rows. Bench: `search`.
const TAIL_OF_VECTORS: u64 = 2048;

/// From this many rows on a tail of texts is sealed. After each change, the next search indexes all of them.
/// Unit: rows. Bench: `search`.
const TAIL_OF_TEXTS: u64 = 512;

/// If a tail has this many times the rows of its bound, the committing thread seals it, so that it does not grow without limit.
/// Unit: ratio. Bench: `search`.
pub const HELP_RATIO: u64 = 8;

/// A segment with fewer rows than this many times those of all after it is merged with them.
/// Unit: ratio. Bench: `search`.
pub const MERGE_RATIO: usize = 4;

/// A segment with a greater share of dead rows is merged.
/// Unit: share. Bench: `search`.
pub const MAX_DEAD_SHARE: f64 = 0.3;

/// The texts that a thread indexes at once.
/// Unit: rows. Bench: `search`.
pub const TEXTS_PER_TASK: usize = 16 * 1024;

/// From how many rows on the tail of an index is sealed; none if it has no tail.
pub fn tail_bound(options: &SearchOptions) -> Option<u64> {
    match options {
        SearchOptions::Vectors(_) => Some(TAIL_OF_VECTORS),
        SearchOptions::Text(_) => Some(TAIL_OF_TEXTS),
        SearchOptions::Duplicates(_) => None,
    }
}
