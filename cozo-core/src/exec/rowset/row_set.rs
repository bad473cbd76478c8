//! Telling rows apart by their keys.
//!
//! A [`RowSet`] stores no rows: a [`Table`](super::table::Table) has them, and sinks, distinct rows and groups are tables. The set
//! has one of three representations:
//!
//! ```text
//! representation  rows are told apart by                    taken when
//! Few             comparing with all rows                   up to FEW_ROWS rows
//! Bitmap          a bit for each possible row (IntSet)      all columns are integers that lie close together
//! Hashed          a hash table of row numbers               otherwise, or for a key that is not the whole row
//! ```
//!
//! A bitmap gives way to hashes when a row does not fit it. While integers lie too far apart, a bitmap is tried again each time the
//! number of rows has doubled. Rows that came in as distinct ([`Table::append`](super::table::Table::append)) are not entered: a
//! later insertion hashes or maps all rows first.
//!
//! The rows lie in one batch or two: *known* rows, which operators may read at the same time, and *fresh* rows, which are appended.
//! Both are numbered as one sequence, the known rows first.

use std::borrow::Cow;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::exec::index::packed_key::all_ints;
use crate::exec::rowset::int_set::IntSet;
use crate::exec::thresholds::FEW_ROWS;
use crate::value::{Batch, Column, DataValue, Num, hash_row};

/// The first capacity of a hash table. Growing to it step by step would cost more than all other work for few rows.
const FIRST_ROOM: usize = 112;

/// The known rows, where there are none.
pub static NO_ROWS: Batch = Batch { columns: Vec::new(), len: 0 };

/// Tells rows apart by their key: the leading columns of a table, or all columns of a set.
#[derive(Debug, Default)]
pub struct RowSet {
    by: Representation,
    /// From this many rows on, a bitmap is tried next.
    bitmap_min_rows: usize,
}

/// What tells rows apart.
#[derive(Debug, Default)]
enum Representation {
    /// The rows themselves.
    #[default]
    Few,
    /// A bitmap of integers.
    Bitmap(IntSet),
    /// Hashes.
    Hashed(Hashes),
}

/// Row numbers by the hashes of their keys.
#[derive(Debug, Default)]
struct Hashes {
    /// The hash of each row's key.
    of_rows: Vec<u64>,
    /// The row numbers by hash, without dead rows.
    by_hash: HashTable<u32>,
}

impl Hashes {
    /// Enters a row under the next number, which is returned. No other row has the same key.
    fn enter(&mut self, hash: u64) -> u32 {
        let number = self.of_rows.len() as u32;
        self.of_rows.push(hash);
        let hashes = &self.of_rows;
        self.by_hash.insert_unique(hash, number, |row| hashes[*row as usize]);
        number
    }
}

impl RowSet {
    /// The set of the rows of a set of integers, numbered in ascending order.
    pub fn of_ints(set: IntSet) -> Self {
        RowSet { by: Representation::Bitmap(set), bitmap_min_rows: 0 }
    }

    /// Whether a bitmap tells rows apart.
    pub fn has_bitmap(&self) -> bool {
        matches!(self.by, Representation::Bitmap(_))
    }

    /// The hashes of so many rows, if all of them have one.
    fn hashes(&self, rows: usize) -> Option<&Hashes> {
        match &self.by {
            Representation::Hashed(hashes) if hashes.of_rows.len() == rows => Some(hashes),
            _ => None,
        }
    }

    /// Hashes the rows of a set without a bitmap if they are many: further rows are then not compared with each of them.
    pub fn hash_many(&mut self, rows: &Batch) {
        if !self.has_bitmap() && rows.len > FEW_ROWS {
            self.hash_rows(&NO_ROWS, rows, rows.columns.len(), |_| false);
        }
    }

    /// Enters all rows by the hashes of their keys, unless they are there.
    pub fn hash_rows(&mut self, known: &Batch, fresh: &Batch, width: usize, is_dead: impl Fn(usize) -> bool) {
        self.hashed(known, fresh, width, is_dead);
    }

    /// [`RowSet::hash_rows`], and returns the hashes.
    fn hashed(&mut self, known: &Batch, fresh: &Batch, width: usize, is_dead: impl Fn(usize) -> bool) -> &mut Hashes {
        if self.hashes(known.len + fresh.len).is_none() {
            let mut of_rows = key_hashes(known, width.min(known.columns.len()));
            of_rows.append(&mut key_hashes(fresh, width));
            let hash_of = |row: &u32| of_rows[*row as usize];
            let mut by_hash = HashTable::with_capacity(of_rows.len().max(FIRST_ROOM));
            for row in (0..of_rows.len()).filter(|row| !is_dead(*row)) {
                by_hash.insert_unique(of_rows[row], row as u32, hash_of);
            }
            let hashes = Hashes { of_rows, by_hash };
            self.by = Representation::Hashed(hashes);
        }
        self.hashes_mut()
    }

    /// The hashes. If there are none, there are no rows.
    fn hashes_mut(&mut self) -> &mut Hashes {
        if !matches!(self.by, Representation::Hashed(_)) {
            self.by = Representation::Hashed(Hashes::default());
        }
        match &mut self.by {
            Representation::Hashed(hashes) => hashes,
            _ => unreachable!("the set was just made one of hashes"),
        }
    }

    /// The hashes of so many rows, if all of them have one.
    pub fn into_hashes(self, rows: usize) -> Option<Vec<u64>> {
        match self.by {
            Representation::Hashed(hashes) if hashes.of_rows.len() == rows => Some(hashes.of_rows),
            _ => None,
        }
    }

