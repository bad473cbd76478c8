//! Conversions to and from JSON, by the conventions of the API and of the function `json`.

use std::borrow::Cow;
use std::io;

use base64::Engine as _;
use serde::Serialize as _;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use serde_json::{Map, Value, json};

use super::{DataValue, Num, SmallStr, TextBuilder, Vector, allocated, check_json_depth, copy_json, json_bytes};
use crate::budget::{MAX_DEPTH, Stop, make_room, step};

/// A JSON value. Sorts by its compact text.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct JsonData(pub Value);

/// Writes compact JSON with exponents as in `1e21`, whereas `serde_json` writes `1e+21`.
struct PlainExponents;

impl Formatter for PlainExponents {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let mut buffer = [0; 32];
        let mut rest = buffer.as_mut_slice();
        CompactFormatter.write_f64(&mut rest, value)?;
        let left = rest.len();
        let text = &buffer[..buffer.len() - left];
        match text.iter().position(|byte| *byte == b'+') {
            Some(plus) => {
                writer.write_all(&text[..plus])?;
                writer.write_all(&text[plus + 1..])
            }
            None => writer.write_all(text),
        }
    }
}

/// The compact text of a JSON value. Room for it is made.
pub fn json_text(value: &Value) -> Result<String, Stop> {
    let mut text = TextBuilder::default();
    let written = value.serialize(&mut Serializer::with_formatter(&mut text, PlainExponents));
    let text = text.finish()?;
    debug_assert!(written.is_ok(), "writing JSON to a text fails only where the script must stop");
    Ok(text)
}

impl JsonData {
    /// The compact text, by which the value sorts.
    pub fn text(&self) -> String {
        let mut text = vec![];
        let written = self.0.serialize(&mut Serializer::with_formatter(&mut text, PlainExponents));
        written.ok().and_then(|()| String::from_utf8(text).ok()).expect("JSON has a text")
    }
}

/// The JSON of a value in the API. NaN is null, the infinities are `"INFINITY"` and `"NEGATIVE_INFINITY"`, and Bytes are base64
/// text.
impl From<DataValue> for Value {
    fn from(value: DataValue) -> Self {
        match value {
            DataValue::Null | DataValue::Bot => Value::Null,
            DataValue::Bool(value) => Value::Bool(value),
            DataValue::Num(Num::Int(value)) => value.into(),
            DataValue::Num(Num::Float(value)) if value == f64::INFINITY => "INFINITY".into(),
            DataValue::Num(Num::Float(value)) if value == f64::NEG_INFINITY => "NEGATIVE_INFINITY".into(),
            DataValue::Num(Num::Float(value)) => json_float(value),
            DataValue::Str(value) => Value::String(value.into()),
            DataValue::Bytes(value) => base64::engine::general_purpose::STANDARD.encode(value).into(),
            DataValue::Uuid(value) => value.0.to_string().into(),
            DataValue::Regex(value) => value.0.as_str().into(),
            DataValue::List(items) => Value::Array(items.into_iter().map(Value::from).collect()),
            DataValue::Set(items) => Value::Array(items.into_iter().map(Value::from).collect()),
            DataValue::Vec(vector) => Value::Array(vector.to_f64().into_iter().map(json_float).collect()),
            DataValue::Json(value) => value.0,
            DataValue::Validity(value) => json!([value.micros(), value.asserts()]),
        }
    }
}

/// A float as JSON. Floats that JSON cannot represent are null.
fn json_float(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// The value of JSON in the API. Objects become Json, arrays become Lists, and integers beyond 64 bits become Floats.
impl From<Value> for DataValue {
    fn from(value: Value) -> Self {
        match value {
            Value::Array(items) => DataValue::List(items.into_iter().map(DataValue::from).collect()),
            Value::Object(_) => DataValue::Json(JsonData(value)),
            scalar => scalar_of_json(scalar),
        }
    }
}

impl From<&Value> for DataValue {
    fn from(value: &Value) -> Self {
        DataValue::from(value.clone())
    }
}

impl From<JsonData> for DataValue {
    fn from(value: JsonData) -> Self {
        DataValue::Json(value)
    }
}

/// A JSON null, Boolean, number or string as a plain value; arrays and objects stay Json.
pub fn scalar_of_json(value: Value) -> DataValue {
    match value {
        Value::Null => DataValue::Null,
        Value::Bool(value) => value.into(),
        Value::Number(number) => match number.as_i64() {
            Some(int) => int.into(),
            None => number.as_f64().unwrap_or(f64::NAN).into(),
        },
        Value::String(text) => DataValue::Str(SmallStr::from(text)),
        Value::Array(_) | Value::Object(_) => DataValue::Json(JsonData(value)),
    }
}

/// An element of a JSON array, or a value of an object: a scalar as a plain value, an array or an object as Json. Room for it is made.
pub fn element_of_json(value: &Value) -> Result<DataValue, Stop> {
    make_room(json_bytes(value))?;
    Ok(scalar_of_json(copy_json(value)?))
}

/// The elements of a JSON array: scalars as plain values, arrays and objects as Json. Room for them is made.
pub fn elements_of_json(items: &[Value]) -> Result<Vec<DataValue>, Stop> {
    make_room(allocated(size_of::<DataValue>() * items.len()))?;
    let mut elements = Vec::with_capacity(items.len());
    for item in items {
        elements.push(element_of_json(item)?);
    }
    Ok(elements)
}

impl DataValue {
    /// The elements of a List, or of a Json array, which stands for the List of its elements. Room is made for the latter.
    pub fn elements(&self) -> Result<Option<Cow<'_, [DataValue]>>, Stop> {
        match self {
            DataValue::List(items) => Ok(Some(Cow::Borrowed(items))),
            DataValue::Json(JsonData(Value::Array(items))) => Ok(Some(Cow::Owned(elements_of_json(items)?))),
            _ => Ok(None),
        }
    }
}

