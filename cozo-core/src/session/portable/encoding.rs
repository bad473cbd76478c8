//! How the columns of batches travel to another engine and back.
//!
//! | encoding | a value is | nulls |
//! |---|---|---|
//! | `Int`, `String`, `Bool` | itself; all values of the column have this type | none |
//! | `Ordered` | the bytes of [`encode_any`]: equal bytes are identical values, and bytes sort as values do | a value as any other |
//! | `Native` | itself, whatever its type | null |
//!
//! Another engine can join, sort and group by all encodings but `Native`, whose columns only come in and go out.

use serde_json::Value;

use super::error::PortableError;
use crate::storage::codec::{decode_any, encode_any};
use crate::value::{Batch, Column, DataValue};

/// How the values of a column are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    Int,
    String,
    Bool,
    Ordered,
    Native,
}

impl Encoding {
    /// The encoding of a name in JSON.
    pub fn parse(json: &Value) -> Result<Self, PortableError> {
        Ok(match json.as_str() {
            Some("Int") => Encoding::Int,
            Some("String") => Encoding::String,
            Some("Bool") => Encoding::Bool,
            Some("Ordered") => Encoding::Ordered,
            Some("Native") => Encoding::Native,
            _ => return Err(PortableError::expected("an encoding", json)),
        })
    }

    fn name(self) -> &'static str {
        match self {
            Encoding::Int => "Int",
            Encoding::String => "String",
            Encoding::Bool => "Bool",
            Encoding::Ordered => "Ordered",
            Encoding::Native => "Native",
        }
    }

    /// The type that a column of the encoding has in Arrow if it has no rows.
    pub fn declared(self) -> Option<String> {
        match self {
            Encoding::Int | Encoding::String | Encoding::Bool => Some(self.name().to_string()),
            Encoding::Ordered => Some("Bytes".to_string()),
            Encoding::Native => None,
        }
    }

    /// The values of a column that comes in.
    pub fn decode(self, position: usize, column: Column) -> Result<Column, PortableError> {
        if self != Encoding::Ordered {
            return Ok(column);
        }
        let wrong = || PortableError::WrongType { column: position, declared: self.name() };
        let mut values = Column::default();
        for encoded in column.iter() {
            let bytes = encoded.get_bytes().ok_or_else(wrong)?;
            values.push_owned(decode_any(bytes).map_err(|_| wrong())?.0);
        }
        Ok(values)
    }

    /// A column that goes out.
    pub fn encode(self, position: usize, column: Column) -> Result<Column, PortableError> {
        let fits = match (self, &column) {
            (Encoding::Ordered | Encoding::Native, _) => true,
            (_, column) if column.is_empty() => true,
            (Encoding::Int, Column::Int(_))
            | (Encoding::String, Column::Str(_))
            | (Encoding::Bool, Column::Bool(_)) => !column.has_nulls(),
            (_, Column::Any(values)) => values.iter().all(|value| value.type_name() == self.name()),
            _ => false,
        };
        if !fits {
            return Err(PortableError::WrongType { column: position, declared: self.name() });
        }
        if self != Encoding::Ordered {
            return Ok(column);
        }
        let mut bytes = vec![];
        for value in column.iter() {
            bytes.push(DataValue::Bytes(ordered(&value)?));
        }
        Ok(Column::Any(bytes))
    }
}

/// The bytes of a value.
fn ordered(value: &DataValue) -> Result<Vec<u8>, PortableError> {
    let mut bytes = vec![];
    encode_any(value, &mut bytes).map_err(|error| PortableError::Malformed(error.to_string()))?;
    Ok(bytes)
}

/// The bytes by which another engine knows a value: see [`encoding`](self).
///
/// ```
/// use cozo::{DataValue, decoded_value, encoded_value};
/// let bytes = encoded_value(&DataValue::from("a"))?;
/// assert!(encoded_value(&DataValue::from(1.0))? < bytes);
/// assert_eq!(decoded_value(&bytes)?, DataValue::from("a"));
/// # Ok::<(), cozo::Error>(())
/// ```
pub fn encoded_value(value: &DataValue) -> miette::Result<Vec<u8>> {
    Ok(ordered(value)?)
}

/// The value of the bytes that [`encoded_value`] gives.
pub fn decoded_value(bytes: &[u8]) -> miette::Result<DataValue> {
    match decode_any(bytes) {
        Ok((value, length)) if length == bytes.len() => Ok(value),
        _ => Err(PortableError::Malformed("bytes that encode no value".to_string()).into()),
    }
}

/// The columns of a batch, which has exactly so many, as values.
pub fn decode_all(encodings: &[Encoding], batch: Batch) -> Result<Vec<Column>, PortableError> {
    if batch.columns.len() != encodings.len() {
        let (found, expected) = (batch.columns.len(), encodings.len());
        return Err(PortableError::Malformed(format!("a batch of {found} columns instead of {expected}")));
    }
    let columns = batch.columns.into_iter().zip(encodings).enumerate();
    columns.map(|(position, (column, encoding))| encoding.decode(position, column)).collect()
}
