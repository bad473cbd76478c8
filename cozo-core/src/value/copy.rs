//! Copies of values within the budget of a script, since a copy of a large value takes memory and time.

use std::ops::Range;

use serde_json::{Map, Value};

use super::size::allocated;
use super::{Column, DataValue, JsonData, StrColumn, json_bytes};
use crate::budget::{Stop, make_room, step};

/// The number of values copied between two checks of the budget.
const PIECE: usize = 1024;

/// A string of at most this length may be copied for one row without being counted.
const SMALL_TEXT: usize = 1024;

impl DataValue {
    /// A copy. Room for it is made first.
    #[inline]
    pub fn copy(&self) -> Result<DataValue, Stop> {
        match self {
            DataValue::Null => Ok(DataValue::Null),
            DataValue::Bool(value) => Ok(DataValue::Bool(*value)),
            DataValue::Num(value) => Ok(DataValue::Num(*value)),
            DataValue::Str(text) if !text.is_heap_allocated() => Ok(DataValue::Str(text.clone())),
            _ => self.copy_large(),
        }
    }

    fn copy_large(&self) -> Result<DataValue, Stop> {
        match self {
            DataValue::List(items) => Ok(DataValue::List(copy_all(items)?)),
            DataValue::Set(items) => {
                make_room(self.held_bytes())?;
                Ok(DataValue::Set(items.iter().map(DataValue::copy).collect::<Result<_, _>>()?))
            }
            DataValue::Json(json) => {
                make_room(json_bytes(&json.0))?;
                Ok(DataValue::Json(JsonData(copy_json(&json.0)?)))
            }
            _ => {
                make_room(self.held_bytes())?;
                Ok(self.clone())
            }
        }
    }
}

/// Copies of all values.
pub fn copy_all(items: &[DataValue]) -> Result<Vec<DataValue>, Stop> {
    make_room(allocated(size_of_val(items)))?;
    let mut copies = Vec::with_capacity(items.len());
    extend_with_copies(&mut copies, items)?;
    Ok(copies)
}

/// Appends copies of values to a list that has room for them.
pub fn extend_with_copies(copies: &mut Vec<DataValue>, items: &[DataValue]) -> Result<(), Stop> {
    for piece in items.chunks(PIECE) {
        step(piece.len())?;
        for item in piece {
            copies.push(item.copy()?);
        }
    }
    Ok(())
}

/// Copies of columns. They may repeat rows, and so be much larger than the original. The numbers and Booleans of one batch are never
/// large enough to count.
impl Column {
    /// [`Column::get`]. Room for a large value is made first.
    #[inline]
    pub fn copy_at(&self, row: usize) -> Result<DataValue, Stop> {
        match self {
            Column::Any(values) => values[row].copy(),
            Column::Str(column) if column.bytes_at(row).len() > SMALL_TEXT => {
                make_room(column.bytes_at(row).len())?;
                Ok(self.get(row))
            }
            Column::Vec(column) => {
                make_room(column.bytes_within(row..row + 1))?;
                Ok(self.get(row))
            }
            _ => Ok(self.get(row)),
        }
    }

    /// [`Column::take`]. Room for the rows is made first.
    pub fn copy_rows(&self, rows: &[u32]) -> Result<Column, Stop> {
        match self {
            Column::Any(values) => copy_each(rows.len(), rows.iter().map(|row| &values[*row as usize])),
            Column::Str(column) => column.copy_rows(rows).unwrap_or_else(|| Ok(self.take(rows))),
            Column::Vec(column) => {
                make_room(column.taken_bytes(rows))?;
                Ok(self.take(rows))
            }
            _ => Ok(self.take(rows)),
        }
    }

    /// [`Column::slice`]. Room for the rows is made first.
    pub fn copy_range(&self, range: Range<usize>) -> Result<Column, Stop> {
        match self {
            Column::Any(values) => copy_each(range.len(), &values[range]),
            Column::Str(column) => {
                make_room(column.bytes_within(range.clone()) + range.len() * size_of::<u32>())?;
                Ok(self.slice(range))
            }
            Column::Vec(column) => {
                make_room(column.bytes_within(range.clone()))?;
                Ok(self.slice(range))
            }
            _ => Ok(self.slice(range)),
        }
    }

    /// [`Column::repeat`]. Room for the rows is made first.
    pub fn repeated(value: &DataValue, len: usize) -> Result<Column, Stop> {
        match value {
            DataValue::Str(text) => make_room(text.len().saturating_mul(len))?,
            DataValue::Vec(vector) => make_room(vector.bytes().saturating_mul(len))?,
            value if !value.has_column_type() => return copy_each(len, std::iter::repeat_n(value, len)),
            _ => {}
        }
        Ok(Column::repeat(value, len))
    }
}

/// A column of copies of `len` values.
fn copy_each<'a>(len: usize, values: impl IntoIterator<Item = &'a DataValue>) -> Result<Column, Stop> {
    make_room(len * size_of::<DataValue>())?;
    let mut copies = Vec::with_capacity(len);
    for value in values {
        copies.push(value.copy()?);
    }
    Ok(Column::Any(copies))
}

impl StrColumn {
    /// [`StrColumn::append_take`] to an empty column. Room is made first. None if the strings do not fit into one column.
    fn copy_rows(&self, rows: &[u32]) -> Option<Result<Column, Stop>> {
        let bytes = self.taken_bytes(rows);
        if let Err(stop) = make_room(bytes.saturating_add(size_of_val(rows))) {
            return Some(Err(stop));
        }
        let mut column = StrColumn::default();
        column.append_taken(self, rows, bytes).then_some(Ok(Column::Str(column)))
    }
}

/// A copy of a JSON value. The caller has made room for it.
pub fn copy_json(value: &Value) -> Result<Value, Stop> {
    step(1)?;
    Ok(match value {
        Value::Array(items) => {
            let mut copies = Vec::with_capacity(items.len());
            for item in items {
                copies.push(copy_json(item)?);
            }
            Value::Array(copies)
        }
        Value::Object(fields) => {
            let copied = |(name, field): (&String, &Value)| Ok((name.clone(), copy_json(field)?));
            Value::Object(fields.iter().map(copied).collect::<Result<Map<_, _>, Stop>>()?)
        }
        scalar => scalar.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Budget, Interrupt};

    #[test]
    fn copies_are_alike_and_take_the_room_that_they_need() {
        let text = "a text that is too long to lie within a value";
        let object = serde_json::json!({"a": [1, {"b": text}], "c": null});
        let items: Vec<DataValue> = vec![1.into(), text.into(), "short".into(), DataValue::Bytes(vec![7; 1000])];
        let set = DataValue::Set(items.iter().cloned().collect());
        let value = DataValue::List(vec![DataValue::List(items), set, DataValue::Json(JsonData(object))]);
        assert_eq!(value.copy(), Ok(value.clone()));
        let refused = |bytes: usize| {
            let budget = Budget::new(Interrupt::default(), 0.0, bytes);
            let _entered = budget.enter();
            value.copy().is_err()
        };
        assert!(!refused(value.memory_bytes() * 2) && refused(value.held_bytes() - 1));
    }
}
