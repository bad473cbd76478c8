//! The synchronisation that the pipeline is built of; with the feature `shuttle` that of a model checker, which runs the
//! pipeline's tests through all kinds of interleavings.

#[cfg(feature = "shuttle")]
pub use {modelled::Mutex, modelled::RwLock, shuttle::sync::atomic::AtomicU64};
#[cfg(not(feature = "shuttle"))]
pub use {parking_lot::Mutex, parking_lot::RwLock, std::sync::atomic::AtomicU64};

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
