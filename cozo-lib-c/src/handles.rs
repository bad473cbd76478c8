//! The open databases by number. Numbers begin with 0, and none is used twice.
//!
//! A forked process has a table of its own, which goes on with the next number: the lock of its parent's may be held by a
//! thread that is not there. When the program ends by `exit`, what is open is closed, before the libraries below are.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Once, PoisonError, RwLock};
use std::time::{Duration, Instant};

use cozo::{DbInstance, Forked, PerProcess};
use miette::Report;

use crate::boundary::Failure;

static HANDLES: PerProcess<Handles> = PerProcess::new();

/// The number of the next database.
static NEXT: AtomicI32 = AtomicI32::new(0);

struct Handles {
    /// The numbers below are of databases that other processes have opened.
    first: i32,
    open: RwLock<BTreeMap<i32, DbInstance>>,
    /// How many calls are at work.
    calls: AtomicUsize,
}

impl Default for Handles {
    fn default() -> Self {
        Handles { first: NEXT.load(Ordering::Relaxed), open: RwLock::default(), calls: AtomicUsize::new(0) }
    }
}

/// Keeps a database, and gives its number.
pub fn insert(db: DbInstance) -> Result<i32, Failure> {
    let handles = HANDLES.get();
    let id = take_number(&NEXT)?;
    handles.open.write().unwrap_or_else(PoisonError::into_inner).insert(id, db);
    Ok(id)
}

fn take_number(next: &AtomicI32) -> Result<i32, Failure> {
    let taken = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |id| id.checked_add(1));
    taken.map_err(|_| "this process has opened 2147483647 databases, and can open no more".to_string().into())
}

/// The database of a number; a handle of it, so that others may close it meanwhile.
pub fn get(id: i32) -> Result<DbInstance, Failure> {
    let handles = HANDLES.get();
    let open = handles.open.read().unwrap_or_else(PoisonError::into_inner);
    match open.get(&id) {
        Some(db) => Ok(db.clone()),
        None if (0..handles.first).contains(&id) => Err(Failure::from(Report::from(Forked))),
        None => Err("database closed".to_string().into()),
    }
}

/// Closes the database of a number, and stops what it runs; whether it was open in this process.
pub fn close(id: i32) -> bool {
    let closed = HANDLES.get().open.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
    let Some(db) = closed else { return false };
    db.interrupt_until_unused(MOMENT);
    // Dropped without the lock: letting go of files takes time.
    drop(db);
    true
}

/// A call that is at work, until this is dropped.
pub struct Call(&'static Handles);

/// Notes a call, for which the end of the program waits.
pub fn call() -> Call {
    let handles = HANDLES.get();
    handles.calls.fetch_add(1, Ordering::SeqCst);
    Call(handles)
}

impl Drop for Call {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::SeqCst);
    }
}

/// How long the end of the program waits for calls of other threads.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long it waits between two looks.
const GLANCE: Duration = Duration::from_millis(1);

/// How long a call may take from the look-up of its database to the start of its script, which can be stopped only then.
const MOMENT: Duration = Duration::from_millis(100);

/// Has what is open be closed when the program ends. What is registered last is called first: a library that is used
/// for the first time when a database is opened has registered its own end before.
pub fn close_at_exit(engine: &str) {
    static ANY: Once = Once::new();
    static ROCKSDB: Once = Once::new();
    let once = if engine == "rocksdb" { &ROCKSDB } else { &ANY };
    // SAFETY: the function is there as long as the program. Where the system has no memory for it, nothing is closed.
    once.call_once(|| {
        let _ = unsafe { libc::atexit(close_all) };
    });
}

extern "C" fn close_all() {
    let handles = HANDLES.get();
    let deadline = Instant::now() + PATIENCE;
    let mut open = BTreeMap::new();
    // A call that looks up its database has the lock for a moment. One whose thread the end of the program interrupted keeps it.
    wait_until(deadline, || handles.open.try_write().map(|mut all| open = std::mem::take(&mut *all)).is_ok());
    wait_until(deadline, || {
        // Again and again: a call may have its database, but not have started its script.
        open.values().for_each(DbInstance::interrupt_all);
        handles.calls.load(Ordering::SeqCst) == 0
    });
}

fn wait_until(deadline: Instant, mut is_reached: impl FnMut() -> bool) {
    while !is_reached() && Instant::now() < deadline {
        std::thread::sleep(GLANCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_with_an_error() {
        let next = AtomicI32::new(i32::MAX - 1);
        assert_eq!(take_number(&next).ok(), Some(i32::MAX - 1));
        assert!(take_number(&next).is_err());
        assert!(take_number(&next).is_err());
    }
}
