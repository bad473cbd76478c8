//! Errors as Python exceptions: a plain `Exception`, or a `TypeError` for an argument of a wrong type, whose only argument is
//! the error as a dict.
//!
//! ```python
//! {'ok': False, 'message': 'database closed', 'code': 'db::closed', 'help': ..., 'display': ..., 'labels': [], ...}
//! ```
//!
//! A client shows `message` and `display`, and tells errors by `code`, whatever went wrong. The dict is one of a class of
//! Python, `Description`, whose text is the report, so that the text of the exception reads well.

use std::ffi::CString;

use miette::Diagnostic;
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;
use serde_json::Value;
use thiserror::Error;

use crate::to_python::json_to_python;

/// What goes wrong between Python and the database.
#[derive(Debug, Error, Diagnostic)]
pub enum BindingError {
    /// An object that cannot become a value.
    #[error("Cannot convert {shown} into Cozo value")]
    #[diagnostic(code(python::unconvertible), help("{help}"))]
    Unconvertible {
        /// How Python shows it, or its type.
        shown: String,
        /// What to pass instead.
        help: String,
    },
    /// Lists and dicts that are nested too deeply, or contain themselves.
    #[error("Cannot convert lists or dicts nested more than {0} deep into Cozo value")]
    #[diagnostic(
        code(python::too_deep),
        help("keep the parts as rows that refer to each other; a list that contains itself has no end")
    )]
    TooDeep(usize),
    /// An argument of a type that the method does not take.
    #[error("{argument} must be {expected}, not {found}")]
    #[diagnostic(code(python::wrong_type), help("pass {expected}"))]
    WrongType {
        /// What it is for.
        argument: String,
        /// The type that it should have.
        expected: &'static str,
        /// The name of its type.
        found: String,
    },
    /// Iterating over an argument raises an exception.
    #[error("{argument} cannot be read: {raised}")]
    #[diagnostic(code(python::unreadable), help("see to the exception that its iteration raises, or pass a list"))]
    Unreadable {
        /// What it is for.
        argument: &'static str,
        /// The exception.
        raised: String,
    },
    /// The data of a relation lacks a part.
    #[error("import data lacks '{0}'")]
    #[diagnostic(code(import::bad_data), help("pass {{'headers': [...], 'rows': [[...], ...]}} for each relation"))]
    MissingPart(&'static str),
    /// A table that Arrow or the database does not take.
    #[error("{0}")]
    #[diagnostic(code(python::arrow), help("cast the column to a type that the documentation lists"))]
    Arrow(String),
    /// A call on a database that was closed.
    #[error("database closed")]
    #[diagnostic(code(db::closed), help("open the database again"))]
    Closed,
    /// A call on changes that were closed.
    #[error("these changes were closed")]
    #[diagnostic(code(db::closed), help("ask for the changes after the last position"))]
    ChangesClosed,
    /// A call while the interpreter ends.
    #[error("the interpreter is ending")]
    #[diagnostic(code(python::ending), help("wait for threads that use a database before the program ends"))]
    Ending,
    /// The system has no thread.
    #[error("the system gives no thread: {0}")]
    #[diagnostic(
        code(python::no_thread),
        help("end other threads or programs, or raise the limits of threads and memory (ulimit -u, ulimit -v)")
    )]
    NoThread(String),
    /// A defect.
    #[error("internal error: {0}")]
    #[diagnostic(code(python::internal), help("this is a defect of the database; please report it with the script"))]
    Internal(String),
}

/// The exception of a failed script.
pub fn script_error(py: Python<'_>, report: cozo::Error, script: &str) -> PyErr {
    raise(py, cozo::format_error_as_json(report, Some(script)), Some(script), PyException::new_err)
}

/// The exception of any other failed operation: its message goes on with the causes, which say what did not fit.
pub fn error(py: Python<'_>, report: cozo::Error) -> PyErr {
    let message = format!("{report:#}");
    let mut described = cozo::format_error_as_json(report, None);
    described["message"] = Value::String(message);
    raise(py, described, None, PyException::new_err)
}

/// What makes an exception of a dict.
type Raise = fn((Py<PyAny>,)) -> PyErr;

fn raise(py: Python<'_>, description: Value, script: Option<&str>, of: Raise) -> PyErr {
    let dict = json_to_python(py, description);
    let described = dict.and_then(|dict| description_class(py)?.call1((dict, script)));
    described.map_or_else(|error| error, |description| of((description.unbind(),)))
}

/// The class of the dicts, which only Python can make: a class of Rust for the stable ABI cannot extend `dict`. It is made when the
/// module is imported. A thread that made it while the interpreter ends might never go on, and others would wait for it.
pub fn description_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || {
        let code = CString::new(include_str!("description.py"))?;
        let module = PyModule::from_code(py, &code, c"cozo_embedded/description.py", c"cozo_embedded.description")?;
        PyResult::Ok(module.getattr("Description")?.unbind())
    };
    CLASS.get_or_try_init(py, make).map(|class| class.bind(py))
}

impl BindingError {
    /// The exception.
    pub fn raise(self, py: Python<'_>) -> PyErr {
        let of: Raise =
            if matches!(self, BindingError::WrongType { .. }) { PyTypeError::new_err } else { PyException::new_err };
        raise(py, cozo::format_error_as_json(self.into(), None), None, of)
    }
}
