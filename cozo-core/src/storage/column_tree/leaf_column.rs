//! One column of a leaf, in the encoding that suits its values. Decoding returns identical values.
//!
//! | values | encoding |
//! |---|---|
//! | only nulls | their number |
//! | integers | a base, and offsets of 1, 2 or 4 bytes; plain if the offsets need more |
//! | floats, Booleans | plain |
//! | strings | one buffer with ends; a dictionary if they repeat |
//! | vectors of one length and element type | all elements in one buffer |
//! | other types, or several types | `DataValue`s |
//!
//! A leaf of four rows with a key of one integer:
//!
//! ```text
//!  row   key  name   note       columns[0]: Int         base 100, offsets [0, 3, 4, 9]     one byte each
//!   0    100  "m"    null       columns[1]: Dictionary  codes [0, 1, 1, 0], distinct ["m", "f"]
//!   1    103  "f"    null       columns[2]: Null        4
//!   2    104  "f"    null
//!   3    109  "m"    null       nulls: absent in every column that has none
//! ```
//!
//! The encoding follows from the values alone, not from the type that the schema declares. [`LeafColumn::write`]
//! changes a column in place as long as its encoding can hold the value, and encodes it again otherwise.
//!
//! Invariants:
//! - All columns of a leaf have the same length.
//! - Key columns are sorted in the total order of values, each within the runs of the columns before it. Nulls sort first.

use std::ops::Range;

use super::buffer::{Buffer, buffer, bytes_of, copy_with_room, write};
use super::int_column::IntColumn;
use super::plain_column::PlainColumn;
use super::search::{equal_range_by, run_end};
use super::text_column::{DictionaryColumn, TextColumn};
use super::vector_column::LeafVectors;
use crate::storage::key::Key;
use crate::value::{Column, DataValue, Num, Primitive, StrColumn, Validity};

/// An encoded column.
#[derive(Clone, Debug)]
pub(super) enum LeafColumn {
    Null(usize),
    Int(IntColumn),
    Bool(PlainColumn<bool>),
    Float(PlainColumn<f64>),
    Text(TextColumn),
    Dictionary(DictionaryColumn),
    Vec(LeafVectors),
    Any(Buffer<DataValue>),
}

/// Runs the same code for the encodings that hold values of one type, and other code for nulls and for untyped values.
macro_rules! for_encoding {
    ($all:expr, $column:ident => $body:expr, $len:ident => $nulls:expr, $values:ident => $untyped:expr) => {
        match $all {
            LeafColumn::Null($len) => $nulls,
            LeafColumn::Int($column) => $body,
            LeafColumn::Bool($column) => $body,
            LeafColumn::Float($column) => $body,
            LeafColumn::Text($column) => $body,
            LeafColumn::Dictionary($column) => $body,
            LeafColumn::Vec($column) => $body,
            LeafColumn::Any($values) => $untyped,
        }
    };
}

/// A column of nulls that takes integers, floats or Booleans.
fn nulls_of<T: Clone + Default>(len: usize) -> Primitive<T> {
    Primitive { values: vec![T::default(); len], nulls: (len > 0).then(|| vec![true; len]) }
}

impl LeafColumn {
    /// Encodes a range of a column.
    pub fn encode(column: &Column, range: Range<usize>) -> Self {
        match column {
            _ if range.clone().all(|row| column.is_null(row)) => LeafColumn::Null(range.len()),
            Column::Null(_) => LeafColumn::Null(range.len()),
            Column::Bool(column) => LeafColumn::Bool(PlainColumn::encode(column, range)),
            Column::Int(column) => LeafColumn::Int(IntColumn::encode(column, range)),
            Column::Float(column) => LeafColumn::Float(PlainColumn::encode(column, range)),
            Column::Str(column) => LeafColumn::encode_strings(column, range),
            Column::Vec(column) => LeafColumn::Vec(LeafVectors::encode(column, range)),
            Column::Any(values) if values[range.clone()].iter().all(DataValue::has_column_type) => {
                let mut column = Column::default();
                values[range].iter().for_each(|value| column.push(value));
                match column {
                    Column::Any(values) => LeafColumn::Any(buffer(values.into_iter())),
                    typed => LeafColumn::encode(&typed, 0..typed.len()),
                }
            }
            Column::Any(values) => LeafColumn::Any(buffer(values[range].iter().cloned())),
        }
    }

    /// Encodes the column that `fill` fills.
    pub fn built(fill: impl FnOnce(&mut Column)) -> Self {
        let mut column = Column::default();
        fill(&mut column);
        LeafColumn::encode(&column, 0..column.len())
    }

    /// Encodes a range of a column. Values of an untyped column are moved out of it.
    pub fn encode_given(column: &mut Column, range: Range<usize>) -> Self {
        match column {
            Column::Any(values) if !values[range.clone()].iter().all(DataValue::has_column_type) => {
                LeafColumn::Any(buffer(values[range].iter_mut().map(std::mem::take)))
            }
            column => LeafColumn::encode(column, range),
        }
    }

