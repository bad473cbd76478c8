//! Telling the rows of a table apart by their keys.
//!
//! A [`DedupIndex`] is in one of four states:
//!
//! ```text
//! state      rows are told apart by                          entered when
//! few        comparing with all rows                         up to FEW_ROWS rows
//! ascending  the last row: each new one is greater           rows come one by one, their first integer ascends
//! bitmap     a bit for each possible row (IntSet)            all columns are integers that lie close together
//! hashed     a hash table of row numbers                     otherwise, or for a key that is not the whole row
//! ```
//!
//! Rows that came in as distinct ([`Table::append`](super::table::Table::append)) are in no state: a later insertion hashes or maps
//! all rows first. A bitmap gives way to hashes when a row does not fit it. While integers lie too far apart, a bitmap is tried again
//! each time the number of rows has doubled.
//!
//! The index stores no rows. They lie in one batch or two: *known* rows, which operators may read at the same time, and *fresh* rows,
//! which are appended. Both are numbered as one sequence, the known rows first.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::int_set::IntSet;
use super::packed_key::all_ints;
use crate::value::{Batch, Cell, Column, Num, Scalar, hash_row};

/// Up to this many rows, duplicates are found by comparing with all rows.
pub const FEW_ROWS: usize = 8;

/// The first capacity of a hash table. Growing to it step by step would cost more than all other work for few rows.
const FIRST_ROOM: usize = 112;

/// The known rows, where there are none.
pub static NO_ROWS: Batch = Batch { columns: Vec::new(), len: 0 };

/// Finds rows by their key: the leading columns of a table, or all columns of a set.
#[derive(Debug, Default)]
pub struct DedupIndex {
    /// The hash of each row's key; empty in all states but *hashed*.
    hashes: Vec<u64>,
    /// The row numbers by hash, if there are hashes; without dead rows.
    by_hash: HashTable<u32>,
    /// The bitmap, in place of the hashes.
    ints: Option<IntSet>,
    /// From this many rows on, a bitmap is tried next.
    worth_a_bitmap: usize,
    /// The number of leading rows that are known to ascend: each has a greater integer in its first column than the row before, such
    /// as the rows of a recursion that counts. As long as these are all rows, nothing else tells them apart.
    ascending: usize,
}

impl DedupIndex {
    /// The index of the rows of a set of integers, numbered in ascending order.
    pub fn of_ints(set: IntSet) -> Self {
        DedupIndex { ints: Some(set), ..DedupIndex::default() }
    }

    /// Whether a bitmap tells rows apart.
    pub fn has_bitmap(&self) -> bool {
        self.ints.is_some()
    }

    /// Whether all of so many rows are found by their hashes. If not, only rows of a set may be looked for.
    pub fn is_hashed(&self, rows: usize) -> bool {
        self.hashes.len() == rows
    }

    /// Whether all rows ascend and nothing else tells them apart. That is established while the rows are few.
    #[inline]
    fn ascend(&mut self, rows: &Batch) -> bool {
        if self.ints.is_some() || !self.hashes.is_empty() {
            return false;
        }
        if self.ascending != rows.len && rows.len < FEW_ROWS {
            let ints = rows.columns.first().and_then(Column::as_dense_ints);
            let ascend = rows.len == 0 || ints.is_some_and(|ints| ints.is_sorted_by(|a, b| a < b));
            self.ascending = if ascend { rows.len } else { 0 };
        }
        self.ascending == rows.len
    }

    /// Hashes the rows of a set without a bitmap if they are many: further rows are then not compared with each of them.
    pub fn settle(&mut self, rows: &Batch) {
        if self.ints.is_none() && rows.len > FEW_ROWS {
            self.hash_rows(&NO_ROWS, rows, rows.columns.len(), |_| false);
        }
    }

    /// Enters all rows by the hashes of their keys, unless they are there.
    pub fn hash_rows(&mut self, known: &Batch, fresh: &Batch, width: usize, is_dead: impl Fn(usize) -> bool) {
        if self.is_hashed(known.len + fresh.len) {
            return;
        }
        self.ints = None;
        self.hashes = key_hashes(known, width.min(known.columns.len()));
        self.hashes.append(&mut key_hashes(fresh, width));
        let hashes = &self.hashes;
        self.by_hash.clear();
        self.by_hash.reserve(hashes.len().max(FIRST_ROOM), |row| hashes[*row as usize]);
        for row in (0..hashes.len()).filter(|row| !is_dead(*row)) {
            self.by_hash.insert_unique(hashes[row], row as u32, |row| hashes[*row as usize]);
        }
    }

