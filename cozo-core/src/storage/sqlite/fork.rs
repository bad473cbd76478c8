//! SQLite in a process that was forked from one that uses it.
//!
//! SQLite has a record for each open file, found by the numbers of its device and inode. It says which locks the process has and
//! where the index of the log is in memory. A forked process has a copy of these records, which is wrong: locks are not
//! inherited, and the files beside the database may have been replaced. The process would assume locks that it does not have,
//! and write to a removed log. So each process gets device numbers of its own, by replacing the system calls of SQLite that
//! return them. A forked process then never confuses its files with those of its parent.
//!
//! SQLite's global locks are taken while the process forks. So in the forked process none of them is held by a thread that does
//! not exist there.

use std::sync::Once;

/// Prepares SQLite for forks. Called before a file is opened.
#[cfg(not(unix))]
pub fn prepare() {}

/// Prepares SQLite for forks. Called before a file is opened.
#[cfg(unix)]
pub fn prepare() {
    static PREPARED: Once = Once::new();
    PREPARED.call_once(system::prepare);
}

#[cfg(unix)]
mod system {
    use std::ffi::{c_char, c_int};
    use std::mem::transmute;
    use std::ptr::null;

    use rusqlite::ffi;

    use crate::fork::Process;

    /// The global locks, in the order in which SQLite nests them: files, random numbers (for the name of a temporary file),
    /// initialisation (for the first random number), pages, memory.
    const LOCKS: [c_int; 6] = [
        ffi::SQLITE_MUTEX_STATIC_VFS1,
        ffi::SQLITE_MUTEX_STATIC_PRNG,
        ffi::SQLITE_MUTEX_STATIC_MAIN,
        ffi::SQLITE_MUTEX_STATIC_LRU,
        ffi::SQLITE_MUTEX_STATIC_LRU2,
        ffi::SQLITE_MUTEX_STATIC_MEM,
    ];

    #[allow(unsafe_code)]
    pub fn prepare() {
        // SAFETY: SQLite is initialised first, so its locks exist. The functions passed in have the expected types, and live as long
        // as the program.
        unsafe {
            ffi::sqlite3_initialize();
            libc::pthread_atfork(Some(before), Some(after), Some(after));
            let vfs = ffi::sqlite3_vfs_find(null());
            if let Some(replace) = vfs.as_ref().and_then(|vfs| vfs.xSetSystemCall) {
                let (of_file, of_path): (OfFile, OfPath) = (fstat, stat);
                replace(vfs, c"fstat".as_ptr(), Some(transmute::<OfFile, unsafe extern "C" fn()>(of_file)));
                replace(vfs, c"stat".as_ptr(), Some(transmute::<OfPath, unsafe extern "C" fn()>(of_path)));
            }
        }
    }

    type OfFile = unsafe extern "C" fn(c_int, *mut libc::stat) -> c_int;
    type OfPath = unsafe extern "C" fn(*const c_char, *mut libc::stat) -> c_int;

    /// The system's `fstat`, with a device number of this process.
    #[allow(unsafe_code)]
    unsafe extern "C" fn fstat(file: c_int, found: *mut libc::stat) -> c_int {
        // SAFETY: SQLite calls this as it would call the system's function.
        unsafe { with_own_device(libc::fstat(file, found), found) }
    }

    /// The system's `stat`, with a device number of this process.
    #[allow(unsafe_code)]
    unsafe extern "C" fn stat(path: *const c_char, found: *mut libc::stat) -> c_int {
        // SAFETY: SQLite calls this as it would call the system's function.
        unsafe { with_own_device(libc::stat(path, found), found) }
    }

    /// Changes a device number into one that is unique among the processes forked from each other.
    #[allow(unsafe_code)]
    unsafe fn with_own_device(outcome: c_int, found: *mut libc::stat) -> c_int {
        // SAFETY: after a success `found` is filled in.
        if let Some(found) = unsafe { found.as_mut() }.filter(|_| outcome == 0) {
            let generation = Process::current().generation() as libc::dev_t;
            found.st_dev ^= generation.rotate_right(16);
        }
        outcome
    }

    #[allow(unsafe_code)]
    unsafe extern "C" fn before() {
        // SAFETY: these locks exist, since SQLite is initialised.
        LOCKS.iter().for_each(|lock| unsafe { ffi::sqlite3_mutex_enter(ffi::sqlite3_mutex_alloc(*lock)) });
    }

    #[allow(unsafe_code)]
    unsafe extern "C" fn after() {
        // SAFETY: `before` has taken these locks in this thread.
        LOCKS.iter().rev().for_each(|lock| unsafe { ffi::sqlite3_mutex_leave(ffi::sqlite3_mutex_alloc(*lock)) });
    }
}