    /// The row whose key has this hash and is the same. All rows must be hashed.
    pub fn find(&self, hash: u64, is_same: impl Fn(usize) -> bool) -> Option<u32> {
        match &self.by {
            Representation::Hashed(hashes) => hashes.by_hash.find(hash, |row| is_same(*row as usize)).copied(),
            _ => None,
        }
    }

    /// Enters one more row, with a key that no other row has; returns its number. All rows must be hashed.
    pub fn enter(&mut self, hash: u64) -> u32 {
        self.hashes_mut().enter(hash)
    }

    /// Removes a row, which is not found any more.
    pub fn forget(&mut self, hash: u64, number: u32) {
        if let Ok(entry) = self.hashes_mut().by_hash.find_entry(hash, |known| *known == number) {
            entry.remove();
        }
    }

    /// Appends a row to the fresh rows if it is new; returns whether it is.
    pub fn insert_row<'c>(&mut self, fresh: &mut Batch, row: impl Iterator<Item = &'c DataValue> + Clone) -> bool {
        let is_row = |number: usize| {
            fresh.columns.iter().zip(row.clone()).all(|(column, value)| column.compare_value(number, value).is_eq())
        };
        let is_new = match &mut self.by {
            Representation::Few if fresh.len < FEW_ROWS => Some(!(0..fresh.len).any(is_row)),
            Representation::Bitmap(set) => only_int(row.clone()).and_then(|value| set.insert_one(value)),
            Representation::Hashed(hashes) if hashes.of_rows.len() == fresh.len => {
                let hash = hash_row(row.clone());
                let is_new = hashes.by_hash.find(hash, |number| is_row(*number as usize)).is_none();
                if is_new {
                    hashes.enter(hash);
                }
                Some(is_new)
            }
            _ => None,
        };
        let Some(is_new) = is_new else {
            return self.insert(&NO_ROWS, fresh, Batch::of_row(row.map(Cow::Borrowed)), None) == 1;
        };
        if is_new {
            fresh.columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
            fresh.len += 1;
        }
        is_new
    }

    /// Appends the new rows of a batch to the fresh rows; returns their number. The hashes of the batch are computed unless they are
    /// passed in.
    pub fn insert(&mut self, known: &Batch, fresh: &mut Batch, new: Batch, hashes: Option<Vec<u64>>) -> usize {
        let before = known.len + fresh.len;
        if new.is_empty() {
            return 0;
        }
        if matches!(self.by, Representation::Few) && before + new.len <= FEW_ROWS {
            return insert_few(known, fresh, &new);
        }
        if let Some(added) = self.insert_ints(known, fresh, all_ints(&new.columns), new.len) {
            return added;
        }
        let of_new = hashes.unwrap_or_else(|| key_hashes(&new, new.columns.len()));
        insert_hashed(self.hashed(known, fresh, new.columns.len(), |_| false), known, fresh, new, &of_new)
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
        if !self.has_bitmap() && rows < self.bitmap_min_rows {
            return None;
        }
        // While integers lie too far apart, a bitmap is tried each time their number has doubled.
        self.bitmap_min_rows = rows * 2;
        let new = new.filter(|columns| !columns.is_empty())?;
        let mut set = match std::mem::take(&mut self.by) {
            Representation::Bitmap(set) => set,
            by => {
                self.by = by;
                set_of([known, fresh], rows)?
            }
        };
        if !set.make_room(&new, rows) {
            return None;
        }
        if fresh.is_empty() {
            fresh.columns.fill_with(|| Column::ints(vec![]));
        }
        let places = fresh.columns.iter_mut().map(|column| match column {
            Column::Int(column) => &mut column.values,
            _ => unreachable!("a bitmap is for columns of integers"),
        });
        let added = set.insert_fresh(&new, &mut places.collect::<Vec<_>>());
        fresh.len += added;
        self.by = Representation::Bitmap(set);
        Some(added)
    }

    /// The new rows of a batch. Rows that only an insertion can tell apart may be named as well.
    pub fn absent(&self, known: &Batch, fresh: &Batch, new: &Batch) -> Vec<u32> {
        let all = 0..new.len as u32;
        if let Representation::Bitmap(set) = &self.by {
            return all_ints(&new.columns).map_or_else(|| all.collect(), |columns| set.absent(&columns));
        }
        let rows = known.len + fresh.len;
        if self.hashes(rows).is_none() {
            // Rows that were appended unchecked have no hashes, however many they are.
            if rows > FEW_ROWS {
                return all.collect();
            }
            let is_known = |row: usize| (0..rows).any(|number| is_row(known, fresh, number, new, row));
            return all.filter(|row| !is_known(*row as usize)).collect();
        }
        let hashes = key_hashes(new, new.columns.len());
        let is_known = |row: usize| self.find(hashes[row], |number| is_row(known, fresh, number, new, row)).is_some();
        all.filter(|row| !is_known(*row as usize)).collect()
    }
}

/// Appends the new rows of a batch by their hashes, `of_new`.
fn insert_hashed(hashes: &mut Hashes, known: &Batch, fresh: &mut Batch, new: Batch, of_new: &[u64]) -> usize {
    let base = known.len;
    let mut search = KeySearch { by_hash: &mut hashes.by_hash, known: &hashes.of_rows, new: of_new };
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
        _ => search.fresh(|a, b| is_row(known, fresh, a, &new, b), |a, b| same_row(&new.columns, a, &new.columns, b)),
    };
    hashes.of_rows.extend(added.iter().map(|row| of_new[*row as usize]));
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

/// The value of a row of a single integer.
#[inline]
fn only_int<'c>(mut row: impl Iterator<Item = &'c DataValue>) -> Option<i64> {
    match (row.next()?, row.next()) {
        (DataValue::Num(Num::Int(value)), None) => Some(*value),
        _ => None,
    }
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