    /// The hashes of the rows; see [`DedupIndex::hash_rows`].
    pub fn into_hashes(self) -> Vec<u64> {
        self.hashes
    }

    /// The row whose key has this hash and is the same.
    pub fn find(&self, hash: u64, is_same: impl Fn(usize) -> bool) -> Option<u32> {
        self.by_hash.find(hash, |row| is_same(*row as usize)).copied()
    }

    /// Enters one more row, with a key that no other row has; returns its number.
    pub fn enter(&mut self, hash: u64) -> u32 {
        let number = self.hashes.len() as u32;
        self.hashes.push(hash);
        let hashes = &self.hashes;
        self.by_hash.insert_unique(hash, number, |row| hashes[*row as usize]);
        number
    }

    /// Removes a row, which is not found any more.
    pub fn forget(&mut self, hash: u64, number: u32) {
        if let Ok(entry) = self.by_hash.find_entry(hash, |known| *known == number) {
            entry.remove();
        }
    }

    /// Appends a row to the fresh rows if it is new; returns whether it is.
    pub fn insert_row<'c, C: Cell + 'c>(
        &mut self,
        fresh: &mut Batch,
        row: impl Iterator<Item = &'c C> + Clone,
    ) -> bool {
        let first_int = match row.clone().next().and_then(Cell::scalar).and_then(Scalar::num) {
            Some(Num::Int(value)) => Some([value]),
            _ => None,
        };
        if let Some([value]) = first_int
            && self.ascend(fresh)
            && last_int(fresh).is_none_or(|last| last < value)
        {
            self.ascending += 1;
            push_row(fresh, row);
            return true;
        }
        let is_row =
            |number: usize| fresh.columns.iter().zip(row.clone()).all(|(column, cell)| cell.is_at(column, number));
        if self.ints.is_none() && fresh.len < FEW_ROWS {
            let is_new = !(0..fresh.len).any(is_row);
            if is_new {
                push_row(fresh, row);
            }
            return is_new;
        }
        if let [column] = fresh.columns.as_mut_slice() {
            if let (Some(set), Some([value]), Column::Int(column)) = (&mut self.ints, first_int, column)
                && let Some(is_new) = set.insert_one(value)
            {
                if is_new {
                    column.values.push(value);
                    fresh.len += 1;
                }
                return is_new;
            }
            if let Some(added) = self.insert_ints(&NO_ROWS, fresh, first_int.as_ref().map(|int| vec![&int[..]]), 1) {
                return added == 1;
            }
        }
        self.insert_hashed_row(fresh, row)
    }

    /// [`DedupIndex::insert_row`] by the hash table.
    fn insert_hashed_row<'c, C: Cell + 'c>(
        &mut self,
        fresh: &mut Batch,
        row: impl Iterator<Item = &'c C> + Clone,
    ) -> bool {
        self.hash_rows(&NO_ROWS, fresh, fresh.columns.len(), |_| false);
        let hash = hash_row(row.clone());
        let hashes = &self.hashes;
        let is_row = |number: &u32| {
            fresh.columns.iter().zip(row.clone()).all(|(column, cell)| cell.is_at(column, *number as usize))
        };
        let Entry::Vacant(entry) = self.by_hash.entry(hash, is_row, |known| hashes[*known as usize]) else {
            return false;
        };
        entry.insert(fresh.len as u32);
        self.hashes.push(hash);
        push_row(fresh, row);
        true
    }

    /// Appends the new rows of a batch to the fresh rows; returns their number. The hashes of the batch are computed unless they are
    /// passed in.
    pub fn insert(&mut self, known: &Batch, fresh: &mut Batch, new: Batch, hashes: Option<Vec<u64>>) -> usize {
        let before = known.len + fresh.len;
        if new.is_empty() {
            return 0;
        }
        if self.ints.is_none() && before + new.len <= FEW_ROWS {
            return insert_few(known, fresh, &new);
        }
        if let Some(added) = self.insert_ints(known, fresh, all_ints(&new.columns), new.len) {
            return added;
        }
        self.hash_rows(known, fresh, new.columns.len(), |_| false);
        let hashes = hashes.unwrap_or_else(|| key_hashes(&new, new.columns.len()));
        self.insert_hashed(known, fresh, new, &hashes)
    }

