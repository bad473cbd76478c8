//! The synchronisation that the pipeline is built of; with the feature `shuttle` that of a model checker, which runs the
//! pipeline's tests through all kinds of interleavings.

#[cfg(not(feature = "shuttle"))]
pub use {arc_swap::ArcSwap, parking_lot::Mutex, std::sync::atomic::AtomicU64};
#[cfg(feature = "shuttle")]
pub use {modelled::ArcSwap, modelled::Mutex, shuttle::sync::atomic::AtomicU64};

#[cfg(feature = "shuttle")]
mod modelled {
    use std::sync::Arc;

    use shuttle::sync::MutexGuard;

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
    }

    /// A shared pointer that is exchanged as a whole.
    pub struct ArcSwap<T>(Mutex<Arc<T>>);

    impl<T> ArcSwap<T> {
        pub fn from_pointee(value: T) -> Self {
            ArcSwap(Mutex::new(Arc::new(value)))
        }

        pub fn load(&self) -> Arc<T> {
            self.0.lock().clone()
        }

        pub fn load_full(&self) -> Arc<T> {
            self.load()
        }

        pub fn store(&self, value: Arc<T>) {
            *self.0.lock() = value;
        }
    }
}
