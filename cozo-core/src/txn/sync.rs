//! The locks and atomics that the pipeline is built of. With the feature `shuttle` they are those of a model checker, which
//! runs the pipeline's tests through many interleavings.

use std::ops::Deref;
use std::sync::{PoisonError, TryLockError};

#[cfg(feature = "shuttle")]
use shuttle::sync as system;
#[cfg(feature = "shuttle")]
pub use shuttle::thread::yield_now;
#[cfg(not(feature = "shuttle"))]
use std::sync as system;
#[cfg(not(feature = "shuttle"))]
pub use std::thread::yield_now;

pub use system::{MutexGuard, RwLockReadGuard, RwLockWriteGuard, atomic::AtomicU64};

/// How often [`spin`] tries: 1 to 5 microseconds, depending on the processor.
const SPINS: usize = 100;

/// Repeats an attempt until it succeeds, for about as long as the system needs to park a thread and wake it.
#[inline]
pub fn spin<T>(mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    (0..SPINS).find_map(|_| {
        let given = attempt();
        if given.is_none() {
            std::hint::spin_loop();
        }
        given
    })
}

/// A value that many threads change, on a cache line of its own. Otherwise its neighbours would move between processors with
/// it.
#[derive(Default)]
#[repr(align(128))]
pub struct CachePadded<T>(pub T);

impl<T> Deref for CachePadded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A lock that is usually held for about a microsecond. It ignores poisoning.
///
/// This is the standard lock. A thread that finds it taken spins for about a microsecond, then parks. Other locks first yield
/// the processor some times. With more threads than processors, a preempted holder would then run again only after all of
/// the yielding threads.
#[derive(Default)]
pub struct Mutex<T>(system::Mutex<T>);

impl<T> Mutex<T> {
    pub fn new(value: T) -> Self {
        Mutex(system::Mutex::new(value))
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// A [`Mutex`] for many readers or one writer.
pub struct RwLock<T>(system::RwLock<T>);

impl<T> RwLock<T> {
    pub fn new(value: T) -> Self {
        RwLock(system::RwLock::new(value))
    }

    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
