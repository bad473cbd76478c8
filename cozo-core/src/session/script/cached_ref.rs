//! References to cached values that many threads use at once.

use std::ops::Deref;
use std::sync::Arc;

use arc_swap::{ArcSwapOption, Guard};

/// A reference to a cached value. It avoids counting references, so that threads with the same value do not contend for a counter.
pub enum CachedRef<'a, T> {
    /// The value is never replaced.
    Here(&'a T),
    /// The value may be replaced in its cache meanwhile.
    Held(Guard<Option<Arc<T>>>),
}

impl<T> CachedRef<'_, T> {
    /// The value in a cache slot, if there is one.
    pub fn of(place: &ArcSwapOption<T>) -> Option<Self> {
        let guard = place.load();
        guard.is_some().then_some(CachedRef::Held(guard))
    }

    /// A counted reference to a value that may be replaced; none for a value that is never replaced.
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
