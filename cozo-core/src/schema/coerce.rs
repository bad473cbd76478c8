//! Fitting a value to a column type, on every way into a relation.
//!
//! [`coerce`] converts a value, or says why it does not fit; [`coerce_column`] does so for a whole column. `surely_fits` and
//! `value_surely_fits` are quick checks that let most values pass unchanged.

use super::{BaseType, ColumnType};
use crate::budget::{Stop, make_room};
use crate::value::{
    Column, DataValue, Num, Validity, Vector, VectorColumn, VectorElement, VectorRows, decode_base64, json_to_value,
    parse_time_micros, parse_uuid,
};

/// A value that does not fit its column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum CoercionError {
    /// The value would be too large or too deep, or the script must stop.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Stop(#[from] Stop),
    /// A null met a column without `?`: give a value, or make the column nullable.
    #[error("null does not fit the type {0}")]
    #[diagnostic(code(eval::coercion_null), help("give a value, or declare the column as '{0}?'"))]
    Null(ColumnType),
    /// The value has another type: convert it in the query.
    #[error("{value} of type {found} does not fit the type {expected}")]
    #[diagnostic(code(eval::coercion_failed), help("convert the value in the query, or change the column's type"))]
    Failed {
        /// The value, shortened.
        value: String,
        /// Its type.
        found: &'static str,
        /// The column's type.
        expected: ColumnType,
    },
    /// A list of the wrong length met a column of fixed length.
    #[error("a list of {found} elements does not fit the type {expected}")]
    #[diagnostic(code(eval::coercion_bad_list_len), help("the type asks for exactly {wanted} elements"))]
    ListLength {
        /// The length of the value.
        found: usize,
        /// The length of the type.
        wanted: usize,
        /// The column's type.
        expected: ColumnType,
    },
    /// A string for a Bytes column is not base64.
    #[error("{0}")]
    #[diagnostic(code(eval::coercion_bad_base_64), help("strings become bytes by standard, padded base64"))]
    Base64(String),
    /// A value for a Validity column is neither a time nor a pair.
    #[error("{0} is not a validity")]
    #[diagnostic(
        code(eval::invalid_validity),
        help(
            "give 'ASSERT', 'RETRACT', [microseconds, true|false], or a time such as '2024-05-01', '2024-05-01 10:30' \
             or '2024-05-01T10:30:15.25Z', with a leading '~' for a retraction"
        )
    )]
    Validity(String),
}

/// Fits a value to a type. `now_micros`, in microseconds since the epoch, is the time of `'ASSERT'` and `'RETRACT'`.
pub fn coerce(value: DataValue, target: &ColumnType, now_micros: i64) -> Result<DataValue, CoercionError> {
    if value.is_null() {
        return if target.nullable { Ok(value) } else { Err(CoercionError::Null(target.clone())) };
    }
    match (&target.base, value) {
        (BaseType::Any, value) => Ok(value),
        (BaseType::Bool, value @ DataValue::Bool(_)) => Ok(value),
        (BaseType::Int, DataValue::Num(number)) if number.get_int().is_some() => {
            Ok(number.get_int().map_or(DataValue::Null, DataValue::from))
        }
        (BaseType::Float, DataValue::Num(number)) => Ok(number.get_float().into()),
        (BaseType::String, value @ DataValue::Str(_)) => Ok(value),
        (BaseType::Bytes, value @ DataValue::Bytes(_)) => Ok(value),
        (BaseType::Bytes, DataValue::Str(text)) => {
            decode_base64(&text).map(DataValue::Bytes).map_err(|error| CoercionError::Base64(error.to_string()))
        }
        (BaseType::Uuid, value @ DataValue::Uuid(_)) => Ok(value),
        (BaseType::Uuid, DataValue::Str(text)) => match parse_uuid(&text) {
            Ok(uuid) => Ok(DataValue::Uuid(uuid)),
            Err(_) => Err(failed(&DataValue::Str(text), target)),
        },
        (BaseType::Json, value @ DataValue::Json(_)) => Ok(value),
        (BaseType::Json, value) => Ok(json_to_value(&value)?),
        (BaseType::Validity, value) => coerce_validity(value, now_micros),
        (BaseType::List(element, len), DataValue::List(items)) => {
            check_length(items.len(), len.unwrap_or(items.len()), target)?;
            coerce_all(items, std::iter::repeat(&**element), now_micros)
        }
        (BaseType::Tuple(elements), DataValue::List(items)) => {
            check_length(items.len(), elements.len(), target)?;
            coerce_all(items, elements.iter(), now_micros)
        }
        (BaseType::Vector { wide, len }, value) => coerce_vector(value, *wide, *len, target),
        (_, value) => Err(failed(&value, target)),
    }
}

