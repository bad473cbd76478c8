//! A leaf: up to a few hundred rows, sorted by key, as encoded columns (see [`leaf_column`](super::leaf_column)).

use std::ops::Range;

use smallvec::smallvec;

use super::changes::{Changes, Columns};
use super::columns::{LeafColumns, equal_range, prefetch};
use super::leaf_column::{LeafColumn, column_weight};
use super::limits::{APPENDED_LEAF_ROWS, MAX_LEAF_BYTES, MAX_LEAF_ROWS};
use super::loads::{load, sum};
use super::search::pieces;
use crate::storage::key::{Key, Probe, keys_at};
use crate::value::{Column, DataValue};

/// Up to this many changed rows are applied one by one. More are merged with the rows of the leaf, which are encoded once.
const FEW_ROWS: usize = 16;

/// A leaf.
#[derive(Debug)]
pub(super) struct Leaf {
    /// One column for each column of the relation, keys first.
    pub columns: LeafColumns,
    pub len: usize,
}

/// A leaf that split off to the right, with the separator before it.
pub(super) struct SplitOff {
    pub separator: Vec<DataValue>,
    pub leaf: Leaf,
}

impl Leaf {
    /// A leaf without rows.
    pub fn empty(arity: usize) -> Self {
        Leaf { columns: smallvec![LeafColumn::Null(0); arity], len: 0 }
    }

    /// Encodes a range of rows.
    pub fn encode(columns: &mut Columns<'_>, range: Range<usize>) -> Self {
        let len = range.len();
        let columns = match columns {
            Columns::Kept(columns) => columns.iter().map(|column| LeafColumn::encode(column, range.clone())).collect(),
            Columns::Given(columns) => {
                columns.iter_mut().map(|column| LeafColumn::encode_given(column, range.clone())).collect()
            }
        };
        Leaf { columns, len }
    }

    /// Encodes rows as one or more leaves. Returns the first leaf and its right siblings.
    fn encode_all(mut columns: Columns<'_>, range: Range<usize>, keys: usize, appended: bool) -> (Self, Vec<SplitOff>) {
        let weight: usize = columns.iter().map(|column| column_weight(column, range.clone())).sum();
        let light = (range.len() * MAX_LEAF_BYTES).checked_div(weight).unwrap_or(MAX_LEAF_ROWS);
        let whole = appended && range.len() > MAX_LEAF_ROWS;
        let most = light.clamp(1, if whole { APPENDED_LEAF_ROWS } else { MAX_LEAF_ROWS });
        let cut = |piece: Range<usize>| range.start + piece.start..range.start + piece.end;
        let mut cuts = pieces(range.len(), most, appended).into_iter().map(cut);
        let first = Leaf::encode(&mut columns, cuts.next().expect("there is always a piece"));
        let siblings = cuts.map(|rows| {
            let separator = columns_key(&columns, rows.start, keys);
            SplitOff { separator, leaf: Leaf::encode(&mut columns, rows) }
        });
        (first, siblings.collect())
    }

    pub fn copy_with_room(&self) -> Self {
        Leaf { columns: self.columns.iter().map(LeafColumn::copy_with_room).collect(), len: self.len }
    }

    /// The approximate size of strings and untyped values.
    pub fn weight(&self) -> usize {
        self.columns.iter().map(LeafColumn::weight).sum()
    }

    /// Appends a range of rows to columns.
    pub fn decode_range(&self, range: Range<usize>, targets: &mut [Column]) {
        for (column, target) in self.columns.iter().zip(targets) {
            column.append_range(range.clone(), target);
        }
    }

    /// Moves a range of rows to the end of columns. Afterwards only a search among the later rows of the leaf is valid.
    pub fn move_range(&mut self, range: Range<usize>, targets: &mut [Column]) {
        for (column, target) in self.columns.iter_mut().zip(targets) {
            column.move_range(range.clone(), target);
        }
    }

    /// The key of a row.
    pub fn key(&self, row: usize, keys: usize) -> Vec<DataValue> {
        self.columns[..keys].iter().map(|column| column.get(row)).collect()
    }

    /// Reads some of the memory that a search by the first key columns reads. The result has no meaning.
    #[inline]
    pub fn prefetch(&self, keys: usize) -> usize {
        prefetch(&self.columns, keys)
    }

    /// Reads some of the memory of a row's columns; see [`Leaf::prefetch`].
    #[inline]
    pub fn prefetch_row(&self, row: usize, columns: &[usize]) -> usize {
        let Some(last) = self.len.checked_sub(1) else { return 0 };
        let row = row.min(last);
        sum(columns.iter().map(|column| self.columns[*column].prefetch_row(row)))
    }

    /// The row with a whole key. If there is none, the range is empty and lies where the row would be. A leaf that is not
    /// prefetched yet is prefetched before the search.
    #[inline]
    pub fn find(&self, key: Probe, is_prefetched: bool) -> Range<usize> {
        if let ([Key::Int(key)], Some(LeafColumn::Int(column))) = (key, self.columns.first())
            && let Some(row) = column.dense_row(*key)
        {
            return row..row + 1;
        }
        if !is_prefetched {
            self.prefetch_now(key.len());
        }
        self.equal_range(0, key)
    }