    /// Inserts rows by a bitmap, if all rows are integers that lie close enough together. Otherwise nothing is inserted.
    fn insert_ints(
        &mut self,
        known: &Batch,
        fresh: &mut Batch,
        new: Option<Vec<&[i64]>>,
        new_rows: usize,
    ) -> Option<usize> {
        let rows = known.len + fresh.len + new_rows;
        let set = self.ints.take();
        if set.is_none() && rows < self.worth_a_bitmap {
            return None;
        }
        // While integers lie too far apart, a bitmap is tried each time their number has doubled.
        self.worth_a_bitmap = rows * 2;
        let new = new.filter(|columns| !columns.is_empty())?;
        let mut set = match set {
            Some(set) => set,
            None => set_of([known, fresh], rows)?,
        };
        if !set.make_room(&new, rows) {
            return None;
        }
        // Hashes are computed again if they are needed.
        self.hashes.clear();
        self.by_hash.clear();
        if fresh.is_empty() {
            fresh.columns.fill_with(|| Column::ints(vec![]));
        }
        let places = fresh.columns.iter_mut().map(|column| match column {
            Column::Int(column) => &mut column.values,
            _ => unreachable!("a bitmap is for columns of integers"),
        });
        let added = set.insert_fresh(&new, &mut places.collect::<Vec<_>>());
        fresh.len += added;
        self.ints = Some(set);
        Some(added)
    }

    fn insert_hashed(&mut self, known: &Batch, fresh: &mut Batch, new: Batch, hashes: &[u64]) -> usize {
        let base = known.len;
        let mut search = KeySearch { by_hash: &mut self.by_hash, known: &self.hashes, new: hashes };
        let added = match new.columns.len() {
            1 if let Some([known, fresh, new]) = ints_of(0, [known, fresh, &new]) => {
                search.fresh(|a, b| at(base, known, fresh, a) == new[b], |a, b| new[a] == new[b])
            }
            2 if let Some([known_a, fresh_a, new_a]) = ints_of(0, [known, fresh, &new])
                && let Some([known_b, fresh_b, new_b]) = ints_of(1, [known, fresh, &new]) =>
            {
                search.fresh(
                    |a, b| at(base, known_a, fresh_a, a) == new_a[b] && at(base, known_b, fresh_b, a) == new_b[b],
                    |a, b| new_a[a] == new_a[b] && new_b[a] == new_b[b],
                )
            }
            _ => {
                search.fresh(|a, b| is_row(known, fresh, a, &new, b), |a, b| same_row(&new.columns, a, &new.columns, b))
            }
        };
        self.hashes.extend(added.iter().map(|row| hashes[*row as usize]));
        if added.len() == new.len && fresh.is_empty() {
            *fresh = new;
        } else {
            for (column, source) in fresh.columns.iter_mut().zip(&new.columns) {
                column.append_take(source, &added);
            }
            fresh.len += added.len();
        }
        added.len()
    }

    /// The new rows of a batch. Rows that only an insertion can tell apart may be named as well.
    pub fn absent(&self, known: &Batch, fresh: &Batch, new: &Batch) -> Vec<u32> {
        let all = 0..new.len as u32;
        if let Some(set) = &self.ints {
            return all_ints(&new.columns).map_or_else(|| all.collect(), |columns| set.absent(&columns));
        }
        let rows = known.len + fresh.len;
        if !self.is_hashed(rows) {
            let is_known = |row: usize| (0..rows).any(|number| is_row(known, fresh, number, new, row));
            return all.filter(|row| !is_known(*row as usize)).collect();
        }
        let hashes = key_hashes(new, new.columns.len());
        let is_known = |row: usize| self.find(hashes[row], |number| is_row(known, fresh, number, new, row)).is_some();
        all.filter(|row| !is_known(*row as usize)).collect()
    }
}

