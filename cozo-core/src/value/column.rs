//! Columns, typed by their values, with a fallback for values of several types. A column is its own builder:
//! `Null(n) ──first value that is not null──> Bool, Int, Float or Str ──value of another type──> Any`
//!
//! Invariant: the representation does not change the values. Code that reads a column may be faster for some
//! representations, but its result must be the same for all. [`Column::Any`] can hold everything that the others can.

use std::borrow::Cow;
use std::ops::Range;

use super::primitive::append_nulls;
use super::{DataValue, Num, Primitive, Scalar, SmallStr, StrColumn};

/// A value for each row. It is typed if all values that are not null have one type.
#[derive(Clone, Debug)]
pub enum Column {
    /// Only nulls; also the empty column.
    Null(usize),
    /// Booleans.
    Bool(Primitive<bool>),
    /// Integers.
    Int(Primitive<i64>),
    /// Floats.
    Float(Primitive<f64>),
    /// Strings.
    Str(StrColumn),
    /// Values of any types.
    Any(Vec<DataValue>),
}

impl Default for Column {
    fn default() -> Self {
        Column::Null(0)
    }
}

impl Column {
    /// Integers without nulls.
    pub fn ints(values: Vec<i64>) -> Self {
        Column::Int(Primitive::dense(values))
    }

    /// Floats without nulls.
    pub fn floats(values: Vec<f64>) -> Self {
        Column::Float(Primitive::dense(values))
    }

    /// Booleans without nulls.
    pub fn bools(values: Vec<bool>) -> Self {
        Column::Bool(Primitive::dense(values))
    }

    /// The same value in every row.
    pub fn repeat(value: &DataValue, len: usize) -> Self {
        match value {
            DataValue::Null => Column::Null(len),
            DataValue::Bool(value) => Column::bools(vec![*value; len]),
            DataValue::Num(Num::Int(value)) => Column::ints(vec![*value; len]),
            DataValue::Num(Num::Float(value)) => Column::floats(vec![*value; len]),
            other => {
                let mut column = Column::default();
                (0..len).for_each(|_| column.push(other));
                column
            }
        }
    }

    /// A column of one row.
    #[inline]
    pub fn of(value: Cow<'_, DataValue>) -> Self {
        match &*value {
            DataValue::Null => Column::Null(1),
            DataValue::Bool(value) => Column::bools(vec![*value]),
            DataValue::Num(Num::Int(value)) => Column::ints(vec![*value]),
            DataValue::Num(Num::Float(value)) => Column::floats(vec![*value]),
            DataValue::Str(text) if text.len() <= StrColumn::MAX_BYTES => {
                let mut strings = StrColumn::with_capacity(1, text.len());
                strings.push(text);
                Column::Str(strings)
            }
            _ => Column::Any(vec![value.into_owned()]),
        }
    }

