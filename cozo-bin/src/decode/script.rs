//! A script with its parameters.

use std::collections::BTreeMap;
use std::fmt;

use cozo::DataValue;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::Meter;
use super::value::ValueSeed;

/// `{"script": "...", "params": {...}, "immutable": bool}`, where only the script must be there.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptRequest {
    /// The script.
    pub script: String,
    /// Its parameters by name.
    pub params: BTreeMap<String, DataValue>,
    /// Whether it must not write.
    pub immutable: bool,
}

/// Reads a [`ScriptRequest`].
pub struct ScriptSeed<'m, 'i>(pub &'m Meter<'i>);

impl<'de> DeserializeSeed<'de> for ScriptSeed<'_, '_> {
    type Value = ScriptRequest;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<ScriptRequest, D::Error> {
        deserializer.deserialize_map(self)
    }
}

/// The fields that mean something.
#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Field {
    Script,
    Params,
    Immutable,
    #[serde(other)]
    Other,
}

impl<'de> Visitor<'de> for ScriptSeed<'_, '_> {
    type Value = ScriptRequest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a script")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<ScriptRequest, A::Error> {
        let (mut script, mut params, mut immutable) = (None, None, None);
        while let Some(field) = fields.next_key()? {
            match field {
                Field::Script => once(&mut script, "script", fields.next_value::<String>()?)?,
                Field::Params => once(&mut params, "params", fields.next_value_seed(ParametersSeed(self.0))?)?,
                Field::Immutable => once(&mut immutable, "immutable", fields.next_value::<Option<bool>>()?)?,
                Field::Other => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        let script = script.ok_or_else(|| A::Error::missing_field("script"))?;
        self.0.charge(script.len())?;
        let (params, immutable) = (params.unwrap_or_default(), immutable.flatten().unwrap_or(false));
        Ok(ScriptRequest { script, params, immutable })
    }
}

fn once<T, E: Error>(place: &mut Option<T>, name: &'static str, value: T) -> Result<(), E> {
    if place.is_some() {
        return Err(E::duplicate_field(name));
    }
    *place = Some(value);
    Ok(())
}

/// Reads parameters: an object, or null for none.
struct ParametersSeed<'m, 'i>(&'m Meter<'i>);

impl<'de> DeserializeSeed<'de> for ParametersSeed<'_, '_> {
    type Value = BTreeMap<String, DataValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ParametersSeed<'_, '_> {
    type Value = BTreeMap<String, DataValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of parameters")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(BTreeMap::new())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut parameters = BTreeMap::new();
        while let Some(name) = fields.next_key::<String>()? {
            self.0.charge(name.len() + 2 * (size_of::<String>() + size_of::<DataValue>()))?;
            parameters.insert(name, fields.next_value_seed(ValueSeed(self.0))?);
        }
        Ok(parameters)
    }
}

#[cfg(test)]
mod tests {
    use cozo::Interrupt;
    use serde_json::{Value, json};

    use super::super::{DecodeError, decode};
    use super::*;

    fn read_within(limit: usize, text: &str) -> Result<ScriptRequest, DecodeError> {
        let interrupt = Interrupt::default();
        let meter = Meter::new(limit, &interrupt, &|_| true);
        decode(text.as_bytes(), ScriptSeed(&meter), &meter)
    }

    #[test]
    fn values_are_those_of_json() {
        let values = json!([
            null, true, 0, -1, i64::MIN, i64::MAX, u64::MAX, 1.0, 1e300, "", "a\"b\u{1}é😀", [], [[1, [2.5]], {"a": [1, {}]}],
            {"b": [1, {"a": null}], "a": 1.5, "c": u64::MAX, "d": "text"}
        ]);
        let text = json!({"script": "s", "params": {"p": values}, "other": [1]}).to_string();
        let read = read_within(1 << 20, &text).expect("it is a request");
        assert_eq!(read.params, BTreeMap::from([("p".to_string(), DataValue::from(values))]));
        assert_eq!((read.script.as_str(), read.immutable), ("s", false));
    }

    #[test]
    fn all_but_the_script_may_be_left_out() {
        for text in [r#"{"script": "s"}"#, r#"{"script": "s", "params": null, "immutable": null}"#] {
            assert!(read_within(100, text).is_ok_and(|read| read.params.is_empty() && !read.immutable), "{text}");
        }
        assert!(read_within(100, r#"{"immutable": true, "script": "s"}"#).is_ok_and(|read| read.immutable));
        for text in [
            "{}",
            "[]",
            r#"{"script": 1}"#,
            r#"{"script": "s", "params": [1]}"#,
            r#"{"script": "s", "script": "s"}"#,
            r#"{"script": "s"} {}"#,
        ] {
            assert!(matches!(read_within(100, text), Err(DecodeError::Bad(_))), "{text}");
        }
    }

    #[test]
    fn parameters_have_a_budget_and_a_depth() {
        let with = |value: String| format!(r#"{{"script": "s", "params": {{"p": {value}}}}}"#);
        let list = |item: &str| format!("[{}{item}]", format!("{item},").repeat(10_000));
        for item in ["0", "null", "[]", "{}", "\"x\"", "[[0]]"] {
            let text = with(list(item));
            assert!(matches!(read_within(100_000, &text), Err(DecodeError::TooMuch)), "{item}");
            let read = read_within(10 << 20, &text).expect("there is room");
            assert_eq!(read.params["p"], DataValue::from(serde_json::from_str::<Value>(&list(item)).expect("JSON")));
        }
        let texts = with(format!("[{}1]", format!("\"{}\",", "long".repeat(100)).repeat(1000)));
        assert!(matches!(read_within(300_000, &texts), Err(DecodeError::TooMuch)));
        let deep = with("[".repeat(100_000));
        assert!(matches!(read_within(100 << 20, &deep), Err(DecodeError::Bad(_))));
    }
}