    /// Loads the memory that a search by the first key columns reads. The search would wait for one cache line after another,
    /// whereas these loads wait at the same time. It is not inlined, so that its caller's values stay in registers.
    #[inline(never)]
    fn prefetch_now(&self, keys: usize) {
        load(std::iter::once(self.prefetch(keys)));
    }

    /// Loads all columns of a row, if they are few, even those that are not read. A row that is read is often changed next, and the
    /// code after a change would wait for memory that is not in the cache.
    #[inline]
    pub fn prefetch_row_now(&self, row: usize) {
        if !self.columns.spilled() {
            load(self.columns.iter().map(|column| column.prefetch_row(row)));
        }
    }

    /// The rows from `first` on that begin with the probe.
    #[inline]
    pub fn equal_range(&self, first: usize, probe: Probe) -> Range<usize> {
        equal_range(&self.columns, first..self.len, probe)
    }

    /// Puts a range of rows, sorted by key. Returns the leaves that split off.
    pub fn put(&mut self, changes: &mut Changes, range: Range<usize>) -> Vec<SplitOff> {
        let mut next = range.start;
        while range.len() <= FEW_ROWS && next < range.end {
            if !changes.with_row(next, |row| self.put_row(row, changes.keys)) {
                break;
            }
            next += 1;
        }
        let keys = changes.keys;
        if next == range.end { vec![] } else { self.merge(changes.columns(), next..range.end, keys) }
    }

    /// Puts one row. Returns `false` if there is no room for it.
    fn put_row(&mut self, row: &[Key], keys: usize) -> bool {
        // A row with values was often read just before, so it is in the cache. A row of keys alone is mostly new.
        let found = self.find(&row[..keys], keys < row.len());
        if !found.is_empty() {
            for (column, value) in self.columns[keys..].iter_mut().zip(&row[keys..]) {
                column.write(found.start, *value, false);
            }
            return true;
        }
        if self.len == MAX_LEAF_ROWS || (self.len > 1 && self.weight() > MAX_LEAF_BYTES) {
            return false;
        }
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.write(found.start, *value, true);
        }
        self.len += 1;
        true
    }

    /// Merges a range of rows with its own, and encodes all of them.
    fn merge(&mut self, mut rows: Columns<'_>, range: Range<usize>, keys: usize) -> Vec<SplitOff> {
        let place = |leaf: &Leaf, rows: &[Column], row, first| leaf.equal_range(first, &keys_at(&rows[..keys], row));
        let appended = place(self, &rows, range.start, 0).start == self.len;
        let siblings;
        if self.len == 0 {
            (*self, siblings) = Leaf::encode_all(rows, range, keys, appended);
            return siblings;
        }
        if appended && self.weight() > MAX_LEAF_BYTES {
            // The leaf is full, so the new rows go to siblings and its own rows are not copied.
            let separator = columns_key(&rows, range.start, keys);
            let (leaf, further) = Leaf::encode_all(rows, range, keys, appended);
            return std::iter::once(SplitOff { separator, leaf }).chain(further).collect();
        }
        let mut merged = vec![Column::default(); self.columns.len()];
        let (mut own, mut next) = (0, range.start);
        while next < range.end && own < self.len {
            let found = place(self, &rows, next, own);
            self.move_range(own..found.start, &mut merged);
            own = found.end;
            if own < self.len {
                rows.append_to(next..next + 1, &mut merged);
                next += 1;
            }
        }
        rows.append_to(next..range.end, &mut merged);
        self.move_range(own..self.len, &mut merged);
        let len = merged[0].len();
        (*self, siblings) = Leaf::encode_all(Columns::Given(&mut merged), 0..len, keys, appended);
        siblings
    }

    /// Removes the rows with the keys of a range. The keys are sorted.
    pub fn remove(&mut self, changes: &mut Changes, range: Range<usize>) {
        if range.len() > FEW_ROWS {
            let keys = changes.keys;
            return self.remove_many(&changes.columns()[..keys], range);
        }
        for row in range {
            let found = changes.with_key(row, |key| self.find(key, true));
            if !found.is_empty() {
                self.columns.iter_mut().for_each(|column| column.remove(found.start));
                self.len -= 1;
            }
        }
    }

    fn remove_many(&mut self, keys: &[Column], range: Range<usize>) {
        let mut kept = vec![Column::default(); self.columns.len()];
        let mut own = 0;
        for row in range {
            let found = self.equal_range(own, &keys_at(keys, row));
            self.move_range(own..found.start, &mut kept);
            own = found.end;
        }
        self.move_range(own..self.len, &mut kept);
        let len = kept[0].len();
        *self = Leaf::encode(&mut Columns::Given(&mut kept), 0..len);
    }
}

/// The key of a row.
fn columns_key(columns: &[Column], row: usize, keys: usize) -> Vec<DataValue> {
    columns[..keys].iter().map(|column| column.get(row)).collect()
}
