//! Locks without poison, by the standard library.
//!
//! A thread that waits for such a lock waits in the system, and the lock has no other state. A lock with a table of waiting
//! threads that all locks share does not work here: a forked process would have that table with threads that do not exist in it.
//!
//! A lock goes on after a panic: its value is changed in one step, or not at all.
//!
//! ```ignore
//! let counter = Mutex::new(1);
//! *counter.lock() += 1;
//! ```

use std::sync::{self, PoisonError};
use std::time::Instant;

pub use std::sync::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

/// A lock of one holder.
#[derive(Debug, Default)]
pub struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock over a value.
    pub const fn new(value: T) -> Self {
        Mutex(sync::Mutex::new(value))
    }

    /// The value, once no other thread has it.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a lock that is borrowed mutably, so that no thread has it.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A lock of many readers or one writer.
#[derive(Debug, Default)]
pub struct RwLock<T>(sync::RwLock<T>);

impl<T> RwLock<T> {
    /// A lock over a value.
    pub const fn new(value: T) -> Self {
        RwLock(sync::RwLock::new(value))
    }

    /// The value to read, once no thread writes it.
    #[inline]
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value to write, once no other thread has it.
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a lock that is borrowed mutably, so that no thread has it.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A condition variable for the value of a [`Mutex`].
#[derive(Debug, Default)]
pub struct Condvar(sync::Condvar);

impl Condvar {
    /// A condition variable without waiting threads.
    pub const fn new() -> Self {
        Condvar(sync::Condvar::new())
    }

    /// Releases the lock and waits for a notification; may wake without one.
    pub fn wait<'m, T>(&self, guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    /// [`Condvar::wait`] until an instant at most; also returns whether that has passed.
    pub fn wait_until<'m, T>(&self, guard: MutexGuard<'m, T>, deadline: Instant) -> (MutexGuard<'m, T>, bool) {
        let timeout = deadline.saturating_duration_since(Instant::now());
        let (guard, outcome) = self.0.wait_timeout(guard, timeout).unwrap_or_else(PoisonError::into_inner);
        (guard, outcome.timed_out())
    }

    /// Wakes all threads that wait.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}
