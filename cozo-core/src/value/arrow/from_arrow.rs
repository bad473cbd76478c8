//! Arrow arrays as columns.

use std::fmt::{self, Display, Formatter};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Decimal256Type, DecimalType, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, Field, FieldRef, Fields};
use serde_json::Value;

use super::{JSON, TYPE_KEY, UUID};
use crate::value::{
    Batch, Column, DataValue, JsonData, Primitive, StrColumn, UuidWrapper, Validity, VectorElement, VectorRows,
    loses_digits,
};

/// The reason why a batch cannot be converted to columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The row that cannot be converted; none if the whole column cannot.
    pub row: Option<usize>,
    /// The reason.
    pub reason: String,
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Refusal { row: None, reason }
    }
}

/// The reason, with the number of the row from 0.
impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        self.row.map_or(Ok(()), |row| write!(f, " (in row {row})"))
    }
}

/// Converts a batch to columns.
pub fn columns(batch: &RecordBatch) -> Result<Batch, Refusal> {
    let schema = batch.schema_ref();
    let column = |(array, field): (&ArrayRef, &FieldRef)| {
        let named =
            |refusal: Refusal| Refusal { reason: format!("column '{}': {}", field.name(), refusal.reason), ..refusal };
        column_of(array, field).map_err(named)
    };
    let columns = batch.columns().iter().zip(schema.fields()).map(column).collect::<Result<_, _>>()?;
    Ok(Batch::new(columns, batch.num_rows()))
}

fn column_of(array: &ArrayRef, field: &Field) -> Result<Column, Refusal> {
    Ok(match array.data_type() {
        DataType::Null => Column::Null(array.len()),
        DataType::Boolean => {
            let array = array.as_boolean();
            Column::Bool(primitive(array.iter(), array.null_count() > 0))
        }
        DataType::Int8 => ints::<Int8Type>(array),
        DataType::Int16 => ints::<Int16Type>(array),
        DataType::Int32 => ints::<Int32Type>(array),
        DataType::Int64 => ints::<Int64Type>(array),
        DataType::UInt8 => ints::<UInt8Type>(array),
        DataType::UInt16 => ints::<UInt16Type>(array),
        DataType::UInt32 => ints::<UInt32Type>(array),
        DataType::UInt64 => {
            let values = array.as_primitive::<UInt64Type>();
            checked_rows(array, |row| unsigned(values.value(row)))?
        }
        DataType::Float16 => floats::<Float16Type>(array),
        DataType::Float32 => floats::<Float32Type>(array),
        DataType::Float64 => floats::<Float64Type>(array),
        DataType::Decimal128(..) => decimals::<Decimal128Type>(array)?,
        DataType::Decimal256(..) => decimals::<Decimal256Type>(array)?,
        DataType::Utf8 => texts(array.as_string::<i32>().iter(), field)?,
        DataType::LargeUtf8 => texts(array.as_string::<i64>().iter(), field)?,
        DataType::Utf8View => texts(array.as_string_view().iter(), field)?,
        DataType::Binary => bytes(array.as_binary::<i32>().iter()),
        DataType::LargeBinary => bytes(array.as_binary::<i64>().iter()),
        DataType::BinaryView => bytes(array.as_binary_view().iter()),
        DataType::FixedSizeBinary(16) if field.extension_type_name() == Some(UUID) => {
            array.as_fixed_size_binary().iter().map(uuid).collect()
        }
        DataType::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary().iter()),
        DataType::Dictionary(..) => dictionary(array, field)?,
        DataType::FixedSizeList(item, _) => match item.data_type() {
            DataType::Float32 => vectors::<f32, Float32Type>(array),
            DataType::Float64 => vectors::<f64, Float64Type>(array),
            _ => lists(array, item, |array, row| array.as_fixed_size_list().value(row))?,
        },
        DataType::List(item) => lists(array, item, |array, row| array.as_list::<i32>().value(row))?,
        DataType::LargeList(item) => lists(array, item, |array, row| array.as_list::<i64>().value(row))?,
        DataType::Struct(fields) => objects(array, fields)?,
        other => {
            return Err(format!(
                "no value stands for the Arrow type {other}: cast it, for instance to int64 or string"
            )
            .into());
        }
    })
}

