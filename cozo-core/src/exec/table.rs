//! Derived tables: rows that are only ever appended, each at most once.
//!
//! Since rows never move, a range of row numbers says what is new and what is old. A table of a meet aggregation has
//! one living row for each key: an improved group is appended as a new row, and its old row dies.

use std::ops::Range;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rayon::prelude::*;

use super::index::HashIndex;
use super::int_set::IntSet;
use crate::value::{Batch, Cell, Column, Num, Scalar, hash_row};

/// So many rows are worth comparing on another thread.
const WORTH_SHARING: usize = 1 << 14;

/// Up to so many rows, duplicates are found by looking at all of them.
pub const FEW_ROWS: usize = 8;

/// For so many rows a hash table has room from the start: to grow to it would take longer than all else that a few rows take.
const FIRST_ROOM: usize = 112;

/// A derived table.
#[derive(Debug)]
pub struct Table {
    /// The rows, also dead ones.
    rows: Batch,
    /// The number of leading columns that tell rows apart; all of them for a set.
    key_width: usize,
    /// The hash of each row's key; empty while there are few rows.
    hashes: Vec<u64>,
    /// The rows by key; empty while there are few.
    by_key: HashTable<u32>,
    /// In place of the hashes, for a set of single integers that lie close together.
    small_ints: Option<IntSet>,
    /// From so many rows on, it is worth trying whether they do.
    worth_a_bitmap: usize,
    /// Which rows are dead; empty if none is.
    dead: Vec<bool>,
    /// Whether the only living row stands for there being none: it is not improved, but superseded.
    is_placeholder: bool,
    /// The indexes made so far.
    indexes: Vec<HashIndex>,
}

impl Table {
    /// An empty set of rows of this width.
    pub fn set(width: usize) -> Self {
        Table::keyed(width, width)
    }

    /// An empty table with one row for each value of the first `key_width` columns.
    pub fn keyed(width: usize, key_width: usize) -> Self {
        Table {
            rows: Batch::empty(width),
            key_width,
            hashes: vec![],
            by_key: HashTable::new(),
            small_ints: None,
            worth_a_bitmap: 0,
            dead: vec![],
            is_placeholder: false,
            indexes: vec![],
        }
    }

    /// The set of these rows. That those which ascend differ from each other is quickly seen; then they are not hashed.
    pub fn of(rows: Batch) -> Self {
        let ascends = |row: usize| rows.compare_rows(row - 1, &rows, row).is_lt();
        let mut neighbours = 1..rows.len;
        let all_ascend = match rows.len {
            0..WORTH_SHARING => neighbours.all(ascends),
            _ => neighbours.into_par_iter().with_min_len(WORTH_SHARING).all(ascends),
        };
        if all_ascend {
            return Table::of_distinct(rows);
        }
        let mut table = Table::set(rows.columns.len());
        table.insert(rows);
        table
    }

    /// A table of these rows, which differ from each other.
    pub fn of_distinct(rows: Batch) -> Self {
        let width = rows.columns.len();
        Table { rows, ..Table::set(width) }
    }

    /// A table of single integers, in ascending order.
    pub fn of_ints(set: IntSet) -> Self {
        let values = set.to_values();
        let rows = Batch { len: values.len(), columns: vec![Column::ints(values)] };
        Table { small_ints: Some(set), ..Table::of_distinct(rows) }
    }

    /// The rows, also dead ones.
    pub fn rows(&self) -> &Batch {
        &self.rows
    }

    /// The number of rows, also dead ones.
    pub fn len(&self) -> usize {
        self.rows.len
    }

    /// Whether a row was superseded by a better one.
    #[inline]
    pub fn is_dead(&self, row: usize) -> bool {
        self.dead.get(row).copied().unwrap_or(false)
    }

    /// Whether any row was superseded.
    pub fn has_dead(&self) -> bool {
        !self.dead.is_empty()
    }

    /// The living rows of a range.
    pub fn living(&self, range: Range<usize>) -> Vec<u32> {
        range.filter(|row| !self.is_dead(*row)).map(|row| row as u32).collect()
    }

    /// The rows, without dead ones.
    pub fn into_rows(self) -> Batch {
        if self.has_dead() { self.rows.take(&self.living(0..self.rows.len)) } else { self.rows }
    }

