//! What is read of a relation: a range of its keys, and the time as of which histories are read.
//!
//! A relation whose last key column is a Validity stores a *history* for each combination of its other key columns. A history
//! is the rows that agree in them, newest first. At one timestamp the assertion comes before the retraction.
//!
//! ```text
//! k  at           v                as of 9     nothing
//! a  [20, true]   y                as of 10    x
//! a  [14, false]  null             as of 14    nothing
//! a  [10, true]   x                as of 25    y
//! ```

use crate::value::DataValue;

/// A range of keys: those that begin with `prefix` and whose next key column lies between the bounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyRange {
    /// The leading key columns.
    pub prefix: Vec<DataValue>,
    /// The first key in the range: values of the key columns after the prefix, perhaps only of some.
    pub lower: Option<Vec<DataValue>>,
    /// The first key after the range, in the same form. Rows at or after it are not in the range.
    pub upper: Option<Vec<DataValue>>,
}

impl KeyRange {
    /// Every row.
    pub fn all() -> Self {
        KeyRange::default()
    }

    /// The rows whose keys begin with these values.
    pub fn prefix(prefix: Vec<DataValue>) -> Self {
        KeyRange { prefix, ..KeyRange::default() }
    }
}

/// An end of an ordered range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end with the smallest key.
    First,
    /// The end with the greatest key.
    Last,
}

/// A time to read histories at.
///
/// In each history the first row at or before the timestamp decides. It is visible if it is an assertion. Otherwise, or without
/// such a row, the history shows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AsOf {
    /// The Validity column, which is the last key column. All its values are validities.
    pub column: usize,
    /// The timestamp.
    pub micros: i64,
}
