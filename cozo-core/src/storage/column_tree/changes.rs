//! Changed rows on their way to the leaves: one row as values, or many as columns.

use std::borrow::Cow;
use std::ops::{Deref, Range};

use super::leaf_column::move_values;
use crate::storage::changes::ChangeKind;
use crate::storage::key::{Probe, ProbeKeys, keys_at};
use crate::value::Column;

/// Changed rows.
pub(super) struct Changes<'a> {
    pub kind: ChangeKind,
    /// All columns for puts, the key columns for removals.
    pub rows: Rows<'a>,
    /// The number of key columns.
    pub keys: usize,
}

/// The rows of [`Changes`].
pub(super) enum Rows<'a> {
    One(ProbeKeys<'a>),
    Many(&'a [Column]),
    /// Rows whose large values may be moved out, each once.
    Given(&'a mut [Column]),
}

/// Rows as columns, to encode as leaves.
pub(super) enum Columns<'a> {
    /// Values are copied.
    Kept(Cow<'a, [Column]>),
    /// Large values may be moved out, each once.
    Given(&'a mut [Column]),
}

impl Deref for Columns<'_> {
    type Target = [Column];

    fn deref(&self) -> &[Column] {
        match self {
            Columns::Kept(columns) => columns,
            Columns::Given(columns) => columns,
        }
    }
}

impl Columns<'_> {
    /// Appends a range of rows to columns.
    pub fn append_to(&mut self, range: Range<usize>, targets: &mut [Column]) {
        match self {
            Columns::Kept(columns) => {
                for (column, target) in columns.iter().zip(targets) {
                    target.append_range(column, range.clone());
                }
            }
            Columns::Given(columns) => {
                for (column, target) in columns.iter_mut().zip(targets) {
                    match column {
                        Column::Any(values) => move_values(&mut values[range.clone()], target),
                        column => target.append_range(column, range.clone()),
                    }
                }
            }
        }
    }
}

impl Changes<'_> {
    /// Calls `then` with the key of a row.
    #[inline]
    pub fn with_key<T>(&self, row: usize, then: impl FnOnce(Probe) -> T) -> T {
        match &self.rows {
            Rows::One(values) => then(&values[..self.keys]),
            Rows::Many(columns) => then(&keys_at(&columns[..self.keys], row)),
            Rows::Given(columns) => then(&keys_at(&columns[..self.keys], row)),
        }
    }

    /// Calls `then` with all values of a row.
    #[inline]
    pub fn with_row<T>(&self, row: usize, then: impl FnOnce(Probe) -> T) -> T {
        match &self.rows {
            Rows::One(values) => then(values),
            Rows::Many(columns) => then(&keys_at(columns, row)),
            Rows::Given(columns) => then(&keys_at(columns, row)),
        }
    }

    /// The rows as columns.
    pub fn columns(&mut self) -> Columns<'_> {
        match &mut self.rows {
            Rows::One(values) => {
                Columns::Kept(values.iter().map(|value| Column::of(Cow::Owned(value.to_value()))).collect())
            }
            Rows::Many(columns) => Columns::Kept(Cow::Borrowed(columns)),
            Rows::Given(columns) => Columns::Given(columns),
        }
    }
}