    /// Makes sure that there is an index on these columns, with all rows.
    pub fn ensure_index(&mut self, columns: &[usize]) {
        if !self.indexes.iter().any(|index| index.columns == columns) {
            self.indexes.push(HashIndex::new(columns.to_vec()));
        }
        for index in self.indexes.iter_mut().filter(|index| index.columns == columns) {
            index.extend(&self.rows);
        }
    }

    /// The index on these columns; see [`Table::ensure_index`].
    pub fn index(&self, columns: &[usize]) -> &HashIndex {
        self.indexes.iter().find(|index| index.columns == columns).expect("indexes are made before rules run")
    }

    /// The hashes of the keys of a batch, for [`Table::find_key`].
    pub fn key_hashes(&self, batch: &Batch) -> Vec<u64> {
        let mut hashes = vec![0; batch.len];
        batch.columns[..self.key_width].iter().for_each(|column| column.hash_into(&mut hashes));
        hashes
    }

    /// Enters all rows into the hash table, if they are not.
    fn hash_rows(&mut self) {
        if self.hashes.len() == self.rows.len {
            return;
        }
        self.hashes = self.key_hashes(&self.rows);
        let hashes = &self.hashes;
        self.by_key.reserve(hashes.len().max(FIRST_ROOM), |row| hashes[*row as usize]);
        for row in 0..hashes.len() {
            if self.dead.get(row) != Some(&true) {
                self.by_key.insert_unique(hashes[row], row as u32, |row| hashes[*row as usize]);
            }
        }
    }

    /// Appends rows that differ from each other and from those that are there, to a table that got all its rows so; gives the number of
    /// them.
    pub fn append(&mut self, batch: Batch) -> usize {
        debug_assert!(self.hashes.is_empty() && self.small_ints.is_none(), "rows that are hashed are inserted");
        let added = batch.len;
        match self.rows.len {
            0 => self.rows = batch,
            _ => self.rows.append(&batch),
        }
        added
    }

    /// Appends the rows that are not there yet; gives the number of them.
    pub fn insert(&mut self, batch: Batch) -> usize {
        debug_assert_eq!(self.key_width, self.rows.columns.len(), "only sets take rows this way");
        if self.small_ints.is_none() && self.rows.len + batch.len <= FEW_ROWS {
            return self.insert_few(&batch);
        }
        if let Some(added) = self.insert_small_ints(single_ints(&batch), batch.len) {
            return added;
        }
        let hashes = self.key_hashes(&batch);
        self.insert_hashed(batch, &hashes)
    }

    /// Appends a row if it is not there yet; whether it was not.
    pub fn insert_row<'c, C: Cell + 'c>(&mut self, row: impl Iterator<Item = &'c C> + Clone) -> bool {
        debug_assert_eq!(self.key_width, self.rows.columns.len(), "only sets take rows this way");
        let is_row = |columns: &[Column], known: usize| {
            columns.iter().zip(row.clone()).all(|(column, cell)| cell.is_at(column, known))
        };
        if self.small_ints.is_none() && self.rows.len < FEW_ROWS {
            let known = (0..self.rows.len).any(|known| is_row(&self.rows.columns, known));
            if !known {
                self.push_row(row);
            }
            return !known;
        }
        if self.key_width == 1 {
            let int = match row.clone().next().and_then(Cell::scalar).and_then(Scalar::num) {
                Some(Num::Int(value)) => Some([value]),
                _ => None,
            };
            if let Some(added) = self.insert_small_ints(int.as_ref().map(|int| &int[..]), 1) {
                return added == 1;
            }
        }
        self.hash_rows();
        let hash = hash_row(row.clone());
        let hashes = &self.hashes;
        let is_known = |known: &u32| is_row(&self.rows.columns, *known as usize);
        let Entry::Vacant(entry) = self.by_key.entry(hash, is_known, |known| hashes[*known as usize]) else {
            return false;
        };
        entry.insert(self.rows.len as u32);
        self.hashes.push(hash);
        self.push_row(row);
        true
    }

    fn push_row<'c, C: Cell + 'c>(&mut self, row: impl Iterator<Item = &'c C>) {
        self.rows.columns.iter_mut().zip(row).for_each(|(column, cell)| cell.push_to(column));
        self.rows.len += 1;
    }

