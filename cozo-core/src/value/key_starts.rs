//! Where the rows of each key begin, in rows that are sorted by a key of one integer.

use std::ops::Range;

use super::{Column, Num, Scalar};

/// Rows are numbered in their order; each key from 0 up has the number of its first one.
#[derive(Debug, Default)]
pub struct KeyStarts {
    /// The first row of each key; those of the next key begin where they end. The last number is that of all rows, once
    /// [finished](Self::finish).
    starts: Vec<u32>,
    /// The rows so far.
    rows: u32,
}

impl KeyStarts {
    /// Adds rows with these keys, so many with each. Fails if a key is smaller than one before, or not below `most_keys`, or if there are too
    /// many rows to number.
    #[inline]
    pub fn add(&mut self, runs: impl Iterator<Item = (i64, usize)>, most_keys: u64) -> Option<()> {
        let mut rows = self.rows;
        for (key, len) in runs {
            let next = usize::try_from(key).ok().filter(|key| (*key as u64) < most_keys)? + 1;
            if next < self.starts.len() {
                return None;
            }
            self.starts.resize(next, rows);
            rows = rows.checked_add(u32::try_from(len).ok()?)?;
        }
        self.rows = rows;
        Some(())
    }

    /// Adds the rows that follow, none of which has a smaller key. Fails if there are too many rows to number.
    pub fn append(&mut self, next: &KeyStarts) -> Option<()> {
        let before = self.rows;
        self.rows = before.checked_add(next.rows)?;
        // Where the rows of the last key go on, it begins where it did.
        let known = self.starts.len();
        self.starts.extend(next.starts.iter().skip(known).map(|start| before + start));
        Some(())
    }

    /// How many rows there are.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Ends the rows, and gives back the room for more.
    pub fn finish(&mut self) {
        self.starts.push(self.rows);
        self.starts.shrink_to_fit();
    }

    /// The rows for each of so many keys.
    pub fn find(&self, keys: &Column, len: usize) -> Vec<Range<u32>> {
        let ends = self.starts.get(1..).unwrap_or_default();
        let starts = &self.starts[..ends.len()];
        let rows_of = |key: i64| match key as u64 {
            key if key < ends.len() as u64 => starts[key as usize]..ends[key as usize],
            _ => 0..0,
        };
        match keys.as_dense_ints() {
            Some(keys) => keys.iter().map(|key| rows_of(*key)).collect(),
            None => (0..len)
                .map(|row| match keys.scalar(row).and_then(Scalar::num) {
                    Some(Num::Int(key)) => rows_of(key),
                    _ => 0..0,
                })
                .collect(),
        }
    }

    /// The bytes that they take.
    pub fn memory_bytes(&self) -> usize {
        self.starts.capacity() * size_of::<u32>()
    }
}
