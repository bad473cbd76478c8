//! Scripts that Ctrl-C stops.
//!
//! Python handles signals on its main thread, between instructions. A script that is called from there therefore runs on
//! a helper thread, while the main thread waits and looks for signals every now and then; on other threads a script runs
//! where it is called.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::Duration;

use cozo::DbInstance;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded, unbounded};
use parking_lot::Mutex;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// How long a signal may wait to be noticed.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// As much as the main thread usually has.
const STACK_BYTES: usize = 8 << 20;

/// Runs `work` without the interpreter's lock. A signal handler that raises (Ctrl-C does) stops all scripts of the
/// database, and what it raised is the result.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    db: &DbInstance,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    if !on_main_thread(py)? {
        return Ok(py.detach(work));
    }
    let helper = Helper::take()?;
    let (sender, receiver) = bounded(1);
    // The receiver outlives the job unless this thread panics.
    helper.start(Box::new(move || drop(sender.send(catch_unwind(AssertUnwindSafe(work))))))?;
    let mut raised = None;
    let outcome: Result<T, Box<dyn Any + Send>> = loop {
        match py.detach(|| receiver.recv_timeout(SIGNAL_INTERVAL)) {
            Ok(outcome) => break outcome,
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals() {
                    raised = Some(error);
                }
                if raised.is_some() {
                    db.interrupt_all();
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Err(PyException::new_err("the helper thread ended")),
        }
    };
    helper.give_back();
    match (raised, outcome) {
        (Some(error), _) => Err(error),
        (None, Ok(value)) => Ok(value),
        (None, Err(panic)) => resume_unwind(panic),
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

type Job = Box<dyn FnOnce() + Send>;

/// A thread that runs one job after the other.
struct Helper {
    /// The process that started it: a forked one has none of its parent's threads.
    process: u32,
    jobs: Sender<Job>,
}

/// The helper that is free. A signal handler that runs a script while another one runs finds none.
static FREE: Mutex<Option<Helper>> = Mutex::new(None);

impl Helper {
    fn take() -> PyResult<Helper> {
        let free = FREE.lock().take().filter(|helper| helper.process == std::process::id());
        free.map_or_else(Helper::spawn, Ok)
    }

    fn spawn() -> PyResult<Helper> {
        let (jobs, receiver) = unbounded::<Job>();
        let run = move || receiver.into_iter().for_each(|job| job());
        thread::Builder::new().name("cozo-script".to_string()).stack_size(STACK_BYTES).spawn(run)?;
        Ok(Helper { process: std::process::id(), jobs })
    }

    fn start(&self, job: Job) -> PyResult<()> {
        self.jobs.send(job).map_err(|_| PyException::new_err("the helper thread ended"))
    }

    fn give_back(self) {
        *FREE.lock() = Some(self);
    }
}