    /// Inserts so many rows by a bitmap if they are single integers and all lie close enough together.
    fn insert_small_ints(&mut self, new: Option<&[i64]>, new_rows: usize) -> Option<usize> {
        let [known] = self.rows.columns.as_slice() else { return None };
        let rows = self.rows.len + new_rows;
        let set = match self.small_ints.take() {
            None if rows < self.worth_a_bitmap => return None,
            None => ints_of(known).and_then(|known| IntSet::of(known, rows)),
            set => set,
        };
        // As long as integers lie too far apart, it is tried as often as their number doubles.
        self.worth_a_bitmap = rows * 2;
        let mut set = set?;
        let new = new.filter(|new| set.make_room(new, rows))?;
        // Hashes are made again when they are needed.
        self.hashes.clear();
        self.by_key.clear();
        if let Column::Null(_) = self.rows.columns[0] {
            self.rows.columns[0] = Column::ints(vec![]);
        }
        if let Column::Int(column) = &mut self.rows.columns[0] {
            set.insert_fresh(new, &mut column.values);
        }
        let before = std::mem::replace(&mut self.rows.len, set.len());
        self.small_ints = Some(set);
        Some(self.rows.len - before)
    }

    /// Appends the rows of another set that are not there yet.
    pub fn insert_table(&mut self, mut other: Table) -> usize {
        if self.rows.len == 0 && self.indexes.is_empty() {
            let added = other.rows.len;
            *self = other;
            return added;
        }
        if self.small_ints.is_none() && self.rows.len + other.rows.len <= FEW_ROWS {
            return self.insert_few(&other.rows);
        }
        if let Some(added) = self.insert_small_ints(single_ints(&other.rows), other.rows.len) {
            return added;
        }
        other.hash_rows();
        let hashes = std::mem::take(&mut other.hashes);
        self.insert_hashed(other.rows, &hashes)
    }

    fn insert_few(&mut self, batch: &Batch) -> usize {
        let before = self.rows.len;
        for row in 0..batch.len {
            if !(0..self.rows.len).any(|known| self.rows.compare_rows(known, batch, row).is_eq()) {
                self.append_row(batch, row);
            }
        }
        self.rows.len - before
    }

    fn append_row(&mut self, batch: &Batch, row: usize) {
        for (column, source) in self.rows.columns.iter_mut().zip(&batch.columns) {
            column.push_from(source, row);
        }
        self.rows.len += 1;
    }

    fn insert_hashed(&mut self, batch: Batch, hashes: &[u64]) -> usize {
        self.hash_rows();
        let mut by_key = std::mem::take(&mut self.by_key);
        let mut search = Search { by_key: &mut by_key, known: &self.hashes, new: hashes };
        let fresh = match (self.rows.columns.as_slice(), batch.columns.as_slice()) {
            ([known], [new]) if let (Some(known), Some(new)) = (ints_of(known), new.as_dense_ints()) => {
                search.fresh(|a, b| known[a] == new[b], |a, b| new[a] == new[b])
            }
            ([known_a, known_b], [new_a, new_b])
                if let (Some(known_a), Some(known_b)) = (ints_of(known_a), ints_of(known_b))
                    && let (Some(new_a), Some(new_b)) = (new_a.as_dense_ints(), new_b.as_dense_ints()) =>
            {
                search.fresh(
                    |a, b| known_a[a] == new_a[b] && known_b[a] == new_b[b],
                    |a, b| new_a[a] == new_a[b] && new_b[a] == new_b[b],
                )
            }
            (known, new) => search.fresh(|a, b| same_row(known, a, new, b), |a, b| same_row(new, a, new, b)),
        };
        self.by_key = by_key;
        self.hashes.extend(fresh.iter().map(|row| hashes[*row as usize]));
        if fresh.len() == batch.len && self.rows.len == 0 {
            self.rows = batch;
        } else {
            for (column, source) in self.rows.columns.iter_mut().zip(&batch.columns) {
                column.append_take(source, &fresh);
            }
            self.rows.len += fresh.len();
        }
        fresh.len()
    }

    /// The row number of each row of a batch; rows that are not there yet are appended.
    pub fn insert_or_find(&mut self, batch: &Batch) -> Vec<u32> {
        self.hash_rows();
        let hashes = self.key_hashes(batch);
        let mut numbers = Vec::with_capacity(batch.len);
        for (row, hash) in hashes.into_iter().enumerate() {
            let found = self.find_key(batch, row, hash);
            numbers.push(found.unwrap_or_else(|| self.append_keyed(batch, row, hash)));
        }
        numbers
    }

