//! The columns of a leaf or of separators together, and searches in them.

use std::ops::Range;

use smallvec::SmallVec;

use super::leaf_column::LeafColumn;
use super::loads::sum;
use crate::storage::key::Probe;

/// The columns of a leaf, or of separators. Up to four lie in the node itself, which saves a search one indirection.
pub(super) type LeafColumns = SmallVec<[LeafColumn; 4]>;

/// Reads some of the memory that a search by the first of these columns reads. The result has no meaning.
#[inline]
pub(super) fn prefetch(columns: &[LeafColumn], keys: usize) -> usize {
    sum(columns.iter().take(keys).map(LeafColumn::prefetch))
}

/// The run of rows that begin with the probe, in rows sorted by columns. If there are none, the run is empty and lies where they
/// would be.
#[inline]
pub(super) fn equal_range(columns: &[LeafColumn], mut range: Range<usize>, probe: Probe) -> Range<usize> {
    for (stored, key) in columns.iter().zip(probe) {
        range = stored.equal_range(range, *key);
        if range.is_empty() {
            break;
        }
    }
    range
}
