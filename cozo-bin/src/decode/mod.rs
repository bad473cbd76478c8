//! Values from the text of JSON: straight into what the database takes, without a tree of JSON in between, within a [`Meter`].
//!
//! | text | becomes | by |
//! |---|---|---|
//! | `{"script": "...", "params": {...}, "immutable": bool}` | a [`ScriptRequest`] | [`ScriptSeed`] |
//! | `{"name": {"headers": [...], "rows": [[...]]}, ...}` | columns of relations | [`RelationsSeed`] |
//! | `{"headers": [...], "rows": [[...]]}` | columns | [`RowsSeed`] |
//!
//! A value is what `DataValue::from(json)` would make of it: objects become Json, arrays Lists, integers beyond 64 bits Floats.

mod meter;
mod rows;
mod script;
mod value;

use serde::de::DeserializeSeed;

pub use meter::{DecodeError, Meter};
pub use rows::{RelationsSeed, RowsSeed};
#[cfg(feature = "server")]
pub use script::{ScriptRequest, ScriptSeed};

/// Reads a whole text.
pub fn decode<'t, S: DeserializeSeed<'t>>(text: &'t [u8], seed: S, meter: &Meter<'_>) -> Result<S::Value, DecodeError> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let read = seed.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    read.map_err(|error| meter.refusal().unwrap_or_else(|| DecodeError::Bad(error.to_string())))
}