/// Whether the values of a column fit a type as they are. A quick check, which may say `false` for a column that fits.
pub fn surely_fits(column: &Column, target: &ColumnType) -> bool {
    match (column, &target.base) {
        (Column::Int(data), BaseType::Int) => data.nulls.is_none() || target.nullable,
        (Column::Float(data), BaseType::Float) => data.nulls.is_none() || target.nullable,
        (Column::Bool(data), BaseType::Bool) => data.nulls.is_none() || target.nullable,
        (Column::Str(data), BaseType::String) => data.nulls.is_none() || target.nullable,
        (Column::Vec(data), BaseType::Vector { wide, len }) => {
            let is_wide = matches!(data, VectorColumn::F64(_));
            is_wide == *wide && data.dim() == *len && (target.nullable || !data.has_nulls())
        }
        (Column::Null(_), _) | (_, BaseType::Any) => target.nullable,
        (Column::Any(values), _) => values.iter().all(|value| value_surely_fits(value, target)),
        _ => false,
    }
}

/// Whether a value fits a type as it is. A quick check, which may say `false` for a value that fits.
pub fn value_surely_fits(value: &DataValue, target: &ColumnType) -> bool {
    match (value, &target.base) {
        (DataValue::Null, _) => target.nullable,
        (_, BaseType::Any)
        | (DataValue::Num(Num::Int(_)), BaseType::Int)
        | (DataValue::Num(Num::Float(_)), BaseType::Float)
        | (DataValue::Str(_), BaseType::String)
        | (DataValue::Bool(_), BaseType::Bool)
        | (DataValue::Bytes(_), BaseType::Bytes)
        | (DataValue::Uuid(_), BaseType::Uuid)
        | (DataValue::Json(_), BaseType::Json) => true,
        (DataValue::Vec(vector), BaseType::Vector { wide, len }) => {
            vector.len() == *len && matches!(vector, Vector::F64(_)) == *wide
        }
        _ => false,
    }
}

/// Fits a whole column to a type. Returns the coerced column, or as an error the column if a value does not fit.
pub fn coerce_column(column: Column, target: &ColumnType, now_micros: i64) -> Result<Column, Column> {
    if surely_fits(&column, target) {
        return Ok(column);
    }
    if let Some(vectors) = vectors_of(&column, target) {
        return Ok(vectors);
    }
    let coerced = column.iter().map(|value| coerce(value, target, now_micros)).collect::<Result<_, _>>();
    coerced.map_err(|_| column)
}

/// The column that [`coerce_column`] makes of a mixture of lists and vectors for a vector type, straight from a borrowed column. Room
/// for it is made. `None` for other columns and types, and if a value does not fit.
pub fn coerce_to_vectors(column: &Column, target: &ColumnType) -> Result<Option<Column>, Stop> {
    if let (Column::Any(values), BaseType::Vector { wide, len }) = (column, &target.base) {
        let element = if *wide { size_of::<f64>() } else { size_of::<f32>() };
        let vectors = values.iter().filter(|value| !matches!(value, DataValue::Null)).count();
        make_room(vectors.saturating_mul(len.saturating_mul(element)))?;
    }
    Ok(vectors_of(column, target))
}

