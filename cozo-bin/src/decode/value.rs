//! One value.

use std::fmt;

use cozo::{DataValue, JsonData, SmallStr};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::Meter;

/// Strings up to this length take no memory of their own.
const INLINE_BYTES: usize = size_of::<SmallStr>();

/// The objects of a Json are trees, whose nodes have room for 11 fields and are half full at least.
const NODE_BYTES: usize = 11 * (size_of::<String>() + size_of::<Value>());
const NODE_FIELDS: usize = 6;

/// The bytes of a string besides its place.
pub fn held_bytes(text: &str) -> usize {
    if text.len() > INLINE_BYTES { text.len() } else { 0 }
}

/// Reads a value. Its place is charged already.
#[derive(Clone, Copy)]
pub struct ValueSeed<'m, 'i>(pub &'m Meter<'i>);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_, '_> {
    type Value = DataValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<DataValue, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_, '_> {
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

    fn visit_str<E: Error>(self, value: &str) -> Result<DataValue, E> {
        self.0.charge(held_bytes(value))?;
        Ok(DataValue::Str(SmallStr::from(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<DataValue, A::Error> {
        let mut values = vec![];
        loop {
            self.0.reserve(&mut values)?;
            let Some(value) = items.next_element_seed(self)? else { break };
            values.push(value);
        }
        self.0.shrink(&mut values);
        Ok(DataValue::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<DataValue, A::Error> {
        JsonSeed(self.0).visit_map(fields).map(|value| DataValue::Json(JsonData(value)))
    }
}

/// Reads a Json. Its place is charged already.
#[derive(Clone, Copy)]
struct JsonSeed<'m, 'i>(&'m Meter<'i>);

impl<'de> DeserializeSeed<'de> for JsonSeed<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonSeed<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.0.charge(value.len())?;
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = vec![];
        loop {
            self.0.reserve(&mut values)?;
            let Some(value) = items.next_element_seed(self)? else { break };
            values.push(value);
        }
        self.0.shrink(&mut values);
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let node = if object.len().is_multiple_of(NODE_FIELDS) { NODE_BYTES } else { 0 };
            self.0.charge(node + name.len())?;
            object.insert(name, fields.next_value_seed(self)?);
        }
        Ok(Value::Object(object))
    }
}
