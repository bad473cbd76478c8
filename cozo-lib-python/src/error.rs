//! Errors as Python exceptions: always a plain `Exception` with one argument.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::to_python::json_to_python;

/// The text of the exception that a closed database raises.
const CLOSED: &str = r#"{"ok":false,"message":"database closed"}"#;

/// The exception of a failed script: its argument is the error as a dict.
pub fn script_error(py: Python<'_>, report: cozo::Error, script: &str) -> PyErr {
    match json_to_python(py, cozo::format_error_as_json(report, Some(script))) {
        Ok(description) => PyException::new_err((description.unbind(),)),
        Err(error) => error,
    }
}

/// The exception of any other failed operation: its argument is the message with its causes, which say what did not fit.
pub fn message_error(report: cozo::Error) -> PyErr {
    PyException::new_err(format!("{report:#}"))
}

/// The exception of a database that was closed.
pub fn closed() -> PyErr {
    PyException::new_err(CLOSED)
}
