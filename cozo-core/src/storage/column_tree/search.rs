//! Search in sorted rows: the run of rows that equal a key, in a range of rows that is sorted by one column.
//!
//! In `[1, 3, 3, 5]` the key 3 gives `1..3`. The key 4 gives the empty run `3..3`, which lies where it would be.

use std::cmp::Ordering;
use std::ops::Range;

/// The first row of the range for which `before` no longer holds.
#[inline]
pub(super) fn partition_point(range: Range<usize>, before: impl Fn(usize) -> bool) -> usize {
    let (mut start, mut len) = (range.start, range.len());
    while len > 0 {
        let half = len / 2;
        if before(start + half) {
            start += half + 1;
            len -= half + 1;
        } else {
            len = half;
        }
    }
    start
}

/// The end of the run of rows from `range.start` on for which `equal` holds. It gallops, since runs are often short.
#[inline]
pub(super) fn run_end(range: Range<usize>, equal: impl Fn(usize) -> bool) -> usize {
    if range.is_empty() || !equal(range.start) {
        return range.start;
    }
    let (mut low, mut step) = (range.start, 1);
    while low + step < range.end && equal(low + step) {
        low += step;
        step *= 2;
    }
    partition_point(low + 1..range.end.min(low + step), equal)
}

/// The run of rows that `compare` (row against key) finds equal.
#[inline]
pub(super) fn equal_range_by(range: Range<usize>, compare: impl Fn(usize) -> Ordering) -> Range<usize> {
    let start = partition_point(range.clone(), |row| compare(row).is_lt());
    start..run_end(start..range.end, |row| compare(row).is_eq())
}

/// The number of values at the front that are compared without branches. The sought value is often among them.
const NEAR: usize = 32;

/// The number of values at the front for which `holds` is true. It is true for no value after the first failure. The first
/// values are counted, the rest is bisected.
#[inline]
fn count_front<T: Copy>(values: &[T], holds: impl Fn(T) -> bool) -> usize {
    // A narrow counter and a fixed number of values let the compiler use vector instructions.
    let count = |near: &[T]| usize::from(near.iter().map(|value| u16::from(holds(*value))).sum::<u16>());
    match values.split_first_chunk::<NEAR>() {
        None => count(values),
        Some((near, rest)) => match count(near) {
            NEAR => NEAR + rest.partition_point(|value| holds(*value)),
            count => count,
        },
    }
}

/// The run of values equal to `key` within a range of a slice.
#[inline]
pub(super) fn equal_range_of<T: Copy + Ord>(values: &[T], range: Range<usize>, key: T) -> Range<usize> {
    let start = range.start + count_front(&values[range.clone()], |value| value < key);
    start..start + count_front(&values[start..range.end], |value| value == key)
}

/// Cuts `len` items into pieces of at most `max`. After an append all pieces but the last are full, so that sequential loads
/// produce full nodes. Otherwise the pieces are about equal, so that each has room to grow.
pub(super) fn pieces(len: usize, max: usize, appended: bool) -> Vec<Range<usize>> {
    let count = len.div_ceil(max).max(1);
    let cut = |piece: usize| if appended { (piece * max).min(len) } else { piece * len / count };
    (0..count).map(|piece| cut(piece)..cut(piece + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ranges_are_runs_or_insertion_points() {
        let values = [1, 3, 3, 3, 3, 3, 3, 5];
        for (key, expected) in [(0, 0..0), (1, 0..1), (2, 1..1), (3, 1..7), (4, 7..7), (5, 7..8), (6, 8..8)] {
            assert_eq!(equal_range_of(&values, 0..8, key), expected);
            assert_eq!(equal_range_by(0..8, |row| values[row].cmp(&key)), expected);
        }
    }

    #[test]
    fn pieces_are_full_after_an_append_and_even_otherwise() {
        assert_eq!(pieces(9, 4, true), [0..4, 4..8, 8..9]);
        assert_eq!(pieces(9, 4, false), [0..3, 3..6, 6..9]);
        assert_eq!(pieces(0, 4, true).len(), 1);
    }
}
