//! Columns as Arrow arrays.
//!
//! Arrays of integers, floats, strings and vectors take over the memory of their columns. Others are converted value by value, by the
//! [`Kind`] of the column.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeListArray, Float64Array, Int64Array, LargeBinaryArray,
    LargeStringArray, NullArray, PrimitiveArray, RecordBatch, StringArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{ArrowError, Field};
use serde_json::Value;

use super::kinds::{ArrowTypes, Kind, Numbers};
use super::{JSON, TYPE_KEY};
use crate::value::{Batch, Column, DataValue, Primitive, StrColumn, VectorColumn, VectorElement, VectorRows};

/// The most bytes of an array with short offsets.
const MAX_SHORT_BYTES: usize = i32::MAX as usize;

/// Columns under headers as one batch. Integers and floats in one column become floats. `declared` has the types of columns without
/// values, such as `Int?`, as far as they are known.
pub fn record_batch(headers: Vec<String>, rows: Batch, declared: &[Option<String>]) -> Result<RecordBatch, ArrowError> {
    let mut types = ArrowTypes::new(rows.columns.len(), Numbers::Widened);
    types.add(&rows);
    types.declare_known(declared);
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
        (Column::Vec(column), Kind::Vector { .. }) => vectors(column)?,
        (Column::Null(len), Kind::Vector { wide: true, len: dim }) => {
            vectors(VectorColumn::F64(VectorRows::of_nulls(dim, len)))?
        }
        (Column::Null(len), Kind::Vector { wide: false, len: dim }) => {
            vectors(VectorColumn::F32(VectorRows::of_nulls(dim, len)))?
        }
        (Column::Any(values), kind @ Kind::Vector { .. }) => array(values.into_iter().collect(), Some(kind))?,
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
        Kind::Uuid | Kind::Validity | Kind::Document | Kind::Json | Kind::Vector { .. } => {
            texts(values.into_iter().map(|value| text(value, kind)).collect())
        }
    })
}

/// A Uuid among others as text, other values as JSON.
fn text(value: DataValue, kind: Kind) -> Option<String> {
    match (value, kind) {
        (DataValue::Null, _) => None,
        (DataValue::Uuid(uuid), Kind::Uuid) => Some(uuid.0.to_string()),
        (other, _) => Some(Value::from(other).to_string()),
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

/// Vectors as lists of fixed size, which take over the elements of a column without nulls.
fn vectors(column: VectorColumn) -> Result<ArrayRef, ArrowError> {
    fn lists<A>(rows: VectorRows<A::Native>) -> Result<ArrayRef, ArrowError>
    where
        A: ArrowPrimitiveType<Native: VectorElement>,
    {
        let dim = rows.dim();
        let (elements, nulls) = rows.into_parts();
        let elements = match &nulls {
            None => elements,
            Some(nulls) => with_nulls(&elements, nulls, dim),
        };
        let items = PrimitiveArray::<A>::new(elements.into(), None);
        let item = Arc::new(Field::new_list_field(A::DATA_TYPE, true));
        let size = i32::try_from(dim);
        let size = size.map_err(|_| ArrowError::InvalidArgumentError(format!("vectors of {dim} elements")))?;
        Ok(Arc::new(FixedSizeListArray::try_new(item, size, Arc::new(items), validity(nulls))?))
    }
    match column {
        VectorColumn::F32(rows) => lists::<Float32Type>(rows),
        VectorColumn::F64(rows) => lists::<Float64Type>(rows),
    }
}

/// The elements of vectors, with zeros for those that are null.
fn with_nulls<T: VectorElement>(elements: &[T], nulls: &[bool], dim: usize) -> Vec<T> {
    let mut all = Vec::with_capacity(nulls.len() * dim);
    let mut vectors = elements.chunks_exact(dim);
    for is_null in nulls {
        match is_null {
            true => all.resize(all.len() + dim, T::default()),
            false => all.extend_from_slice(vectors.next().unwrap_or_default()),
        }
    }
    all
}
