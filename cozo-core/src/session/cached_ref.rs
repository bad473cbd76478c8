//! Values that many threads use at once.

use std::ops::Deref;
use std::sync::Arc;

use arc_swap::{ArcSwapOption, Guard};

/// A shared value, held. No reference to it is counted unless it has no place of its own: threads that use the same value do
/// not pass a counter to and fro.
pub enum CachedRef<'a, T> {
    /// It stays where it is.
    Here(&'a T),
    /// It may be replaced meanwhile.
    Held(Guard<Option<Arc<T>>>),
}

impl<T> CachedRef<'_, T> {
    /// What is there, if anything.
    pub fn of(place: &ArcSwapOption<T>) -> Option<Self> {
        let guard = place.load();
        guard.is_some().then_some(CachedRef::Held(guard))
    }

    /// A reference of its own to what may be replaced; nothing if it stays where it is.
    pub fn to_shared(&self) -> Option<Arc<T>> {
        match self {
            CachedRef::Here(_) => None,
            CachedRef::Held(guard) => Option::clone(guard),
        }
    }
}

impl<T> From<Arc<T>> for CachedRef<'_, T> {
    fn from(value: Arc<T>) -> Self {
        CachedRef::Held(Guard::from_inner(Some(value)))
    }
}

impl<T> Deref for CachedRef<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            CachedRef::Here(value) => value,
            CachedRef::Held(guard) => guard.as_deref().expect("made of a value"),
        }
    }
}
