//! Expressions without a database.

use std::collections::BTreeSet;

use pyo3::prelude::*;

use crate::arguments::text;
use crate::error::script_error;
use crate::from_python::named_values;
use crate::interruptible::released;
use crate::to_python::value_to_python;

/// The value of an expression; `params` are its `$` parameters, `bindings` its variables.
#[pyfunction]
pub fn eval_expressions<'py>(
    py: Python<'py>,
    expr: &Bound<'py, PyAny>,
    params: &Bound<'py, PyAny>,
    bindings: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let expr = text(expr, "the expression")?;
    let (params, bindings) = (named_values(params, "the parameters")?, named_values(bindings, "the bindings")?);
    let result = released(py, || cozo::evaluate_expressions(&expr, &params, &bindings))?;
    value_to_python(py, result.map_err(|report| script_error(py, report, &expr))?)
}

/// The names of the variables in an expression.
#[pyfunction]
pub fn variables(py: Python<'_>, expr: &Bound<'_, PyAny>, params: &Bound<'_, PyAny>) -> PyResult<BTreeSet<String>> {
    let (expr, params) = (text(expr, "the expression")?, named_values(params, "the parameters")?);
    let result = released(py, || cozo::get_variables(&expr, &params))?;
    result.map_err(|report| script_error(py, report, &expr))
}
