//! The synchronisation that the pipeline is built of; with the feature `shuttle` that of a model checker, which runs the
//! pipeline's tests through all kinds of interleavings.

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

/// How often [`spin`] tries: 1 to 5 microseconds, by processor.
const SPINS: usize = 100;

/// Tries until something is given, as often as is worth it: to put a thread aside and wake it takes the system longer.
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

/// Something that many threads change, apart from other memory: processors would pass that to and fro, too.
#[derive(Default)]
#[repr(align(128))]
pub struct CachePadded<T>(pub T);

impl<T> Deref for CachePadded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A lock that is held for a microsecond, hardly ever for longer. The standard one: who finds it taken looks again and again for about that
/// time, and then sleeps at once. Others first yield the processor some times, and where more threads run than there are processors, whoever
/// was interrupted while holding the lock comes back to go on only after all of those. It goes on after a panic.
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

/// As [`Mutex`], for readers or a writer.
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