fn vectors_of(column: &Column, target: &ColumnType) -> Option<Column> {
    match (column, &target.base) {
        (Column::Any(values), BaseType::Vector { wide: true, len }) => rows_of(values, *len, target.nullable, |x| x),
        (Column::Any(values), BaseType::Vector { wide: false, len }) => {
            rows_of(values, *len, target.nullable, |x| x as f32)
        }
        _ => None,
    }
}

/// A column of vectors of `len` elements, if the values are lists of so many numbers or such vectors.
fn rows_of<T: VectorElement>(
    values: &[DataValue],
    len: usize,
    nullable: bool,
    of_float: impl Fn(f64) -> T,
) -> Option<Column> {
    if len == 0 {
        return None;
    }
    let mut rows = VectorRows::<T>::of_nulls(len, 0);
    rows.try_reserve(values.iter().filter(|value| !matches!(value, DataValue::Null)).count()).ok()?;
    let element = |item: &DataValue| item.get_float().map(&of_float).ok_or(());
    for value in values {
        match value {
            DataValue::Null if nullable => rows.push_null(),
            DataValue::List(items) if items.len() == len => rows.try_push(items.iter().map(element)).ok()?,
            DataValue::Vec(vector) if vector.len() == len => rows.push(T::elements(vector.elements()?)?),
            _ => return None,
        }
    }
    Some(Column::Vec(T::column(rows)))
}

fn coerce_all<'a>(
    items: Vec<DataValue>,
    types: impl Iterator<Item = &'a ColumnType>,
    now_micros: i64,
) -> Result<DataValue, CoercionError> {
    let coerced = items.into_iter().zip(types).map(|(item, target)| coerce(item, target, now_micros));
    Ok(DataValue::List(coerced.collect::<Result<_, _>>()?))
}

fn check_length(found: usize, wanted: usize, expected: &ColumnType) -> Result<(), CoercionError> {
    if found == wanted { Ok(()) } else { Err(CoercionError::ListLength { found, wanted, expected: expected.clone() }) }
}

fn failed(value: &DataValue, target: &ColumnType) -> CoercionError {
    let mut text = value.to_string();
    if let Some((cut, _)) = text.char_indices().nth(60) {
        text.truncate(cut);
        text.push('…');
    }
    CoercionError::Failed { value: text, found: value.type_name(), expected: target.clone() }
}

fn coerce_validity(value: DataValue, now_micros: i64) -> Result<DataValue, CoercionError> {
    let invalid = || CoercionError::Validity(value.to_string());
    let validity = match &value {
        DataValue::Validity(validity) => *validity,
        DataValue::Str(text) => match text.as_str() {
            "ASSERT" => Validity::from((now_micros, true)),
            "RETRACT" => Validity::from((now_micros, false)),
            text => Validity::parse(text).map_err(|_| invalid())?,
        },
        DataValue::List(items) => match items.as_slice() {
            [DataValue::Num(timestamp), DataValue::Bool(asserts)] => {
                Validity::from((timestamp.get_int().ok_or_else(invalid)?, *asserts))
            }
            _ => return Err(invalid()),
        },
        _ => return Err(invalid()),
    };
    // The two extremes are reserved: they stand for "before everything" and "after everything" in reads.
    if matches!(validity.micros(), i64::MIN | i64::MAX) {
        return Err(invalid());
    }
    Ok(DataValue::Validity(validity))
}

/// The timestamp of a value after `@`: microseconds, `'NOW'`, `'END'`, or a date or time as a text;
/// `None` for any other value.
pub fn time_to_read(value: &DataValue, now_micros: i64) -> Option<i64> {
    match value {
        DataValue::Num(timestamp) => timestamp.get_int(),
        DataValue::Str(text) => match text.as_str() {
            "NOW" => Some(now_micros),
            "END" => Some(i64::MAX),
            text => parse_time_micros(text).ok(),
        },
        _ => None,
    }
}