fn decimals<T: DecimalType>(array: &ArrayRef) -> Result<Column, Refusal> {
    let decimals = array.as_primitive::<T>();
    checked_rows(array, |row| decimal(&decimals.value_as_string(row)))
}

/// Each row as a JSON object.
fn objects(array: &ArrayRef, fields: &Fields) -> Result<Column, Refusal> {
    let columns = array.as_struct().columns().iter().zip(fields);
    let columns = columns.map(|(array, field)| Ok((field.name(), column_of(array, field)?)));
    let columns = columns.collect::<Result<Vec<_>, Refusal>>()?;
    let object = |row| columns.iter().map(move |(name, column)| ((*name).clone(), Value::from(column.get(row))));
    Ok(rows(array, |row| DataValue::Json(object(row).collect::<JsonData>())))
}

/// A column with the result of `value` for each row that is not null.
fn rows(array: &ArrayRef, value: impl Fn(usize) -> DataValue) -> Column {
    (0..array.len()).map(|row| if array.is_null(row) { DataValue::Null } else { value(row) }).collect()
}

/// [`rows`] for a conversion that may fail.
fn checked_rows(array: &ArrayRef, value: impl Fn(usize) -> Result<DataValue, String>) -> Result<Column, Refusal> {
    let value = |row| match array.is_null(row) {
        true => Ok(DataValue::Null),
        false => value(row).map_err(|reason| Refusal { row: Some(row), reason }),
    };
    (0..array.len()).map(value).collect()
}

fn primitive<T: Copy + Default>(values: impl Iterator<Item = Option<T>> + Clone, has_nulls: bool) -> Primitive<T> {
    let nulls = has_nulls.then(|| values.clone().map(|value| value.is_none()).collect());
    Primitive { values: values.map(Option::unwrap_or_default).collect(), nulls }
}

fn ints<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &ArrayRef) -> Column {
    let array = array.as_primitive::<T>();
    match array.null_count() {
        0 => Column::ints(array.values().iter().map(|value| (*value).into()).collect()),
        _ => Column::Int(primitive(array.iter().map(|value| value.map(Into::into)), true)),
    }
}

fn floats<T: ArrowPrimitiveType<Native: Into<f64>>>(array: &ArrayRef) -> Column {
    let array = array.as_primitive::<T>();
    match array.null_count() {
        0 => Column::floats(array.values().iter().map(|value| (*value).into()).collect()),
        _ => Column::Float(primitive(array.iter().map(|value| value.map(Into::into)), true)),
    }
}

/// An integer if it fits 64 bits, otherwise an equal float.
fn unsigned(value: u64) -> Result<DataValue, String> {
    i64::try_from(value).map_or_else(|_| decimal(&value.to_string()), |int| Ok(int.into()))
}

/// An integer if there is no fraction and it fits 64 bits, otherwise the nearest float, which must be equal for an integer.
fn decimal(text: &str) -> Result<DataValue, String> {
    if loses_digits(text) {
        return Err(format!("{text} is beyond Int, and Float would not keep its digits: cast the column to strings"));
    }
    let float = || text.parse::<f64>().map_or(DataValue::Null, DataValue::from);
    Ok(text.parse::<i64>().map_or_else(|_| float(), DataValue::from))
}

fn texts<'a>(texts: impl Iterator<Item = Option<&'a str>>, field: &Field) -> Result<Column, String> {
    let json = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| format!("bad JSON: {error}"));
    match (field.metadata().get(TYPE_KEY).map(String::as_str), field.extension_type_name()) {
        (Some("Uuid"), _) => return parsed(texts, uuid_of_text),
        (Some("Json"), _) => return parsed(texts, |text| Ok(DataValue::Json(JsonData(json(text)?)))),
        (Some("Validity"), _) => return parsed(texts, |text| validity(&json(text)?)),
        (_, Some(JSON)) => return parsed(texts, |text| Ok(DataValue::from(json(text)?))),
        _ => {}
    }
    let mut column = Column::Str(StrColumn::default());
    texts.for_each(|text| match text {
        Some(text) => column.push_str(text),
        None => column.push(&DataValue::Null),
    });
    Ok(column)
}

