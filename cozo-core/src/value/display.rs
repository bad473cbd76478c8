//! Values as CozoScript-like text, for errors and the command line.

use std::fmt::{self, Display, Formatter};

use super::{DataValue, JsonData, Num, Vector, convert};

impl Display for DataValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            DataValue::Null => f.write_str("null"),
            DataValue::Bool(value) => write!(f, "{value}"),
            DataValue::Num(value) => write!(f, "{value}"),
            DataValue::Str(value) => write_quoted(f, value),
            DataValue::Bytes(value) => write!(f, "decode_base64(\"{}\")", convert::encode_base64(value)),
            DataValue::Uuid(value) => write!(f, "to_uuid(\"{}\")", value.0),
            DataValue::Regex(value) => write_quoted(f, value.0.as_str()),
            DataValue::List(items) => write_list(f, items),
            DataValue::Set(items) => write_list(f, items),
            DataValue::Vec(Vector::F32(items)) => {
                f.write_str("vec(")?;
                write_list(f, items.iter().map(|x| Num::Float(f64::from(*x))))?;
                f.write_str(")")
            }
            DataValue::Vec(Vector::F64(items)) => {
                f.write_str("vec(")?;
                write_list(f, items.iter().map(|x| Num::Float(*x)))?;
                f.write_str(", \"F64\")")
            }
            DataValue::Json(JsonData(value @ serde_json::Value::Object(_))) => write!(f, "{value}"),
            DataValue::Json(value) => write!(f, "json({})", value.0),
            DataValue::Validity(value) => write!(f, "validity({}, {})", value.micros(), value.asserts()),
            DataValue::Bot => f.write_str("bot"),
        }
    }
}

impl Display for Num {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Num::Int(value) => write!(f, "{value}"),
            Num::Float(value) if value.is_nan() => f.write_str("to_float(\"NAN\")"),
            Num::Float(f64::INFINITY) => f.write_str("to_float(\"INF\")"),
            Num::Float(f64::NEG_INFINITY) => f.write_str("to_float(\"NEG_INF\")"),
            Num::Float(value) => write!(f, "{value:?}"),
        }
    }
}

fn write_list<T: Display>(f: &mut Formatter<'_>, items: impl IntoIterator<Item = T>) -> fmt::Result {
    f.write_str("[")?;
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    f.write_str("]")
}

/// A double-quoted string with JSON's escapes. CozoScript reads it back unchanged.
fn write_quoted(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str(&serde_json::Value::from(text).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_print_as_scripts_write_them() {
        let table: Vec<(DataValue, &str)> = vec![
            (DataValue::Null, "null"),
            (1.into(), "1"),
            (1.5.into(), "1.5"),
            (2.0.into(), "2.0"),
            (f64::NAN.into(), "to_float(\"NAN\")"),
            ("a\"b\n".into(), "\"a\\\"b\\n\""),
            (vec![1, 2].into(), "[1, 2]"),
            (DataValue::Bytes(vec![0]), "decode_base64(\"AA==\")"),
            (DataValue::Vec(Vector::F64(vec![1.0].into())), "vec([1.0], \"F64\")"),
            (DataValue::Json(JsonData(serde_json::json!({"a": 1}))), "{\"a\":1}"),
            (DataValue::Json(JsonData(serde_json::json!([1]))), "json([1])"),
        ];
        for (value, text) in table {
            assert_eq!(value.to_string(), text);
        }
    }
}