/// The JSON of a value by the function `json`. Room for it is made. Floats that JSON cannot represent are null; Bytes and Uuid
/// become arrays of bytes. It also fails if the result would be nested too deep.
pub fn json_value_of(value: &DataValue) -> Result<Value, Stop> {
    json_value_within(value, 0)
}

/// [`json_value_of`] for a value within `outer_levels` arrays and objects.
pub fn json_value_within(value: &DataValue, outer_levels: usize) -> Result<Value, Stop> {
    Ok(match value {
        DataValue::Num(Num::Float(value)) => json_float(*value),
        DataValue::Str(text) => {
            make_room(text.len())?;
            Value::String(text.as_str().to_string())
        }
        DataValue::Bytes(bytes) => array(bytes, outer_levels, |byte| Ok(Value::from(*byte)))?,
        DataValue::Uuid(uuid) => array(uuid.0.as_bytes(), outer_levels, |byte| Ok(Value::from(*byte)))?,
        DataValue::List(items) => array(items, outer_levels, |item| json_value_within(item, outer_levels + 1))?,
        DataValue::Set(items) => array(items, outer_levels, |item| json_value_within(item, outer_levels + 1))?,
        DataValue::Vec(Vector::F32(elements)) => array(elements, outer_levels, |x| Ok(json_float(f64::from(*x))))?,
        DataValue::Vec(Vector::F64(elements)) => array(elements, outer_levels, |x| Ok(json_float(*x)))?,
        DataValue::Json(json) => {
            check_json_depth(&json.0, outer_levels)?;
            make_room(json_bytes(&json.0))?;
            copy_json(&json.0)?
        }
        other => Value::from(other.clone()),
    })
}

/// An array of the results of `of` for each item, within `outer_levels` other arrays.
fn array<T, I>(items: I, outer_levels: usize, of: impl Fn(T) -> Result<Value, Stop>) -> Result<Value, Stop>
where
    I: IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
{
    let items = items.into_iter();
    if outer_levels >= MAX_DEPTH {
        return Err(Stop::TooDeep);
    }
    make_room(allocated(items.len() * size_of::<Value>()))?;
    let mut array = Vec::with_capacity(items.len());
    for item in items {
        step(1)?;
        array.push(of(item)?);
    }
    Ok(Value::Array(array))
}

/// [`json_value_of`], as a value.
pub fn json_to_value(value: &DataValue) -> Result<DataValue, Stop> {
    Ok(DataValue::Json(JsonData(json_value_of(value)?)))
}

/// An object from pairs. A later pair replaces an earlier one with the same key.
impl FromIterator<(String, Value)> for JsonData {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(pairs: I) -> Self {
        JsonData(Value::Object(pairs.into_iter().collect::<Map<_, _>>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{UuidWrapper, Validity};

    #[test]
    fn values_become_the_documented_json() {
        let uuid = uuid::Uuid::from_u128(7);
        let table: Vec<(DataValue, Value)> = vec![
            (DataValue::Null, json!(null)),
            (1.into(), json!(1)),
            (1.0.into(), json!(1.0)),
            (f64::NAN.into(), json!(null)),
            (f64::INFINITY.into(), json!("INFINITY")),
            (f64::NEG_INFINITY.into(), json!("NEGATIVE_INFINITY")),
            (DataValue::Bytes(vec![0, 255]), json!("AP8=")),
            (DataValue::Uuid(UuidWrapper(uuid)), json!("00000000-0000-0000-0000-000000000007")),
            (vec![1, 2].into(), json!([1, 2])),
            (DataValue::Vec(Vector::F32(vec![0.5].into())), json!([0.5])),
            (DataValue::Validity((3, false).into()), json!([3, false])),
        ];
        for (value, expected) in table {
            assert_eq!(Value::from(value.clone()), expected, "{value:?}");
        }
        assert_eq!(Validity::from((3, false)).micros(), 3);
    }

    #[test]
    fn json_becomes_the_documented_values() {
        let table: Vec<(Value, DataValue)> = vec![
            (json!(18446744073709551615u64), 18446744073709551615.0.into()),
            (json!(-5), (-5).into()),
            (json!([1, "a"]), vec![DataValue::from(1), "a".into()].into()),
            (json!({"a": 1}), DataValue::Json(JsonData(json!({"a": 1})))),
        ];
        for (value, expected) in table {
            assert_eq!(DataValue::from(value), expected);
        }
    }
}
