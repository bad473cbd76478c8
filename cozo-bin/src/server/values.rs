//! Values as JSON text: written straight from values, read straight into values.
//!
//! What is written is what `serde_json::Value::from(value)` would be as text, and what is read is what
//! `DataValue::from(json)` would be, without a tree of JSON in between.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write as _;

use base64::Engine as _;
use cozo::{DataValue, JsonData, NamedRows, Num, SmallStr};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Appends the JSON of a value.
pub fn write_value(out: &mut Vec<u8>, value: &DataValue) {
    match value {
        DataValue::Null | DataValue::Bot => out.extend_from_slice(b"null"),
        DataValue::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        DataValue::Num(Num::Int(value)) => write_json(out, value),
        DataValue::Num(Num::Float(value)) if *value == f64::INFINITY => out.extend_from_slice(b"\"INFINITY\""),
        DataValue::Num(Num::Float(value)) if *value == f64::NEG_INFINITY => {
            out.extend_from_slice(b"\"NEGATIVE_INFINITY\"");
        }
        // What JSON cannot say is null.
        DataValue::Num(Num::Float(value)) => write_json(out, value),
        DataValue::Str(text) => write_json(out, text.as_str()),
        DataValue::Bytes(bytes) => write_json(out, &base64::engine::general_purpose::STANDARD.encode(bytes)),
        DataValue::Uuid(uuid) => write_json(out, &uuid.0.to_string()),
        DataValue::Regex(pattern) => write_json(out, pattern.0.as_str()),
        DataValue::List(items) => write_list(out, items, write_value),
        DataValue::Set(items) => write_list(out, items, write_value),
        DataValue::Vec(vector) => write_json(out, &vector.to_f64()),
        DataValue::Json(value) => write_json(out, &value.0),
        DataValue::Validity(validity) => write_json(out, &(validity.micros(), validity.asserts())),
    }
}

/// Appends the JSON of anything else.
pub fn write_json<T: serde::Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    let before = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        // Memory takes all text, and no value here has a map with keys that are no strings.
        out.truncate(before);
        out.extend_from_slice(b"null");
    }
}

/// Appends the JSON of a row, or of any list of values.
pub fn write_list<'a, T: 'a>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = &'a T>,
    mut write: impl FnMut(&mut Vec<u8>, &'a T),
) {
    out.push(b'[');
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}

/// Appends `{"headers": [...], "rows": [[...]], "next": null}`.
pub fn write_rows(out: &mut Vec<u8>, rows: &NamedRows) {
    out.extend_from_slice(b"{\"headers\":");
    write_json(out, &rows.headers);
    out.extend_from_slice(b",\"rows\":");
    write_list(out, &rows.rows, |out, row| write_list(out, row, write_value));
    out.extend_from_slice(b",\"next\":");
    match &rows.next {
        Some(next) => write_rows(out, next),
        None => out.extend_from_slice(b"null"),
    }
    out.push(b'}');
}

/// Appends `"name":`, after a comma unless it is the first field.
pub fn write_name(out: &mut Vec<u8>, first: bool, name: &str) {
    let comma: &[u8] = if first { b"" } else { b"," };
    out.extend_from_slice(comma);
    write_json(out, name);
    out.push(b':');
}

/// A value as it is read: objects become Json, arrays Lists, integers beyond 64 bits Floats.
struct Read(DataValue);

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadValue).map(Read)
    }
}

struct ReadValue;

