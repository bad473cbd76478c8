//! Whether a row is one of a relation: as many columns, and values of their types.

use crate::schema::{BaseType, ColumnType, RelationSchema, coerce};
use crate::value::{DataValue, Num};

/// How a row fits a relation.
#[derive(Debug, PartialEq)]
pub(super) enum Fit {
    /// As it is.
    Exact,
    /// With some values in its value columns converted to the types of the columns, in place.
    Converted,
    /// Not at all, for a reason.
    Not(String),
}

/// Fits a row to a relation. Keys are never converted: two that differ could become one.
pub(super) fn fit(row: &mut [DataValue], keys: usize, schema: &RelationSchema, now_micros: i64) -> Fit {
    if let Some(reason) = other_shape(row, keys, schema) {
        return Fit::Not(reason);
    }
    let mut outcome = Fit::Exact;
    for (position, (value, column)) in row.iter_mut().zip(schema.columns()).enumerate() {
        if is_of(value, &column.column_type, now_micros) {
            continue;
        }
        match coerce(value.clone(), &column.column_type, now_micros) {
            Ok(converted) if position >= keys => {
                *value = converted;
                outcome = Fit::Converted;
            }
            Ok(_) => {
                let (name, wanted) = (&column.name, &column.column_type);
                let found = value.type_name();
                return Fit::Not(format!("the key column '{name}' of type {wanted} holds a value of type {found}"));
            }
            Err(error) => return Fit::Not(format!("column '{}': {error}", column.name)),
        }
    }
    outcome
}

/// Whether a row fits a relation as it is.
pub(super) fn fits_exactly(row: &[DataValue], keys: usize, schema: &RelationSchema, now_micros: i64) -> bool {
    let mut columns = row.iter().zip(schema.columns());
    other_shape(row, keys, schema).is_none()
        && columns.all(|(value, column)| is_of(value, &column.column_type, now_micros))
}

/// Whether a row may be one of an index: these hold nulls where their columns say otherwise, and lists of Bytes as Bytes.
pub(super) fn fits_index(row: &[DataValue], keys: usize, schema: &RelationSchema, now_micros: i64) -> bool {
    let mut columns = row.iter().zip(schema.columns());
    other_shape(row, keys, schema).is_none()
        && columns.all(|(value, column)| match (value, &column.column_type.base) {
            (DataValue::Null, _) | (DataValue::List(_), BaseType::Bytes) => true,
            _ => is_of(value, &column.column_type, now_micros),
        })
}

/// What is wrong with the numbers of columns.
fn other_shape(row: &[DataValue], keys: usize, schema: &RelationSchema) -> Option<String> {
    let (found, wanted) = ((keys, row.len() - keys), (schema.keys.len(), schema.values.len()));
    (found != wanted)
        .then(|| format!("it has {} key and {} value columns, not {} and {}", found.0, found.1, wanted.0, wanted.1))
}

/// Whether a value is of a type without being converted.
fn is_of(value: &DataValue, column_type: &ColumnType, now_micros: i64) -> bool {
    match (value, &column_type.base) {
        (DataValue::Null, _) => column_type.nullable,
        // What is common is answered without a copy.
        (_, BaseType::Any)
        | (DataValue::Bool(_), BaseType::Bool)
        | (DataValue::Num(Num::Int(_)), BaseType::Int)
        | (DataValue::Num(Num::Float(_)), BaseType::Float)
        | (DataValue::Str(_), BaseType::String)
        | (DataValue::Bytes(_), BaseType::Bytes)
        | (DataValue::Uuid(_), BaseType::Uuid)
        | (DataValue::Json(_), BaseType::Json) => true,
        (value, _) => coerce(value.clone(), column_type, now_micros).is_ok_and(|converted| converted == *value),
    }
}
