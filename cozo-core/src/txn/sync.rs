//! The synchronisation that the pipeline is built of; with the feature `shuttle` that of a model checker, which runs the
//! pipeline's tests through all kinds of interleavings.

use std::ops::Deref;

#[cfg(feature = "shuttle")]
pub use {
    modelled::{Mutex, RwLock},
    shuttle::sync::{MutexGuard, RwLockReadGuard, RwLockWriteGuard, atomic::AtomicU64},
    shuttle::thread::yield_now,
};
#[cfg(not(feature = "shuttle"))]
pub use {
    parking_lot::{MutexGuard, RwLockReadGuard, RwLockWriteGuard},
    spinning::{Mutex, RwLock},
    std::sync::atomic::AtomicU64,
    std::thread::yield_now,
};

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
pub struct Apart<T>(pub T);

impl<T> Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Locks that are held for a microsecond, hardly ever for longer: who finds one taken [spins](spin) before waiting, and
/// looks before trying, since a try takes the lock's memory from whoever holds it.
#[cfg(not(feature = "shuttle"))]
mod spinning {
    use parking_lot::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

    use super::spin;

    #[derive(Default)]
    pub struct Mutex<T>(parking_lot::Mutex<T>);

    impl<T> Mutex<T> {
        pub fn new(value: T) -> Self {
            Mutex(parking_lot::Mutex::new(value))
        }

        pub fn lock(&self) -> MutexGuard<'_, T> {
            spin(|| self.try_lock()).unwrap_or_else(|| self.0.lock())
        }

        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            if self.0.is_locked() { None } else { self.0.try_lock() }
        }
    }

    pub struct RwLock<T>(parking_lot::RwLock<T>);

    impl<T> RwLock<T> {
        pub fn new(value: T) -> Self {
            RwLock(parking_lot::RwLock::new(value))
        }

        pub fn read(&self) -> RwLockReadGuard<'_, T> {
            let attempt = || if self.0.is_locked_exclusive() { None } else { self.0.try_read() };
            spin(attempt).unwrap_or_else(|| self.0.read())
        }

        pub fn write(&self) -> RwLockWriteGuard<'_, T> {
            let attempt = || if self.0.is_locked() { None } else { self.0.try_write() };
            spin(attempt).unwrap_or_else(|| self.0.write())
        }
    }
}

#[cfg(feature = "shuttle")]
mod modelled {
    use shuttle::sync::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

    /// A mutex with the face of `parking_lot`'s.
    #[derive(Default)]
    pub struct Mutex<T>(shuttle::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub fn new(value: T) -> Self {
            Mutex(shuttle::sync::Mutex::new(value))
        }

        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("a thread that panics ends the model")
        }

        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            self.0.try_lock().ok()
        }
    }

    /// A lock of readers or a writer with the face of `parking_lot`'s.
    pub struct RwLock<T>(shuttle::sync::RwLock<T>);

    impl<T> RwLock<T> {
        pub fn new(value: T) -> Self {
            RwLock(shuttle::sync::RwLock::new(value))
        }

        pub fn read(&self) -> RwLockReadGuard<'_, T> {
            self.0.read().expect("a thread that panics ends the model")
        }

        pub fn write(&self) -> RwLockWriteGuard<'_, T> {
            self.0.write().expect("a thread that panics ends the model")
        }
    }
}