impl<'de> Visitor<'de> for ReadValue {
    type Value = DataValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<DataValue, E> {
        Ok(DataValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<DataValue, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<DataValue, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<DataValue, E> {
        Ok(i64::try_from(value).map_or_else(|_| DataValue::from(value as f64), DataValue::from))
    }

    fn visit_f64<E>(self, value: f64) -> Result<DataValue, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<DataValue, E> {
        Ok(DataValue::Str(SmallStr::from(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<DataValue, A::Error> {
        read_items(items).map(DataValue::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<DataValue, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(fields)).map(|value| DataValue::Json(JsonData(value)))
    }
}

/// The values of an array.
fn read_items<'de, A: SeqAccess<'de>>(mut items: A) -> Result<Vec<DataValue>, A::Error> {
    let mut values = vec![];
    while let Some(Read(value)) = items.next_element()? {
        values.push(value);
    }
    Ok(values)
}

/// Parameters: an object, or null for none. For `#[serde(deserialize_with)]`.
pub fn parameters<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, DataValue>, D::Error> {
    let read = Option::<BTreeMap<String, Read>>::deserialize(deserializer)?;
    Ok(read.into_iter().flatten().map(|(name, Read(value))| (name, value)).collect())
}

/// `{"headers": [...], "rows": [[...]]}` as a client sends it; other fields are ignored.
pub struct SentRows(pub NamedRows);

impl<'de> Deserialize<'de> for SentRows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        struct Fields {
            headers: Vec<String>,
            rows: Vec<Row>,
            #[serde(default, rename = "next")]
            _next: IgnoredAny,
        }
        let Fields { headers, rows, .. } = Fields::deserialize(deserializer)?;
        Ok(SentRows(NamedRows::new(headers, rows.into_iter().map(|Row(row)| row).collect())))
    }
}

struct Row(Vec<DataValue>);

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ReadRow;
        impl<'de> Visitor<'de> for ReadRow {
            type Value = Row;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a row, which is a list of values")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<Row, A::Error> {
                read_items(values).map(Row)
            }
        }
        deserializer.deserialize_seq(ReadRow)
    }
}

/// Appends the seconds that something took.
pub fn write_seconds(out: &mut Vec<u8>, took: std::time::Duration) {
    // Memory takes all text.
    let _ = write!(out, "{}.{:09}", took.as_secs(), took.subsec_nanos());
}

#[cfg(test)]
mod tests {
    use cozo::{RegexWrapper, UuidWrapper, Vector};
    use serde_json::json;

    use super::*;

    fn examples() -> Vec<DataValue> {
        let numbers = [0.0, -0.0, 1.0, 0.1, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        let mut values: Vec<DataValue> = numbers.into_iter().map(DataValue::from).collect();
        values.extend([i64::MIN, -1, 0, i64::MAX].map(DataValue::from));
        values.extend(["", "a\"b\\c\n\u{1}é😀", "a text that is longer than what is kept inline"].map(DataValue::from));
        values.extend([DataValue::Null, DataValue::Bot, true.into(), false.into(), DataValue::Bytes(vec![0, 255, 7])]);
        values.push(DataValue::Uuid(UuidWrapper("11111111-2222-3333-4444-555555555555".parse().expect("a UUID"))));
        values.push(DataValue::Json(JsonData(json!({"b": [1, {"a": null}], "a": 1.5}))));
        values.push(DataValue::Vec(Vector::F32(vec![0.1, f32::NAN].into())));
        values.push(DataValue::Vec(Vector::F64(vec![0.1].into())));
        values.push(DataValue::Validity((-3, false).into()));
        values.push(DataValue::Set([1.into(), "x".into()].into()));
        values.push(DataValue::List(values.clone()));
        values.push(DataValue::Regex(RegexWrapper("a+\"".parse().expect("a pattern"))));
        values
    }

    #[test]
    fn values_are_written_as_the_library_writes_them() {
        for value in examples() {
            let mut written = vec![];
            write_value(&mut written, &value);
            let expected = Value::from(value.clone()).to_string();
            assert_eq!(String::from_utf8(written).expect("it is text"), expected, "{value:?}");
        }
    }

    #[test]
    fn values_are_read_as_the_library_reads_them() {
        let text =
            r#"{"a": [null, true, -1, 18446744073709551615, 1e400, 0.1, "é\n", [1, [2]], {"k": [1, {}]}], "b": 1}"#;
        let text = text.replace("1e400", "1e40");
        let mut json = serde_json::Deserializer::from_str(&text);
        let read = parameters(&mut json).expect("it is an object");
        let Value::Object(expected) = serde_json::from_str(&text).expect("it is JSON") else { panic!("no object") };
        let expected = expected.into_iter().map(|(name, value)| (name, DataValue::from(value))).collect();
        assert_eq!(read, expected);
        assert_eq!(parameters(&mut serde_json::Deserializer::from_str("null")).expect("none"), BTreeMap::new());
        assert!(parameters(&mut serde_json::Deserializer::from_str("[1]")).is_err());
    }

    #[test]
    fn rows_are_read_and_written() {
        let text = r#"{"headers":["a","b"],"rows":[[1,"x"],[[2.5],null]],"next":null}"#;
        let SentRows(rows) = serde_json::from_str(text).expect("they are rows");
        let mut written = vec![];
        write_rows(&mut written, &rows);
        assert_eq!(String::from_utf8(written).expect("it is text"), text);
        for bad in [r#"{"headers":["a"]}"#, r#"{"headers":["a"],"rows":[1]}"#, r#"{"headers":[1],"rows":[]}"#] {
            assert!(serde_json::from_str::<SentRows>(bad).is_err(), "{bad}");
        }
    }
}