    /// The number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Column::Null(len) => *len,
            Column::Bool(column) => column.values.len(),
            Column::Int(column) => column.values.len(),
            Column::Float(column) => column.values.len(),
            Column::Str(column) => column.len(),
            Column::Any(values) => values.len(),
        }
    }

    /// The approximate size of the values.
    pub fn memory_bytes(&self) -> usize {
        match self {
            Column::Null(_) => 0,
            Column::Bool(column) => column.values.len(),
            Column::Int(column) => column.values.len() * size_of::<i64>(),
            Column::Float(column) => column.values.len() * size_of::<f64>(),
            Column::Str(column) => column.memory_bytes(),
            Column::Any(values) => values.iter().map(DataValue::memory_bytes).sum(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a row.
    pub fn get(&self, row: usize) -> DataValue {
        match self {
            Column::Null(len) => {
                debug_assert!(row < *len, "row within the column");
                DataValue::Null
            }
            Column::Bool(column) => column.get(row).map_or(DataValue::Null, DataValue::from),
            Column::Int(column) => column.get(row).map_or(DataValue::Null, DataValue::from),
            Column::Float(column) => column.get(row).map_or(DataValue::Null, DataValue::from),
            Column::Str(column) if column.is_null(row) => DataValue::Null,
            Column::Str(column) => DataValue::Str(SmallStr::from(column.str_at(row))),
            Column::Any(values) => values[row].clone(),
        }
    }

    /// The number or Boolean of a row, if it has one. It is inlined, so that a loop around it is specialised for the column's kind.
    #[inline(always)]
    pub fn scalar(&self, row: usize) -> Option<Scalar> {
        match self {
            Column::Int(column) => column.get(row).map(|value| Scalar::from(Num::Int(value))),
            Column::Float(column) => column.get(row).map(|value| Scalar::from(Num::Float(value))),
            Column::Bool(column) => column.get(row).map(Scalar::bool),
            Column::Any(values) => values[row].scalar(),
            Column::Null(_) | Column::Str(_) => None,
        }
    }

    /// Whether the row is null.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        match self {
            Column::Null(_) => true,
            Column::Bool(column) => column.is_null(row),
            Column::Int(column) => column.is_null(row),
            Column::Float(column) => column.is_null(row),
            Column::Str(column) => column.is_null(row),
            Column::Any(values) => values[row].is_null(),
        }
    }

    /// Whether any row is null.
    pub fn has_nulls(&self) -> bool {
        let nulls = match self {
            Column::Null(len) => return *len > 0,
            Column::Bool(column) => &column.nulls,
            Column::Int(column) => &column.nulls,
            Column::Float(column) => &column.nulls,
            Column::Str(column) => &column.nulls,
            Column::Any(values) => return values.iter().any(DataValue::is_null),
        };
        nulls.as_ref().is_some_and(|nulls| nulls.contains(&true))
    }

    /// All values in row order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = DataValue> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// The plain integers, if the column is Int without nulls.
    pub fn as_dense_ints(&self) -> Option<&[i64]> {
        match self {
            Column::Int(Primitive { values, nulls: None }) => Some(values),
            _ => None,
        }
    }

    /// Appends a value. Changes the representation if necessary.
    pub fn push(&mut self, value: &DataValue) {
        match (&mut *self, value) {
            (Column::Null(len), DataValue::Null) => *len += 1,
            (Column::Bool(column), DataValue::Bool(value)) => column.push(*value),
            (Column::Int(column), DataValue::Num(Num::Int(value))) => column.push(*value),
            (Column::Float(column), DataValue::Num(Num::Float(value))) => column.push(*value),
            (Column::Str(column), DataValue::Str(value)) if column.has_room(value.len()) => column.push(value),
            (Column::Bool(column), DataValue::Null) => column.push_null(),
            (Column::Int(column), DataValue::Null) => column.push_null(),
            (Column::Float(column), DataValue::Null) => column.push_null(),
            (Column::Str(column), DataValue::Null) => column.push_null(),
            (Column::Any(values), value) => values.push(value.clone()),
            (Column::Null(len), value) => {
                *self = Column::nulls_for(value, *len);
                self.push(value);
            }
            (_, value) => self.make_any().push(value.clone()),
        }
    }

    /// Appends an integer.
    #[inline]
    pub fn push_int(&mut self, value: i64) {
        match self {
            Column::Int(column) => column.push(value),
            _ => self.push_owned(DataValue::from(value)),
        }
    }

    /// Appends a string. A column of strings takes it without making a value.
    pub fn push_str(&mut self, text: &str) {
        match self {
            Column::Str(column) if column.has_room(text.len()) => column.push(text),
            _ => self.push_owned(DataValue::from(text)),
        }
    }

    /// Appends an owned value. It is cheaper than [`Column::push`] if the column is or becomes [`Column::Any`].
    pub fn push_owned(&mut self, value: DataValue) {
        match (&mut *self, value) {
            (Column::Any(values), value) => values.push(value),
            (_, value) if value.has_column_type() => self.push(&value),
            (_, value) => self.make_any().push(value),
        }
    }

    /// `len` nulls in the representation for `value`.
    fn nulls_for(value: &DataValue, len: usize) -> Column {
        match value {
            DataValue::Bool(_) => Column::Bool(Primitive::of_nulls(len)),
            DataValue::Num(Num::Int(_)) => Column::Int(Primitive::of_nulls(len)),
            DataValue::Num(Num::Float(_)) => Column::Float(Primitive::of_nulls(len)),
            DataValue::Str(_) => {
                let mut column = StrColumn::default();
                (0..len).for_each(|_| column.push_null());
                Column::Str(column)
            }
            _ => Column::Any(vec![DataValue::Null; len]),
        }
    }

    /// Converts the column to [`Column::Any`], and returns its values.
    fn make_any(&mut self) -> &mut Vec<DataValue> {
        if !matches!(self, Column::Any(_)) {
            *self = Column::Any(self.iter().collect());
        }
        match self {
            Column::Any(values) => values,
            _ => unreachable!("just made a mixture"),
        }
    }

    /// Gives a column of nulls the representation of `other`, so that typed appends apply.
    fn adopt_type(&mut self, other: &Column) {
        if let Column::Null(len) = *self {
            *self = match other {
                Column::Null(_) => return,
                Column::Bool(_) => Column::Bool(Primitive::of_nulls(len)),
                Column::Int(_) => Column::Int(Primitive::of_nulls(len)),
                Column::Float(_) => Column::Float(Primitive::of_nulls(len)),
                Column::Str(_) => Column::nulls_for(&DataValue::from(""), len),
                Column::Any(_) => Column::Any(vec![DataValue::Null; len]),
            };
        }
    }

    /// Appends a range of rows of another column.
    pub fn append_range(&mut self, other: &Column, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        self.adopt_type(other);
        match (&mut *self, other) {
            (Column::Null(len), Column::Null(_)) => *len += range.len(),
            (Column::Bool(column), Column::Bool(more)) => column.append_range(more, range),
            (Column::Int(column), Column::Int(more)) => column.append_range(more, range),
            (Column::Float(column), Column::Float(more)) => column.append_range(more, range),
            (Column::Str(column), Column::Str(more)) if column.has_room(more.byte_len()) => {
                let (len, nulls) = (column.len(), more.nulls.as_deref().map(|nulls| &nulls[range.clone()]));
                append_nulls(&mut column.nulls, len, nulls, range.len());
                column.append_rows(more, range);
            }
            (Column::Any(values), Column::Any(more)) => values.extend_from_slice(&more[range]),
            (_, other) => range.for_each(|row| self.push_from(other, row)),
        }
    }

    /// Reserves memory for more rows of a fixed size. Without enough memory it does nothing.
    pub fn try_reserve(&mut self, rows: usize) {
        let _ = match self {
            Column::Bool(column) => column.values.try_reserve_exact(rows),
            Column::Int(column) => column.values.try_reserve_exact(rows),
            Column::Float(column) => column.values.try_reserve_exact(rows),
            Column::Any(values) => values.try_reserve_exact(rows),
            Column::Null(_) | Column::Str(_) => Ok(()),
        };
    }

    /// Appends the given rows of another column, in the given order.
    pub fn append_take(&mut self, other: &Column, rows: &[u32]) {
        if rows.is_empty() {
            return;
        }
        self.adopt_type(other);
        if let (Column::Str(column), Column::Str(more)) = (&mut *self, other)
            && column.append_take(more, rows)
        {
            return;
        }
        match (&mut *self, other) {
            (Column::Null(len), Column::Null(_)) => *len += rows.len(),
            (Column::Bool(column), Column::Bool(more)) => column.append_take(more, rows),
            (Column::Int(column), Column::Int(more)) => column.append_take(more, rows),
            (Column::Float(column), Column::Float(more)) => column.append_take(more, rows),
            (_, other) => rows.iter().for_each(|row| self.push_from(other, *row as usize)),
        }
    }

    /// Appends one row of another column.
    #[inline]
    pub fn push_from(&mut self, other: &Column, row: usize) {
        match (&mut *self, other) {
            (Column::Int(column), Column::Int(more)) if !more.is_null(row) => column.push(more.values[row]),
            (Column::Str(column), Column::Str(more)) if column.has_room(more.bytes_at(row).len()) => {
                if more.is_null(row) {
                    column.push_null();
                } else {
                    column.push(more.str_at(row));
                }
            }
            _ => self.push_owned(other.get(row)),
        }
    }

    /// The given rows, in the given order.
    pub fn take(&self, rows: &[u32]) -> Column {
        let mut column = Column::default();
        match self {
            Column::Int(Primitive { values, nulls: None }) => {
                return Column::ints(rows.iter().map(|row| values[*row as usize]).collect());
            }
            Column::Any(values) => return Column::Any(rows.iter().map(|row| values[*row as usize].clone()).collect()),
            _ => column.append_take(self, rows),
        }
        column
    }

    /// The rows of a range.
    pub fn slice(&self, range: Range<usize>) -> Column {
        let mut column = Column::default();
        column.append_range(self, range);
        column
    }

    /// Removes all rows from `len` on.
    pub fn truncate(&mut self, len: usize) {
        match self {
            Column::Null(rows) => *rows = len.min(*rows),
            Column::Bool(column) => column.truncate(len),
            Column::Int(column) => column.truncate(len),
            Column::Float(column) => column.truncate(len),
            Column::Str(column) if len < column.len() => column.truncate(len),
            Column::Str(_) => {}
            Column::Any(values) => values.truncate(len),
        }
    }

    /// Replaces the value of one row.
    pub fn set(&mut self, row: usize, value: DataValue) {
        match (&mut *self, &value) {
            (Column::Int(column), DataValue::Num(Num::Int(int))) if !column.is_null(row) => column.values[row] = *int,
            (Column::Float(column), DataValue::Num(Num::Float(float))) if !column.is_null(row) => {
                column.values[row] = *float;
            }
            (Column::Null(_), DataValue::Null) => {}
            _ => self.make_any()[row] = value,
        }
    }
}

