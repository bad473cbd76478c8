//! Any value as JSON, and back to the same value.
//!
//! Null, Booleans, strings, integers, finite floats, lists and JSON objects are written as they are. An object with one
//! key names the type of any other value:
//!
//! | value | JSON |
//! |---|---|
//! | Bytes, Uuid | `{"$bytes": "AP8="}`, `{"$uuid": "f3b4958c-52a1-11e7-802a-010203040506"}` |
//! | a float that JSON lacks | `{"$float": "NaN"}`, `"inf"`, `"-inf"`, or bits as in `"0xfff8000000000000"` |
//! | vectors | `{"$f32": [1.0, 2.5]}`, `{"$f64": [1.0, "NaN"]}` |
//! | Validity | `{"$validity": [1700000000000000, true]}` |
//! | sets | `{"$set": [1, 2]}` |
//! | Json that is no object, or has a key that begins with `$` | `{"$json": "[1, 2]"}`, as text |
//! | deeply nested values | `{"$text": "[[1]]"}`, this JSON as text, because parsers of JSON limit the depth |

use std::collections::BTreeSet;

use cozo::value::{check_json_depth, decode_base64, encode_base64, parse_uuid};
use cozo::{DataValue, JsonData, Num, Validity, Vector};
use serde_json::{Map, Number, Value, json};

/// Lists and sets within so many arrays and objects are written as text. Parsers of JSON take 127 levels.
const MAX_LEVELS: usize = 100;

/// The JSON of a value.
pub fn encode(value: DataValue) -> Value {
    encode_at(value, 0)
}

fn encode_at(value: DataValue, level: usize) -> Value {
    let all = |items: Vec<DataValue>, level| items.into_iter().map(|item| encode_at(item, level)).collect::<Value>();
    match value {
        value @ (DataValue::List(_) | DataValue::Set(_)) if level >= MAX_LEVELS => {
            tag("$text", encode_at(value, 0).to_string().into())
        }
        DataValue::List(items) => all(items, level + 1),
        DataValue::Set(items) => tag("$set", all(items.into_iter().collect(), level + 2)),
        DataValue::Num(Num::Float(float)) => match text_of_float(float) {
            Some(text) => tag("$float", text.into()),
            None => float_value(float),
        },
        DataValue::Bytes(bytes) => tag("$bytes", encode_base64(&bytes).into()),
        DataValue::Uuid(uuid) => tag("$uuid", uuid.0.to_string().into()),
        DataValue::Vec(vector) => {
            let name = if matches!(vector, Vector::F32(_)) { "$f32" } else { "$f64" };
            tag(name, vector.to_f64().into_iter().map(float_value).collect())
        }
        DataValue::Validity(validity) => tag("$validity", json!([validity.micros(), validity.asserts()])),
        DataValue::Json(JsonData(json)) => match &json {
            Value::Object(fields) if is_plain(fields) && check_json_depth(&json, level).is_ok() => json,
            json => tag("$json", json.to_string().into()),
        },
        plain => Value::from(plain),
    }
}

/// Whether nothing takes the object for the name of a type.
fn is_plain(fields: &Map<String, Value>) -> bool {
    !fields.keys().any(|key| key.starts_with('$'))
}

fn tag(name: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(name.to_string(), value)]))
}

/// A float as a number, or as text if JSON lacks it.
fn float_value(float: f64) -> Value {
    let number = Number::from_f64(float).map(Value::Number);
    number.unwrap_or_else(|| text_of_float(float).unwrap_or_default().into())
}

/// The text of a float that JSON lacks. NaNs differ in their bits, by which values are told apart.
fn text_of_float(float: f64) -> Option<String> {
    match float {
        f64::INFINITY => Some("inf".to_string()),
        f64::NEG_INFINITY => Some("-inf".to_string()),
        float if float.to_bits() == f64::NAN.to_bits() => Some("NaN".to_string()),
        float if float.is_nan() => Some(format!("{:#018x}", float.to_bits())),
        _ => None,
    }
}

fn float_of_text(text: &str) -> Option<f64> {
    match text {
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        "NaN" => Some(f64::NAN),
        bits => u64::from_str_radix(bits.strip_prefix("0x")?, 16).ok().map(f64::from_bits),
    }
}

/// The value of a text of JSON.
pub fn decode_text(text: &str) -> Result<DataValue, String> {
    decode(serde_json::from_str(text).map_err(|error| format!("bad JSON: {error}"))?)
}

fn decode(json: Value) -> Result<DataValue, String> {
    match json {
        Value::Array(items) => Ok(DataValue::List(decode_all(items)?)),
        Value::Object(fields) if !is_plain(&fields) => {
            let mut fields = fields.into_iter();
            match (fields.next(), fields.next()) {
                (Some((name, value)), None) => decode_tagged(&name, value),
                _ => Err("an object with a key that begins with $ has no other key".to_string()),
            }
        }
        other => Ok(DataValue::from(other)),
    }
}

