//! Fixed rules written in Python.

use std::collections::BTreeMap;

use cozo::{DataValue, NamedRows, SimpleFixedRule};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::from_python::rows;
use crate::to_python::{row_lists, value_to_python};

/// The fixed rule that calls `callback(inputs, options)`: lists of rows and a dict in, rows of `arity` values out.
pub fn python_rule(arity: usize, callback: Py<PyAny>) -> SimpleFixedRule {
    SimpleFixedRule::new(arity, move |inputs, options| {
        let result = Python::attach(|py| call(py, &callback, inputs, options));
        result.map(|rows| NamedRows::new(vec![], rows)).map_err(|error| cozo::Error::msg(error.to_string()))
    })
}

fn call(
    py: Python<'_>,
    callback: &Py<PyAny>,
    inputs: Vec<NamedRows>,
    options: BTreeMap<String, DataValue>,
) -> PyResult<Vec<Vec<DataValue>>> {
    let tables = PyList::empty(py);
    inputs.into_iter().try_for_each(|input| tables.append(row_lists(py, input.rows)?))?;
    let values = PyDict::new(py);
    options.into_iter().try_for_each(|(name, value)| values.set_item(name, value_to_python(py, value)?))?;
    rows(callback.bind(py).call1((tables, values))?.as_any())
}
