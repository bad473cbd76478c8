//! Indexes over rows in columns: from the values of some columns to the rows that have them.
//!
//! An [`Index`] is built on demand and extended as rows arrive. It chains the rows with equal values, from the last to the first;
//! a *head* is the last row of a chain:
//!
//! ```text
//! row        0    1    2    3    4
//! value      7    5    7    7    5
//! previous   -    -    0    2    1          heads: 7 -> row 3 -> 2 -> 0,  5 -> row 4 -> 1
//! ```
//!
//! Heads are found in one of two ways:
//!
//! | heads | when | a look-up |
//! |---|---|---|
//! | `Coded` | integers that lie close together | reads an array by packed key |
//! | `Hashed` | otherwise | hashes the values and compares them |
//!
//! Codes are tried each time the number of rows has doubled. When values no longer fit, the index falls back to hashes. Readers
//! of a recursive table see a range of rows only: chains descend, so a reader stops at the first row below its range.
//!
//! [`IndexedRows`] are the rows of a stored relation that do not change any more, with the way to find them.

use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::exec::index::clustered_rows::ClusteredRows;
use crate::exec::index::packed_key::{PackedKey, all_ints};
use crate::exec::thresholds::max_codes;
use crate::storage::LeafDirectory;
use crate::value::sort::sorted;
use crate::value::{Batch, Column};

/// Stands for no row.
const END: u32 = u32::MAX;

/// Rows by the values of some columns. Rows with equal values form a chain, the last row first.
#[derive(Debug)]
pub struct Index {
    /// The indexed columns.
    pub columns: Vec<usize>,
    heads: Heads,
    /// For each row, the row before it with the same values.
    previous: Vec<u32>,
    /// From this many rows on, codes are tried next.
    worth_codes: usize,
}

/// The last row of each chain.
#[derive(Debug)]
enum Heads {
    /// By the hash of its values.
    Hashed(HashTable<Head>),
    /// By the packed key of its values: integers that lie close together. [`END`] where there is no chain.
    Coded { codes: PackedKey, rows: Vec<u32> },
}

#[derive(Clone, Copy, Debug)]
struct Head {
    hash: u64,
    row: u32,
}

impl Index {
    /// An index of no rows.
    pub fn new(columns: Vec<usize>) -> Self {
        Index { columns, heads: Heads::Hashed(HashTable::new()), previous: vec![], worth_codes: 0 }
    }

    /// Enters the rows that came since the last call.
    pub fn extend(&mut self, rows: &Batch) {
        let start = self.previous.len();
        if start == rows.len {
            return;
        }
        let keys: Vec<&Column> = self.columns.iter().map(|column| &rows.columns[*column]).collect();
        if matches!(self.heads, Heads::Coded { .. }) || rows.len >= self.worth_codes {
            // While values lie too far apart, codes are tried each time the number of rows has doubled.
            self.worth_codes = rows.len * 2;
            let ints = all_ints(keys.iter().copied()).filter(|ints| !ints.is_empty());
            if ints.is_some_and(|ints| self.extend_coded(&ints, start)) {
                return;
            }
            if let Heads::Coded { .. } = self.heads {
                self.heads = Heads::default();
                self.previous.clear();
            }
        }
        self.extend_hashed(&keys, rows.len);
    }

    /// Enters rows from `start` on by their codes; returns `false` if they lie too far apart.
    fn extend_coded(&mut self, ints: &[&[i64]], start: usize) -> bool {
        let new: Vec<&[i64]> = ints.iter().map(|column| &column[start..]).collect();
        let len = ints[0].len();
        let known = match &self.heads {
            Heads::Coded { codes, .. } => Some(codes.widened(&new)),
            Heads::Hashed(_) => None,
        };
        let widened = known.unwrap_or_else(|| PackedKey::default().widened(ints));
        let Some(count) = widened.count().filter(|count| *count <= max_codes(len as u64)) else { return false };
        let mut from = start;
        let mut heads = match std::mem::take(&mut self.heads) {
            Heads::Coded { codes, rows } if codes.agree_with(&widened) => rows,
            _ => {
                self.previous.clear();
                from = 0;
                vec![]
            }
        };
        if heads.len() < count as usize {
            heads.resize((count as usize).next_power_of_two(), END);
        }
        let mut row = from as u32;
        self.previous.reserve(len - from);
        let entered: Vec<&[i64]> = ints.iter().map(|column| &column[from..]).collect();
        widened.each_chunk(&entered, |codes| {
            for code in codes {
                self.previous.push(std::mem::replace(&mut heads[*code as usize], row));
                row += 1;
            }
        });
        self.heads = Heads::Coded { codes: widened, rows: heads };
        true
    }

