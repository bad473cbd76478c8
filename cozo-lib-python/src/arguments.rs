//! Arguments of methods. They are looked at here, and not by the signatures, so that an argument of a wrong type is an error
//! like all others.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::error::BindingError;
use crate::from_python::type_name;

/// A text.
pub fn text(object: &Bound<'_, PyAny>, argument: &str) -> PyResult<String> {
    let text = object.cast::<PyString>().map_err(|_| wrong_type(object, argument, "a str"))?;
    // Only one with half of a character, which no file and no other language could hold.
    Ok(text.to_cow().map_err(|_| wrong_type(object, argument, "a str of whole characters"))?.into_owned())
}

/// A dict.
pub fn dict<'a, 'py>(object: &'a Bound<'py, PyAny>, argument: &str) -> PyResult<&'a Bound<'py, PyDict>> {
    object.cast::<PyDict>().map_err(|_| wrong_type(object, argument, "a dict"))
}

/// Yes or no.
pub fn truth(object: &Bound<'_, PyAny>, argument: &str) -> PyResult<bool> {
    Ok(object.cast::<PyBool>().map_err(|_| wrong_type(object, argument, "a bool"))?.is_true())
}

/// A number of something.
pub fn count(object: &Bound<'_, PyAny>, argument: &str) -> PyResult<u32> {
    object.extract().map_err(|_| wrong_type(object, argument, "an int from 0 to 4294967295"))
}

/// The path of a file.
pub fn path(object: &Bound<'_, PyAny>, argument: &str) -> PyResult<PathBuf> {
    object.extract().map_err(|_| wrong_type(object, argument, "a str or a path"))
}

/// Something that can be called.
pub fn callable<'a, 'py>(object: &'a Bound<'py, PyAny>, argument: &str) -> PyResult<&'a Bound<'py, PyAny>> {
    if object.is_callable() { Ok(object) } else { Err(wrong_type(object, argument, "callable")) }
}

/// Names in a sequence.
pub fn names(object: &Bound<'_, PyAny>, argument: &'static str) -> PyResult<Vec<String>> {
    if object.is_instance_of::<PyString>() {
        return Err(wrong_type(object, argument, "a list of names"));
    }
    items(object, argument, "a list of names")?.iter().map(|name| text(name, "a name")).collect()
}

/// All that an iteration gives.
pub fn items<'py>(
    object: &Bound<'py, PyAny>,
    argument: &'static str,
    expected: &'static str,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = object.py();
    let unreadable = |raised: PyErr| BindingError::Unreadable { argument, raised: raised.to_string() }.raise(py);
    if object.hasattr("__iter__").is_ok_and(|has| !has) && object.hasattr("__getitem__").is_ok_and(|has| !has) {
        return Err(wrong_type(object, argument, expected));
    }
    object.try_iter().and_then(Iterator::collect).map_err(unreadable)
}

/// The error of an argument of a wrong type.
pub fn wrong_type(object: &Bound<'_, PyAny>, argument: &str, expected: &'static str) -> PyErr {
    let (argument, found) = (argument.to_string(), type_name(object));
    BindingError::WrongType { argument, expected, found }.raise(object.py())
}
