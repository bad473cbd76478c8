//! How the values of a column stand in Parquet files.

use cozo::DataValue;
use cozo::JsonData;
use cozo::schema::{BaseType, ColumnType};
use cozo::value::Column;
use serde_json::Value;

use super::tagged;

/// How the values of a column are written, as the catalog says it in `stored_as`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// As values of a type of Parquet.
    Value,
    /// As text such as `f3b4958c-52a1-11e7-802a-010203040506`.
    UuidText,
    /// As the text of a JSON value.
    JsonText,
    /// As the text of `[microseconds, true]` for an assertion, else `false`.
    ValidityText,
    /// As text by the rules of [`tagged`], which has all types.
    TaggedJson,
}

impl Form {
    /// The form for columns of a type.
    pub fn of(column_type: &ColumnType) -> Self {
        match column_type.base {
            BaseType::Bool | BaseType::Int | BaseType::Float | BaseType::String | BaseType::Bytes => Form::Value,
            // Parquet has no lists of no elements.
            BaseType::Vector { len, .. } if len > 0 => Form::Value,
            BaseType::Uuid => Form::UuidText,
            BaseType::Json => Form::JsonText,
            BaseType::Validity => Form::ValidityText,
            _ => Form::TaggedJson,
        }
    }

    /// The type of the column in the file, as scripts write it.
    pub fn stored_type(self, column_type: &ColumnType) -> String {
        if self == Form::Value { column_type.to_string() } else { "String".to_string() }
    }

    /// The column for the file.
    pub fn encode(self, column: Column) -> Column {
        match self {
            Form::Value => column,
            _ => column.iter().map(|value| self.encode_value(value)).collect(),
        }
    }

    fn encode_value(self, value: DataValue) -> DataValue {
        match value {
            DataValue::Null => DataValue::Null,
            DataValue::Uuid(uuid) if self == Form::UuidText => uuid.0.to_string().into(),
            value if self == Form::TaggedJson => tagged::encode(value).to_string().into(),
            value => Value::from(value).to_string().into(),
        }
    }

    /// The column of a file, as values. Those that stand in the file as text are texts.
    pub fn decode(self, column: Column) -> Result<Column, String> {
        match self {
            Form::Value | Form::UuidText => Ok(column),
            _ => column.iter().map(|value| self.decode_value(value)).collect(),
        }
    }

    fn decode_value(self, value: DataValue) -> Result<DataValue, String> {
        let text = match &value {
            DataValue::Null => return Ok(value),
            other => other.get_str().ok_or_else(|| format!("{other} is no text"))?,
        };
        let json = || serde_json::from_str::<Value>(text).map_err(|error| format!("bad JSON: {error}"));
        match self {
            Form::TaggedJson => tagged::decode_text(text),
            Form::ValidityText => {
                tagged::validity(&json()?).ok_or_else(|| format!("{text} is no [microseconds, true]"))
            }
            _ => Ok(DataValue::Json(JsonData(json()?))),
        }
    }
}
