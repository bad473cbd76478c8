//! The first row of each key, for rows sorted by an integer key.

use std::ops::Range;

use super::{Column, Num, Scalar};

/// The number of the first row of each key, from key 0 on. Rows are numbered in their order.
///
/// Keys `0, 0, 2` have the starts `0, 2, 2` and the end `3`.
#[derive(Debug, Default)]
pub struct KeyStarts {
    /// The first row of each key, which is the end of the key before. Once [finished](Self::finish), the number of all rows
    /// follows.
    starts: Vec<u32>,
    /// The number of rows so far.
    rows: u32,
}

impl KeyStarts {
    /// Adds runs of rows: a key, and the number of rows with it. Fails if a key is smaller than one before, or not below `most_keys`,
    /// or if there are too many rows to number.
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

    /// Adds following rows, none of which has a smaller key. Fails if there are too many rows to number.
    pub fn append(&mut self, next: &KeyStarts) -> Option<()> {
        let before = self.rows;
        self.rows = before.checked_add(next.rows)?;
        // If the rows of the last key continue, its start stays the same.
        let known = self.starts.len();
        self.starts.extend(next.starts.iter().skip(known).map(|start| before + start));
        Some(())
    }

    /// The number of rows.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Marks the end of the rows, and frees spare memory.
    pub fn finish(&mut self) {
        self.starts.push(self.rows);
        self.starts.shrink_to_fit();
    }

    /// The rows of each of `len` keys.
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

    /// The size in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.starts.capacity() * size_of::<u32>()
    }
}
