//! Columns as Arrow arrays.
//!
//! Arrays of integers, floats and strings take over the memory of their columns. Others are converted value by value, by the
//! [`Kind`] of the column.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::Float32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeListArray, Float64Array, Int64Array, LargeBinaryArray,
    LargeStringArray, NullArray, PrimitiveArray, RecordBatch, StringArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{ArrowError, Field};
use serde_json::Value;

use super::kinds::{ArrowTypes, Kind, Numbers};
use super::{JSON, TYPE_KEY};
use crate::value::{Batch, Column, DataValue, Primitive, StrColumn, Vector};

/// The most bytes of an array with short offsets.
const MAX_SHORT_BYTES: usize = i32::MAX as usize;

/// Columns under headers as one batch. Integers and floats in one column become floats.
pub fn record_batch(headers: Vec<String>, rows: Batch) -> Result<RecordBatch, ArrowError> {
    let mut types = ArrowTypes::new(rows.columns.len(), Numbers::Widened);
    types.add(&rows);
    types.batch(&headers, rows)
}

/// Converts a column whose values are of this kind, or null.
pub fn array(column: Column, kind: Option<Kind>) -> Result<ArrayRef, ArrowError> {
    let Some(kind) = kind else { return Ok(Arc::new(NullArray::new(column.len()))) };
    Ok(match (column, kind) {
        (Column::Bool(Primitive { values, nulls }), Kind::Bool) => {
            Arc::new(BooleanArray::new(BooleanBuffer::from(values), validity(nulls)))
        }
        (Column::Int(Primitive { values, nulls }), Kind::Int | Kind::LargeInt) => {
            Arc::new(Int64Array::try_new(values.into(), validity(nulls))?)
        }
        (Column::Float(Primitive { values, nulls }), Kind::Float) => {
            Arc::new(Float64Array::try_new(values.into(), validity(nulls))?)
        }
        (Column::Str(column), Kind::Str) => strings(column)?,
        (Column::Any(values), kind) => mixture(values, kind)?,
        (column, kind) => mixture(column.iter().collect(), kind)?,
    })
}

/// The metadata of the field of such an array.
pub fn metadata(kind: Option<Kind>) -> HashMap<String, String> {
    let json = (EXTENSION_TYPE_NAME_KEY, JSON);
    let pairs: &[(&str, &str)] = match kind {
        Some(Kind::Json) => &[json],
        Some(Kind::Document) => &[json, (TYPE_KEY, "Json")],
        Some(Kind::Validity) => &[json, (TYPE_KEY, "Validity")],
        Some(Kind::Uuid) => &[(TYPE_KEY, "Uuid")],
        _ => &[],
    };
    pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

/// The inverted null flags: Arrow marks valid rows, and a column marks null rows.
fn validity(nulls: Option<Vec<bool>>) -> Option<NullBuffer> {
    nulls.map(|nulls| nulls.into_iter().map(|null| !null).collect::<Vec<_>>().into())
}

fn strings(column: StrColumn) -> Result<ArrayRef, ArrowError> {
    let (offsets, bytes, nulls) = column.into_parts();
    let nulls = validity(nulls);
    if bytes.len() > MAX_SHORT_BYTES {
        let offsets = OffsetBuffer::new(offsets.into_iter().map(i64::from).collect());
        return Ok(Arc::new(LargeStringArray::try_new(offsets, Buffer::from_vec(bytes), nulls)?));
    }
    // Offsets as small as these have the same bytes in both types.
    let len = offsets.len();
    let offsets = OffsetBuffer::new(ScalarBuffer::<i32>::new(Buffer::from_vec(offsets), 0, len));
    Ok(Arc::new(StringArray::try_new(offsets, Buffer::from_vec(bytes), nulls)?))
}

fn mixture(values: Vec<DataValue>, kind: Kind) -> Result<ArrayRef, ArrowError> {
    Ok(match kind {
        Kind::Bool => Arc::new(values.iter().map(DataValue::get_bool).collect::<BooleanArray>()),
        Kind::Int | Kind::LargeInt => Arc::new(values.iter().map(DataValue::get_int).collect::<Int64Array>()),
        Kind::Float => Arc::new(values.iter().map(DataValue::get_float).collect::<Float64Array>()),
        Kind::Str => texts(values.iter().map(|value| value.get_str().map(str::to_string)).collect()),
        Kind::Bytes => bytes(&values),
        Kind::Uuid | Kind::Validity | Kind::Document | Kind::Json => texts(values.into_iter().map(text).collect()),
        Kind::Vector { wide, len } => vectors(&values, wide, len)?,
    })
}

/// A Uuid as text, other values as JSON.
fn text(value: DataValue) -> Option<String> {
    match value {
        DataValue::Null => None,
        DataValue::Uuid(uuid) => Some(uuid.0.to_string()),
        other => Some(Value::from(other).to_string()),
    }
}

fn texts(texts: Vec<Option<String>>) -> ArrayRef {
    if texts.iter().flatten().map(String::len).sum::<usize>() > MAX_SHORT_BYTES {
        return Arc::new(texts.into_iter().collect::<LargeStringArray>());
    }
    Arc::new(texts.into_iter().collect::<StringArray>())
}

fn bytes(values: &[DataValue]) -> ArrayRef {
    let bytes = || values.iter().map(DataValue::get_bytes);
    if bytes().flatten().map(<[u8]>::len).sum::<usize>() > MAX_SHORT_BYTES {
        return Arc::new(bytes().collect::<LargeBinaryArray>());
    }
    Arc::new(bytes().collect::<BinaryArray>())
}

fn vectors(values: &[DataValue], wide: bool, len: usize) -> Result<ArrayRef, ArrowError> {
    let mut narrow_items: Vec<f32> = vec![];
    let mut wide_items: Vec<f64> = vec![];
    for value in values {
        match value {
            DataValue::Vec(Vector::F32(vector)) => narrow_items.extend(vector),
            DataValue::Vec(Vector::F64(vector)) => wide_items.extend(vector),
            _ if wide => wide_items.resize(wide_items.len() + len, 0.0),
            _ => narrow_items.resize(narrow_items.len() + len, 0.0),
        }
    }
    let items: ArrayRef = match wide {
        true => Arc::new(Float64Array::from(wide_items)),
        false => Arc::new(PrimitiveArray::<Float32Type>::from(narrow_items)),
    };
    let present = values.iter().map(|value| !value.is_null()).collect::<Vec<_>>();
    let item = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    let len = i32::try_from(len).map_err(|_| ArrowError::InvalidArgumentError(format!("vectors of {len} elements")))?;
    Ok(Arc::new(FixedSizeListArray::try_new(item, len, items, Some(present.into()))?))
}