/// The hashes of the first `width` columns of a batch.
pub fn key_hashes(batch: &Batch, width: usize) -> Vec<u64> {
    let mut hashes = vec![0; batch.len];
    batch.columns[..width].iter().for_each(|column| column.hash_into(&mut hashes));
    hashes
}

/// The bitmap of these rows, if they are integers that lie close enough together for a set of `rows` rows.
fn set_of(batches: [&Batch; 2], rows: usize) -> Option<IntSet> {
    let mut set = IntSet::default();
    for batch in batches.into_iter().filter(|batch| !batch.is_empty()) {
        let columns = all_ints(&batch.columns)?;
        if !set.make_room(&columns, rows) {
            return None;
        }
        set.insert_all(&columns);
    }
    Some(set)
}

/// The integer in the first column of the last row, if there are rows. The column must have integers only.
#[inline]
fn last_int(rows: &Batch) -> Option<i64> {
    match rows.columns.first() {
        Some(Column::Int(column)) => column.values.last().copied(),
        _ => None,
    }
}

#[inline]
fn push_row<'c, C: Cell + 'c>(batch: &mut Batch, row: impl Iterator<Item = &'c C>) {
    batch.columns.iter_mut().zip(row).for_each(|(column, cell)| cell.push_to(column));
    batch.len += 1;
}

fn insert_few(known: &Batch, fresh: &mut Batch, new: &Batch) -> usize {
    let before = fresh.len;
    for row in 0..new.len {
        if !(0..known.len + fresh.len).any(|number| is_row(known, fresh, number, new, row)) {
            fresh.append_row(new, row);
        }
    }
    fresh.len - before
}

/// Whether a row of a batch is the same as the row of this number.
#[inline]
fn is_row(known: &Batch, fresh: &Batch, number: usize, new: &Batch, row: usize) -> bool {
    match number.checked_sub(known.len) {
        None => same_row(&known.columns, number, &new.columns, row),
        Some(nth) => same_row(&fresh.columns, nth, &new.columns, row),
    }
}

/// Whether two rows are the same in the columns that both have.
#[inline]
pub fn same_row(a: &[Column], i: usize, b: &[Column], j: usize) -> bool {
    a.iter().zip(b).all(|(x, y)| x.equals_at(i, y, j))
}

/// The value of the row of this number.
#[inline]
fn at(base: usize, known: &[i64], fresh: &[i64], number: usize) -> i64 {
    if number < base { known[number] } else { fresh[number - base] }
}

/// One column of each batch as integers, if it has nothing else. A batch without rows fits any type.
fn ints_of<const N: usize>(column: usize, batches: [&Batch; N]) -> Option<[&[i64]; N]> {
    let mut ints = [&[][..]; N];
    for (place, batch) in ints.iter_mut().zip(batches).filter(|(_, batch)| !batch.is_empty()) {
        *place = batch.columns[column].as_dense_ints()?;
    }
    Some(ints)
}

/// A search for the new rows of a batch.
struct KeySearch<'a> {
    by_hash: &'a mut HashTable<u32>,
    /// The hashes of the rows of the index.
    known: &'a [u64],
    /// The hashes of the batch's rows.
    new: &'a [u64],
}

impl KeySearch<'_> {
    /// The rows to append, in order. They are entered into the hash table under the numbers that they will have.
    fn fresh(
        &mut self,
        same_as_known: impl Fn(usize, usize) -> bool,
        same_as_new: impl Fn(usize, usize) -> bool,
    ) -> Vec<u32> {
        let (base, known, new) = (self.known.len(), self.known, self.new);
        let mut fresh: Vec<u32> = Vec::new();
        for (row, hash) in new.iter().enumerate() {
            let same = |number: &u32| match (*number as usize).checked_sub(base) {
                None => same_as_known(*number as usize, row),
                Some(nth) => same_as_new(fresh[nth] as usize, row),
            };
            let hash_of = |number: &u32| match (*number as usize).checked_sub(base) {
                None => known[*number as usize],
                Some(nth) => new[fresh[nth] as usize],
            };
            if let Entry::Vacant(entry) = self.by_hash.entry(*hash, same, hash_of) {
                entry.insert((base + fresh.len()) as u32);
                fresh.push(row as u32);
            }
        }
        fresh
    }
}
