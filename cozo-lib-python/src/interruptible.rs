//! Work of the database without the interpreter's lock, and scripts that Ctrl-C stops.
//!
//! Python handles signals on its main thread, between instructions. A script that is called from there therefore runs on
//! a worker thread, while the main thread waits and looks for signals every now and then; on other threads a script runs
//! where it is called.
//!
//! The hand-over takes longer than a small script does. A script that was quick the last time therefore runs on the main
//! thread itself: should it take long this time, Ctrl-C waits for its end, unless it waits for a fixed rule in Python.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use cozo::Interrupt;
use crossbeam_channel::{RecvTimeoutError, bounded};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::ending::stay;
use crate::error::BindingError;
use crate::locked;
use crate::workers::Worker;

/// How long a signal may wait to be noticed.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// How long it is waited for the end of a script that was stopped. What takes longer is left alone with it.
const PATIENCE: Duration = Duration::from_millis(100);

/// A script that takes less is quick.
const QUICK: Duration = Duration::from_millis(2);

/// How many quick scripts are remembered.
const MAX_QUICK_SCRIPTS: usize = 10_000;

/// Runs work without the interpreter's lock. A panic is an error.
pub fn released<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let Some(stay) = stay() else { return Err(BindingError::Ending.raise(py)) };
    let run = move || {
        let outcome = catch_unwind(AssertUnwindSafe(work)).map_err(message_of);
        // Before the lock is asked for: whoever waits for this thread at the interpreter's end has the lock.
        drop(stay);
        outcome
    };
    py.detach(run).map_err(|message| BindingError::Internal(message).raise(py))
}

fn message_of(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref().cloned()).unwrap_or_else(|| "a panic without a message".to_string())
}

/// Runs the work of a script without the interpreter's lock. A signal handler that raises (Ctrl-C does) throws the
/// script's switch, and what it raised is the result.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    switch: &Interrupt,
    script: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    if !on_main_thread(py)? {
        return released(py, work);
    }
    let key = hash(script);
    let start = Instant::now();
    let was_quick = locked(&QUICK_SCRIPTS).as_ref().is_some_and(|scripts| scripts.contains(&key));
    let outcome = if was_quick { on_this_thread(py, work) } else { on_worker(py, switch, work) };
    let quick = start.elapsed() < QUICK;
    if quick != was_quick {
        remember(key, quick);
    }
    outcome
}

/// The hashes of the scripts that were quick the last time. Looked at with the interpreter's lock only.
static QUICK_SCRIPTS: Mutex<Option<HashSet<u64>>> = Mutex::new(None);

fn hash(script: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    script.hash(&mut hasher);
    hasher.finish()
}

fn remember(key: u64, quick: bool) {
    let mut scripts = locked(&QUICK_SCRIPTS);
    let scripts = scripts.get_or_insert_default();
    if !quick {
        scripts.remove(&key);
        return;
    }
    if scripts.len() >= MAX_QUICK_SCRIPTS {
        scripts.clear();
    }
    scripts.insert(key);
}

thread_local! {
    /// Whether this is the main thread, at work for a script.
    static IS_MAIN: Cell<bool> = const { Cell::new(false) };
    /// What a signal handler raised meanwhile.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Runs `work` on the main thread itself.
fn on_this_thread<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    // A signal handler may run a script while another one runs.
    let before = IS_MAIN.replace(true);
    let outcome = released(py, work);
    IS_MAIN.set(before);
    RAISED.take().map_or(outcome, Err)
}

/// For work that waits, on whatever thread: an error if a signal handler has raised.
pub fn check_signals() -> cozo::Result<()> {
    if !IS_MAIN.get() {
        return Ok(());
    }
    let raised = Python::try_attach(|py| py.check_signals().err()).flatten();
    let Some(raised) = raised else { return Ok(()) };
    RAISED.set(Some(raised));
    Err(cozo::Error::msg("interrupted by a signal"))
}

/// Runs `work` on a worker thread and looks for signals meanwhile.
fn on_worker<T: Send + 'static>(
    py: Python<'_>,
    switch: &Interrupt,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    // Where the system has no thread, Ctrl-C waits.
    let Ok(worker) = Worker::take() else { return on_this_thread(py, work) };
    let Some(stay) = stay() else { return Err(BindingError::Ending.raise(py)) };
    let (sender, receiver) = bounded(1);
    worker.give(Box::new(move || {
        let outcome = catch_unwind(AssertUnwindSafe(work)).map_err(message_of);
        drop(stay);
        // There is no receiver if the script was stopped and took too long to end.
        let _ = sender.send(outcome);
    }));
    let mut raised: Option<(PyErr, Instant)> = None;
    loop {
        match py.detach(|| receiver.recv_timeout(SIGNAL_INTERVAL)) {
            Ok(outcome) => {
                worker.give_back();
                let outcome = outcome.map_err(|message| BindingError::Internal(message).raise(py));
                return raised.map_or(outcome, |(error, _)| Err(error));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(BindingError::Ending.raise(py)),
        }
        if let Err(error) = py.check_signals() {
            raised = Some((error, Instant::now()));
            switch.kill();
        }
        raised = match raised {
            Some((error, when)) if when.elapsed() >= PATIENCE => return Err(error),
            raised => raised,
        };
    }
}

/// Whether Python would run signal handlers on this thread.
fn on_main_thread(py: Python<'_>) -> PyResult<bool> {
    static FUNCTIONS: PyOnceLock<(Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();
    let (main_thread, current_thread) = FUNCTIONS.get_or_try_init(py, || {
        let threading = py.import("threading")?;
        PyResult::Ok((threading.getattr("main_thread")?.unbind(), threading.getattr("current_thread")?.unbind()))
    })?;
    Ok(main_thread.call0(py)?.is(&current_thread.call0(py)?))
}
