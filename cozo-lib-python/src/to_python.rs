//! Values, results and JSON as Python objects.

use cozo::value::Batch;
use cozo::{DataValue, NamedRows, Num};
use pyo3::IntoPyObject;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyList, PyString, PyTuple};
use serde_json::Value;

/// `{"headers": [...], "rows": [[...]], "next": None or such a dict}`.
pub fn rows_to_python(py: Python<'_>, result: NamedRows) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item(intern!(py, "headers"), result.headers)?;
    dict.set_item(intern!(py, "rows"), row_lists(py, result.rows)?)?;
    let next = result.next.map(|next| rows_to_python(py, *next)).transpose()?;
    dict.set_item(intern!(py, "next"), next)?;
    Ok(dict)
}

/// Rows as a list of lists.
pub fn row_lists(py: Python<'_>, rows: Vec<Vec<DataValue>>) -> PyResult<Bound<'_, PyList>> {
    PyList::new(py, rows.into_iter().map(Row))
}

/// Rows as a list of tuples.
pub fn row_tuples<'py>(py: Python<'py>, rows: &Batch) -> PyResult<Bound<'py, PyList>> {
    let tuple = |row: usize| PyTuple::new(py, rows.columns.iter().map(|column| Item(column.get(row))));
    PyList::new(py, (0..rows.len).map(tuple).collect::<PyResult<Vec<_>>>()?)
}

/// A row on its way to a list.
struct Row(Vec<DataValue>);

impl<'py> IntoPyObject<'py> for Row {
    type Target = PyList;
    type Output = Bound<'py, PyList>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.0.into_iter().map(Item))
    }
}

/// A value on its way to an object.
struct Item(DataValue);

impl<'py> IntoPyObject<'py> for Item {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value_to_python(py, self.0)
    }
}

/// A value: None, bool, int, float, str (Uuid too), bytes, list (Vector and Validity too), or what JSON says.
pub fn value_to_python(py: Python<'_>, value: DataValue) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        DataValue::Null | DataValue::Bot => py.None().into_bound(py),
        DataValue::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        DataValue::Num(Num::Int(value)) => value.into_pyobject(py)?.into_any(),
        DataValue::Num(Num::Float(value)) => PyFloat::new(py, value).into_any(),
        DataValue::Str(value) => PyString::new(py, &value).into_any(),
        DataValue::Bytes(value) => PyBytes::new(py, &value).into_any(),
        DataValue::Uuid(value) => PyString::new(py, &value.0.to_string()).into_any(),
        DataValue::Regex(value) => PyString::new(py, value.0.as_str()).into_any(),
        DataValue::List(items) => PyList::new(py, items.into_iter().map(Item))?.into_any(),
        DataValue::Set(items) => PyList::new(py, items.into_iter().map(Item).collect::<Vec<_>>())?.into_any(),
        DataValue::Vec(vector) => PyList::new(py, vector.to_f64())?.into_any(),
        DataValue::Json(value) => json_to_python(py, value.0)?,
        DataValue::Validity(value) => {
            let (micros, asserts) = (DataValue::from(value.micros()), DataValue::from(value.asserts()));
            PyList::new(py, [Item(micros), Item(asserts)])?.into_any()
        }
    })
}

/// JSON as the objects that Python's own `json` would make of it.
pub fn json_to_python(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => value.into_pyobject(py)?.into_any(),
            (None, Some(value)) => value.into_pyobject(py)?.into_any(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(value) => PyString::new(py, &value).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            items.into_iter().try_for_each(|item| list.append(json_to_python(py, item)?))?;
            list.into_any()
        }
        Value::Object(object) => {
            let dict = PyDict::new(py);
            object.into_iter().try_for_each(|(key, item)| dict.set_item(key, json_to_python(py, item)?))?;
            dict.into_any()
        }
    })
}
