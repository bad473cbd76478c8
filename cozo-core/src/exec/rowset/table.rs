//! Derived tables: rows that are only ever appended, each at most once.
//!
//! A [`Table`] is a batch of rows with a [`RowSet`], which tells rows apart by their keys, and the [`Index`]es that joins
//! look rows up in. Rows never move, so a range of row numbers says which rows are old, new or pending (see `fixpoint`).
//!
//! A set's key is the whole row. A meet table's key is its grouping columns; it has one living row for each key. A better group
//! is appended as a new row, and its old row dies:
//!
//! ```text
//! row      0          1          2          3
//!         a, 5       b, 7       a, 3       b, 2       min per first column
//! dead     yes        yes        no         no        0 and 1 stay where they are, but are not found
//! ```
//!
//! A recursive set is read while it grows. Its further rows go into another table, its *growth* ([`Table::growth`]), which takes
//! over the dedup index and is appended at the end of the rule ([`Table::grow`]).

use std::ops::Range;
use std::sync::Arc;

use crate::budget::Budget;
use crate::exec::error::ExecError;
use crate::exec::index::hash_index::Index;
use crate::exec::rowset::int_set::IntSet;
use crate::exec::rowset::row_set::{NO_ROWS, RowSet, key_hashes, same_row};
use crate::exec::sorting::SortedRuns;
use crate::exec::thresholds::MAX_BATCH_ROWS;
use crate::plan::{TableKind, TablePlan};
use crate::spill::{SpillError, SpillFile, SpillWriter, SpilledRows};
use crate::value::sort::ascend;
use crate::value::{Batch, Column, DataValue};

/// The bytes of a table's row besides its values: its hash and its entry in the hash table.
pub const BYTES_AROUND_ROW: usize = 16;

/// About how many bytes a table takes for `rows` of the `batch_rows` rows of a batch.
pub fn bytes_of(rows: usize, batch_bytes: usize, batch_rows: usize) -> usize {
    rows * (batch_bytes / batch_rows.max(1) + BYTES_AROUND_ROW)
}

/// A derived table.
pub struct Table {
    /// The rows, also dead ones.
    rows: Batch,
    /// The number of leading columns that tell rows apart: all columns of a set.
    key_width: usize,
    /// Finds rows by their keys.
    keys: RowSet,
    /// Which rows are dead; empty if none is.
    dead: Vec<bool>,
    /// Whether the only living row stands for the absence of rows. It is superseded, not improved.
    is_placeholder: bool,
    /// The indexes made so far.
    indexes: Vec<Index>,
    /// The rows, if they are on disk. All else is empty then.
    on_disk: Option<Box<OnDisk>>,
}