    /// Enters all rows up to `rows` that are not entered yet, by the hashes of their values.
    fn extend_hashed(&mut self, keys: &[&Column], rows: usize) {
        let Heads::Hashed(heads) = &mut self.heads else { unreachable!("codes were given up") };
        let start = self.previous.len();
        self.previous.reserve(rows - start);
        heads.reserve(rows - start, |head| head.hash);
        for row in start..rows {
            let hash = hash_row(keys, row);
            let same = |head: &Head| head.hash == hash && rows_equal(keys, head.row as usize, keys, row);
            match heads.entry(hash, same, |head| head.hash) {
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

    /// For each row of `probe`, the last indexed row with equal values. [`Index::before`] gives the others.
    pub fn find(&self, rows: &Batch, probe: &[&Column], probe_rows: usize) -> Found {
        let mut found = Vec::with_capacity(probe_rows);
        match &self.heads {
            Heads::Coded { codes, rows: heads } => {
                let mut find = |code: i64| found.push(heads.get(code as usize).copied().unwrap_or(END));
                match all_ints(probe.iter().copied()) {
                    Some(ints) => codes.each_chunk_of_any(&ints, |codes| codes.iter().copied().for_each(&mut find)),
                    None => (0..probe_rows).for_each(|row| find(codes.code_at(probe, row))),
                }
            }
            Heads::Hashed(heads) => {
                let known: Vec<&Column> = self.columns.iter().map(|column| &rows.columns[*column]).collect();
                found.extend((0..probe_rows).map(|row| {
                    let hash = hash_row(probe, row);
                    let same = |head: &Head| head.hash == hash && rows_equal(&known, head.row as usize, probe, row);
                    heads.find(hash, same).map_or(END, |head| head.row)
                }));
            }
        }
        Found(found)
    }

    /// The row before this one with the same values, if any.
    #[inline]
    pub fn before(&self, row: u32) -> Option<u32> {
        some_row(self.previous[row as usize])
    }
}

impl Default for Heads {
    fn default() -> Self {
        Heads::Hashed(HashTable::new())
    }
}

/// The last matching row of each row that was looked up.
pub struct Found(Vec<u32>);

impl Found {
    /// The last match of a row, if any.
    #[inline]
    pub fn last(&self, row: usize) -> Option<u32> {
        some_row(self.0[row])
    }
}

#[inline]
fn some_row(row: u32) -> Option<u32> {
    (row != END).then_some(row)
}

#[inline]
fn hash_row(columns: &[&Column], row: usize) -> u64 {
    columns.iter().fold(0, |hash, column| crate::value::combine_hashes(hash, column.hash_at(row)))
}

#[inline]
fn rows_equal(a: &[&Column], a_row: usize, b: &[&Column], b_row: usize) -> bool {
    a.iter().zip(b).all(|(x, y)| x.equals_at(a_row, y, b_row))
}

/// Rows that do not change any more, and how they are found.
#[derive(Debug)]
pub enum IndexedRows {
    /// In the tree that stores them, by their position there.
    Placed(Arc<LeafDirectory>),
    /// By their position, which follows from their key.
    Grouped(ClusteredRows),
    /// By an index on the key columns, which are the first columns.
    Indexed { rows: Batch, index: Index },
}

impl IndexedRows {
    /// Indexes rows by their first `keys` columns.
    pub fn new(rows: Batch, keys: usize) -> Self {
        if keys == 1 && ClusteredRows::suits(&rows.columns[0]) {
            let rows = sorted(rows, 1);
            let mut groups = ClusteredRows::new(rows.columns.len() - 1);
            groups.append(&rows, rows.len as u64).expect("keys ascend now, and lie close together");
            groups.finish();
            return IndexedRows::Grouped(groups);
        }
        let mut index = Index::new((0..keys).collect());
        index.extend(&rows);
        IndexedRows::Indexed { rows, index }
    }
}
