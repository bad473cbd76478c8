//! Integers of a leaf, in frame-of-reference encoding: the smallest value is the base, and each row has its distance from the
//! base, in the fewest bytes that hold all distances.
//!
//! `[1_000_000, 1_000_003, 1_000_250]` becomes base `1_000_000` and the bytes `[0, 3, 250]`.

use std::ops::Range;

use super::buffer::{Buffer, buffer, bytes_of, copy_with_room, write};
use super::limits::MAX_LEAF_ROWS;
use super::loads::sum;
use super::nulls::Nulls;
use super::search::{equal_range_of, run_end};
use crate::value::Primitive;

/// Narrowed integers; a null row has distance 0.
#[derive(Clone, Debug)]
pub(super) struct IntColumn {
    base: i64,
    offsets: Offsets,
    nulls: Nulls,
}

/// The distances from the base. `I64` always has base 0.
#[derive(Clone, Debug)]
enum Offsets {
    U8(Buffer<u8>),
    U16(Buffer<u16>),
    U32(Buffer<u32>),
    I64(Buffer<i64>),
}

/// The bytes that one cache miss loads.
const CACHE_LINE: usize = 64;

/// A width of distances.
trait Offset: Copy + Ord + Default {
    /// The distance of a value from the base, if it fits.
    fn of(value: i64, base: i64) -> Option<Self>;
    fn widen(self) -> i64;
}

macro_rules! offset_widths {
    ($($width:ty),*) => {$(
        impl Offset for $width {
            #[inline]
            fn of(value: i64, base: i64) -> Option<Self> {
                value.checked_sub(base).and_then(|distance| distance.try_into().ok())
            }
            #[inline]
            fn widen(self) -> i64 {
                self.into()
            }
        }
    )*};
}
offset_widths!(u8, u16, u32, i64);

/// Runs the same code for offsets of each width.
macro_rules! for_width {
    ($offsets:expr, $values:ident => $body:expr) => {
        match $offsets {
            Offsets::U8($values) => $body,
            Offsets::U16($values) => $body,
            Offsets::U32($values) => $body,
            Offsets::I64($values) => $body,
        }
    };
}

impl IntColumn {
    /// Narrows a range of a column.
    pub fn encode(column: &Primitive<i64>, range: Range<usize>) -> Self {
        let nulls = Nulls::of(column.nulls.as_ref(), range.clone());
        let values = &column.values[range];
        let valid = || values.iter().enumerate().filter(|(row, _)| !nulls.get(*row)).map(|(_, value)| *value);
        let (min, max) = if nulls.heap_bytes() == 0 {
            (values.iter().copied().min(), values.iter().copied().max())
        } else {
            (valid().min(), valid().max())
        };
        let (min, max) = (min.unwrap_or(0), max.unwrap_or(0));
        let (base, offsets) = match max.checked_sub(min) {
            Some(0..=0xff) => (min, Offsets::U8(narrow(values, min))),
            Some(0..=0xffff) => (min, Offsets::U16(narrow(values, min))),
            Some(0..=0xffff_ffff) => (min, Offsets::U32(narrow(values, min))),
            _ => (0, Offsets::I64(buffer(values.iter().copied()))),
        };
        IntColumn { base, offsets, nulls }
    }

    pub fn copy_with_room(&self) -> Self {
        let offsets = match &self.offsets {
            Offsets::U8(values) => Offsets::U8(copy_with_room(values)),
            Offsets::U16(values) => Offsets::U16(copy_with_room(values)),
            Offsets::U32(values) => Offsets::U32(copy_with_room(values)),
            Offsets::I64(values) => Offsets::I64(copy_with_room(values)),
        };
        IntColumn { base: self.base, offsets, nulls: self.nulls.copy_with_room() }
    }

    pub fn len(&self) -> usize {
        for_width!(&self.offsets, values => values.len())
    }

    #[inline]
    pub fn get(&self, row: usize) -> Option<i64> {
        (!self.nulls.get(row)).then(|| for_width!(&self.offsets, values => self.base + values[row].widen()))
    }

    /// The rows of a sorted range that hold `key`.
    #[inline]
    pub fn equal_range(&self, range: Range<usize>, key: Option<i64>) -> Range<usize> {
        let valid = self.nulls.end_of_nulls(range.clone());
        match key {
            None => range.start..valid,
            Some(key) => for_width!(&self.offsets, values => search(values, valid..range.end, self.base, key)),
        }
    }

    /// The row of a unique value, if its row number equals its distance from the base. That is so in a column of consecutive
    /// values. The check reads one cache line, and a search reads several.
    #[inline]
    pub fn dense_row(&self, key: i64) -> Option<usize> {
        let distance = key.checked_sub(self.base).filter(|_| self.nulls.heap_bytes() == 0)?;
        let row = usize::try_from(distance).ok()?;
        for_width!(&self.offsets, values => values.get(row).is_some_and(|offset| offset.widen() == distance))
            .then_some(row)
    }

    /// Reads each cache line of the values. The result has no meaning.
    #[inline]
    pub fn prefetch(&self) -> usize {
        for_width!(&self.offsets, values => prefetch(values))
    }

    /// The end of the run of rows with the first row's value, in a sorted range.
    #[inline]
    pub fn run_end(&self, range: Range<usize>) -> usize {
        let first = range.start;
        if self.nulls.heap_bytes() > 0 {
            return run_end(range, |row| self.get(row) == self.get(first));
        }
        for_width!(&self.offsets, values => run_end(range, |row| values[row] == values[first]))
    }

