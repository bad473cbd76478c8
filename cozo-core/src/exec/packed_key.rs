//! Numbers for rows of integers that lie close together.

use std::iter::zip;
use std::ops::Range;

use crate::value::{Column, Num, Scalar};

/// So many rows are given codes at a time.
const CHUNK_ROWS: usize = 2048;

/// How rows of integers from 0 up, all of one width, are made into single ones: the bits of their values side by side, of the later
/// columns as many as the values known so far need, of the first one all. PackedKey ascend as rows do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackedKey {
    /// The bits of all values of each column together: no value of it is above.
    bounds: Vec<u64>,
}

/// What is not the code of any row.
pub const UNPACKABLE: i64 = -1;

/// How many bits the values up to a bound need.
fn bits_of(bound: u64) -> u32 {
    u64::BITS - bound.leading_zeros()
}

impl PackedKey {
    /// Those for the values of more rows, too.
    pub fn widened(&self, columns: &[&[i64]]) -> PackedKey {
        let known = self.bounds.iter().copied().chain(std::iter::repeat(0));
        // The bits of all values are found sooner than the largest one. Negative ones have the highest.
        let bound = |(bound, column): (u64, &&[i64])| column.iter().fold(bound, |bits, value| bits | *value as u64);
        PackedKey { bounds: zip(known, columns).map(bound).collect() }
    }

    /// Those for the values of both.
    pub fn united(&self, other: &PackedKey) -> PackedKey {
        PackedKey { bounds: zip(&self.bounds, &other.bounds).map(|(a, b)| a | b).collect() }
    }

    /// How many there are, if their number can be told.
    pub fn count(&self) -> Option<u64> {
        let (first, later) = self.bounds.split_first()?;
        let (first, lower): (_, u32) = (first.checked_add(1)?, later.iter().map(|bound| bits_of(*bound)).sum());
        (lower < first.leading_zeros()).then(|| first << lower)
    }

    /// Whether rows have the same codes in both.
    pub fn agree_with(&self, other: &PackedKey) -> bool {
        zip(&self.bounds, &other.bounds).skip(1).all(|(a, b)| bits_of(*a) == bits_of(*b))
    }

    /// Whether the value of a single column is within its bound.
    #[inline]
    pub fn is_within(&self, value: i64) -> bool {
        matches!(self.bounds[..], [bound] if value as u64 <= bound)
    }

    /// The codes of rows whose values are within the bounds, a chunk after the other.
    pub fn each_chunk(&self, columns: &[&[i64]], mut take: impl FnMut(&[i64])) {
        let mut buffer = vec![];
        for rows in chunks(columns[0].len()) {
            take(self.codes(columns, rows, &mut buffer));
        }
    }

    /// The codes of any rows, a chunk after the other: what is no code, and likely negative, for those that can have none.
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

    /// The code of a row, some of whose values may not be integers; [`UNPACKABLE`] if it can have none.
    fn code(&self, values: impl Iterator<Item = Option<i64>>) -> i64 {
        let code = zip(&self.bounds, values).try_fold(0, |code: i64, (bound, value)| {
            let (bits, value) = (bits_of(*bound), value?);
            (bits_of(value as u64) <= bits).then(|| code << bits | value)
        });
        code.unwrap_or(UNPACKABLE)
    }

    /// The code of a row of columns of any type; [`UNPACKABLE`] if it can have none.
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

    /// Columns with room for so many rows.
    pub fn columns(&self, rows: usize) -> Vec<Vec<i64>> {
        self.bounds.iter().map(|_| Vec::with_capacity(rows)).collect()
    }

    /// Appends the values of codes to columns.
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

/// Columns as integers, if they have nothing else.
pub fn all_ints<'c>(columns: impl IntoIterator<Item = &'c Column>) -> Option<Vec<&'c [i64]>> {
    columns.into_iter().map(Column::as_dense_ints).collect()
}
