//! Python functions that are told of changes.
//!
//! Each has a thread of its own, which waits for messages without the interpreter's lock: a commit never waits for Python,
//! and a function may use the database that calls it.

use std::thread;

use cozo::Process;
use cozo::session::Change;
use crossbeam_channel::Receiver;
use pyo3::prelude::*;

use crate::ending::{self, stay, visit};
use crate::to_python::row_lists;

/// Calls a function with each change, until the channel or the interpreter ends.
pub fn serve(changes: Receiver<Change>, callback: Py<PyAny>) -> std::io::Result<()> {
    // From now on: the interpreter may end before the thread has had its first turn.
    let stay = stay();
    let serve = move || {
        let _stay = stay;
        let process = Process::current();
        while let Ok(change) = changes.recv() {
            let called = visit(|py, _| call(py, &callback, change));
            if !process.is_current() {
                // The function has forked. This thread is the only one here, and with it the process ends.
                std::mem::forget((changes, callback));
                return;
            }
            if called.is_none() {
                return;
            }
        }
        // At once, rather than when some other thread takes the interpreter's lock next.
        visit(|_, _| drop(callback));
    };
    thread::Builder::new().name("cozo-callback".to_string()).spawn(serve).map(drop)
}

/// What the function raises is shown and goes no further.
fn call(py: Python<'_>, callback: &Py<PyAny>, (op, new, old): Change) {
    let called = row_lists(py, new.rows)
        .and_then(|new| (op.as_str(), new, row_lists(py, old.rows)?).into_pyobject(py))
        .and_then(|arguments| ending::call(callback.bind(py), &arguments));
    if let Err(error) = called {
        error.display(py);
    }
}