fn coerce_vector(value: DataValue, wide: bool, len: usize, target: &ColumnType) -> Result<DataValue, CoercionError> {
    let vector = match value {
        DataValue::Vec(vector) if matches!(vector, Vector::F64(_)) == wide => vector,
        DataValue::List(items) => {
            check_length(items.len(), len, target)?;
            let numbers = items.iter().map(|item| item.get_float().ok_or_else(|| failed(item, target)));
            vector_of(numbers.collect::<Result<_, _>>()?, wide)
        }
        DataValue::Str(text) => {
            let vector = decode_base64(&text).ok().and_then(|bytes| vector_of_bytes(&bytes, wide));
            vector.ok_or_else(|| failed(&DataValue::Str(text), target))?
        }
        other => return Err(failed(&other, target)),
    };
    check_length(vector.len(), len, target)?;
    Ok(DataValue::Vec(vector))
}

fn vector_of(elements: Vec<f64>, wide: bool) -> Vector {
    if wide { Vector::F64(elements.into()) } else { Vector::F32(elements.into_iter().map(|x| x as f32).collect()) }
}

/// A vector from raw little-endian elements; `None` if the bytes do not divide into elements.
fn vector_of_bytes(bytes: &[u8], wide: bool) -> Option<Vector> {
    if wide {
        let (elements, rest) = bytes.as_chunks::<8>();
        rest.is_empty().then(|| Vector::F64(elements.iter().map(|x| f64::from_le_bytes(*x)).collect()))
    } else {
        let (elements, rest) = bytes.as_chunks::<4>();
        rest.is_empty().then(|| Vector::F32(elements.iter().map(|x| f32::from_le_bytes(*x)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::JsonData;

    fn column_type(base: BaseType) -> ColumnType {
        ColumnType { base, nullable: false }
    }

    #[test]
    fn values_are_fitted_as_documented() {
        let list_of_int = column_type(BaseType::List(Box::new(column_type(BaseType::Int)), None));
        let pair = column_type(BaseType::List(Box::new(column_type(BaseType::Float)), Some(2)));
        let code = |error: CoercionError| miette::Diagnostic::code(&error).map(|code| code.to_string());
        let validity = DataValue::Validity(Validity::from((7, true)));
        let json = DataValue::Json(JsonData(serde_json::json!([1, null])));
        let table: Vec<(DataValue, ColumnType, Result<DataValue, &str>)> = vec![
            (DataValue::Null, ColumnType::ANY, Ok(DataValue::Null)),
            (DataValue::Null, column_type(BaseType::Any), Err("eval::coercion_null")),
            (3.0.into(), column_type(BaseType::Int), Ok(3.into())),
            (3.5.into(), column_type(BaseType::Int), Err("eval::coercion_failed")),
            (true.into(), column_type(BaseType::Int), Err("eval::coercion_failed")),
            (3.into(), column_type(BaseType::Float), Ok(3.0.into())),
            ("AP8=".into(), column_type(BaseType::Bytes), Ok(DataValue::Bytes(vec![0, 255]))),
            ("*".into(), column_type(BaseType::Bytes), Err("eval::coercion_bad_base_64")),
            (vec![4.0].into(), list_of_int.clone(), Ok(vec![4].into())),
            (vec![DataValue::Null].into(), list_of_int, Err("eval::coercion_null")),
            (vec![1].into(), pair, Err("eval::coercion_bad_list_len")),
            (vec![DataValue::from(1), DataValue::Null].into(), column_type(BaseType::Json), Ok(json)),
            ("ASSERT".into(), column_type(BaseType::Validity), Ok(validity)),
            (5.into(), column_type(BaseType::Validity), Err("eval::invalid_validity")),
            (
                vec![DataValue::from(i64::MAX), true.into()].into(),
                column_type(BaseType::Validity),
                Err("eval::invalid_validity"),
            ),
        ];
        for (value, target, expected) in table {
            let found = coerce(value.clone(), &target, 7).map_err(code);
            assert_eq!(found, expected.map_err(|code| Some(code.to_string())), "{value} as {target}");
            let column = coerce_column(std::iter::once(value).collect(), &target, 7).ok();
            assert_eq!(column.map(|column| column.get(0)), found.ok());
        }
    }
}
