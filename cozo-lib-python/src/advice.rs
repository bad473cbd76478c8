//! What to pass instead of an object that is no value.

use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyInt, PyString};

use crate::from_python::type_name;

/// What is a value.
const VALUES: &str =
    "values are None, bool, int, float, str, bytes, list, tuple, dict, and numbers and arrays of numpy";

/// For a moment in time: the language has no type for it.
const TIME: &str =
    "pass its text, value.isoformat(), or its microseconds, int(value.timestamp() * 1000000); None for a missing one";

/// Types by name, and what to pass instead.
const BY_TYPE: &[(&str, &str)] = &[
    ("DataFrame", "put a frame into a relation with import_arrow, or pass its rows, value.values.tolist()"),
    ("Index", "pass its values, value.tolist()"),
    ("NAType", "pass None for a missing value"),
    ("NaTType", "pass None for a missing value"),
    ("Series", "pass its values, value.tolist()"),
    ("Table", "put a table into a relation with import_arrow, or pass its rows, value.to_pylist()"),
    ("Timedelta", "pass its seconds, value.total_seconds()"),
    ("Timestamp", TIME),
    ("UUID", "pass its text, str(value), and let to_uuid or the column's type Uuid make one of it"),
    ("date", "pass its text, value.isoformat()"),
    ("datetime", TIME),
    (
        "datetime64",
        "pass its text, str(value), or its microseconds, int(value.astype('datetime64[us]').astype('int64'))",
    ),
    ("frozenset", "pass a list, sorted(value)"),
    (
        "ndarray",
        "pass an array of numbers, texts or objects: cast times by value.astype('datetime64[us]').astype('int64')",
    ),
    ("set", "pass a list, sorted(value)"),
    ("time", "pass its text, value.isoformat()"),
    ("timedelta", "pass its seconds, value.total_seconds()"),
    ("timedelta64", "pass its microseconds, int(value.astype('timedelta64[us]').astype('int64'))"),
];

/// What to pass instead.
pub fn advice(object: &Bound<'_, PyAny>) -> String {
    let name = type_name(object);
    let by_type = BY_TYPE.iter().find(|(known, _)| *known == name).map(|(_, advice)| *advice);
    by_type.or_else(|| by_nature(object)).map_or_else(|| VALUES.to_string(), |advice| format!("{advice}; {VALUES}"))
}

fn by_nature(object: &Bound<'_, PyAny>) -> Option<&'static str> {
    let has = |method: &str| object.hasattr(method).unwrap_or(false);
    if object.is_instance_of::<PyInt>() {
        return Some("an int of more than 308 digits is beyond a Float: pass its text, str(value)");
    }
    if object.is_instance_of::<PyString>() {
        return Some("half of a character is no text: pass bytes, value.encode('utf-8', 'surrogatepass')");
    }
    if object.is_instance_of::<PyComplex>() {
        return Some("pass both parts, [value.real, value.imag]");
    }
    if has("keys") {
        return Some("pass a dict, dict(value)");
    }
    has("__iter__").then_some("pass a list, list(value)")
}
