//! Positions between the rows of a table, and the ranges between two positions.
//!
//! A bound may have another type than its column. It has a position too: in the total order it lies between two values of the
//! column, or before or after all of them.

use rusqlite::types::Value;

use super::column_encoding::{Form, Neighbour};
use crate::storage::error::StorageError;
use crate::storage::key::Key;
use crate::storage::range::KeyRange;
use crate::value::{Column, DataValue};

/// A position between rows: before or after all rows whose keys begin with some values.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The leading key columns.
    pub values: Vec<Value>,
    /// Whether the position is after the rows that begin with these values.
    pub after: bool,
}

impl Place {
    /// The position before all rows whose leading key columns are at or above these.
    pub fn before<'v>(forms: &[Form], key: impl Iterator<Item = &'v DataValue>) -> Result<Self, StorageError> {
        Self::locate(forms, key, false)
    }

    /// The position after all rows whose leading key columns are these.
    fn after<'v>(forms: &[Form], key: impl Iterator<Item = &'v DataValue>) -> Result<Self, StorageError> {
        Self::locate(forms, key, true)
    }

    fn locate<'v>(forms: &[Form], key: impl Iterator<Item = &'v DataValue>, after: bool) -> Result<Self, StorageError> {
        let mut values = vec![];
        for (form, value) in forms.iter().zip(key) {
            if let Some(encoded) = form.encode_key(Key::of(value))? {
                values.push(encoded);
                continue;
            }
            // No row has this value, so the values after it do not matter.
            let neighbour = form.after(value);
            if let Neighbour::From(int) = neighbour {
                values.push(Value::Integer(int));
            }
            return Ok(Place { values, after: neighbour == Neighbour::None });
        }
        Ok(Place { values, after })
    }
}

/// A range of a table's rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Range {
    /// The rows whose leading key columns are these.
    Prefix(Vec<Value>),
    /// The rows between two positions.
    Between(Place, Place),
}

impl Range {
    /// A range of keys.
    pub fn of(forms: &[Form], range: &KeyRange) -> Result<Self, StorageError> {
        let prefix = || range.prefix.iter();
        let lower = Place::before(forms, prefix().chain(range.lower.iter().flatten()))?;
        let upper = match &range.upper {
            Some(upper) => Place::before(forms, prefix().chain(upper))?,
            None => Place::after(forms, prefix())?,
        };
        Ok(Range::Between(lower, upper))
    }

    /// The rows that begin with a row of some columns; `None` if no row can have these values.
    pub fn of_probe(forms: &[Form], columns: &[Column], row: usize) -> Result<Option<Self>, StorageError> {
        let mut values = Vec::with_capacity(columns.len() + 1);
        for (form, column) in forms.iter().zip(columns) {
            let Some(value) = form.encode_key(Key::at(column, row))? else { return Ok(None) };
            values.push(value);
        }
        Ok(Some(Range::Prefix(values)))
    }

    /// The rest of the range from a position on.
    pub fn starting_at(self, place: Place) -> Self {
        match self {
            Range::Prefix(values) => Range::Between(place, Place { values, after: true }),
            Range::Between(_, upper) => Range::Between(place, upper),
        }
    }

    /// The shape of the statement for the range.
    pub fn shape(&self) -> Shape {
        let end = |place: &Place| (place.values.len(), place.after);
        match self {
            Range::Prefix(values) => Shape::Prefix(values.len()),
            Range::Between(lower, upper) => Shape::Between(end(lower), end(upper)),
        }
    }

    /// The parameters of the statement.
    pub fn parameters(&self) -> impl Iterator<Item = &Value> {
        let (first, second) = match self {
            Range::Prefix(values) => (values, None),
            Range::Between(lower, upper) => (&lower.values, Some(&upper.values)),
        };
        first.iter().chain(second.into_iter().flatten())
    }
}

/// The shape of a statement for a range. Ranges of one shape share a prepared statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A prefix of this number of values.
    Prefix(usize),
    /// For each end the number of its values, and whether it is after them.
    Between((usize, bool), (usize, bool)),
}

impl Shape {
    /// The condition on rows, with key columns of these names. An end without values is the end of the table.
    pub fn condition(self, keys: &[String]) -> String {
        let compared = |width: usize, operator: &str| match width {
            1 => format!("{} {operator} ?", keys[0]),
            _ => format!("({}) {operator} ({})", keys[..width].join(", "), vec!["?"; width].join(", ")),
        };
        match self {
            Shape::Prefix(width) => {
                let equal: Vec<String> = keys[..width].iter().map(|key| format!("{key} = ?")).collect();
                equal.join(" and ")
            }
            Shape::Between((0, true), _) | Shape::Between(_, (0, false)) => "0".to_string(),
            Shape::Between((0, false), (0, true)) => "1".to_string(),
            Shape::Between((0, false), upper) => compared(upper.0, upper_operator(upper)),
            Shape::Between(lower, (0, true)) => compared(lower.0, lower_operator(lower)),
            Shape::Between(lower, upper) => {
                let (lower, upper) =
                    (compared(lower.0, lower_operator(lower)), compared(upper.0, upper_operator(upper)));
                format!("{lower} and {upper}")
            }
        }
    }
}

fn lower_operator((_, after): (usize, bool)) -> &'static str {
    if after { ">" } else { ">=" }
}

fn upper_operator((_, after): (usize, bool)) -> &'static str {
    if after { "<=" } else { "<" }
}