fn parsed<'a>(
    texts: impl Iterator<Item = Option<&'a str>>,
    parse: impl Fn(&str) -> Result<DataValue, String>,
) -> Result<Column, String> {
    texts.map(|text| text.map_or(Ok(DataValue::Null), &parse)).collect()
}

fn uuid_of_text(text: &str) -> Result<DataValue, String> {
    Ok(DataValue::Uuid(UuidWrapper(
        uuid::Uuid::parse_str(text).map_err(|error| format!("bad UUID '{text}': {error}"))?,
    )))
}

fn validity(json: &Value) -> Result<DataValue, String> {
    let parts = (json.get(0).and_then(Value::as_i64), json.get(1).and_then(Value::as_bool));
    match parts {
        (Some(micros), Some(asserts)) => Ok(DataValue::Validity(Validity::from((micros, asserts)))),
        _ => Err(format!("bad Validity {json}: expected [microseconds, true or false]")),
    }
}

fn bytes<'a>(bytes: impl Iterator<Item = Option<&'a [u8]>>) -> Column {
    bytes.map(|bytes| bytes.map_or(DataValue::Null, |bytes| DataValue::Bytes(bytes.to_vec()))).collect()
}

fn uuid(bytes: Option<&[u8]>) -> DataValue {
    let uuid = bytes.and_then(|bytes| uuid::Uuid::from_slice(bytes).ok());
    uuid.map_or(DataValue::Null, |uuid| DataValue::Uuid(UuidWrapper(uuid)))
}

/// A dictionary array: categories of pandas and polars, and repeated strings.
fn dictionary(array: &ArrayRef, field: &Field) -> Result<Column, Refusal> {
    let dictionary = array.as_any_dictionary();
    let values = column_of(dictionary.values(), &field.clone().with_data_type(dictionary.values().data_type().clone()))
        // The row numbers of the dictionary are not those of the array.
        .map_err(|refusal| Refusal { row: None, ..refusal })?;
    let mut column = Column::default();
    for (row, key) in dictionary.normalized_keys().into_iter().enumerate() {
        match dictionary.keys().is_null(row) {
            true => column.push(&DataValue::Null),
            false => column.push_from(&values, key),
        }
    }
    Ok(column)
}

/// Vectors of lists of fixed size. Vectors cannot have nulls, so that a list with one stays a List.
fn vectors<T, A>(array: &ArrayRef) -> Column
where
    T: VectorElement + ArrowNativeType,
    A: ArrowPrimitiveType<Native = T>,
{
    let lists = array.as_fixed_size_list();
    let items = lists.values().as_primitive::<A>();
    let (dim, elements) = (lists.value_length() as usize, items.values());
    if dim > 0 && items.null_count() == 0 && array.null_count() == 0 {
        return Column::Vec(T::column(VectorRows::dense(elements.to_vec(), dim)));
    }
    let mut column = Column::default();
    for row in 0..array.len() {
        let range = row * dim..(row + 1) * dim;
        match array.is_null(row) {
            true => column.push(&DataValue::Null),
            false if range.clone().any(|item| items.is_null(item)) => {
                let float = |item| {
                    if items.is_null(item) {
                        DataValue::Null
                    } else {
                        DataValue::from(Into::<f64>::into(elements[item]))
                    }
                };
                column.push_owned(DataValue::List(range.map(float).collect()));
            }
            false => column.push_vector(elements[range].iter().copied()),
        }
    }
    column
}

fn lists(array: &ArrayRef, item: &Field, items: impl Fn(&ArrayRef, usize) -> ArrayRef) -> Result<Column, Refusal> {
    let list = |row| match array.is_null(row) {
        true => Ok(DataValue::Null),
        false => {
            let in_row = |refusal| Refusal { row: Some(row), ..refusal };
            Ok(DataValue::List(column_of(&items(array, row), item).map_err(in_row)?.iter().collect()))
        }
    };
    (0..array.len()).map(list).collect()
}
