//! Values that many threads use at once.

use std::ops::Deref;
use std::sync::Arc;

use arc_swap::{ArcSwapOption, Guard};

/// A shared value, held. Where it was loaded from a place of its own, no reference is counted: threads that use the same value
/// do not pass a counter to and fro.
pub struct Loaded<T>(Guard<Option<Arc<T>>>);

impl<T> Loaded<T> {
    /// What is there, if anything.
    pub fn of(place: &ArcSwapOption<T>) -> Option<Self> {
        let guard = place.load();
        guard.is_some().then_some(Loaded(guard))
    }
}

impl<T> From<Arc<T>> for Loaded<T> {
    fn from(value: Arc<T>) -> Self {
        Loaded(Guard::from_inner(Some(value)))
    }
}

impl<T> Deref for Loaded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().expect("made of a value")
    }
}
