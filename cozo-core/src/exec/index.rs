//! Hash indexes over rows held as columns: made on demand, extended as rows arrive.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::value::{Batch, Column};

/// No further row.
const END: u32 = u32::MAX;

/// Rows by the values of some columns. Rows with equal values form a chain, the last one first.
#[derive(Debug)]
pub struct HashIndex {
    /// The columns.
    pub columns: Vec<usize>,
    heads: HashTable<Head>,
    /// For each row, the row before it with the same values.
    previous: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    hash: u64,
    row: u32,
}

impl HashIndex {
    /// An index of no rows.
    pub fn new(columns: Vec<usize>) -> Self {
        HashIndex { columns, heads: HashTable::new(), previous: vec![] }
    }

    /// Enters the rows that came since the last time.
    pub fn extend(&mut self, rows: &Batch) {
        let start = self.previous.len();
        if start == rows.len {
            return;
        }
        let keys: Vec<&Column> = self.columns.iter().map(|column| &rows.columns[*column]).collect();
        self.previous.reserve(rows.len - start);
        self.heads.reserve(rows.len - start, |head| head.hash);
        for row in start..rows.len {
            let hash = hash_row(&keys, row);
            let same = |head: &Head| head.hash == hash && rows_equal(&keys, head.row as usize, &keys, row);
            match self.heads.entry(hash, same, |head| head.hash) {
                Entry::Occupied(mut entry) => {
                    self.previous.push(entry.get().row);
                    entry.get_mut().row = row as u32;
                }
                Entry::Vacant(entry) => {
                    entry.insert(Head { hash, row: row as u32 });
                    self.previous.push(END);
                }
            }
        }
    }

    /// The last row whose columns equal a row of `probe`, if any; then [`HashIndex::before`] gives the others.
    #[inline]
    pub fn find(&self, rows: &Batch, probe: &[&Column], probe_row: usize) -> Option<u32> {
        let hash = hash_row(probe, probe_row);
        let same = |head: &Head| {
            head.hash == hash
                && self
                    .columns
                    .iter()
                    .zip(probe)
                    .all(|(column, probe)| rows.columns[*column].equals_at(head.row as usize, probe, probe_row))
        };
        self.heads.find(hash, same).map(|head| head.row)
    }

    /// The row before this one with the same values, if any.
    #[inline]
    pub fn before(&self, row: u32) -> Option<u32> {
        let previous = self.previous[row as usize];
        (previous != END).then_some(previous)
    }
}

#[inline]
fn hash_row(columns: &[&Column], row: usize) -> u64 {
    columns.iter().fold(0, |hash, column| crate::value::combine_hashes(hash, column.hash_at(row)))
}

#[inline]
fn rows_equal(a: &[&Column], a_row: usize, b: &[&Column], b_row: usize) -> bool {
    a.iter().zip(b).all(|(x, y)| x.equals_at(a_row, y, b_row))
}

/// Rows that do not change any more, and an index of them.
#[derive(Debug)]
pub struct IndexedRows {
    /// The rows: the key columns first.
    pub rows: Batch,
    /// An index on the key columns.
    pub index: HashIndex,
}

impl IndexedRows {
    /// Indexes rows by their first `keys` columns.
    pub fn new(rows: Batch, keys: usize) -> Self {
        let mut index = HashIndex::new((0..keys).collect());
        index.extend(&rows);
        IndexedRows { rows, index }
    }
}
