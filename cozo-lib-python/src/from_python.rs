//! Python objects as values.

use std::collections::BTreeMap;

use cozo::storage::codec::MAX_DEPTH;
use cozo::{DataValue, JsonData, NamedRows};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::Value;

use crate::advice::advice;
use crate::arguments::{dict, items, text, wrong_type};
use crate::error::BindingError;

/// An object whose text is longer is shown by its beginning.
const MAX_SHOWN: usize = 100;

/// Parameters or bindings by name.
pub fn named_values(object: &Bound<'_, PyAny>, argument: &str) -> PyResult<BTreeMap<String, DataValue>> {
    let dict = dict(object, argument)?;
    pairs(dict).map(|(name, value)| Ok((text(&name, "a parameter name")?, value_from_python(&value)?))).collect()
}

/// The argument of `import_relations`: `{relation: {"headers": [...], "rows": [[...]]}}`.
pub fn relations(object: &Bound<'_, PyAny>) -> PyResult<BTreeMap<String, NamedRows>> {
    let dict = dict(object, "the data")?;
    pairs(dict).map(|(name, data)| Ok((text(&name, "a relation name")?, named_rows(&data)?))).collect()
}

/// The items of a dict as they are now: the conversion of one may run code that changes the dict.
fn pairs<'py>(dict: &Bound<'py, PyDict>) -> impl Iterator<Item = (Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    dict.iter().collect::<Vec<_>>().into_iter()
}

fn named_rows(data: &Bound<'_, PyAny>) -> PyResult<NamedRows> {
    let data = dict(data, "the data of a relation")?;
    let part = |key| data.get_item(key)?.ok_or_else(|| BindingError::MissingPart(key).raise(data.py()));
    let headers = items(&part("headers")?, "the headers", "a list of names")?;
    let rows = rows(&part("rows")?)?;
    Ok(NamedRows::new(headers.iter().map(|header| text(header, "a header")).collect::<PyResult<_>>()?, rows))
}

/// Rows: a sequence of lists or tuples.
pub fn rows(sequence: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<DataValue>>> {
    let row = |row: &Bound<'_, PyAny>| match list_items(row, 0)? {
        Some(values) => Ok(values),
        None => match value_from_python(row)? {
            DataValue::List(values) => Ok(values),
            _ => Err(wrong_type(row, "a row", "a list")),
        },
    };
    items(sequence, "the rows", "a list of rows")?.iter().map(row).collect()
}

/// The name of the type of an object.
pub fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "?".to_string(), |name| name.to_string())
}

/// The value of an object.
pub fn value_from_python(object: &Bound<'_, PyAny>) -> PyResult<DataValue> {
    value_at(object, 0)
}

/// None, bool, int, then anything that is a number (int beyond 64 bits, Decimal, Fraction, scalars of numpy), str, bytes,
/// list, tuple and array of numpy, dict. The types that are met most come first; none of them passes for a number.
fn value_at(object: &Bound<'_, PyAny>, outer_levels: usize) -> PyResult<DataValue> {
    if object.is_none() {
        return Ok(DataValue::Null);
    }
    if let Ok(value) = object.cast::<PyString>() {
        return Ok(DataValue::from(&*value.to_cow().map_err(|_| unconvertible(object))?));
    }
    if let Ok(value) = object.cast::<PyBool>() {
        return Ok(DataValue::from(value.is_true()));
    }
    if let Ok(value) = object.cast::<PyFloat>() {
        return Ok(DataValue::from(value.value()));
    }
    if let Ok(value) = object.cast::<PyBytes>() {
        return Ok(DataValue::Bytes(value.as_bytes().to_vec()));
    }
    if let Ok(value) = object.cast::<PyByteArray>() {
        return Ok(DataValue::Bytes(value.to_vec()));
    }
    if let Some(items) = list_items(object, outer_levels)? {
        return Ok(DataValue::List(items));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        return json_object(dict, outer_levels);
    }
    match numpy_kind(object) {
        None => number(object),
        Some(Numpy::Bool) => object.is_truthy().map(DataValue::from).map_err(|_| unconvertible(object)),
        Some(Numpy::Number) => number_of(object),
        Some(Numpy::Array) => {
            value_at(&object.call_method0("tolist").map_err(|_| unconvertible(object))?, outer_levels)
        }
        Some(Numpy::Other) => Err(unconvertible(object)),
    }
}

