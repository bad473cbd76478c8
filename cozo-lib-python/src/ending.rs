//! The end of the interpreter. Once it has begun, a thread that asks for the interpreter's lock is ended by CPython where it
//! stands (or, from 3.14 on, never goes on), which Rust answers by ending the process. So no thread of ours may ask then.
//!
//! Every thread that may come to need the interpreter, or has a database, [stays](stay) while it does; a thread that Python does not
//! know [visits](visit) it to run Python code. Before the interpreter ends, Python calls [`end`], once other functions of `atexit`
//! that were registered later have run:
//!
//! 1. Databases are closed. Queries are stopped, and callbacks get what was committed before.
//! 2. For [`GRACE`] it waits for all threads to leave.
//! 3. Nobody comes in any more. Python code that still runs gets a `SystemExit`, and [`LAST_CHANCE`] to end.
//!
//! Code that goes on nevertheless finds the interpreter gone; [`call`] sees to it that its thread stands still then.

use std::ffi::c_long;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, Weak};
use std::time::{Duration, Instant};

use cozo::{PerProcess, Process};
use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::database::Opened;
use crate::locked;

/// How long callbacks may take for what was committed.
const GRACE: Duration = Duration::from_secs(2);

/// How long Python code may take to end once it was told to.
const LAST_CHANCE: Duration = Duration::from_secs(1);

/// How often it is looked whether all have left.
const INTERVAL: Duration = Duration::from_millis(5);

/// What is to end with the interpreter. Of a forked process only what it has begun itself.
static STATE: PerProcess<State> = PerProcess::new();

#[derive(Default)]
struct State {
    staying: AtomicUsize,
    is_closed: AtomicBool,
    visits: AtomicU64,
    /// Who runs Python code. Looked at with the interpreter's lock only.
    visitors: Mutex<Vec<Visitor>>,
    /// The databases that may be open, likewise.
    open: Mutex<Vec<Weak<Opened>>>,
}

/// A thread that runs Python code, though Python did not start it.
struct Visitor {
    number: u64,
    thread: u64,
}

/// The end of the interpreter waits for a while until this is dropped.
pub struct Stay(Process);

/// Has the end of the interpreter wait; nothing if it does not wait any more.
pub fn stay() -> Option<Stay> {
    let state = STATE.get();
    state.staying.fetch_add(1, Ordering::SeqCst);
    let stay = Stay(Process::current());
    (!state.is_closed.load(Ordering::SeqCst)).then_some(stay)
}

impl Drop for Stay {
    fn drop(&mut self) {
        if self.0.is_current() {
            STATE.get().staying.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Runs Python code on a thread that Python does not know, with the number of the visit; nothing if the interpreter is at its
/// end.
pub fn visit<T>(work: impl FnOnce(Python<'_>, u64) -> T) -> Option<T> {
    let _stay = stay()?;
    Python::try_attach(|py| {
        let number = enter(py);
        let _leave = Leave(number);
        work(py, number)
    })
}

fn enter(py: Python<'_>) -> u64 {
    let state = STATE.get();
    let number = state.visits.fetch_add(1, Ordering::Relaxed) + 1;
    if let Ok(thread) = current_thread(py) {
        locked(&state.visitors).push(Visitor { number, thread });
    }
    number
}

/// Python's number of the calling thread.
fn current_thread(py: Python<'_>) -> PyResult<u64> {
    static GET_IDENT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import = || PyResult::Ok(py.import("threading")?.getattr("get_ident")?.unbind());
    GET_IDENT.get_or_try_init(py, import)?.call0(py)?.extract(py)
}

struct Leave(u64);

impl Drop for Leave {
    fn drop(&mut self) {
        locked(&STATE.get().visitors).retain(|visitor| visitor.number != self.0);
    }
}

/// Raises a `SystemExit` in the Python code of a visit, if it still runs.
pub fn stop(py: Python<'_>, visit: u64) {
    let visitors = locked(&STATE.get().visitors);
    if let Some(visitor) = visitors.iter().find(|visitor| visitor.number == visit) {
        raise_exit(py, visitor.thread);
    }
}

#[allow(unsafe_code)]
fn raise_exit(py: Python<'_>, thread: u64) {
    let exit = py.get_type::<PySystemExit>();
    // SAFETY: the interpreter's lock is held, and a thread that has ended is not found.
    unsafe { pyo3::ffi::PyThreadState_SetAsyncExc(thread as c_long, exit.as_ptr()) };
}

/// Calls a Python function on a visit. Should the interpreter end meanwhile, the thread stands still.
pub fn call<'py>(function: &Bound<'py, PyAny>, arguments: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    system::call(function, arguments)
}

#[cfg(unix)]
mod system {
    use std::ptr::null_mut;

    use pyo3::ffi::PyObject;
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    /// CPython ends a thread by unwinding its stack, through Rust, which must not be; this ends the unwinding.
    struct StandStill;

    impl Drop for StandStill {
        fn drop(&mut self) {
            loop {
                std::thread::park();
            }
        }
    }

    #[allow(unsafe_code)]
    pub fn call<'py>(function: &Bound<'py, PyAny>, arguments: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        unsafe extern "C-unwind" {
            fn PyObject_Call(function: *mut PyObject, arguments: *mut PyObject, named: *mut PyObject) -> *mut PyObject;
        }
        let guard = StandStill;
        // SAFETY: the lock is held, and both are objects; what is returned is ours, or NULL with an exception.
        let result = unsafe {
            let result = PyObject_Call(function.as_ptr(), arguments.as_ptr(), null_mut());
            Bound::from_owned_ptr_or_err(function.py(), result)
        };
        std::mem::forget(guard);
        result
    }
}

/// Where threads are not ended by unwinding.
#[cfg(not(unix))]
mod system {
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    pub fn call<'py>(function: &Bound<'py, PyAny>, arguments: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        function.call1(arguments)
    }
}

/// Notes a database, so that it is closed at the end.
pub fn note(opened: Weak<Opened>) {
    let mut open = locked(&STATE.get().open);
    open.retain(|other| other.strong_count() > 0);
    open.push(opened);
}

/// What Python calls before the interpreter ends.
#[pyfunction]
pub fn end(py: Python<'_>) {
    let state = STATE.get();
    let open = std::mem::take(&mut *locked(&state.open));
    for opened in open.iter().filter_map(Weak::upgrade) {
        opened.close(py);
    }
    let all_left = wait_until_all_left(py, state, GRACE);
    state.is_closed.store(true, Ordering::SeqCst);
    if !all_left {
        let threads: Vec<u64> = locked(&state.visitors).iter().map(|visitor| visitor.thread).collect();
        threads.into_iter().for_each(|thread| raise_exit(py, thread));
    }
    wait_until_all_left(py, state, LAST_CHANCE);
}

/// Waits until nobody stays; whether that came to be. Ctrl-C ends the wait.
fn wait_until_all_left(py: Python<'_>, state: &State, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    loop {
        if state.staying.load(Ordering::SeqCst) == 0 {
            return true;
        }
        if Instant::now() >= deadline || py.check_signals().is_err() {
            return false;
        }
        py.detach(|| std::thread::sleep(INTERVAL));
    }
}