    fn encode_strings(column: &StrColumn, range: Range<usize>) -> Self {
        match DictionaryColumn::encode(column, range.clone()) {
            Some(dictionary) => LeafColumn::Dictionary(dictionary),
            None => LeafColumn::Text(TextColumn::encode(column, range)),
        }
    }

    /// A copy with room for a few more rows.
    pub fn copy_with_room(&self) -> Self {
        match self {
            LeafColumn::Null(len) => LeafColumn::Null(*len),
            LeafColumn::Int(column) => LeafColumn::Int(column.copy_with_room()),
            LeafColumn::Bool(column) => LeafColumn::Bool(column.copy_with_room()),
            LeafColumn::Float(column) => LeafColumn::Float(column.copy_with_room()),
            LeafColumn::Text(column) => LeafColumn::Text(column.copy_with_room()),
            LeafColumn::Dictionary(column) => LeafColumn::Dictionary(column.copy_with_room()),
            LeafColumn::Vec(column) => LeafColumn::Vec(column.copy_with_room()),
            LeafColumn::Any(values) => LeafColumn::Any(copy_with_room(values)),
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        for_encoding!(self, column => column.len(), len => *len, values => values.len())
    }

    /// The value of a row.
    pub fn get(&self, row: usize) -> DataValue {
        fn value<T: Into<DataValue>>(value: Option<T>) -> DataValue {
            value.map_or(DataValue::Null, T::into)
        }
        for_encoding!(self, column => value(column.get(row)), _len => DataValue::Null, values => values[row].clone())
    }

    /// Writes the value of a row into a place. An integer is written there directly. Moving a value that was just written would
    /// read it in wider pieces, which stalls store-to-load forwarding.
    #[inline]
    pub fn get_into(&self, row: usize, place: &mut DataValue) {
        match self {
            LeafColumn::Int(column) => match column.get(row) {
                Some(value) => *place = DataValue::Num(Num::Int(value)),
                None => *place = DataValue::Null,
            },
            other => *place = other.get(row),
        }
    }

    /// The run of rows with `key` in a range that is sorted by this column. If there are none, the run is empty and lies where
    /// they would be.
    #[inline]
    pub fn equal_range(&self, range: Range<usize>, key: Key) -> Range<usize> {
        match (self, key) {
            (LeafColumn::Int(column), Key::Int(key)) => column.equal_range(range, Some(key)),
            (LeafColumn::Int(column), Key::Null) => column.equal_range(range, None),
            (LeafColumn::Text(column), Key::Str(key)) => column.equal_range(range, Some(key)),
            (LeafColumn::Text(column), Key::Null) => column.equal_range(range, None),
            (LeafColumn::Dictionary(column), Key::Str(key)) => column.equal_range(range, Some(key)),
            (LeafColumn::Dictionary(column), Key::Null) => column.equal_range(range, None),
            (LeafColumn::Float(column), Key::Float(key)) => column.equal_range(range, Some(key), f64::total_cmp),
            (LeafColumn::Float(column), Key::Null) => column.equal_range(range, None, f64::total_cmp),
            (LeafColumn::Bool(column), Key::Bool(key)) => column.equal_range(range, Some(key), bool::cmp),
            (LeafColumn::Bool(column), Key::Null) => column.equal_range(range, None, bool::cmp),
            (LeafColumn::Vec(column), Key::Vec(key)) => column.equal_range(range, Some(key)),
            (LeafColumn::Vec(column), Key::Null) => column.equal_range(range, None),
            (LeafColumn::Null(_), Key::Null) => range,
            (LeafColumn::Null(_), _) => range.end..range.end,
            (LeafColumn::Any(values), Key::Other(key)) => equal_range_by(range, |row| values[row].cmp(key)),
            (column, key) => column.equal_range_mixed(range, &key.to_value()),
        }
    }

    /// [`LeafColumn::equal_range`] for a key of another type than the column.
    fn equal_range_mixed(&self, range: Range<usize>, key: &DataValue) -> Range<usize> {
        match self {
            LeafColumn::Any(values) => equal_range_by(range, |row| values[row].cmp(key)),
            _ => equal_range_by(range, |row| self.get(row).cmp(key)),
        }
    }

    /// Inserts a new row, or replaces a row. Encodes the column again if the value does not fit.
    pub fn write(&mut self, row: usize, value: Key, is_new: bool) {
        let fits = match (&mut *self, value) {
            (LeafColumn::Null(len), Key::Null) => {
                *len += usize::from(is_new);
                true
            }
            (LeafColumn::Int(column), Key::Int(value)) => column.write(row, Some(value), is_new),
            (LeafColumn::Int(column), Key::Null) => column.write(row, None, is_new),
            (LeafColumn::Bool(column), Key::Bool(value)) => column.write(row, Some(value), is_new),
            (LeafColumn::Bool(column), Key::Null) => column.write(row, None, is_new),
            (LeafColumn::Float(column), Key::Float(value)) => column.write(row, Some(value), is_new),
            (LeafColumn::Float(column), Key::Null) => column.write(row, None, is_new),
            (LeafColumn::Text(column), Key::Str(value)) => column.write(row, Some(value), is_new),
            (LeafColumn::Text(column), Key::Null) => column.write(row, None, is_new),
            (LeafColumn::Dictionary(column), Key::Str(value)) => column.write(row, Some(value), is_new),
            (LeafColumn::Dictionary(column), Key::Null) => column.write(row, None, is_new),
            (LeafColumn::Vec(column), Key::Vec(value)) => column.write(row, Some(value), is_new),
            (LeafColumn::Vec(column), Key::Null) => column.write(row, None, is_new),
            (LeafColumn::Any(values), value) => {
                write(values, row, value.to_value(), is_new);
                true
            }
            _ => false,
        };
        if !fits {
            self.replace_rows(row..row + usize::from(!is_new), value);
        }
    }

    /// Encodes the column again, with `value` in place of a range of rows.
    fn replace_rows(&mut self, rows: Range<usize>, value: Key) {
        *self = LeafColumn::built(|column| {
            self.append_range(0..rows.start, column);
            column.push_owned(value.to_value());
            self.append_range(rows.end..self.len(), column);
        });
    }

    /// Removes a row.
    pub fn remove(&mut self, row: usize) {
        for_encoding!(self, column => column.remove(row), len => *len -= 1, values => drop(values.remove(row)));
    }

    /// The rows of a range as a column of their own.
    pub fn slice(&self, range: Range<usize>) -> Self {
        LeafColumn::built(|column| self.append_range(range, column))
    }

    /// Decodes a range, and appends it to a column.
    #[inline]
    pub fn append_range(&self, range: Range<usize>, target: &mut Column) {
        if range.is_empty() {
            return;
        }
        self.prepare(target);
        match (self, &mut *target) {
            (LeafColumn::Int(column), Column::Int(target)) => column.append_range(range, target),
            (LeafColumn::Float(column), Column::Float(target)) => column.append_range(range, target),
            (LeafColumn::Bool(column), Column::Bool(target)) => column.append_range(range, target),
            (LeafColumn::Text(column), Column::Str(target)) if target.has_room(column.byte_len()) => {
                column.append_range(range, target);
            }
            (LeafColumn::Dictionary(column), Column::Str(target)) if target.has_room(column.most_bytes()) => {
                column.append_range(range, target);
            }
            (LeafColumn::Vec(column), Column::Vec(target)) if column.fits(target) => {
                column.append_range(range, target);
            }
            (LeafColumn::Any(values), Column::Any(target)) => target.extend_from_slice(&values[range]),
            (LeafColumn::Null(_), target) => target.append_range(&Column::Null(range.len()), 0..range.len()),
            (column, target) => range.for_each(|row| target.push_owned(column.get(row))),
        }
    }

    /// Moves a range to the end of a column. Untyped values are moved out of this column, others are copied.
    pub fn move_range(&mut self, range: Range<usize>, target: &mut Column) {
        match self {
            LeafColumn::Any(values) => move_values(&mut values[range], target),
            column => column.append_range(range, target),
        }
    }

    /// Decodes ascending rows, at least one, and appends them to a column.
    pub fn append_rows(&self, rows: &[u32], target: &mut Column) {
        let (first, last) = (rows[0] as usize, rows[rows.len() - 1] as usize);
        if last - first + 1 == rows.len() {
            return self.append_range(first..last + 1, target);
        }
        self.prepare(target);
        match (self, &mut *target) {
            (LeafColumn::Int(column), Column::Int(target)) => column.append_rows(rows, target),
            (LeafColumn::Any(values), Column::Any(target)) => {
                target.extend(rows.iter().map(|row| values[*row as usize].clone()));
            }
            (column, target) => rows.iter().for_each(|row| {
                let row = *row as usize;
                column.append_range(row..row + 1, target);
            }),
        }
    }

    /// Reads some of the memory that a search reads. The result has no meaning.
    #[inline]
    pub fn prefetch(&self) -> usize {
        match self {
            LeafColumn::Int(column) => column.prefetch(),
            LeafColumn::Text(column) => column.prefetch(),
            _ => 0,
        }
    }

    /// Reads the memory of a row if its position is known without a search; see [`LeafColumn::prefetch`].
    #[inline]
    pub fn prefetch_row(&self, row: usize) -> usize {
        match self {
            LeafColumn::Int(column) => column.get(row).map_or(0, |value| value as usize),
            LeafColumn::Float(column) => usize::from(column.get(row).is_some_and(|value| value > 0.0)),
            LeafColumn::Vec(column) => column.prefetch_row(row),
            LeafColumn::Any(values) => usize::from(matches!(values[row], DataValue::Null)),
            _ => 0,
        }
    }

    /// The end of the run of rows with the first row's value, in a range that is sorted by this column.
    #[inline]
    pub fn run_end(&self, range: Range<usize>) -> usize {
        let first = range.start;
        match self {
            LeafColumn::Null(_) => range.end,
            LeafColumn::Int(column) => column.run_end(range),
            LeafColumn::Text(column) => run_end(range, |row| column.get(row) == column.get(first)),
            LeafColumn::Dictionary(column) => run_end(range, |row| column.get(row) == column.get(first)),
            LeafColumn::Vec(column) => run_end(range, |row| column.get(row) == column.get(first)),
            LeafColumn::Any(values) => run_end(range, |row| values[row] == values[first]),
            LeafColumn::Bool(_) | LeafColumn::Float(_) => run_end(range, |row| self.get(row) == self.get(first)),
        }
    }

    /// The runs of equal integers of a sorted column: the integer and the number of rows. None if it has other values.
    pub fn int_runs(&self) -> Option<impl Iterator<Item = (i64, usize)>> {
        match self {
            LeafColumn::Int(column) => column.runs(),
            _ => None,
        }
    }

    /// The value of a row, if it is a validity.
    #[inline]
    pub fn validity(&self, row: usize) -> Option<Validity> {
        match self {
            LeafColumn::Any(values) => match values[row] {
                DataValue::Validity(validity) => Some(validity),
                _ => None,
            },
            _ => None,
        }
    }

    /// Gives a column that has only nulls so far the type of this column.
    #[inline]
    fn prepare(&self, target: &mut Column) {
        if let Column::Null(len) = *target {
            *target = self.target_of_nulls(len);
        }
    }

    /// A column of `len` nulls with the type of this column.
    fn target_of_nulls(&self, len: usize) -> Column {
        match self {
            LeafColumn::Null(_) => Column::Null(len),
            LeafColumn::Int(_) => Column::Int(nulls_of(len)),
            LeafColumn::Bool(_) => Column::Bool(nulls_of(len)),
            LeafColumn::Float(_) => Column::Float(nulls_of(len)),
            LeafColumn::Text(_) | LeafColumn::Dictionary(_) => {
                let mut strings = StrColumn::default();
                (0..len).for_each(|_| strings.push_null());
                Column::Str(strings)
            }
            LeafColumn::Vec(column) => Column::Vec(column.nulls(len)),
            LeafColumn::Any(_) => Column::Any(vec![DataValue::Null; len]),
        }
    }

    /// The approximate size of strings, vectors and untyped values. Typed values of fixed size count as 0.
    pub fn weight(&self) -> usize {
        match self {
            LeafColumn::Text(column) => column.byte_len(),
            LeafColumn::Vec(column) => column.weight(),
            LeafColumn::Any(values) => values.iter().map(weight_of).sum(),
            _ => 0,
        }
    }

    /// The approximate size on the heap, without the memory that untyped values own.
    pub fn heap_bytes(&self) -> usize {
        for_encoding!(self, column => column.heap_bytes(), _len => 0, values => bytes_of(values))
    }
}

/// [`LeafColumn::weight`] of a range of a column.
pub(super) fn column_weight(column: &Column, range: Range<usize>) -> usize {
    match column {
        Column::Str(column) => range.map(|row| column.bytes_at(row).len()).sum(),
        Column::Vec(column) => column.bytes_within(range),
        Column::Any(values) => values[range].iter().map(weight_of).sum(),
        _ => 0,
    }
}

/// The approximate size of a copy of a value.
fn weight_of(value: &DataValue) -> usize {
    match value {
        DataValue::Str(text) => text.len(),
        DataValue::Bytes(bytes) => bytes.len(),
        DataValue::Vec(vector) => vector.bytes(),
        DataValue::List(items) => items.iter().map(|item| size_of::<DataValue>() + weight_of(item)).sum(),
        DataValue::Set(items) => items.iter().map(|item| size_of::<DataValue>() + weight_of(item)).sum(),
        DataValue::Json(_) => 2 * size_of::<DataValue>(), // unknown without walking it
        _ => 0,
    }
}

/// Moves values to the end of a column.
pub(super) fn move_values(values: &mut [DataValue], target: &mut Column) {
    if target.is_empty() {
        *target = Column::Any(Vec::with_capacity(values.len()));
    }
    let values = values.iter_mut().map(std::mem::take);
    match target {
        Column::Any(target) => target.extend(values),
        target => values.for_each(|value| target.push_owned(value)),
    }
}