    /// The runs of equal values of a sorted column: the value and the number of rows. None if there are nulls.
    pub fn runs(&self) -> Option<impl Iterator<Item = (i64, usize)>> {
        if self.nulls.heap_bytes() > 0 {
            return None;
        }
        let mut ends = for_width!(&self.offsets, values => run_ends(values));
        let (mut word, mut start) = (0, 0);
        Some(std::iter::from_fn(move || {
            while *ends.get(word)? == 0 {
                word += 1;
            }
            let end = word * 64 + ends[word].trailing_zeros() as usize + 1;
            ends[word] &= ends[word] - 1;
            let first = std::mem::replace(&mut start, end);
            Some((for_width!(&self.offsets, values => self.base + values[first].widen()), end - first))
        }))
    }

    /// Inserts or replaces a row. Returns `false` if the width cannot hold the value.
    pub fn write(&mut self, row: usize, value: Option<i64>, is_new: bool) -> bool {
        let base = self.base;
        for_width!(&mut self.offsets, values => {
            let Some(offset) = offset_or_null(value, base) else { return false };
            self.nulls.write(row, values.len(), value.is_none(), is_new);
            write(values, row, offset, is_new);
        });
        true
    }

    pub fn remove(&mut self, row: usize) {
        for_width!(&mut self.offsets, values => { values.remove(row); });
        self.nulls.remove(row);
    }

    /// Decodes a range, and appends it to a column.
    pub fn append_range(&self, range: Range<usize>, target: &mut Primitive<i64>) {
        self.nulls.append_to(range.clone(), &mut target.nulls, target.values.len());
        let base = self.base;
        for_width!(&self.offsets, values => {
            target.values.extend(values[range].iter().map(|offset| base.wrapping_add(offset.widen())));
        });
    }

    /// Decodes rows, and appends them to a column.
    pub fn append_rows(&self, rows: &[u32], target: &mut Primitive<i64>) {
        if self.nulls.heap_bytes() > 0 || target.nulls.is_some() {
            return rows.iter().for_each(|row| self.append_range(*row as usize..*row as usize + 1, target));
        }
        let base = self.base;
        for_width!(&self.offsets, values => {
            target.values.extend(rows.iter().map(|row| base.wrapping_add(values[*row as usize].widen())));
        });
    }

    pub fn heap_bytes(&self) -> usize {
        self.nulls.heap_bytes() + for_width!(&self.offsets, values => bytes_of(values))
    }
}

/// The distances of values from the base. A null row may have any distance.
fn narrow<T: Offset>(values: &[i64], base: i64) -> Buffer<T> {
    buffer(values.iter().map(|value| T::of(*value, base).unwrap_or_default()))
}

fn offset_or_null<T: Offset>(value: Option<i64>, base: i64) -> Option<T> {
    value.map_or(Some(T::default()), |value| T::of(value, base))
}

#[inline]
fn search<T: Offset>(values: &[T], range: Range<usize>, base: i64, key: i64) -> Range<usize> {
    match T::of(key, base) {
        Some(offset) => equal_range_of(values, range, offset),
        None if key < base => range.start..range.start,
        None => range.end..range.end,
    }
}

/// A bit for each row of a leaf that is the last of a run of equal values. All neighbours are compared with vector instructions.
/// Searching the end of each run would be slower for short runs, since the branch predictor cannot guess their lengths.
fn run_ends<T: Offset>(values: &[T]) -> [u64; MAX_LEAF_ROWS / 64] {
    let mut is_last = [0; MAX_LEAF_ROWS];
    for (flag, pair) in is_last.iter_mut().zip(values.windows(2)) {
        *flag = u8::from(pair[0] != pair[1]);
    }
    if let Some(last) = values.len().checked_sub(1) {
        is_last[last] = 1;
    }
    let eight_bits = |flags: &[u8; 8]| u64::from_le_bytes(*flags).wrapping_mul(LOWEST_BITS_TO_HIGHEST_BYTE) >> 56;
    let (flags, _) = is_last.as_chunks::<8>();
    std::array::from_fn(|word| flags[word * 8..][..8].iter().rev().fold(0, |bits, flags| bits << 8 | eight_bits(flags)))
}

/// The multiplier that gathers eight bytes of 0 or 1 into the bits of the highest byte.
const LOWEST_BITS_TO_HIGHEST_BYTE: u64 = 0x0102_0408_1020_4080;

#[inline]
fn prefetch<T: Offset>(values: &[T]) -> usize {
    let lines = values.iter().step_by(CACHE_LINE / size_of::<T>());
    sum(lines.map(|value| value.widen() as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_whatever_their_lengths_and_the_width() {
        for (len, run) in
            [(0, 1), (1, 1), (63, 1), (64, 64), (65, 1), (65, 64), (130, 7), (511, 300), (512, 1), (512, 512)]
        {
            for factor in [1, 1000, 100_000, i64::MAX / 512] {
                let values: Vec<i64> = (0..len).map(|row| (row / run) as i64 * factor - 5).collect();
                let expected: Vec<_> = values.chunks(run).map(|run| (run[0], run.len())).collect();
                let column = IntColumn::encode(&Primitive { values, nulls: None }, 0..len);
                let found = column.runs().map(Iterator::collect::<Vec<_>>);
                assert_eq!(found, Some(expected), "{len} rows, {run} of each, {factor}");
            }
        }
        let with_null = Primitive { values: vec![0, 1], nulls: Some(vec![true, false]) };
        assert!(IntColumn::encode(&with_null, 0..2).runs().is_none());
    }
}
