//! Sets of rows of integers that lie close together, as bitmaps.

use std::iter::zip;

use crate::value::Column;

/// So many rows are entered at a time, and room made for.
const CHUNK_ROWS: usize = 2048;

/// Rows of integers from 0 up, all of one width: a bit for each combination of values.
///
/// The bits of a row's values, side by side, are its *code*: of the later columns as many as their values need so far, of the first
/// one all. Codes ascend as rows do.
#[derive(Debug, Default)]
pub struct IntSet {
    /// The bits of all values of each column together: no value of it is above.
    bounds: Vec<u64>,
    /// The bitmap, by code.
    words: Vec<u64>,
    len: usize,
}

/// How many bits the values up to a bound need.
fn bits_of(bound: u64) -> u32 {
    u64::BITS - bound.leading_zeros()
}

/// How many bits of a code lie below the first column's.
fn lower_bits(bounds: &[u64]) -> u32 {
    bounds[1..].iter().map(|bound| bits_of(*bound)).sum()
}

/// How many codes there are for values within these bounds, if their number can be told.
fn codes_within(bounds: &[u64]) -> Option<u64> {
    let (lower, first) = (lower_bits(bounds), bounds[0].checked_add(1)?);
    (lower < first.leading_zeros()).then(|| first << lower)
}

/// The most codes that a set of so many rows is made for: up to a limit more than a hash table takes, but cleared and read at memory
/// speed; then no more.
fn most_codes(rows: usize) -> u64 {
    let rows = rows as u64;
    (rows * 128).max((rows * 1024).min(1 << 28))
}

impl IntSet {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Makes room for rows, if their values lie close enough together for a set of so many rows; otherwise `false`.
    pub fn make_room(&mut self, columns: &[&[i64]], rows: usize) -> bool {
        self.bounds.resize(columns.len(), 0);
        // The bits of all values are found sooner than the largest one. Negative ones have the highest.
        let bound = |(bound, column): (&u64, &&[i64])| column.iter().fold(*bound, |bits, value| bits | *value as u64);
        let bounds = zip(&self.bounds, columns).map(bound).collect();
        self.widen(bounds, rows)
    }

    /// Makes room for values within these bounds, none below those so far.
    fn widen(&mut self, bounds: Vec<u64>, rows: usize) -> bool {
        let Some(codes) = codes_within(&bounds).filter(|codes| *codes <= most_codes(rows)) else { return false };
        let keeps_codes = zip(&bounds[1..], &self.bounds[1..]).all(|(new, old)| bits_of(*new) == bits_of(*old));
        if !keeps_codes && self.len > 0 {
            let columns = self.to_columns();
            self.words = vec![0; codes.div_ceil(64) as usize];
            self.len = 0;
            self.bounds = bounds;
            self.insert_all(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>());
            return true;
        }
        let words = codes.div_ceil(64) as usize;
        if words > self.words.len() {
            self.words.resize(words.next_power_of_two(), 0);
        }
        self.bounds = bounds;
        true
    }