    /// The rows of a batch that are not in this set.
    pub fn absent(&self, batch: &Batch) -> Vec<u32> {
        let columns = (self.rows.columns.as_slice(), batch.columns.as_slice());
        if let (Some(set), [new]) = (&self.small_ints, columns.1) {
            let known = |row: usize| matches!(new, Column::Int(new) if new.get(row).is_some_and(|v| set.contains(v)));
            return (0..batch.len).filter(|row| !known(*row)).map(|row| row as u32).collect();
        }
        if self.hashes.len() < self.rows.len {
            let known = |row: usize| (0..self.rows.len).any(|i| same_row(columns.0, i, columns.1, row));
            return (0..batch.len).filter(|row| !known(*row)).map(|row| row as u32).collect();
        }
        let hashes = self.key_hashes(batch);
        let absent = |row: &usize| {
            let same = |known: &u32| same_row(columns.0, *known as usize, columns.1, *row);
            self.by_key.find(hashes[*row], same).is_none()
        };
        (0..batch.len).filter(absent).map(|row| row as u32).collect()
    }

    /// The living row with the same key as a row of `batch`, whose key hashes to `hash`.
    pub fn find_key(&self, batch: &Batch, row: usize, hash: u64) -> Option<u32> {
        let (known, probe) = (&self.rows.columns[..self.key_width], &batch.columns[..self.key_width]);
        self.by_key.find(hash, |i| same_row(known, *i as usize, probe, row)).copied()
    }

    /// Whether the only living row stands for there being none.
    pub fn is_placeholder(&self) -> bool {
        self.is_placeholder
    }

    /// Says whether the only living row stands for there being none.
    pub fn set_placeholder(&mut self, is_placeholder: bool) {
        self.is_placeholder = is_placeholder;
    }

    /// Appends a row with a key that no living row has.
    pub fn append_keyed(&mut self, batch: &Batch, row: usize, hash: u64) -> u32 {
        self.append_row(batch, row);
        if self.has_dead() {
            self.dead.push(false);
        }
        self.enter(hash)
    }

    /// Enters the last row into the hash table; gives its number.
    fn enter(&mut self, hash: u64) -> u32 {
        let number = self.hashes.len() as u32;
        self.hashes.push(hash);
        let hashes = &self.hashes;
        self.by_key.insert_unique(hash, number, |row| hashes[*row as usize]);
        number
    }

    /// Appends a better row for the key of a living row, which dies.
    pub fn supersede(&mut self, old: u32, batch: &Batch, row: usize, hash: u64) -> u32 {
        if let Ok(entry) = self.by_key.find_entry(hash, |known| *known == old) {
            entry.remove();
        }
        if self.dead.is_empty() {
            self.dead.resize(self.rows.len, false);
        }
        self.dead[old as usize] = true;
        self.append_keyed(batch, row, hash)
    }

    /// Changes values of a row that nobody has seen yet.
    pub fn column_mut(&mut self, column: usize) -> &mut Column {
        debug_assert!(column >= self.key_width, "keys never change");
        &mut self.rows.columns[column]
    }
}

/// A search for the rows of a batch that a table does not have.
struct Search<'a> {
    by_key: &'a mut HashTable<u32>,
    /// The hashes of the table's rows.
    known: &'a [u64],
    /// The hashes of the batch's rows.
    new: &'a [u64],
}

impl Search<'_> {
    /// The rows to append, in order, entered into the hash table under the numbers that they will have.
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
            if let Entry::Vacant(entry) = self.by_key.entry(*hash, same, hash_of) {
                entry.insert((base + fresh.len()) as u32);
                fresh.push(row as u32);
            }
        }
        fresh
    }
}

#[inline]
fn same_row(a: &[Column], i: usize, b: &[Column], j: usize) -> bool {
    a.iter().zip(b).all(|(x, y)| x.equals_at(i, y, j))
}

/// The rows of a batch as integers, if they are.
fn single_ints(batch: &Batch) -> Option<&[i64]> {
    let [column] = batch.columns.as_slice() else { return None };
    column.as_dense_ints()
}

