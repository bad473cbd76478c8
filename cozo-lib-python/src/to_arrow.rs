//! Columns of a result as Arrow arrays.
//!
//! Arrays of integers and floats take over the memory of their columns, and so does the text of strings. Columns that hold
//! anything else are looked through, and get the type that all their values have: [`Kind`] has the rules.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::Float32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeListArray, Float64Array, Int64Array, LargeBinaryArray,
    LargeStringArray, NullArray, PrimitiveArray, RecordBatch, RecordBatchOptions, StringArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{ArrowError, Field, Schema};
use cozo::value::{Batch, Column, Primitive, StrColumn};
use cozo::{DataValue, Num, Vector};
use serde_json::Value;

/// The extension type of arrays whose strings are JSON.
pub const JSON: &str = "arrow.json";

/// Integers up to this are the same as floats.
const MAX_EXACT_INT: u64 = 1 << 53;

/// The bytes that an array with short offsets holds.
const MAX_SHORT_BYTES: usize = i32::MAX as usize;

/// Columns under headers as one batch.
pub fn record_batch(headers: Vec<String>, rows: Batch) -> Result<RecordBatch, ArrowError> {
    let (mut fields, mut arrays) = (vec![], vec![]);
    for (header, column) in headers.into_iter().zip(rows.columns) {
        let (array, is_json) = array(column)?;
        let field = Field::new(header, array.data_type().clone(), true);
        let extension = is_json.then(|| (EXTENSION_TYPE_NAME_KEY.to_string(), JSON.to_string()));
        fields.push(field.with_metadata(extension.into_iter().collect::<HashMap<_, _>>()));
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
}

/// A column, and whether its strings are JSON.
fn array(column: Column) -> Result<(ArrayRef, bool), ArrowError> {
    Ok(match column {
        Column::Null(len) => (Arc::new(NullArray::new(len)), false),
        Column::Bool(Primitive { values, nulls }) => {
            (Arc::new(BooleanArray::new(BooleanBuffer::from(values), validity(nulls))), false)
        }
        Column::Int(Primitive { values, nulls }) => {
            (Arc::new(Int64Array::try_new(values.into(), validity(nulls))?), false)
        }
        Column::Float(Primitive { values, nulls }) => {
            (Arc::new(Float64Array::try_new(values.into(), validity(nulls))?), false)
        }
        Column::Str(column) => (strings(column)?, false),
        Column::Any(values) => mixture(values)?,
    })
}

/// Arrow marks what is there, a column what is null.
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
    // Offsets as small as these are the same in both types.
    let len = offsets.len();
    let offsets = OffsetBuffer::new(ScalarBuffer::<i32>::new(Buffer::from_vec(offsets), 0, len));
    Ok(Arc::new(StringArray::try_new(offsets, Buffer::from_vec(bytes), nulls)?))
}

/// What the values of a column are, nulls aside.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Bool,
    /// Integers that are the same as floats.
    Int,
    /// Integers, some of which would lose digits as floats.
    LargeInt,
    /// Floats, or floats and integers that are the same as floats.
    Float,
    Str,
    Bytes,
    Uuid,
    /// Vectors of one width and length.
    Vector {
        wide: bool,
        len: usize,
    },
    /// Lists, objects, validities, and whatever does not go together.
    Json,
}

impl Kind {
    fn of(value: &DataValue) -> Kind {
        match value {
            DataValue::Bool(_) => Kind::Bool,
            DataValue::Num(Num::Int(value)) if value.unsigned_abs() <= MAX_EXACT_INT => Kind::Int,
            DataValue::Num(Num::Int(_)) => Kind::LargeInt,
            DataValue::Num(Num::Float(_)) => Kind::Float,
            DataValue::Str(_) => Kind::Str,
            DataValue::Bytes(_) => Kind::Bytes,
            DataValue::Uuid(_) => Kind::Uuid,
            DataValue::Vec(vector) if !vector.is_empty() => {
                Kind::Vector { wide: matches!(vector, Vector::F64(_)), len: vector.len() }
            }
            _ => Kind::Json,
        }
    }

    fn join(self, other: Kind) -> Kind {
        match (self, other) {
            (a, b) if a == b => a,
            (Kind::Int, Kind::LargeInt) | (Kind::LargeInt, Kind::Int) => Kind::LargeInt,
            (Kind::Int, Kind::Float) | (Kind::Float, Kind::Int) => Kind::Float,
            _ => Kind::Json,
        }
    }
}

fn mixture(values: Vec<DataValue>) -> Result<(ArrayRef, bool), ArrowError> {
    let mut kinds = values.iter().filter(|value| !value.is_null()).map(Kind::of);
    let Some(first) = kinds.next() else { return Ok((Arc::new(NullArray::new(values.len())), false)) };
    let kind = kinds.fold(first, Kind::join);
    let array: ArrayRef = match kind {
        Kind::Bool => Arc::new(values.iter().map(DataValue::get_bool).collect::<BooleanArray>()),
        Kind::Int | Kind::LargeInt => Arc::new(values.iter().map(DataValue::get_int).collect::<Int64Array>()),
        Kind::Float => Arc::new(values.iter().map(DataValue::get_float).collect::<Float64Array>()),
        Kind::Str => texts(values.iter().map(|value| value.get_str().map(str::to_string)).collect()),
        Kind::Bytes => bytes(&values),
        Kind::Uuid | Kind::Json => texts(values.into_iter().map(text).collect()),
        Kind::Vector { wide, len } => vectors(&values, wide, len)?,
    };
    Ok((array, kind == Kind::Json))
}

/// A Uuid as text, anything else as JSON.
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