fn decode_all<T: FromIterator<DataValue>>(items: Vec<Value>) -> Result<T, String> {
    items.into_iter().map(decode).collect()
}

fn decode_tagged(name: &str, value: Value) -> Result<DataValue, String> {
    let found = match (name, value) {
        ("$bytes", Value::String(text)) => decode_base64(&text).ok().map(DataValue::Bytes),
        ("$uuid", Value::String(text)) => parse_uuid(&text).ok().map(DataValue::Uuid),
        ("$float", Value::String(text)) => float_of_text(&text).map(DataValue::from),
        ("$f32", Value::Array(items)) => floats(&items).map(|items| {
            let items: Vec<f32> = items.into_iter().map(|item| item as f32).collect();
            DataValue::Vec(Vector::F32(items.into()))
        }),
        ("$f64", Value::Array(items)) => floats(&items).map(|items| DataValue::Vec(Vector::F64(items.into()))),
        ("$validity", value) => validity(&value),
        ("$set", Value::Array(items)) => Some(DataValue::Set(decode_all::<BTreeSet<DataValue>>(items)?)),
        ("$json", Value::String(text)) => serde_json::from_str(&text).ok().map(|json| DataValue::Json(JsonData(json))),
        ("$text", Value::String(text)) => return decode_text(&text),
        _ => None,
    };
    found.ok_or_else(|| format!("no value is written with {name} like this"))
}

/// A time with an assertion or a retraction, from `[microseconds, true]`.
pub fn validity(json: &Value) -> Option<DataValue> {
    let (micros, asserts) = (json.get(0)?.as_i64()?, json.get(1)?.as_bool()?);
    Some(DataValue::Validity(Validity::from((micros, asserts))))
}

fn floats(items: &[Value]) -> Option<Vec<f64>> {
    items.iter().map(|item| item.as_f64().or_else(|| float_of_text(item.as_str()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize, wrap: impl Fn(DataValue) -> DataValue, innermost: DataValue) -> DataValue {
        (0..levels).fold(innermost, |value, _| wrap(value))
    }

    #[test]
    fn values_come_back_the_same() {
        let list = |value| DataValue::List(vec![value]);
        let set = |value| DataValue::Set(BTreeSet::from([value]));
        let document = |json| DataValue::Json(JsonData(json));
        let deep_json = || (0..127).fold(Value::Null, |json, _| Value::Array(vec![json]));
        let uuid = || parse_uuid("f3b4958c-52a1-11e7-802a-010203040506").expect("it is one");
        let values: Vec<DataValue> = vec![
            DataValue::Null,
            true.into(),
            i64::MIN.into(),
            i64::MAX.into(),
            9_007_199_254_740_993_i64.into(),
            1.into(),
            1.0.into(),
            0.1.into(),
            5e-324.into(),
            f64::MAX.into(),
            (-0.0).into(),
            f64::NAN.into(),
            (-f64::NAN).into(),
            f64::from_bits(0x7ff8_0000_0000_0001).into(),
            f64::INFINITY.into(),
            f64::NEG_INFINITY.into(),
            "".into(),
            "\u{0}\"$json\" é".into(),
            DataValue::Bytes(vec![0, 255]),
            DataValue::Uuid(uuid()),
            DataValue::List(vec![1.into(), 1.0.into(), DataValue::Bytes(vec![]), DataValue::List(vec![])]),
            set(list(f64::NAN.into())),
            DataValue::Vec(Vector::F32(vec![0.1, f32::INFINITY, -0.0].into())),
            DataValue::Vec(Vector::F64(vec![0.1, f64::NAN].into())),
            DataValue::Vec(Vector::F32(vec![].into())),
            DataValue::Validity(Validity::from((i64::MIN, false))),
            document(json!({"a": [1, 1.0, null, {"$json": 1}]})),
            document(json!({"$json": "x"})),
            document(json!([1, {"a": 2}])),
            document(json!("x")),
            document(json!(null)),
            document(json!(u64::MAX)),
            nested(127, list, DataValue::Bytes(vec![1])),
            nested(127, set, DataValue::Uuid(uuid())),
            nested(126, list, document(json!({"a": 1}))),
            nested(60, set, document(json!({"a": (0..60).fold(Value::Null, |json, _| Value::Array(vec![json]))}))),
            document(deep_json()),
        ];
        for value in values {
            let text = encode(value.clone()).to_string();
            assert_eq!(decode_text(&text).as_ref(), Ok(&value), "{text}");
        }
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        for text in [
            "{",
            r#"{"$what": 1}"#,
            r#"{"$bytes": "?"}"#,
            r#"{"$uuid": 1}"#,
            r#"{"$f32": ["x"]}"#,
            r#"{"$a": 1, "b": 2}"#,
        ] {
            assert!(decode_text(text).is_err(), "{text}");
        }
    }
}
