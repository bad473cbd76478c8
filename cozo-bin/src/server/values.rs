//! Values as JSON text: what `serde_json::Value::from(value)` would be as text, without a tree of JSON in between.

use std::io::Write as _;

use base64::Engine as _;
use cozo::{DataValue, NamedRows, Num};

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

/// Appends the seconds that something took.
pub fn write_seconds(out: &mut Vec<u8>, took: std::time::Duration) {
    // Memory takes all text.
    let _ = write!(out, "{}.{:09}", took.as_secs(), took.subsec_nanos());
}

#[cfg(test)]
mod tests {
    use cozo::{JsonData, RegexWrapper, UuidWrapper, Vector};
    use serde_json::{Value, json};

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
    fn rows_are_written() {
        let text = r#"{"headers":["a","b"],"rows":[[1,"x"],[[2.5],null]],"next":null}"#;
        let json: Value = serde_json::from_str(text).expect("it is JSON");
        let mut written = vec![];
        write_rows(&mut written, &NamedRows::from_json(&json).expect("they are rows"));
        assert_eq!(String::from_utf8(written).expect("it is text"), text);
    }
}