impl FromIterator<DataValue> for Column {
    fn from_iter<I: IntoIterator<Item = DataValue>>(values: I) -> Self {
        let mut column = Column::default();
        values.into_iter().for_each(|value| column.push_owned(value));
        column
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::hash_value;

    fn samples() -> Vec<Vec<DataValue>> {
        vec![
            vec![1.into(), 2.into(), DataValue::Null, i64::MIN.into()],
            vec![DataValue::Null, DataValue::Null],
            vec![1.0.into(), (-0.0).into(), f64::NAN.into()],
            vec!["a".into(), DataValue::Null, "".into(), "é".into()],
            vec![true.into(), DataValue::Null, false.into()],
            vec![DataValue::Null, 1.into(), 1.0.into(), "x".into(), vec![1].into()],
        ]
    }

    #[test]
    fn every_representation_behaves_like_a_vector_of_values() {
        for values in samples() {
            let column: Column = values.iter().cloned().collect();
            let any = Column::Any(values.clone());
            assert_eq!(column.iter().collect::<Vec<_>>(), values);
            for (i, a) in values.iter().enumerate() {
                assert_eq!(column.hash_at(i), hash_value(a), "{a:?}");
                for (j, b) in values.iter().enumerate() {
                    assert_eq!(column.compare_at(i, &column, j), a.cmp(b), "{a:?} {b:?}");
                    assert_eq!(column.compare_at(i, &any, j), a.cmp(b));
                    assert_eq!(column.compare_value(i, b), a.cmp(b));
                    assert_eq!(column.equals_at(i, &any, j), a == b);
                }
            }
            let reversed: Vec<u32> = (0..values.len() as u32).rev().collect();
            assert_eq!(
                column.take(&reversed).iter().collect::<Vec<_>>(),
                any.take(&reversed).iter().collect::<Vec<_>>()
            );
            for other in samples() {
                let mut joined = column.clone();
                joined.append_range(&other.iter().cloned().collect(), 1..other.len());
                let expected: Vec<DataValue> = values.iter().chain(&other[1..]).cloned().collect();
                assert_eq!(joined.iter().collect::<Vec<_>>(), expected);
            }
        }
    }
}
