//! The forms in which SQLite stores the values of a column: natively if that loses nothing, otherwise as tagged bytes.
//!
//! SQLite changes some values silently, and has an order of its own:
//! - A key column is native only if SQLite's order is the total order and the type has no null. The key of a table
//!   `WITHOUT ROWID` cannot be null.
//! - A Float is native unless it is a NaN, which SQLite turns into null, or `-0.0`, whose sign it drops.
//! - A column of mixed types is declared without a type, since a declared type converts values.
//!
//! | form | in a column of type | stored as |
//! |---|---|---|
//! | `Int`, `Text`, `Bytes` | `Int`, `String`, `Bytes` | `INTEGER`, `TEXT`, `BLOB` |
//! | `Bool` | `Bool` | `INTEGER` 0 or 1 |
//! | `Float` | `Float`, not in a key | `REAL`; NaN and `-0.0` tagged |
//! | `Json` | `Json`, not in a key | `TEXT` |
//! | `Mixed` | any other type, not in a key | as above for integers, floats and strings; other values tagged |
//! | `Tagged` | any other type, in a key | tagged: the order of the bytes is the order of the values |
//!
//! Null is SQLite's null, tagged in keys. *Tagged* is a `BLOB` of [`encode_any`](crate::storage::codec::encode_any).

use rusqlite::Statement;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};

use super::error::failed;
use crate::schema::{BaseType, ColumnType};
use crate::storage::codec::{decode_any, decode_into, write_any};
use crate::storage::error::StorageError;
use crate::storage::key::Key;
use crate::value::{Column, DataValue, JsonData, Primitive, StrColumn};

/// The form in which the values of a column are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Int,
    Bool,
    Text,
    Bytes,
    Float,
    Json,
    Mixed,
    Tagged,
}

impl Form {
    /// The form of a key column.
    pub fn of_key(column_type: &ColumnType) -> Form {
        if column_type.nullable {
            return Form::Tagged;
        }
        match column_type.base {
            BaseType::Int => Form::Int,
            BaseType::Bool => Form::Bool,
            BaseType::String => Form::Text,
            BaseType::Bytes => Form::Bytes,
            _ => Form::Tagged,
        }
    }

    /// The form of a value column.
    pub fn of_value(column_type: &ColumnType) -> Form {
        match column_type.base {
            BaseType::Int => Form::Int,
            BaseType::Bool => Form::Bool,
            BaseType::String => Form::Text,
            BaseType::Bytes => Form::Bytes,
            BaseType::Float => Form::Float,
            BaseType::Json => Form::Json,
            _ => Form::Mixed,
        }
    }