    /// The codes of rows within the bounds.
    fn codes<'c>(&self, columns: &[&'c [i64]], rows: std::ops::Range<usize>, buffer: &'c mut Vec<i64>) -> &'c [i64] {
        if let [column] = columns {
            return &column[rows];
        }
        buffer.clear();
        buffer.extend_from_slice(&columns[0][rows.clone()]);
        for (column, bound) in zip(columns, &self.bounds).skip(1) {
            let bits = bits_of(*bound);
            zip(&mut *buffer, &column[rows.clone()]).for_each(|(code, value)| *code = *code << bits | *value);
        }
        buffer
    }

    /// The chunks of so many rows.
    fn chunks(rows: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
        (0..rows).step_by(CHUNK_ROWS).map(move |start| start..rows.min(start + CHUNK_ROWS))
    }

    /// Appends the values of codes to columns.
    fn decode(&self, codes: &[i64], columns: &mut [&mut Vec<i64>]) {
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

    /// Adds rows for which there is room.
    pub fn insert_all(&mut self, columns: &[&[i64]]) {
        let (mut added, mut buffer) = (0, vec![]);
        for rows in Self::chunks(columns[0].len()) {
            for code in self.codes(columns, rows, &mut buffer) {
                let (word, bit) = (&mut self.words[*code as usize / 64], 1 << (code % 64));
                added += usize::from(*word & bit == 0);
                *word |= bit;
            }
        }
        self.len += added;
    }

    /// Adds rows for which there is room, and appends those that are new to `fresh`; gives the number of them.
    pub fn insert_fresh(&mut self, columns: &[&[i64]], fresh: &mut [&mut Vec<i64>]) -> usize {
        let before = self.len;
        let (mut buffer, mut codes) = (vec![], vec![]);
        for rows in Self::chunks(columns[0].len()) {
            let given = self.codes(columns, rows, &mut buffer);
            codes.resize(given.len().max(codes.len()), 0);
            // No branch asks whether a row is new, which nobody can foretell: each is written, and the next one over it if it was not.
            let mut end = 0;
            for code in given {
                let (word, bit) = (&mut self.words[*code as usize / 64], 1 << (code % 64));
                codes[end] = *code;
                end += usize::from(*word & bit == 0);
                *word |= bit;
            }
            self.len += end;
            self.decode(&codes[..end], fresh);
        }
        self.len - before
    }

    /// Adds the rows of another set, if there is room for them in a set of all; otherwise gives it back.
    pub fn union(&mut self, mut other: IntSet) -> Result<(), IntSet> {
        if self.len == 0 || other.len == 0 {
            if self.len == 0 {
                *self = other;
            }
            return Ok(());
        }
        let rows = self.len + other.len;
        let bounds: Vec<u64> = zip(&self.bounds, &other.bounds).map(|(a, b)| a | b).collect();
        if !self.widen(bounds.clone(), rows) || !other.widen(bounds, rows) {
            return Err(other);
        }
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, other) in zip(&mut self.words, &other.words) {
            self.len += (*other & !*word).count_ones() as usize;
            *word |= other;
        }
        Ok(())
    }

    /// The numbers of the rows that are not in the set.
    pub fn absent(&self, columns: &[&[i64]]) -> Vec<u32> {
        let (mut absent, mut buffer) = (vec![], vec![]);
        for rows in Self::chunks(columns[0].len()) {
            let within = |(bound, column): (&u64, &&[i64])| {
                let bits = column[rows.clone()].iter().fold(0, |bits, value| bits | *value as u64);
                bits_of(bits) <= bits_of(*bound)
            };
            let all_within = zip(&self.bounds, columns).all(within);
            let first = rows.start as u32;
            let codes = self.codes(columns, rows, &mut buffer);
            let is_known = |(nth, code): (usize, &i64)| {
                let row = first as usize + nth;
                let mut each = zip(&self.bounds, columns);
                (all_within || each.all(|(bound, column)| bits_of(column[row] as u64) <= bits_of(*bound)))
                    && self.words.get(*code as usize / 64).is_some_and(|word| word & 1 << (code % 64) != 0)
            };
            absent.extend(codes.iter().enumerate().filter(|row| !is_known(*row)).map(|(nth, _)| first + nth as u32));
        }
        absent
    }

    /// The rows in ascending order, as columns.
    pub fn to_columns(&self) -> Vec<Vec<i64>> {
        let mut columns = vec![Vec::with_capacity(self.len); self.bounds.len()];
        let mut places: Vec<&mut Vec<i64>> = columns.iter_mut().collect();
        let mut codes = Vec::with_capacity(self.len.min(CHUNK_ROWS + 64));
        for (number, word) in self.words.iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                codes.push(number as i64 * 64 + i64::from(rest.trailing_zeros()));
                rest &= rest - 1;
            }
            if codes.len() >= CHUNK_ROWS {
                self.decode(&codes, &mut places);
                codes.clear();
            }
        }
        self.decode(&codes, &mut places);
        columns
    }
}

