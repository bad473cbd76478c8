//! Scripts that Ctrl-C stops.
//!
//! Python handles signals on its main thread, between instructions. A script that is called from there therefore runs on
//! a helper thread, while the main thread waits and looks for signals every now and then; on other threads a script runs
//! where it is called.
//!
//! The hand-over takes longer than a small script does. A script that was quick the last time therefore runs on the main
//! thread itself: should it take long this time, Ctrl-C waits for its end.

use std::any::Any;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::{Duration, Instant};

use cozo::Interrupt;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded, unbounded};
use parking_lot::Mutex;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// How long a signal may wait to be noticed.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// A script that takes less is quick.
const QUICK: Duration = Duration::from_millis(2);

/// How many quick scripts are remembered.
const MAX_QUICK_SCRIPTS: usize = 10_000;

/// As much as the main thread usually has.
const STACK_BYTES: usize = 8 << 20;

/// Runs the work of a script without the interpreter's lock. A signal handler that raises (Ctrl-C does) throws the
/// script's switch, and what it raised is the result.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    switch: &Interrupt,
    script: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    if !on_main_thread(py)? {
        return Ok(py.detach(work));
    }
    let key = hash(script);
    let start = Instant::now();
    let was_quick = QUICK_SCRIPTS.lock().as_ref().is_some_and(|scripts| scripts.contains(&key));
    let outcome = if was_quick { Ok(py.detach(work)) } else { on_helper(py, switch, work) };
    let quick = start.elapsed() < QUICK;
    if quick != was_quick {
        remember(key, quick);
    }
    outcome
}

/// The hashes of the scripts that were quick the last time.
static QUICK_SCRIPTS: Mutex<Option<HashSet<u64>>> = Mutex::new(None);

fn hash(script: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    script.hash(&mut hasher);
    hasher.finish()
}

fn remember(key: u64, quick: bool) {
    let mut scripts = QUICK_SCRIPTS.lock();
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

/// Runs `work` on the helper thread and looks for signals meanwhile.
fn on_helper<T: Send + 'static>(
    py: Python<'_>,
    switch: &Interrupt,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
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
                    switch.kill();
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
