//! A batch: columns of equal length.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::{Column, DataValue, Tuple};

/// Rows as columns. `len` is a field because a batch may have no columns.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The columns, each `len` long.
    pub columns: Vec<Column>,
    /// The number of rows.
    pub len: usize,
}

impl Batch {
    /// A batch of these columns, all of the same length.
    pub fn new(columns: Vec<Column>, len: usize) -> Self {
        debug_assert!(columns.iter().all(|column| column.len() == len), "columns of one batch have one length");
        Batch { columns, len }
    }

    /// An empty batch of `width` columns.
    pub fn empty(width: usize) -> Self {
        Batch { columns: std::iter::repeat_with(Column::default).take(width).collect(), len: 0 }
    }

    /// A batch of rows, each `width` wide.
    pub fn from_rows<'a>(width: usize, rows: impl IntoIterator<Item = &'a [DataValue]>) -> Self {
        let mut batch = Batch::empty(width);
        for row in rows {
            batch.push_row(row);
        }
        batch
    }

    /// A batch of one row.
    pub fn of_row<'a>(row: impl IntoIterator<Item = Cow<'a, DataValue>>) -> Self {
        Batch::new(row.into_iter().map(Column::of).collect(), 1)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The approximate size of the values.
    pub fn memory_bytes(&self) -> usize {
        self.columns.iter().map(Column::memory_bytes).sum()
    }

    /// [`Column::large_bytes`] of all columns.
    pub fn large_bytes(&self) -> usize {
        self.columns.iter().map(Column::large_bytes).sum()
    }

    /// One row as values.
    pub fn row(&self, row: usize) -> Tuple {
        self.columns.iter().map(|column| column.get(row)).collect()
    }

    /// All rows as values.
    pub fn rows(&self) -> impl Iterator<Item = Tuple> + '_ {
        (0..self.len).map(|row| self.row(row))
    }

    /// Appends one row.
    pub fn push_row(&mut self, row: &[DataValue]) {
        debug_assert_eq!(row.len(), self.columns.len(), "a row is as wide as its batch");
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.push(value);
        }
        self.len += 1;
    }

    /// Appends a row of another batch of the same width.
    pub fn append_row(&mut self, other: &Batch, row: usize) {
        for (column, source) in self.columns.iter_mut().zip(&other.columns) {
            column.push_from(source, row);
        }
        self.len += 1;
    }

    /// Appends all rows of another batch of the same width.
    pub fn append(&mut self, other: &Batch) {
        for (column, more) in self.columns.iter_mut().zip(&other.columns) {
            column.append_range(more, 0..more.len());
        }
        self.len += other.len;
    }

    /// Appends all rows of another batch, which is moved if there are no rows yet.
    pub fn append_all(&mut self, other: Batch) {
        match self.len {
            0 => *self = other,
            _ => self.append(&other),
        }
    }

    /// The given rows, in the given order.
    pub fn take(&self, rows: &[u32]) -> Batch {
        Batch { columns: self.columns.iter().map(|column| column.take(rows)).collect(), len: rows.len() }
    }

    /// The rows of a range.
    pub fn slice(&self, range: std::ops::Range<usize>) -> Batch {
        Batch { columns: self.columns.iter().map(|column| column.slice(range.clone())).collect(), len: range.len() }
    }

    /// Row `a` of this batch against row `b` of another, column by column in the total order.
    pub fn compare_rows(&self, a: usize, other: &Batch, b: usize) -> Ordering {
        compare_columns(&self.columns, a, &other.columns, b)
    }
}

/// Row `row_a` of some columns against row `row_b` of others, column by column in the total order.
#[inline]
pub fn compare_columns(a: &[Column], row_a: usize, b: &[Column], row_b: usize) -> Ordering {
    let by_column = a.iter().zip(b).map(|(x, y)| x.compare_at(row_a, y, row_b));
    by_column.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}
