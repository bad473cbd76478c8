//! Expressions without a database.

use std::collections::BTreeSet;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::script_error;
use crate::from_python::named_values;
use crate::to_python::value_to_python;

/// The value of an expression; `params` are its `$` parameters, `bindings` its variables.
#[pyfunction]
pub fn eval_expressions<'py>(
    py: Python<'py>,
    expr: &str,
    params: &Bound<'py, PyDict>,
    bindings: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let (params, bindings) = (named_values(params)?, named_values(bindings)?);
    let result = py.detach(|| cozo::evaluate_expressions(expr, &params, &bindings));
    value_to_python(py, result.map_err(|report| script_error(py, report, expr))?)
}

/// The names of the variables in an expression.
#[pyfunction]
pub fn variables(py: Python<'_>, expr: &str, params: &Bound<'_, PyDict>) -> PyResult<BTreeSet<String>> {
    let params = named_values(params)?;
    let result = py.detach(|| cozo::get_variables(expr, &params));
    result.map_err(|report| script_error(py, report, expr))
}
