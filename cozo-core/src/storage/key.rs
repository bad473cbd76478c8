//! Keys to search for and values to write, borrowed from a column without making a `DataValue`.

use smallvec::SmallVec;

use crate::value::{Column, DataValue, Num, VectorRef};

/// One value, borrowed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Key<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(&'a str),
    /// A vector that is not empty, and whose elements lie side by side.
    Vec(VectorRef<'a>),
    Other(&'a DataValue),
}

impl<'a> Key<'a> {
    /// The value of a row.
    #[inline]
    pub fn at(column: &'a Column, row: usize) -> Self {
        match column {
            Column::Int(column) => column.get(row).map_or(Key::Null, Key::Int),
            Column::Str(column) if !column.is_null(row) => Key::Str(column.str_at(row)),
            Column::Null(_) | Column::Str(_) => Key::Null,
            Column::Bool(column) => column.get(row).map_or(Key::Null, Key::Bool),
            Column::Float(column) => column.get(row).map_or(Key::Null, Key::Float),
            Column::Vec(column) => column.row(row).map_or(Key::Null, Key::Vec),
            Column::Any(values) => Key::of(&values[row]),
        }
    }

    /// A value, borrowed.
    pub fn of(value: &'a DataValue) -> Self {
        match value {
            DataValue::Null => Key::Null,
            DataValue::Bool(value) => Key::Bool(*value),
            DataValue::Num(Num::Int(value)) => Key::Int(*value),
            DataValue::Num(Num::Float(value)) => Key::Float(*value),
            DataValue::Str(value) => Key::Str(value),
            DataValue::Vec(vector) if !vector.is_empty() => vector.elements().map_or(Key::Other(value), Key::Vec),
            other => Key::Other(other),
        }
    }

    /// The value itself.
    pub fn to_value(self) -> DataValue {
        match self {
            Key::Null => DataValue::Null,
            Key::Bool(value) => value.into(),
            Key::Int(value) => value.into(),
            Key::Float(value) => value.into(),
            Key::Str(value) => value.into(),
            Key::Vec(vector) => DataValue::Vec(vector.to_vector()),
            Key::Other(value) => value.clone(),
        }
    }
}

/// The leading key columns to search for.
pub(super) type Probe<'a> = &'a [Key<'a>];

/// The values of a [`Probe`]. They are nearly always few enough to need no allocation.
pub(super) type ProbeKeys<'a> = SmallVec<[Key<'a>; 4]>;

/// A row of values.
#[inline]
pub(super) fn row_of(values: &[DataValue]) -> ProbeKeys<'_> {
    let mut keys = ProbeKeys::new();
    values.iter().for_each(|value| keys.push(Key::of(value)));
    keys
}

/// A row of columns.
#[inline]
pub(super) fn keys_at(columns: &[Column], row: usize) -> ProbeKeys<'_> {
    // A loop is faster here than collecting, which would cost as much as a comparison.
    let mut keys = ProbeKeys::new();
    columns.iter().for_each(|column| keys.push(Key::at(column, row)));
    keys
}