    /// The type that the column is declared with.
    pub fn declaration(self) -> &'static str {
        match self {
            Form::Int => " integer",
            Form::Bool => " boolean",
            Form::Text | Form::Json => " text",
            Form::Bytes | Form::Tagged => " blob",
            Form::Float => " real",
            Form::Mixed => "",
        }
    }

    /// A value in its stored form; `None` if it is not of the column's type.
    pub(super) fn encode<'v>(self, value: Key<'v>) -> Result<Option<ToSqlOutput<'v>>, StorageError> {
        let borrowed = |value| Some(ToSqlOutput::Borrowed(value));
        Ok(match (self, value) {
            (Form::Tagged, value) => Some(tagged(value)?),
            (_, Key::Null) => borrowed(ValueRef::Null),
            (Form::Int | Form::Mixed, Key::Int(value)) => borrowed(ValueRef::Integer(value)),
            (Form::Bool, Key::Bool(value)) => borrowed(ValueRef::Integer(value.into())),
            (Form::Text | Form::Mixed, Key::Str(value)) => borrowed(ValueRef::Text(value.as_bytes())),
            (Form::Float | Form::Mixed, Key::Float(value)) if is_kept(value) => borrowed(ValueRef::Real(value)),
            (Form::Bytes, Key::Other(DataValue::Bytes(value))) => borrowed(ValueRef::Blob(value)),
            (Form::Json, Key::Other(DataValue::Json(json))) => {
                // Values nested too deep to be read again are refused.
                tagged(value)?;
                Some(ToSqlOutput::Owned(Value::Text(json.text())))
            }
            (Form::Float, Key::Float(_)) | (Form::Mixed, _) => Some(tagged(value)?),
            _ => None,
        })
    }

    /// A value of a key column in its stored form; `None` for a value that no row can have.
    pub(super) fn encode_key(self, value: Key) -> Result<Option<Value>, StorageError> {
        Ok(self.encode(value)?.map(owned).filter(|value| *value != Value::Null))
    }

    /// Binds the value of a row to a parameter of a statement.
    pub fn bind(
        self,
        statement: &mut Statement,
        parameter: usize,
        column: &Column,
        row: usize,
    ) -> Result<(), StorageError> {
        let value = Key::at(column, row);
        let encoded = self.encode(value)?.ok_or_else(|| misfit(self, value))?;
        statement.raw_bind_parameter(parameter, encoded).map_err(failed("write a value"))
    }

    /// An empty column, ready for values of this form.
    pub fn column(self) -> Column {
        match self {
            Form::Int => Column::Int(Primitive::default()),
            Form::Bool => Column::Bool(Primitive::default()),
            Form::Float => Column::Float(Primitive::default()),
            Form::Text => Column::Str(StrColumn::default()),
            Form::Bytes | Form::Json | Form::Mixed | Form::Tagged => Column::default(),
        }
    }

    /// Appends a stored value to a column.
    pub fn read(self, stored: ValueRef, column: &mut Column) -> Result<(), StorageError> {
        match (self, &mut *column, stored) {
            (Form::Int, Column::Int(ints), ValueRef::Integer(value)) => ints.push(value),
            (Form::Float, Column::Float(floats), ValueRef::Real(value)) => floats.push(value),
            (Form::Tagged | Form::Mixed, _, ValueRef::Blob(bytes)) => decode_into(bytes, column)?,
            (Form::Text, _, ValueRef::Text(bytes)) => column.push_str(text(bytes)?),
            _ => column.push_owned(self.decode(stored)?),
        }
        Ok(())
    }

    fn decode(self, stored: ValueRef) -> Result<DataValue, StorageError> {
        Ok(match (self, stored) {
            (Form::Tagged | Form::Float | Form::Mixed, ValueRef::Blob(bytes)) => decode_any(bytes)?.0,
            (Form::Tagged, _) => return Err(damaged(self, stored)),
            (_, ValueRef::Null) => DataValue::Null,
            (Form::Bool, ValueRef::Integer(value)) => (value != 0).into(),
            (Form::Int | Form::Mixed, ValueRef::Integer(value)) => value.into(),
            (Form::Float | Form::Mixed, ValueRef::Real(value)) => value.into(),
            (Form::Text | Form::Mixed, ValueRef::Text(bytes)) => text(bytes)?.into(),
            (Form::Bytes, ValueRef::Blob(bytes)) => DataValue::Bytes(bytes.to_vec()),
            (Form::Json, ValueRef::Text(bytes)) => DataValue::Json(JsonData(json(bytes)?)),
            _ => return Err(damaged(self, stored)),
        })
    }

    /// The values of a native key column that come after a value that the column cannot have.
    pub fn after(self, value: &DataValue) -> Neighbour {
        let (least, greatest): (DataValue, DataValue) = match self {
            Form::Int => (i64::MIN.into(), i64::MAX.into()),
            Form::Bool => (false.into(), true.into()),
            Form::Bytes => (DataValue::Bytes(vec![]), DataValue::Bytes(vec![])),
            _ => ("".into(), "".into()),
        };
        match value.get_float() {
            _ if *value < least => Neighbour::All,
            Some(float) if *value < greatest => int_after(float, value),
            _ => Neighbour::None,
        }
    }
}

/// The values of a column that come after another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// Every value.
    All,
    /// This integer and those above it.
    From(i64),
    /// None.
    None,
}

/// The first integer after a float that lies between integers.
fn int_after(float: f64, value: &DataValue) -> Neighbour {
    let below = float.floor() as i64;
    if DataValue::from(below) > *value {
        return Neighbour::From(below);
    }
    below.checked_add(1).map_or(Neighbour::None, Neighbour::From)
}

/// Whether SQLite returns the same float that it stores.
fn is_kept(float: f64) -> bool {
    !float.is_nan() && (float != 0.0 || float.is_sign_positive())
}

fn tagged(value: Key) -> Result<ToSqlOutput<'static>, StorageError> {
    let mut bytes = vec![];
    write_any(value, &mut bytes)?;
    Ok(ToSqlOutput::Owned(Value::Blob(bytes)))
}

fn owned(value: ToSqlOutput) -> Value {
    match value {
        ToSqlOutput::Borrowed(value) => owned_value(value),
        ToSqlOutput::Owned(value) => value,
        _ => unreachable!("values are encoded as borrowed or owned ones"),
    }
}

/// A copy of a value that outlives its row.
pub fn owned_value(value: ValueRef) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

fn text(bytes: &[u8]) -> Result<&str, StorageError> {
    std::str::from_utf8(bytes).map_err(|_| StorageError::Damaged("text is not UTF-8".to_string()))
}

fn json(bytes: &[u8]) -> Result<serde_json::Value, StorageError> {
    serde_json::from_slice(bytes).map_err(|error| StorageError::Damaged(format!("JSON is not valid: {error}")))
}

fn misfit(form: Form, value: Key) -> StorageError {
    let message = format!("a column of {form:?} cannot hold {}", value.to_value());
    StorageError::Engine { engine: super::NAME, action: "write a value", message }
}

fn damaged(form: Form, stored: ValueRef) -> StorageError {
    StorageError::Damaged(format!("a column of {form:?} holds a value of SQLite's type {}", stored.data_type()))
}