/// An int, or whatever Python has that turns into one number. What turns into a number and is something else is refused.
fn number(object: &Bound<'_, PyAny>) -> PyResult<DataValue> {
    let is_of_pandas = || {
        let module = object.get_type().module();
        module.and_then(|module| Ok(module.to_cow()?.starts_with("pandas"))).unwrap_or(false)
    };
    if !object.is_instance_of::<PyInt>() && is_of_pandas() {
        return Err(unconvertible(object));
    }
    number_of(object)
}

fn number_of(object: &Bound<'_, PyAny>) -> PyResult<DataValue> {
    if let Ok(value) = object.extract::<i64>() {
        return Ok(DataValue::from(value));
    }
    // A larger integer is a Float if that has all its digits.
    let float = object
        .extract::<f64>()
        .ok()
        .filter(|float| !object.is_instance_of::<PyInt>() || object.eq(float).unwrap_or(false));
    float.map(DataValue::from).ok_or_else(|| unconvertible(object))
}

/// What an object of numpy is.
enum Numpy {
    Bool,
    Number,
    Array,
    /// A time, a complex number, or a structure.
    Other,
}

/// What it is, if it is of numpy: its bool passes for a number, and so do times, and arrays of one element.
fn numpy_kind(object: &Bound<'_, PyAny>) -> Option<Numpy> {
    let class = object.get_type();
    if class.module().ok()?.to_cow().ok()? != "numpy" {
        return None;
    }
    let kind = object.getattr("dtype").ok()?.getattr("kind").ok()?.extract::<String>().ok()?;
    let is_array = object.hasattr("__setitem__").ok()?;
    Some(match kind.as_str() {
        "b" | "i" | "u" | "f" | "U" | "S" | "O" if is_array => Numpy::Array,
        "b" => Numpy::Bool,
        "i" | "u" | "f" => Numpy::Number,
        _ => Numpy::Other,
    })
}

/// The values in a list or tuple; none if it is neither.
fn list_items(object: &Bound<'_, PyAny>, outer_levels: usize) -> PyResult<Option<Vec<DataValue>>> {
    let convert = |item: Bound<'_, PyAny>| value_at(&item, outer_levels + 1);
    if let Ok(list) = object.cast::<PyList>() {
        check_depth(object, outer_levels)?;
        return list.iter().map(convert).collect::<PyResult<_>>().map(Some);
    }
    match object.cast::<PyTuple>() {
        Ok(tuple) => {
            check_depth(object, outer_levels)?;
            tuple.iter().map(convert).collect::<PyResult<_>>().map(Some)
        }
        Err(_) => Ok(None),
    }
}

fn check_depth(object: &Bound<'_, PyAny>, outer_levels: usize) -> PyResult<()> {
    if outer_levels < MAX_DEPTH { Ok(()) } else { Err(BindingError::TooDeep(MAX_DEPTH).raise(object.py())) }
}

/// A dict becomes Json: its keys are text, its values what the API's JSON says (bytes are base64).
fn json_object(dict: &Bound<'_, PyDict>, outer_levels: usize) -> PyResult<DataValue> {
    check_depth(dict, outer_levels)?;
    let pair = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let key = match Value::from(value_at(&key, outer_levels + 1)?) {
            Value::String(text) => text,
            other => other.to_string(),
        };
        Ok((key, Value::from(value_at(&value, outer_levels + 1)?)))
    };
    Ok(DataValue::Json(pairs(dict).map(pair).collect::<PyResult<JsonData>>()?))
}

fn unconvertible(object: &Bound<'_, PyAny>) -> PyErr {
    let text = object.repr().map_or_else(|_| type_name(object), |text| text.to_string_lossy().into_owned());
    let shown = match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    };
    BindingError::Unconvertible { shown, help: advice(object) }.raise(object.py())
}