/// The integers of a column that has nothing else; an empty column has none that differ.
pub fn ints_of(column: &Column) -> Option<&[i64]> {
    match column {
        Column::Null(0) => Some(&[]),
        other => other.as_dense_ints(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::value::DataValue;

    fn batch(rows: &[Vec<DataValue>]) -> Batch {
        Batch::from_rows(rows[0].len(), rows.iter().map(Vec::as_slice))
    }

    /// Batches of growing size, with repetitions within and between them, against a `BTreeSet`.
    #[test]
    fn a_set_keeps_each_row_once_in_order_of_arrival() {
        for mixed in [false, true] {
            let mut table = Table::set(2);
            let mut model = BTreeSet::new();
            let mut order = vec![];
            for size in 1..40usize {
                let value = |i: usize| {
                    if mixed && i.is_multiple_of(3) { DataValue::from(i as f64) } else { DataValue::from(i as i64) }
                };
                let rows: Vec<_> = (0..size).map(|i| vec![value(i * 7 % 11), value(size * i % 13)]).collect();
                let fresh: Vec<_> = rows.iter().filter(|row| model.insert((*row).clone())).cloned().collect();
                assert_eq!(table.absent(&batch(&rows)).len(), rows.iter().filter(|r| fresh.contains(r)).count());
                assert_eq!(table.insert(batch(&rows)), fresh.len());
                order.extend(fresh);
                // What is inserted row by row is found among what came in batches, and the other way round.
                for row in (0..3).map(|i| vec![value(size * i % 17), value(i)]) {
                    let is_new = model.insert(row.clone());
                    assert_eq!(table.insert_row(row.iter()), is_new, "{row:?}");
                    order.extend(is_new.then_some(row));
                }
                assert_eq!(table.rows().rows().collect::<Vec<_>>(), order);
            }
        }
    }

    /// Integers that first lie close together, then far apart, then are not alone.
    #[test]
    fn a_set_of_integers_changes_its_ways_without_losing_rows() {
        let mut table = Table::set(1);
        let mut model = BTreeSet::new();
        for round in 0..12i64 {
            let value = |i: i64| match round {
                0..6 => DataValue::from((i * 31 + round * 7) % 300),
                6..9 => DataValue::from((i * 31) % 300 * 1_000_003 - 500),
                _ => DataValue::from(format!("{}", i % 70)),
            };
            let rows: Vec<_> = (0..100).map(|i| vec![value(i)]).collect();
            let absent = rows.iter().filter(|row| !model.contains(*row)).count();
            assert_eq!(table.absent(&batch(&rows)).len(), absent, "round {round}");
            let row = vec![value(round * 37)];
            assert_eq!(table.insert_row(row.iter()), model.insert(row), "round {round}");
            let fresh = rows.iter().filter(|row| model.insert((*row).clone())).count();
            assert_eq!(table.insert(batch(&rows)), fresh, "round {round}");
        }
        assert_eq!(table.rows().rows().collect::<BTreeSet<_>>(), model);
        assert_eq!(table.len(), model.len());
    }

    /// A few rows at a time, after so few distinct ones that a bitmap was made for them.
    #[test]
    fn a_bitmap_of_few_integers_keeps_up_with_small_batches() {
        let ints = |values: &[i64]| Batch::new(vec![Column::ints(values.to_vec())], values.len());
        let mut table = Table::set(1);
        assert_eq!(table.insert(ints(&[0, 1, 0, 1, 0, 1, 0, 1, 0, 1])), 2);
        assert_eq!(table.insert(ints(&[2])), 1);
        assert_eq!(table.insert(ints(&[2, 3, 2, 3, 2, 3, 2, 3, 2, 3])), 1);
        assert_eq!(table.insert_table(Table::of_distinct(ints(&[3, 4]))), 1);
        assert_eq!(table.insert(ints(&[4, 4, 4, 4, 4, 4, 4, 4, 5])), 1);
        assert_eq!(table.rows().rows().flatten().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5].map(DataValue::from));
    }

    #[test]
    fn an_index_finds_all_rows_of_a_key_last_first() {
        let mut table = Table::set(2);
        table.insert(batch(&[vec![1.into(), 10.into()], vec![2.into(), 20.into()]]));
        table.ensure_index(&[0]);
        table.insert(batch(&[vec![1.into(), 11.into()], vec![1.into(), 12.into()]]));
        table.ensure_index(&[0]);
        let probe: Column = std::iter::once(DataValue::from(1)).collect();
        let index = table.index(&[0]);
        let first = index.find(table.rows(), &[&probe], 0);
        let chain: Vec<u32> = std::iter::successors(first, |row| index.before(*row)).collect();
        assert_eq!(chain, vec![3, 2, 0]);
    }
}
