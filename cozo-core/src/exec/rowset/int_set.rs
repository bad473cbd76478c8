//! Sets of rows of integers that lie close together, as bitmaps.
//!
//! An [`IntSet`] packs each row into one integer, its code ([`PackedKey`]), which is the number of the row's bit:
//!
//! ```text
//! rows (a, b), b of 2 bits    code = a << 2 | b    words: bits 0 to 63, 64 to 127, ...
//!      (0, 3)                 3                    0b..._0010_0000_1000
//!      (2, 1)                 9                    filled: a bit for each word that is not 0
//! ```
//!
//! Codes ascend as rows do, so that reading the bits in order lists the rows in order. A value that needs more bits than the
//! codes have widens them: if only the first column grows, the bits stay and words are added; otherwise all rows are entered
//! anew. `max_bits` limits the size by the number of rows; a set that would be larger is refused, and the caller tells rows
//! apart in another way.
//!
//! If the set was sparse when it was made, `filled` marks the words that are not 0. To list the rows then skips empty words.

use std::iter::zip;

use crate::exec::index::packed_key::{PackedKey, all_ints};
use crate::exec::thresholds::{SPARSE_MIN_WORDS, max_bits};
use crate::value::{Batch, Column};

/// The codes that are listed before they are decoded.
const LISTED_CODES: usize = 2048;

/// The words that are listed at a time: one bit for each of them fills a word.
const LISTED_WORDS: usize = 64;

/// Rows of integers from 0 up, all of one width: one bit for each combination of values.
#[derive(Debug, Default)]
pub struct IntSet {
    /// Which bit stands for which row.
    codes: PackedKey,
    words: Vec<u64>,
    /// A bit for each word that is not 0, if the set was sparse when it was made; otherwise empty.
    filled: Vec<u64>,
    len: usize,
}

/// The word and the bit of a code.
#[inline]
fn place(code: i64) -> (usize, u64) {
    place_of(code as usize)
}

#[inline]
fn place_of(bit: usize) -> (usize, u64) {
    (bit / 64, 1 << (bit % 64))
}

/// The marks of empty words, if the set is sparse.
fn filled(words: usize, rows: usize) -> Vec<u64> {
    if words >= rows.saturating_mul(SPARSE_MIN_WORDS) { vec![0; words.div_ceil(LISTED_WORDS)] } else { vec![] }
}

/// A bit for each word that is not 0. Without branches: where rows are sparse, they would be predicted wrong.
fn look(words: &[u64]) -> u64 {
    zip(0.., words).fold(0, |filled, (number, word)| filled | u64::from(*word != 0) << number)
}

/// Sets the bit of a code, and the mark of its word if words are marked; returns whether the bit was not set.
#[inline(always)]
fn set<const NOTED: bool>(words: &mut [u64], filled: &mut [u64], code: i64) -> bool {
    let (word, bit) = place(code);
    let is_new = words[word] & bit == 0;
    words[word] |= bit;
    if NOTED {
        let (of_word, bit) = place_of(word);
        filled[of_word] |= bit;
    }
    is_new
}

impl IntSet {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Makes room for these rows, if their values lie close enough together for a set of `rows` rows; otherwise returns `false`.
    pub fn make_room(&mut self, columns: &[&[i64]], rows: usize) -> bool {
        self.widen(self.codes.widened(columns), rows)
    }

