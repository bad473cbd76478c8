//! Python functions that are told of changes.
//!
//! Each has a thread of its own, which waits for messages without the interpreter's lock: a commit never waits for Python,
//! and a function may use the database that calls it.

use std::thread;

use cozo::session::Change;
use crossbeam_channel::Receiver;
use pyo3::prelude::*;

use crate::to_python::row_lists;

/// Calls a function with each change, until the channel or the interpreter ends.
pub fn serve(changes: Receiver<Change>, callback: Py<PyAny>) -> PyResult<()> {
    let serve = move || {
        for change in changes {
            if Python::try_attach(|py| call(py, &callback, change)).is_none() {
                return;
            }
        }
        // At once, rather than when some other thread takes the interpreter's lock next.
        Python::try_attach(|_| drop(callback));
    };
    thread::Builder::new().name("cozo-callback".to_string()).spawn(serve)?;
    Ok(())
}

/// What the function raises is shown and goes no further.
fn call(py: Python<'_>, callback: &Py<PyAny>, (op, new, old): Change) {
    let called = row_lists(py, new.rows)
        .and_then(|new| Ok((new, row_lists(py, old.rows)?)))
        .and_then(|(new, old)| callback.call1(py, (op.as_str(), new, old)));
    if let Err(error) = called {
        error.display(py);
    }
}
