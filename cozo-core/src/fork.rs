//! Databases and `fork`: which process opened a database, and what a forked process must not do with it.
//!
//! A forked process has a copy of all memory and of the open files, but only one thread: the one that called `fork`. A database
//! cannot go on there. The threads that write for it are missing, a lock may be held by a missing thread, and both processes
//! would write to the same files. So a database remembers the [`Process`] that opened it, and every call checks that it runs
//! there. Values that are dropped in another process are left in memory as they are.
//!
//! ```text
//! parent   open --- write ---------- write --- close (unlocks the file, and others may open it)
//!                         \
//! child                    fork: generation + 1, closes its copies of the locked files
//!                          |--- use of the parent's database: db::forked
//!                          |--- open: storage::locked, or a database of its own
//! ```

use std::fs::{File, TryLockError};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Once, OnceLock};

/// The number of forks that led to this process since a database was first opened.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// A process, told apart from its forks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process(u32);

/// A database is used by a forked process. Open it anew there, once the process that opened it has closed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("this database was opened by the process that this one was forked from: open it anew here")]
#[diagnostic(
    code(db::forked),
    help(
        "a database belongs to the process that opened it: open it in the worker, or start workers afresh, in Python by multiprocessing.set_start_method(\"spawn\")"
    )
)]
pub struct Forked;

impl Process {
    /// The current process.
    pub fn current() -> Self {
        static WATCH: Once = Once::new();
        WATCH.call_once(system::watch);
        Process(GENERATION.load(Ordering::Relaxed))
    }

    /// Whether this is the current process.
    #[inline]
    pub fn is_current(self) -> bool {
        self.0 == GENERATION.load(Ordering::Relaxed)
    }

    /// Fails in a process that was forked from this one.
    #[inline]
    pub fn check(self) -> Result<(), Forked> {
        if self.is_current() { Ok(()) } else { Err(Forked) }
    }

    /// The number of forks that led to it.
    pub fn generation(self) -> u32 {
        self.0
    }
}

/// A value for each process: a forked process gets a new value, and never reads the value of its parent.
pub struct PerProcess<T: 'static> {
    here: OnceLock<(Process, T)>,
    /// The value of a process that was forked from this one.
    forked: OnceLock<Box<PerProcess<T>>>,
}

impl<T: Default> PerProcess<T> {
    /// A value that is made on first use.
    pub const fn new() -> Self {
        PerProcess { here: OnceLock::new(), forked: OnceLock::new() }
    }

    /// The value of this process.
    pub fn get(&self) -> &T {
        let (process, value) = self.here.get_or_init(|| (Process::current(), T::default()));
        match process.is_current() {
            true => value,
            false => self.forked.get_or_init(Box::default).get(),
        }
    }
}

impl<T: Default> Default for PerProcess<T> {
    fn default() -> Self {
        PerProcess::new()
    }
}

/// A file that is locked by this process as long as this value lives. The lock belongs to the open file, which forked processes
/// share, so they close it.
pub struct LockedFile {
    file: Option<File>,
    process: Process,
    noted: system::Noted,
}

impl LockedFile {
    /// Locks a file.
    pub fn lock(file: File) -> Result<Self, TryLockError> {
        let process = Process::current();
        // Recorded first, so that no process is forked with a locked file that it does not close.
        let noted = system::note(&file);
        let locked = LockedFile { file: Some(file), process, noted };
        locked.file.as_ref().map_or(Ok(()), File::try_lock).map(|()| locked)
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        let file = self.file.take();
        if !self.process.is_current() {
            // The fork closed it in this process.
            std::mem::forget(file);
            return;
        }
        // A program that is just being started may hold the open file for a moment more, so closing is not enough.
        let _ = file.as_ref().map(File::unlock);
        self.noted.forget();
    }
}

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::os::fd::AsRawFd;
    use std::sync::atomic::{AtomicI32, Ordering};

    use super::GENERATION;

    /// No file.
    const NONE: i32 = -1;

    /// The files that a forked process closes. It does not close further files: their locks last until both processes have closed
    /// them.
    static FILES: [AtomicI32; 256] = [const { AtomicI32::new(NONE) }; 256];

    /// The entry of a file in [`FILES`].
    pub struct Noted(Option<&'static AtomicI32>);

    /// Records a file.
    pub fn note(file: &File) -> Noted {
        let number = file.as_raw_fd();
        let take =
            |place: &&AtomicI32| place.compare_exchange(NONE, number, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        Noted(FILES.iter().find(take))
    }

    impl Noted {
        pub fn forget(&self) {
            self.0.inspect(|place| place.store(NONE, Ordering::Relaxed));
        }
    }

    /// Registers `forked`, which runs in each forked process.
    #[allow(unsafe_code)]
    pub fn watch() {
        // SAFETY: the function lives as long as the program, and does nothing that a forked process must not do. If the system
        // has no memory for the registration, forked processes are not told apart.
        unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    }

    #[allow(unsafe_code)]
    unsafe extern "C" fn forked() {
        GENERATION.fetch_add(1, Ordering::Relaxed);
        for place in &FILES {
            let number = place.swap(NONE, Ordering::Relaxed);
            if number != NONE {
                // SAFETY: the file belongs to a value of the parent, which is never dropped here.
                unsafe { libc::close(number) };
            }
        }
        // Otherwise both processes would draw the same numbers.
        let _ = rand::rng().reseed();
    }
}

/// Where there is no `fork`.
#[cfg(not(unix))]
mod system {
    use std::fs::File;

    pub struct Noted;

    pub fn note(_: &File) -> Noted {
        Noted
    }

    impl Noted {
        pub fn forget(&self) {}
    }

    pub fn watch() {}
}