/// The rows of a table on disk.
pub enum OnDisk {
    /// In runs that are not merged yet, in the order that is wanted of the entry.
    Runs(SortedRuns),
    /// In any order.
    Rows(SpilledRows),
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
            keys: RowSet::default(),
            dead: vec![],
            is_placeholder: false,
            indexes: vec![],
            on_disk: None,
        }
    }

    /// An empty table of the kind that is planned.
    pub fn like(planned: &TablePlan) -> Self {
        match planned.kind {
            TableKind::Meet { keys, .. } => Table::keyed(planned.arity, keys),
            _ => Table::set(planned.arity),
        }
    }

    /// A table of rows on disk, which differ from each other.
    pub fn on_disk(rows: OnDisk, width: usize) -> Self {
        Table { on_disk: Some(Box::new(rows)), ..Table::set(width) }
    }

    /// Whether the rows are on disk.
    pub fn is_on_disk(&self) -> bool {
        self.on_disk.is_some()
    }

    /// The rows, if they are on disk and merged.
    pub fn spilled(&self) -> Option<&SpilledRows> {
        match self.on_disk.as_deref() {
            Some(OnDisk::Rows(rows)) => Some(rows),
            _ => None,
        }
    }

    /// The rows on disk, or else the table.
    pub fn into_disk(self) -> Result<OnDisk, Table> {
        match self {
            Table { on_disk: Some(rows), .. } => Ok(*rows),
            table => Err(table),
        }
    }

    /// Merges runs on disk.
    pub fn merge_runs(&mut self) -> Result<(), ExecError> {
        self.on_disk = match self.on_disk.take().map(|on_disk| *on_disk) {
            Some(OnDisk::Runs(runs)) => Some(Box::new(OnDisk::Rows(runs.into_rows()?))),
            other => other.map(Box::new),
        };
        Ok(())
    }

    /// Reads rows on disk into memory, for operators that need them there.
    pub fn load(&mut self, budget: &Budget) -> Result<(), ExecError> {
        let Some(OnDisk::Rows(rows)) = self.on_disk.as_deref() else { return Ok(()) };
        budget.charge(rows.memory_bytes() + rows.len() * BYTES_AROUND_ROW)?;
        let mut loaded = Table::set(rows.width());
        loaded.fill(rows, budget)?;
        *self = loaded;
        Ok(())
    }

    /// The set of these rows. Rows in strictly ascending order need no hashing: they are known to differ.
    pub fn of(rows: Batch) -> Self {
        if ascend(&rows.columns, rows.len, true) {
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

    /// A table of rows of integers, in ascending order.
    pub fn of_ints(set: IntSet) -> Self {
        let columns = set.to_columns().into_iter().map(Column::ints).collect();
        let rows = Batch { len: set.len(), columns };
        Table { keys: RowSet::of_ints(set), ..Table::of_distinct(rows) }
    }

    /// The rows, also dead ones.
    pub fn rows(&self) -> &Batch {
        &self.rows
    }

    /// The number of rows, also dead ones.
    pub fn len(&self) -> usize {
        match self.on_disk.as_deref() {
            None => self.rows.len,
            Some(OnDisk::Rows(rows)) => rows.len(),
            Some(OnDisk::Runs(runs)) => runs.len(),
        }
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

    /// Hands over columns of the living rows of a range, block by block.
    pub fn read_columns(
        &self,
        columns: &[usize],
        range: Range<usize>,
        mut take: impl FnMut(Batch) -> Result<(), ExecError>,
    ) -> Result<(), ExecError> {
        if let Some(rows) = self.spilled() {
            let mut reader = rows.read(range);
            while let Some(rows) = reader.next_rows(MAX_BATCH_ROWS)? {
                let block = columns.iter().map(|column| rows.columns[*column].clone()).collect();
                take(Batch::new(block, rows.len))?;
            }
            return Ok(());
        }
        for rows in self.living(range).chunks(MAX_BATCH_ROWS) {
            let block = columns.iter().map(|column| self.rows.columns[*column].take(rows)).collect();
            take(Batch::new(block, rows.len()))?;
        }
        Ok(())
    }

    /// Builds or extends the index on these columns, so that it has all rows.
    pub fn ensure_index(&mut self, columns: &[usize]) {
        if !self.indexes.iter().any(|index| index.columns == columns) {
            self.indexes.push(Index::new(columns.to_vec()));
        }
        for index in self.indexes.iter_mut().filter(|index| index.columns == columns) {
            index.extend(&self.rows);
        }
    }

    /// The index on these columns, if it was made; see [`Table::ensure_index`].
    pub fn index(&self, columns: &[usize]) -> Option<&Index> {
        self.indexes.iter().find(|index| index.columns == columns)
    }

    /// The hashes of the keys of a batch, for [`Table::find_key`].
    pub fn key_hashes(&self, batch: &Batch) -> Vec<u64> {
        key_hashes(batch, self.key_width)
    }

    /// Enters all rows into the hash table, unless they are there.
    fn hash_rows(&mut self) {
        let dead = &self.dead;
        self.keys.hash_rows(&NO_ROWS, &self.rows, self.key_width, |row| dead.get(row) == Some(&true));
    }

    /// Whether a bitmap tells rows apart.
    pub fn has_bitmap(&self) -> bool {
        self.keys.has_bitmap()
    }

    /// Appends rows that differ from each other and from all rows of the table; returns their number. All rows of such a table
    /// must come this way.
    pub fn append(&mut self, batch: Batch) -> usize {
        let added = batch.len;
        self.rows.append_all(batch);
        added
    }

    /// Fills an empty table with rows on disk, whose keys differ from each other.
    pub fn fill(&mut self, rows: &SpilledRows, budget: &Budget) -> Result<(), ExecError> {
        let mut reader = rows.read_all();
        while let Some(batch) = reader.next_rows(usize::MAX)? {
            budget.check()?;
            self.append(batch);
        }
        if self.key_width < self.rows.columns.len() {
            self.hash_rows();
        }
        Ok(())
    }

    /// Writes the living rows of a range into a file.
    pub fn write(&self, range: Range<usize>, file: Arc<SpillFile>) -> Result<SpilledRows, SpillError> {
        let mut writer = SpillWriter::new(file, self.rows.columns.len());
        match self.has_dead() || range != (0..self.rows.len) {
            true => writer.push_some(&self.rows, &self.living(range))?,
            false => writer.push(&self.rows)?,
        }
        writer.finish()
    }

    /// Appends the rows that the table does not have; returns their number.
    pub fn insert(&mut self, batch: Batch) -> usize {
        self.insert_after(&NO_ROWS, batch)
    }

    /// Appends a row if the table does not have it; returns whether it is new.
    pub fn insert_row<'c>(&mut self, row: impl Iterator<Item = &'c DataValue> + Clone) -> bool {
        debug_assert_eq!(self.key_width, self.rows.columns.len(), "only sets take rows this way");
        self.keys.insert_row(&mut self.rows, row)
    }

    /// Appends the rows of another set that this one does not have; returns their number.
    pub fn insert_table(&mut self, other: Table) -> usize {
        if self.rows.len == 0 && self.indexes.is_empty() {
            let added = other.rows.len;
            *self = other;
            return added;
        }
        self.insert_table_after(&NO_ROWS, other)
    }

    /// An empty set that takes the further rows of this one while this one is read; see [`Table::grow`].
    pub fn growth(&mut self) -> Table {
        self.keys.hash_many(&self.rows);
        Table { keys: std::mem::take(&mut self.keys), ..Table::set(self.rows.columns.len()) }
    }

    /// Appends the rows of the set that [`Table::growth`] returned.
    pub fn grow(&mut self, growth: Table) {
        self.keys = growth.keys;
        self.append(growth.rows);
    }

    /// Appends the rows that are neither in this set nor in `known`, the rows that it is the growth of; returns their number.
    pub fn insert_after(&mut self, known: &Batch, batch: Batch) -> usize {
        debug_assert_eq!(self.key_width, self.rows.columns.len(), "only sets take rows this way");
        self.keys.insert(known, &mut self.rows, batch, None)
    }

    /// [`Table::insert_after`] for the rows of another set.
    pub fn insert_table_after(&mut self, known: &Batch, other: Table) -> usize {
        let hashes = other.keys.into_hashes(other.rows.len);
        self.keys.insert(known, &mut self.rows, other.rows, hashes)
    }

    /// The rows of a batch that are neither in this set nor in `known`, the rows that it is the growth of. Rows that only an
    /// insertion can tell apart may be named as well.
    pub fn absent_after(&self, known: &Batch, batch: &Batch) -> Vec<u32> {
        self.keys.absent(known, &self.rows, batch)
    }

    /// The row number of each row of a batch; new rows are appended.
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

    /// The living row with the same key as a row of `batch`, whose key hashes to `hash`.
    pub fn find_key(&self, batch: &Batch, row: usize, hash: u64) -> Option<u32> {
        let (known, probe) = (&self.rows.columns[..self.key_width], &batch.columns[..self.key_width]);
        self.keys.find(hash, |number| same_row(known, number, probe, row))
    }

    /// Whether the only living row stands for the absence of rows.
    pub fn is_placeholder(&self) -> bool {
        self.is_placeholder
    }

    /// Sets whether the only living row stands for the absence of rows.
    pub fn set_placeholder(&mut self, is_placeholder: bool) {
        self.is_placeholder = is_placeholder;
    }

    /// Appends a row with a key that no living row has; returns its number.
    pub fn append_keyed(&mut self, batch: &Batch, row: usize, hash: u64) -> u32 {
        self.rows.append_row(batch, row);
        if self.has_dead() {
            self.dead.push(false);
        }
        self.keys.enter(hash)
    }

    /// Appends a better row for the key of a living row, which dies; returns the new row's number.
    pub fn supersede(&mut self, old: u32, batch: &Batch, row: usize, hash: u64) -> u32 {
        self.keys.forget(hash, old);
        if self.dead.is_empty() {
            self.dead.resize(self.rows.len, false);
        }
        self.dead[old as usize] = true;
        self.append_keyed(batch, row, hash)
    }

    /// A value column, to change rows that no rule has read yet.
    pub fn column_mut(&mut self, column: usize) -> &mut Column {
        debug_assert!(column >= self.key_width, "keys never change");
        &mut self.rows.columns[column]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn batch(rows: &[Vec<DataValue>]) -> Batch {
        Batch::from_rows(rows[0].len(), rows.iter().map(Vec::as_slice))
    }

    /// Batches of growing size, with duplicates within and between them, against a `BTreeSet`.
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
                assert_eq!(
                    table.absent_after(&NO_ROWS, &batch(&rows)).len(),
                    rows.iter().filter(|r| fresh.contains(r)).count()
                );
                assert_eq!(table.insert(batch(&rows)), fresh.len());
                order.extend(fresh);
                // Rows inserted one by one are found among rows inserted in batches, and the other way round.
                for row in (0..3).map(|i| vec![value(size * i % 17), value(i)]) {
                    let is_new = model.insert(row.clone());
                    assert_eq!(table.insert_row(row.iter()), is_new, "{row:?}");
                    order.extend(is_new.then_some(row));
                }
                assert_eq!(table.rows().rows().collect::<Vec<_>>(), order);
            }
        }
    }

    /// Integers that lie close together, then integers far apart, then strings.
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
            assert_eq!(table.absent_after(&NO_ROWS, &batch(&rows)).len(), absent, "round {round}");
            let row = vec![value(round * 37)];
            assert_eq!(table.insert_row(row.iter()), model.insert(row), "round {round}");
            let fresh = rows.iter().filter(|row| model.insert((*row).clone())).count();
            assert_eq!(table.insert(batch(&rows)), fresh, "round {round}");
        }
        assert_eq!(table.rows().rows().collect::<BTreeSet<_>>(), model);
        assert_eq!(table.len(), model.len());
    }

    /// Small batches after a bitmap was made for few distinct rows.
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
        let index = table.index(&[0]).expect("it was made");
        let first = index.find(table.rows(), &[&probe], 1).last(0);
        let chain: Vec<u32> = std::iter::successors(first, |row| index.before(*row)).collect();
        assert_eq!(chain, vec![3, 2, 0]);
    }
}
