//! The class `SharedChanges`: the changes of a relation by all processes of a shared log.

use std::sync::Mutex;
use std::time::Duration;

use cozo::{SharedChange, SharedChanges as Changes};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::{BindingError, error};
use crate::interruptible::released;
use crate::locked;
use crate::to_python::row_lists;

/// How long a signal may wait to be noticed.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// The changes of a relation, in the order of the log, until it is closed.
#[pyclass(frozen, module = "cozo_embedded")]
pub struct SharedChanges(Mutex<Option<Changes>>);

impl SharedChanges {
    pub fn new(changes: Changes) -> Self {
        SharedChanges(Mutex::new(Some(changes)))
    }
}

#[pymethods]
impl SharedChanges {
    /// The next change as a position, `'Put'` or `'Rm'`, the rows that are new (or the keys to be removed), and the rows that were
    /// there before; `None` if none comes within so many seconds. Without `seconds` it waits for ever.
    fn next<'py>(&self, py: Python<'py>, seconds: Option<f64>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let timeout = seconds.map(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX));
        let mut left = timeout.unwrap_or(Duration::MAX);
        loop {
            py.check_signals()?;
            let slice = left.min(SIGNAL_INTERVAL);
            left = left.saturating_sub(slice);
            // Only threads without the interpreter's lock wait for this one.
            let found = released(py, || locked(&self.0).as_mut().map(|changes| changes.next_within(slice)))?;
            let found = found.ok_or_else(|| BindingError::ChangesClosed.raise(py))?;
            match found.map_err(|report| error(py, report))? {
                Some(change) => return tuple(py, change).map(Some),
                None if left.is_zero() => return Ok(None),
                None => {}
            }
        }
    }

    /// The position from which to go on when all changes that `next` gave are dealt with.
    #[getter]
    fn position(&self, py: Python<'_>) -> PyResult<String> {
        let found = released(py, || locked(&self.0).as_ref().map(Changes::position))?;
        let found = found.ok_or_else(|| BindingError::ChangesClosed.raise(py))?;
        found.map(|position| position.to_string()).map_err(|report| error(py, report))
    }

    /// Lets go of what it keeps of the database.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        released(py, || drop(locked(&self.0).take()))
    }
}

fn tuple<'py>(py: Python<'py>, change: SharedChange) -> PyResult<Bound<'py, PyTuple>> {
    let (new, old) = (row_lists(py, change.new_rows.rows)?, row_lists(py, change.old_rows.rows)?);
    (change.position.to_string(), change.op.as_str(), new, old).into_pyobject(py)
}
