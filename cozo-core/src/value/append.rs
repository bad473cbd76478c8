//! Changing columns: a column is its own builder.
//!
//! ```text
//! Null(n) ──first value that is not null──> Bool, Int, Float, Str or Vec ──value of another type──> Any
//! ```
//!
//! A vector of another length or element type than the others is a value of another type, and so is an empty one.
//! Rows of another column are appended by its type where both columns have one, otherwise value by value.

use std::ops::Range;

use super::primitive::append_nulls;
use super::{Column, DataValue, Num, Primitive, StrColumn, VectorColumn};

impl Column {
    /// Appends a value. Changes the representation if necessary.
    pub fn push(&mut self, value: &DataValue) {
        match (&mut *self, value) {
            (Column::Null(len), DataValue::Null) => *len += 1,
            (Column::Bool(column), DataValue::Bool(value)) => column.push(*value),
            (Column::Int(column), DataValue::Num(Num::Int(value))) => column.push(*value),
            (Column::Float(column), DataValue::Num(Num::Float(value))) => column.push(*value),
            (Column::Str(column), DataValue::Str(value)) if column.has_room(value.len()) => column.push(value),
            (Column::Vec(column), DataValue::Vec(vector)) if column.takes(vector) => column.push_value(vector),
            (Column::Bool(column), DataValue::Null) => column.push_null(),
            (Column::Int(column), DataValue::Null) => column.push_null(),
            (Column::Float(column), DataValue::Null) => column.push_null(),
            (Column::Str(column), DataValue::Null) => column.push_null(),
            (Column::Vec(column), DataValue::Null) => column.push_null(),
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
            DataValue::Vec(vector) if !vector.is_empty() => Column::Vec(VectorColumn::of_nulls(vector, len)),
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
                Column::Vec(vectors) => Column::Vec(vectors.nulls(len)),
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
            (Column::Vec(column), Column::Vec(more)) if column.is_like(more) => column.append_range(more, range),
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
            Column::Vec(column) => column.try_reserve(rows),
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
            (Column::Vec(column), Column::Vec(more)) if column.is_like(more) => column.append_take(more, rows),
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
            _ => self.push_other(other, row),
        }
    }

    /// [`Column::push_from`] for what is neither an integer nor a string. By itself, so that these take few instructions.
    #[inline(never)]
    fn push_other(&mut self, other: &Column, row: usize) {
        if let (Column::Null(len), Column::Vec(more)) = (&*self, other) {
            *self = Column::Vec(more.nulls(*len));
        }
        match (&mut *self, other) {
            (Column::Vec(column), Column::Vec(more)) if column.is_like(more) => column.append_range(more, row..row + 1),
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
            Column::Vec(column) => column.truncate(len),
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
            (Column::Vec(column), DataValue::Vec(vector)) if column.takes(vector) && !column.is_null(row) => {
                column.replace(row, vector);
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
