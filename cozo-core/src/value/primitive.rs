//! Columns of values of one fixed size, and the null flags of typed columns.

use std::ops::Range;

/// Values of one fixed-size type. Null rows have the type's default in `values`.
#[derive(Clone, Debug, Default)]
pub struct Primitive<T> {
    /// A value for each row.
    pub values: Vec<T>,
    /// `true` for each null row; absent if no row is null.
    pub nulls: Option<Vec<bool>>,
}

impl<T: Copy + Default> Primitive<T> {
    /// A column without nulls.
    pub fn dense(values: Vec<T>) -> Self {
        Primitive { values, nulls: None }
    }

    /// `len` nulls.
    pub(super) fn of_nulls(len: usize) -> Self {
        Primitive { values: vec![T::default(); len], nulls: (len > 0).then(|| vec![true; len]) }
    }

    /// Whether the row is null.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls[row])
    }

    /// The value of a row that is not null.
    #[inline]
    pub fn get(&self, row: usize) -> Option<T> {
        (!self.is_null(row)).then(|| self.values[row])
    }

    /// Appends a value that is not null.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.values.push(value);
        if let Some(nulls) = &mut self.nulls {
            nulls.push(false);
        }
    }

    /// Appends a null.
    pub(super) fn push_null(&mut self) {
        let len = self.values.len();
        self.nulls.get_or_insert_with(|| vec![false; len]).push(true);
        self.values.push(T::default());
    }

    /// Appends a range of rows of another column.
    pub(super) fn append_range(&mut self, other: &Self, range: Range<usize>) {
        append_nulls(
            &mut self.nulls,
            self.values.len(),
            other.nulls.as_deref().map(|n| &n[range.clone()]),
            range.len(),
        );
        self.values.extend_from_slice(&other.values[range]);
    }

    /// Appends some rows of another column, in the given order.
    pub(super) fn append_take(&mut self, other: &Self, rows: &[u32]) {
        append_taken_nulls(&mut self.nulls, self.values.len(), other.nulls.as_deref(), rows);
        self.values.extend(rows.iter().map(|row| other.values[*row as usize]));
    }

    /// Removes all rows from `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.values.truncate(len);
        if let Some(nulls) = &mut self.nulls {
            nulls.truncate(len);
        }
    }
}

/// Appends `count` null flags to those of a column of length `len`.
pub(super) fn append_nulls(nulls: &mut Option<Vec<bool>>, len: usize, more: Option<&[bool]>, count: usize) {
    match (nulls.as_mut(), more) {
        (None, None) => {}
        (Some(flags), None) => flags.resize(len + count, false),
        (_, Some(more)) => nulls.get_or_insert_with(|| vec![false; len]).extend_from_slice(more),
    }
}

/// Appends null flags of some rows to those of a column of length `len`.
pub(super) fn append_taken_nulls(nulls: &mut Option<Vec<bool>>, len: usize, more: Option<&[bool]>, rows: &[u32]) {
    if nulls.is_none() && more.is_none() {
        return;
    }
    let flags = nulls.get_or_insert_with(|| vec![false; len]);
    match more {
        Some(more) => flags.extend(rows.iter().map(|row| more[*row as usize])),
        None => flags.resize(len + rows.len(), false),
    }
    // The rows that pass a filter often have no nulls.
    if len == 0 && !flags.contains(&true) {
        *nulls = None;
    }
}
