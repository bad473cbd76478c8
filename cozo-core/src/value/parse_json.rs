//! Parsing JSON within the budget of a script. The value may take many times the memory of its text.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::size::{allocated, field_bytes, object_bytes};
use crate::budget::{MAX_DEPTH, Stop, make_room, step};

/// The result of parsing a text.
pub enum ParsedJson {
    /// JSON.
    Value(Value),
    /// Not JSON, for this reason.
    Wrong(serde_json::Error),
}

/// Parses a text. Room for the value is made while it is parsed.
pub fn parse_json(text: &str) -> Result<ParsedJson, Stop> {
    let stopped = Cell::new(None);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let parsed = Reader { outer_levels: 0, stopped: &stopped }.deserialize(&mut deserializer);
    let error = match parsed.and_then(|value| deserializer.end().map(|()| value)) {
        Ok(value) => return Ok(ParsedJson::Value(value)),
        Err(error) => error,
    };
    match stopped.get() {
        Some(stop) => Err(stop),
        // The parser has the same limit of its own, and its error can be recognised by the text only.
        None if error.to_string().starts_with("recursion limit exceeded") => Err(Stop::TooDeep),
        None => Ok(ParsedJson::Wrong(error)),
    }
}

/// Reads a value within `outer_levels` arrays and objects.
#[derive(Clone, Copy)]
struct Reader<'s> {
    outer_levels: usize,
    /// The reason why the script must stop. The parser's error could only quote it.
    stopped: &'s Cell<Option<Stop>>,
}

impl Reader<'_> {
    /// A reader for the elements of an array or an object.
    fn inner<E: Error>(self) -> Result<Self, E> {
        self.allow(if self.outer_levels >= MAX_DEPTH { Err(Stop::TooDeep) } else { Ok(()) })?;
        Ok(Reader { outer_levels: self.outer_levels + 1, ..self })
    }

    fn room<E: Error>(self, bytes: usize) -> Result<(), E> {
        self.allow(make_room(bytes))
    }

    fn allow<E: Error>(self, outcome: Result<(), Stop>) -> Result<(), E> {
        outcome.map_err(|stop| {
            self.stopped.set(Some(stop));
            E::custom(stop)
        })
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.room(allocated(text.len()))?;
        Ok(Value::String(text.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let (inner, mut items) = (self.inner()?, vec![]);
        while let Some(item) = elements.next_element_seed(inner)? {
            if items.len() == items.capacity() {
                let more = items.len().max(1);
                self.room(allocated(more * size_of::<Value>()))?;
                items.reserve_exact(more);
            }
            self.allow(step(1))?;
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let (inner, mut fields) = (self.inner()?, Map::new());
        while let Some(key) = entries.next_key::<String>()? {
            let node = if fields.is_empty() { object_bytes(1) } else { field_bytes() };
            self.room(node + allocated(key.capacity()))?;
            fields.insert(key, entries.next_value_seed(inner)?);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Budget, Interrupt};

    #[test]
    fn texts_are_read_as_the_library_reads_them() {
        for text in [
            "null",
            " [1, -2, 1e400, 1.5e-7, 18446744073709551615, 99999999999999999999] ",
            r#"{"a":{"b":[]},"a":"\u00e9"}"#,
            "",
            "[1,]",
            "nul",
            "{\"a\":1} x",
            "\"a",
            "[1e]",
        ] {
            let expected: Result<Value, serde_json::Error> = serde_json::from_str(text);
            match (parse_json(text), expected) {
                (Ok(ParsedJson::Value(value)), Ok(expected)) => assert_eq!(value, expected, "{text}"),
                (Ok(ParsedJson::Wrong(error)), Err(expected)) => assert_eq!(error.to_string(), expected.to_string()),
                (_, expected) => panic!("{text} is {expected:?}"),
            }
        }
    }

    #[test]
    fn texts_of_much_or_of_many_levels_are_refused() {
        let nested = |levels| "[".repeat(levels) + &"]".repeat(levels);
        assert!(matches!(parse_json(&nested(MAX_DEPTH)), Ok(ParsedJson::Value(_))));
        assert!(matches!(parse_json(&nested(MAX_DEPTH + 1)), Err(Stop::TooDeep)));
        assert!(matches!(parse_json(&nested(100_000)), Err(Stop::TooDeep)));
        let budget = Budget::new(Interrupt::default(), 0.0, 1 << 20);
        let _entered = budget.enter();
        for piece in ["[],", "0,", "{\"a\":1},", "\"\","] {
            let text = format!("[{}0]", piece.repeat(100_000));
            assert!(matches!(parse_json(&text), Err(Stop::OutOfMemory { .. })), "{piece}");
        }
    }
}
