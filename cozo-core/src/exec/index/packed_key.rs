//! Rows of integers that lie close together, each packed into a single integer.
//!
//! A [`PackedKey`] says how: the bits of the values stand side by side, the first column highest. Each later column gets as many
//! bits as its values so far need; the first column gets all bits that are left.
//!
//! ```text
//! columns   a           b           c                 code = a << 5 | b << 2 | c
//! values    0 to 900    0 to 7      0 to 3            (5, 6, 1) -> 5 << 5 | 6 << 2 | 1 = 185
//! bits      the rest    3           2
//! ```
//!
//! Codes ascend as rows do. Codes of two keys agree if all columns but the first have the same bits ([`PackedKey::agree_with`]):
//! then a bitmap or an array by code stays valid as the first column grows. A row with a negative value, or with one of too many
//! bits, has no code: it is [`UNPACKABLE`].

use std::iter::zip;
use std::ops::Range;

use crate::value::{Column, Num, Scalar};

/// The rows that are packed at a time.
const CHUNK_ROWS: usize = 2048;

/// How rows of integers from 0 up, all of one width, are packed into codes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackedKey {
    /// For each column, all its values combined by `|`. No value has a higher bit.
    bounds: Vec<u64>,
}

/// A number that is no row's code.
pub const UNPACKABLE: i64 = -1;

/// How many bits the values up to a bound need.
fn bits_of(bound: u64) -> u32 {
    u64::BITS - bound.leading_zeros()
}

impl PackedKey {
    /// The key for these rows, too.
    pub fn widened(&self, columns: &[&[i64]]) -> PackedKey {
        let known = self.bounds.iter().copied().chain(std::iter::repeat(0));
        // To combine all bits is faster than to find the largest value. A negative value has the highest bit.
        let bound = |(bound, column): (u64, &&[i64])| column.iter().fold(bound, |bits, value| bits | *value as u64);
        PackedKey { bounds: zip(known, columns).map(bound).collect() }
    }

    /// The key for the rows of both.
    pub fn united(&self, other: &PackedKey) -> PackedKey {
        PackedKey { bounds: zip(&self.bounds, &other.bounds).map(|(a, b)| a | b).collect() }
    }

    /// The number of codes, if it fits 64 bits.
    pub fn count(&self) -> Option<u64> {
        let (first, later) = self.bounds.split_first()?;
        let (first, lower): (_, u32) = (first.checked_add(1)?, later.iter().map(|bound| bits_of(*bound)).sum());
        (lower < first.leading_zeros()).then(|| first << lower)
    }

    /// Whether a row has the same code by both keys.
    pub fn agree_with(&self, other: &PackedKey) -> bool {
        zip(&self.bounds, &other.bounds).skip(1).all(|(a, b)| bits_of(*a) == bits_of(*b))
    }

    /// Whether the value of a single column is within its bound.
    #[inline]
    pub fn is_within(&self, value: i64) -> bool {
        matches!(self.bounds[..], [bound] if value as u64 <= bound)
    }

    /// Calls `take` with the codes of rows, chunk by chunk. All values must be within the bounds.
    pub fn each_chunk(&self, columns: &[&[i64]], mut take: impl FnMut(&[i64])) {
        let mut buffer = vec![];
        for rows in chunks(columns[0].len()) {
            take(self.codes(columns, rows, &mut buffer));
        }
    }

    /// Calls `take` with the codes of any rows, chunk by chunk. A row without a code gets a number that is no row's code, which
    /// may be negative.
    pub fn each_chunk_of_any(&self, columns: &[&[i64]], mut take: impl FnMut(&[i64])) {
        let (mut buffer, mut beyond) = (vec![], vec![]);
        for rows in chunks(columns[0].len()) {
            if let [column] = columns {
                take(&column[rows]);
                continue;
            }
            beyond.clear();
            beyond.resize(rows.len(), 0);
            for (column, bound) in zip(columns, &self.bounds) {
                let bits = bits_of(*bound);
                let above = |value: i64| (value as u64).unbounded_shr(bits);
                zip(&mut beyond, &column[rows.clone()]).for_each(|(beyond, value)| *beyond |= above(*value));
            }
            self.codes(columns, rows, &mut buffer);
            zip(&mut buffer, &beyond).filter(|(_, beyond)| **beyond != 0).for_each(|(code, _)| *code = UNPACKABLE);
            take(&buffer);
        }
    }

    /// The code of a row, whose values need not be integers; [`UNPACKABLE`] if it has none.
    fn code(&self, values: impl Iterator<Item = Option<i64>>) -> i64 {
        let code = zip(&self.bounds, values).try_fold(0, |code: i64, (bound, value)| {
            let (bits, value) = (bits_of(*bound), value?);
            (bits_of(value as u64) <= bits).then(|| code << bits | value)
        });
        code.unwrap_or(UNPACKABLE)
    }

    /// The code of a row of columns of any type; [`UNPACKABLE`] if it has none.
    pub fn code_at(&self, columns: &[&Column], row: usize) -> i64 {
        self.code(columns.iter().map(|column| match column.scalar(row).and_then(Scalar::num) {
            Some(Num::Int(value)) => Some(value),
            _ => None,
        }))
    }

    fn codes<'c>(&self, columns: &[&'c [i64]], rows: Range<usize>, buffer: &'c mut Vec<i64>) -> &'c [i64] {
        let [first, rest @ ..] = columns else { return &[] };
        let [second, rest @ ..] = rest else { return &first[rows] };
        let bits = |column: usize| bits_of(self.bounds[column]);
        let of_two = bits(1);
        buffer.clear();
        buffer.extend(zip(&first[rows.clone()], &second[rows.clone()]).map(|(code, value)| code << of_two | value));
        for (nth, column) in zip(2.., rest) {
            let bits = bits(nth);
            zip(&mut *buffer, &column[rows.clone()]).for_each(|(code, value)| *code = *code << bits | *value);
        }
        buffer
    }

    /// Empty columns with room for so many rows.
    pub fn columns(&self, rows: usize) -> Vec<Vec<i64>> {
        self.bounds.iter().map(|_| Vec::with_capacity(rows)).collect()
    }

    /// Unpacks codes, and appends their values to columns.
    pub fn decode(&self, codes: &[i64], columns: &mut [&mut Vec<i64>]) {
        let mut shift = 0;
        for (nth, (column, bound)) in zip(columns, &self.bounds).enumerate().rev() {
            match nth {
                0 => column.extend(codes.iter().map(|code| code >> shift)),
                _ => {
                    let mask = (1 << bits_of(*bound)) - 1;
                    column.extend(codes.iter().map(|code| code >> shift & mask));
                }
            }
            shift += bits_of(*bound);
        }
    }
}

/// The chunks of so many rows.
fn chunks(rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows).step_by(CHUNK_ROWS).map(move |start| start..rows.min(start + CHUNK_ROWS))
}

/// The columns as integers, if all their values are integers.
pub fn all_ints<'c>(columns: impl IntoIterator<Item = &'c Column>) -> Option<Vec<&'c [i64]>> {
    columns.into_iter().map(Column::as_dense_ints).collect()
}