/// Columns as integers, if they have nothing else.
pub fn all_ints(columns: &[Column]) -> Option<Vec<&[i64]>> {
    columns.iter().map(Column::as_dense_ints).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The rows `start + i * step` as one column, or cut into two.
    fn rows(width: usize, start: i64, step: i64) -> Vec<Vec<i64>> {
        let values = || (0..700).map(move |i| (start + i * step) % 10_007);
        match width {
            1 => vec![values().collect()],
            _ => vec![values().map(|value| value / 100).collect(), values().map(|value| value % 100).collect()],
        }
    }

    fn slices(columns: &[Vec<i64>]) -> Vec<&[i64]> {
        columns.iter().map(Vec::as_slice).collect()
    }

    fn transposed(columns: &[Vec<i64>]) -> Vec<Vec<i64>> {
        (0..columns[0].len()).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
    }

    #[test]
    fn a_set_has_what_was_inserted_once_and_ascending() {
        for width in [1, 2] {
            let mut model = BTreeSet::new();
            let mut set_of = |starts_and_steps: &[(i64, i64)]| {
                let mut set = IntSet::default();
                for (start, step) in starts_and_steps {
                    let rows = rows(width, *start, *step);
                    assert!(set.make_room(&slices(&rows), set.len() + 700));
                    set.insert_all(&slices(&rows));
                    model.extend(transposed(&rows));
                }
                set
            };
            // The one has small values first, so that its codes change.
            let (mut one, other) = (set_of(&[(3, 0), (3, 7), (0, 5)]), set_of(&[(9_000, 11)]));
            one.union(other).expect("values close together have room");
            let columns = one.to_columns();
            assert_eq!((one.len(), transposed(&columns)), (model.len(), model.iter().cloned().collect::<Vec<_>>()));
            let probe = rows(width, 1, 13);
            let absent: Vec<_> =
                one.absent(&slices(&probe)).into_iter().map(|row| transposed(&probe)[row as usize].clone()).collect();
            let expected: Vec<_> = transposed(&probe).into_iter().filter(|row| !model.contains(row)).collect();
            assert_eq!(absent, expected);
            let mut fresh = vec![vec![]; width];
            let twice: Vec<Vec<i64>> = probe.iter().map(|column| [&column[..], &column[..]].concat()).collect();
            let added = one.insert_fresh(&slices(&twice), &mut fresh.iter_mut().collect::<Vec<_>>());
            assert_eq!((added, transposed(&fresh)), (expected.len(), expected));
        }
    }

    #[test]
    fn values_beyond_all_that_is_known_are_absent() {
        let mut set = IntSet::default();
        assert!(set.make_room(&[&[0, 1], &[2, 3]], 2));
        set.insert_all(&[&[0, 1], &[2, 3]]);
        // Bits above a column's would run into those of the column before it.
        assert_eq!(set.absent(&[&[0, 0, 1, i64::MAX, -1], &[2, 7, 3, 3, -1]]), [1, 3, 4]);
        assert_eq!(set.absent(&[&[0, 1], &[2, 3]]), []);
    }

    #[test]
    fn there_is_no_room_for_values_far_apart() {
        for values in [[0, 1 << 40], [5, -1], [i64::MIN, i64::MAX]] {
            assert!(!IntSet::default().make_room(&[&values], values.len()));
            assert!(!IntSet::default().make_room(&[&[0, 1], &values], values.len()));
            assert!(!IntSet::default().make_room(&[&values, &[0, 1]], values.len()));
        }
        assert!(IntSet::default().make_room(&[&[0, 2_000]], 2));
        assert!(!IntSet::default().make_room(&[&[0, 100], &[0, 100]], 2));
        // What a set of few rows may waste, one of many may not.
        assert!(!IntSet::default().make_room(&[&[0, 900_000_000]], 1_000_000));
    }
}
