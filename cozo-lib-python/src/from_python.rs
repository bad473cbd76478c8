//! Python objects as values.

use std::collections::BTreeMap;

use cozo::{DataValue, JsonData, NamedRows};
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyList, PyString, PyTuple};
use serde_json::Value;

/// Lists within lists beyond this are refused: a list may contain itself.
const MAX_DEPTH: usize = 500;

/// Parameters or bindings by name.
pub fn named_values(dict: &Bound<'_, PyDict>) -> PyResult<BTreeMap<String, DataValue>> {
    dict.iter().map(|(name, value)| Ok((text(&name, "a parameter name")?, value_from_python(&value)?))).collect()
}

/// The argument of `import_relations`: `{relation: {"headers": [...], "rows": [[...]]}}`.
pub fn relations(dict: &Bound<'_, PyDict>) -> PyResult<BTreeMap<String, NamedRows>> {
    dict.iter().map(|(name, data)| Ok((text(&name, "a relation name")?, named_rows(&data)?))).collect()
}

fn named_rows(data: &Bound<'_, PyAny>) -> PyResult<NamedRows> {
    let data = data.cast::<PyDict>().map_err(|_| wrong_type(data, "the data of a relation", "a dict"))?;
    let part =
        |key: &str| data.get_item(key)?.ok_or_else(|| PyException::new_err(format!("import data lacks '{key}'")));
    let headers = part("headers")?.try_iter()?.map(|header| text(&header?, "a header"));
    let rows = rows(&part("rows")?)?;
    Ok(NamedRows::new(headers.collect::<PyResult<_>>()?, rows))
}

/// Rows: a sequence of lists or tuples.
pub fn rows(sequence: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<DataValue>>> {
    let row = |row: PyResult<Bound<'_, PyAny>>| {
        let row = row?;
        match list_items(&row, 0)? {
            Some(values) => Ok(values),
            None => Err(wrong_type(&row, "a row", "a list")),
        }
    };
    sequence.try_iter()?.map(row).collect()
}

fn text(object: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
    let text = object.cast::<PyString>().map_err(|_| wrong_type(object, what, "a str"))?;
    Ok(text.to_cow()?.into_owned())
}

fn wrong_type(object: &Bound<'_, PyAny>, what: &str, expected: &str) -> PyErr {
    PyTypeError::new_err(format!("{what} must be {expected}, not {}", type_name(object)))
}

fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "?".to_string(), |name| name.to_string())
}

/// The value of an object.
pub fn value_from_python(object: &Bound<'_, PyAny>) -> PyResult<DataValue> {
    value_at(object, 0)
}

/// None, bool, int, then anything that is a number (int beyond 64 bits, Decimal, Fraction, numpy scalars), str, bytes,
/// list and tuple, dict. The types that are met most come first; none of them passes for a number.
fn value_at(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<DataValue> {
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
    if let Some(items) = list_items(object, depth)? {
        return Ok(DataValue::List(items));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        return json_object(dict, depth);
    }
    number(object)
}

/// An int, or whatever Python or numpy has that turns into one number.
fn number(object: &Bound<'_, PyAny>) -> PyResult<DataValue> {
    match numpy_kind(object) {
        Some(NumpyKind::Bool) => return Ok(DataValue::from(object.is_truthy()?)),
        Some(NumpyKind::Array) => return Err(unconvertible(object)),
        None => {}
    }
    if let Ok(value) = object.extract::<i64>() {
        return Ok(DataValue::from(value));
    }
    object.extract::<f64>().map(DataValue::from).map_err(|_| unconvertible(object))
}

/// What of numpy needs care: its bool passes for a number, and so do arrays of one element.
enum NumpyKind {
    Bool,
    Array,
}

fn numpy_kind(object: &Bound<'_, PyAny>) -> Option<NumpyKind> {
    let class = object.get_type();
    let kind = match class.name().ok()?.to_cow().ok()?.as_ref() {
        "bool" | "bool_" => NumpyKind::Bool,
        "ndarray" => NumpyKind::Array,
        _ => return None,
    };
    (class.module().ok()?.to_cow().ok()? == "numpy").then_some(kind)
}

/// The values in a list or tuple; none if it is neither.
fn list_items(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Option<Vec<DataValue>>> {
    let convert = |item: Bound<'_, PyAny>| {
        if depth >= MAX_DEPTH {
            return Err(PyException::new_err(format!(
                "Cannot convert lists nested more than {MAX_DEPTH} deep into Cozo value"
            )));
        }
        value_at(&item, depth + 1)
    };
    if let Ok(list) = object.cast::<PyList>() {
        return list.iter().map(convert).collect::<PyResult<_>>().map(Some);
    }
    match object.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().map(convert).collect::<PyResult<_>>().map(Some),
        Err(_) => Ok(None),
    }
}

/// A dict becomes Json: its keys are text, its values what the API's JSON says (bytes are base64).
fn json_object(dict: &Bound<'_, PyDict>, depth: usize) -> PyResult<DataValue> {
    if depth >= MAX_DEPTH {
        return Err(PyException::new_err(format!(
            "Cannot convert dicts nested more than {MAX_DEPTH} deep into Cozo value"
        )));
    }
    let pair = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let key = match Value::from(value_at(&key, depth + 1)?) {
            Value::String(text) => text,
            other => other.to_string(),
        };
        Ok((key, Value::from(value_at(&value, depth + 1)?)))
    };
    Ok(DataValue::Json(dict.iter().map(pair).collect::<PyResult<JsonData>>()?))
}

fn unconvertible(object: &Bound<'_, PyAny>) -> PyErr {
    let shown = object.repr().map_or_else(|_| type_name(object), |text| text.to_string_lossy().into_owned());
    PyException::new_err(format!("Cannot convert {shown} into Cozo value"))
}
