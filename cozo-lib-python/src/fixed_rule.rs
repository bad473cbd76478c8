//! Fixed rules written in Python.
//!
//! The function runs on a thread of its own, for which the query waits: a query that is to stop, by Ctrl-C, by its timeout or
//! because its database is closed, does so at once. The function then gets a `SystemExit`, which it meets with its next
//! instruction, and what it gives is dropped.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use cozo::{DataValue, NamedRows, Poison, Process, SimpleFixedRule};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::ending::{self, visit};
use crate::error::BindingError;
use crate::from_python::rows;
use crate::interruptible::check_signals;
use crate::to_python::{row_lists, value_to_python};
use crate::workers::{Job, Worker};

/// How long a query may not notice that it is to stop.
const INTERVAL: Duration = Duration::from_millis(20);

type Inputs = Vec<NamedRows>;
type Options = BTreeMap<String, DataValue>;
type Outcome = cozo::Result<NamedRows>;

/// The fixed rule that calls `callback(inputs, options)`: lists of rows and a dict in, rows of `arity` values out.
pub fn python_rule(arity: usize, callback: Py<PyAny>) -> SimpleFixedRule {
    let callback = Arc::new(callback);
    SimpleFixedRule::interruptible(arity, move |inputs, options, poison| {
        let callback = callback.clone();
        let run = Arc::new(Run::default());
        let (sender, outcome) = bounded(1);
        let job: Job = {
            let run = run.clone();
            Box::new(move || run.run(&callback, inputs, options, sender))
        };
        let Ok(worker) = Worker::take() else {
            // The system has no thread: the rule cannot be stopped.
            job();
            return outcome.try_recv().unwrap_or_else(|_| Err(BindingError::Ending.into()));
        };
        worker.give(job);
        let outcome = wait(&outcome, poison).inspect_err(|_| run.stop());
        if !run.is_stopped.load(Ordering::Relaxed) {
            worker.give_back();
        }
        outcome?
    })
}

/// Waits for the outcome of a rule; an error if the query is to stop.
fn wait(outcome: &Receiver<Outcome>, poison: &Poison) -> cozo::Result<Outcome> {
    loop {
        match outcome.recv_timeout(INTERVAL) {
            Ok(outcome) => return Ok(outcome),
            Err(RecvTimeoutError::Timeout) => {
                poison.check()?;
                check_signals()?;
            }
            Err(RecvTimeoutError::Disconnected) => return Err(BindingError::Ending.into()),
        }
    }
}

/// A call of a rule's function.
#[derive(Default)]
struct Run {
    /// The number of its visit to Python, once it has begun.
    visit: AtomicU64,
    is_stopped: AtomicBool,
}

impl Run {
    fn run(&self, callback: &Py<PyAny>, inputs: Inputs, options: Options, sender: Sender<Outcome>) {
        let process = Process::current();
        let outcome = visit(|py, visit| {
            self.visit.store(visit, Ordering::Relaxed);
            if self.is_stopped.load(Ordering::Relaxed) {
                return Ok(NamedRows::default());
            }
            let rows = call(py, callback, inputs, options);
            rows.map(|rows| NamedRows::new(vec![], rows)).map_err(|error| cozo::Error::msg(message_of(py, &error)))
        });
        if process.is_current() {
            // A query that was stopped does not take it.
            let _ = sender.send(outcome.unwrap_or_else(|| Err(BindingError::Ending.into())));
        } else {
            std::mem::forget(sender);
        }
    }

    /// Has the function end, without waiting for the interpreter's lock, which it may have.
    fn stop(self: &Arc<Self>) {
        self.is_stopped.store(true, Ordering::Relaxed);
        let run = self.clone();
        let Ok(worker) = Worker::take() else { return };
        worker.give(Box::new(move || {
            visit(|py, _| ending::stop(py, run.visit.load(Ordering::Relaxed)));
        }));
    }
}

fn call(py: Python<'_>, callback: &Py<PyAny>, inputs: Inputs, options: Options) -> PyResult<Vec<Vec<DataValue>>> {
    let tables = PyList::empty(py);
    inputs.into_iter().try_for_each(|input| tables.append(row_lists(py, input.rows)?))?;
    let values = PyDict::new(py);
    options.into_iter().try_for_each(|(name, value)| values.set_item(name, value_to_python(py, value)?))?;
    let arguments = PyTuple::new(py, [tables.into_any(), values.into_any()])?;
    rows(&ending::call(callback.bind(py), &arguments)?)
}

/// What an exception says; of the errors of this module their message.
fn message_of(py: Python<'_>, error: &PyErr) -> String {
    let described = || {
        let argument = error.value(py).getattr("args").ok()?.get_item(0).ok()?;
        argument.cast::<PyDict>().ok()?.get_item("message").ok()??.extract::<String>().ok()
    };
    described().unwrap_or_else(|| error.to_string())
}