    /// Changes to these codes, which must have all present rows, unless they have too many bits for a set of `rows` rows.
    fn widen(&mut self, codes: PackedKey, rows: usize) -> bool {
        let Some(bits) = codes.count().filter(|bits| *bits <= max_bits(rows)) else { return false };
        let words = (bits.div_ceil(64) as usize).next_power_of_two();
        if self.len == 0 || codes.agree_with(&self.codes) {
            if words > self.words.len() {
                // The system clears new memory when it is first used, so unused words cost nothing.
                let known = std::mem::replace(&mut self.words, vec![0; words]);
                self.words[..known.len()].copy_from_slice(&known);
                if self.len == 0 || self.filled.is_empty() {
                    self.filled = filled(words, rows);
                    zip(&mut self.filled, known.chunks(LISTED_WORDS)).for_each(|(filled, words)| *filled = look(words));
                } else {
                    self.filled.resize(words.div_ceil(LISTED_WORDS), 0);
                }
            }
            self.codes = codes;
        } else {
            let columns = self.to_columns();
            *self = IntSet { codes, words: vec![0; words], filled: filled(words, rows), len: 0 };
            self.insert_all(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }
        true
    }

    /// Adds rows. There must be room for them.
    pub fn insert_all(&mut self, columns: &[&[i64]]) {
        let (words, filled, mut added) = (&mut self.words[..], &mut self.filled[..], 0);
        self.codes.each_chunk(columns, |codes| {
            added += match filled.is_empty() {
                true => codes.iter().filter(|code| set::<false>(words, filled, **code)).count(),
                false => codes.iter().filter(|code| set::<true>(words, filled, **code)).count(),
            };
        });
        self.len += added;
    }

    /// Adds rows, for which there must be room, and appends the new ones to `fresh`; returns their number.
    pub fn insert_fresh(&mut self, columns: &[&[i64]], fresh: &mut [&mut Vec<i64>]) -> usize {
        let mut added = 0;
        self.each_fresh(columns, |codes, _, new| {
            added += new.len();
            codes.decode(new, fresh);
        });
        added
    }

    /// Adds rows, and leaves only the new ones in `rows`. Returns `false` and does nothing if they are not integers, or do not
    /// lie close enough together.
    pub fn add_fresh(&mut self, rows: &mut Batch) -> bool {
        let columns = all_ints(&rows.columns).filter(|columns| !columns.is_empty());
        let Some(columns) = columns.filter(|columns| self.make_room(columns, self.len + rows.len)) else {
            return false;
        };
        // Mostly all rows are new. Those before the first chunk with a duplicate are copied as they are, not decoded.
        let (mut seen, mut kept, mut fresh) = (0, 0, vec![]);
        self.each_fresh(&columns, |_, of, new| {
            if seen == kept && new.len() == of {
                kept += of;
            } else {
                fresh.extend_from_slice(new);
            }
            seen += of;
        });
        if kept < rows.len {
            let mut left: Vec<Vec<i64>> = columns.iter().map(|column| column[..kept].to_vec()).collect();
            self.codes.decode(&fresh, &mut left.iter_mut().collect::<Vec<_>>());
            *rows = Batch::new(left.into_iter().map(Column::ints).collect(), kept + fresh.len());
        }
        true
    }

    /// Adds rows, for which there must be room. Calls `take` for each chunk with the number of its rows and the codes of its new
    /// rows.
    #[inline]
    fn each_fresh(&mut self, columns: &[&[i64]], mut take: impl FnMut(&PackedKey, usize, &[i64])) {
        let (words, filled, mut new) = (&mut self.words[..], &mut self.filled[..], vec![]);
        self.codes.each_chunk(columns, |codes| {
            new.resize(codes.len(), 0);
            // Without branches, since they would be predicted wrong: each code is written, and the next code overwrites it unless
            // it was new.
            let mut keep = |end: usize, code: i64, is_new: bool| {
                new[end] = code;
                end + usize::from(is_new)
            };
            let codes = codes.iter().copied();
            let end = match filled.is_empty() {
                true => codes.fold(0, |end, code| keep(end, code, set::<false>(words, filled, code))),
                false => codes.fold(0, |end, code| keep(end, code, set::<true>(words, filled, code))),
            };
            self.len += end;
            take(&self.codes, new.len(), &new[..end]);
        });
    }

    /// Adds a row of a single integer, if there is room for it; returns whether it is new.
    #[inline]
    pub fn insert_one(&mut self, value: i64) -> Option<bool> {
        if !self.codes.is_within(value) || place(value).0 >= self.words.len() {
            return None;
        }
        let is_new = match self.filled.is_empty() {
            true => set::<false>(&mut self.words, &mut self.filled, value),
            false => set::<true>(&mut self.words, &mut self.filled, value),
        };
        self.len += usize::from(is_new);
        Some(is_new)
    }

    /// Adds the rows of another set, if one set may hold the rows of both; otherwise returns the other set.
    pub fn union(&mut self, mut other: IntSet) -> Result<(), IntSet> {
        if self.len == 0 || other.len == 0 {
            if self.len == 0 {
                *self = other;
            }
            return Ok(());
        }
        let (rows, codes) = (self.len + other.len, self.codes.united(&other.codes));
        if !self.widen(codes.clone(), rows) || !other.widen(codes, rows) {
            return Err(other);
        }
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        if self.filled.is_empty() || other.filled.is_empty() {
            self.filled = vec![];
        } else {
            self.filled.resize(self.words.len().div_ceil(LISTED_WORDS), 0);
            zip(&mut self.filled, &other.filled).for_each(|(filled, other)| *filled |= other);
        }
        for (word, other) in zip(&mut self.words, &other.words) {
            self.len += (*other & !*word).count_ones() as usize;
            *word |= other;
        }
        Ok(())
    }

    /// The numbers of the rows that are not in the set.
    pub fn absent(&self, columns: &[&[i64]]) -> Vec<u32> {
        let (mut absent, mut row) = (vec![], 0);
        self.codes.each_chunk_of_any(columns, |codes| {
            for code in codes {
                let (word, bit) = place(*code);
                if self.words.get(word).is_none_or(|word| word & bit == 0) {
                    absent.push(row);
                }
                row += 1;
            }
        });
        absent
    }

    /// The rows in ascending order, as columns.
    pub fn to_columns(&self) -> Vec<Vec<i64>> {
        let mut columns = self.codes.columns(self.len);
        if let [column] = &mut columns[..] {
            // The codes of single values are the values.
            self.list(column, |_| ());
            return columns;
        }
        let mut places: Vec<&mut Vec<i64>> = columns.iter_mut().collect();
        let mut codes = Vec::with_capacity(self.len.min(LISTED_CODES + LISTED_WORDS * 64));
        self.list(&mut codes, |codes| {
            if codes.len() >= LISTED_CODES {
                self.codes.decode(codes, &mut places);
                codes.clear();
            }
        });
        self.codes.decode(&codes, &mut places);
        columns
    }

    /// Appends all codes in ascending order, and calls `took` after each group of words.
    fn list(&self, codes: &mut Vec<i64>, mut took: impl FnMut(&mut Vec<i64>)) {
        for (nth, words) in self.words.chunks(LISTED_WORDS).enumerate() {
            let mut filled = self.filled.get(nth).copied().unwrap_or_else(|| look(words));
            while filled != 0 {
                let number = filled.trailing_zeros() as usize;
                filled &= filled - 1;
                let (first, mut rest) = (((nth * LISTED_WORDS + number) * 64) as i64, words[number]);
                while rest != 0 {
                    codes.push(first + i64::from(rest.trailing_zeros()));
                    rest &= rest - 1;
                }
            }
            took(codes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The rows `start + i * step`, multiplied by `apart`, as one column or divided into two.
    fn rows(width: usize, apart: i64, start: i64, step: i64) -> Vec<Vec<i64>> {
        let values = || (0..700).map(move |i| (start + i * step) % 10_007);
        match width {
            1 => vec![values().map(|value| value * apart).collect()],
            _ => vec![values().map(|value| value / 100 * apart).collect(), values().map(|value| value % 100).collect()],
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
        for (width, apart) in [(1, 1), (2, 1), (1, 200), (2, 100)] {
            let rows = |width, start, step| rows(width, apart, start, step);
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
            // The first set begins with small values, so that its codes change.
            let (mut one, other) = (set_of(&[(3, 0), (3, 7), (0, 5)]), set_of(&[(9_000, 11)]));
            assert_eq!(one.filled.is_empty(), apart == 1, "which words are filled is noted where few are");
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
        // Bits above those of a column would run into the column before it.
        assert_eq!(set.absent(&[&[0, 0, 1, i64::MAX, -1], &[2, 7, 3, 3, -1]]), [1, 3, 4]);
        assert!(set.absent(&[&[0, 1], &[2, 3]]).is_empty());
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
        // A set of many rows may not waste as much memory as a set of few.
        assert!(!IntSet::default().make_room(&[&[0, 900_000_000]], 1_000_000));
    }
}
