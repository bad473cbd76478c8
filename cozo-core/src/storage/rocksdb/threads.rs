//! RocksDB's own threads. All its databases in a process share them, and RocksDB cannot run without them.

use std::sync::mpsc::channel;
use std::sync::{Once, OnceLock};
use std::thread::Builder;

use super::NAME;
use crate::fork::Process;
use crate::storage::error::StorageError;

/// The number of threads beside the background jobs. RocksDB has one for periodic work, and opens files with this many at once.
const OTHERS: usize = 16;

/// The stack that the system gives to a thread of RocksDB.
const STACK_BYTES: usize = 8 << 20;

/// The process whose threads RocksDB has.
static USER: OnceLock<Process> = OnceLock::new();

/// Fails if the engine cannot be opened: in a process forked from one that has used it, or if the system cannot start its threads.
/// RocksDB would wait for its threads for ever, or end the process.
pub(super) fn check(background_jobs: i32) -> Result<(), StorageError> {
    if !USER.get_or_init(Process::current).is_current() {
        return Err(StorageError::ForkedEngine(NAME));
    }
    let wanted = OTHERS + usize::try_from(background_jobs).unwrap_or_default();
    try_to_start(wanted).map_err(|error| StorageError::NoThreads { engine: NAME, wanted, message: error.to_string() })
}

/// Called once a database is open. RocksDB waits for its threads when the program ends, and a forked process does not have them.
pub(super) fn are_started() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(system::watch_exit);
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod system {
    use std::ffi::{c_int, c_void};
    use std::ptr::null_mut;

    use super::USER;

    #[allow(unsafe_code)]
    unsafe extern "C" {
        /// A function of the GNU C library. It registers a function to be called at the end of the program with its status, before
        /// those of RocksDB, which were registered earlier.
        fn on_exit(function: unsafe extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    }

    #[allow(unsafe_code)]
    pub fn watch_exit() {
        // SAFETY: the function lives as long as the program, and uses no argument. If there is no memory to register it, forked
        // processes may hang at their end.
        let _ = unsafe { on_exit(end_without_threads, null_mut()) };
    }

    #[allow(unsafe_code)]
    unsafe extern "C" fn end_without_threads(status: c_int, _: *mut c_void) {
        if USER.get().is_some_and(|user| !user.is_current()) {
            // SAFETY: both may be called at any time. The program's output is written, and nothing else is done.
            unsafe {
                libc::fflush(null_mut());
                libc::_exit(status);
            }
        }
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod system {
    pub fn watch_exit() {}
}

/// Starts a number of threads, and ends them.
fn try_to_start(wanted: usize) -> std::io::Result<()> {
    let mut ends = vec![];
    let mut start = || {
        let (end, wait) = channel::<()>();
        // The thread ends when the sender is dropped.
        let thread = Builder::new().stack_size(STACK_BYTES).spawn(move || wait.recv().is_ok())?;
        ends.push((end, thread));
        Ok(())
    };
    let started = (0..wanted).try_for_each(|_| start());
    ends.into_iter().for_each(|(end, thread)| {
        drop(end);
        // A thread that only waits does not panic.
        let _ = thread.join();
    });
    started
}
