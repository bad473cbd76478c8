//! Counted references whose values lie in the [heap of trees](super::buffer), where `Arc` cannot put them.

use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use allocator_api2::boxed::Box;

use super::buffer::TreeMemory;

/// A value that several may hold, as by `Arc`, without weak references. The last to let go drops it.
pub(super) struct Shared<T> {
    counted: NonNull<Counted<T>>,
    _owns: PhantomData<Counted<T>>,
}

struct Counted<T> {
    holders: AtomicUsize,
    value: T,
}

/// A count beyond which clones that were forgotten could make it wrap.
const MAX_HOLDERS: usize = isize::MAX as usize;

// SAFETY: as for `Arc`: whoever holds it may read the value from its thread, and the last one drops it there.
#[allow(unsafe_code)]
unsafe impl<T: Send + Sync> Send for Shared<T> {}
#[allow(unsafe_code)]
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

#[allow(unsafe_code)]
impl<T> Shared<T> {
    /// A value that nobody else holds.
    pub fn new(value: T) -> Self {
        let counted = Box::new_in(Counted { holders: AtomicUsize::new(1), value }, TreeMemory);
        Shared { counted: NonNull::from(Box::leak(counted)), _owns: PhantomData }
    }

    #[inline]
    fn counted(&self) -> &Counted<T> {
        // SAFETY: it was made by `new` and is freed when the last holder is dropped; `self` is one.
        unsafe { self.counted.as_ref() }
    }

    /// How many hold it.
    #[inline]
    pub fn holders(this: &Self) -> usize {
        this.counted().holders.load(Ordering::Acquire)
    }

    /// The value to change, if nobody else holds it.
    #[inline]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        if Shared::holders(this) > 1 {
            return None;
        }
        // SAFETY: the only holder is borrowed mutably, so nobody reads the value or clones the reference; whoever let go
        // of it before has done with it, since their letting go was seen.
        Some(unsafe { &mut this.counted.as_mut().value })
    }

    /// Where the value is.
    #[cfg(test)]
    pub fn as_ptr(this: &Self) -> *const T {
        &raw const this.counted().value
    }
}

impl<T: Clone> Shared<T> {
    /// The value to change: itself if nobody else holds it, otherwise a copy put in its place.
    pub fn make_mut(this: &mut Self) -> &mut T {
        if Shared::holders(this) > 1 {
            *this = Shared::new(T::clone(this));
        }
        Shared::get_mut(this).expect("a value just made is not shared")
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.counted().value
    }
}

impl<T> Clone for Shared<T> {
    #[inline]
    fn clone(&self) -> Self {
        // Whoever clones holds it, so that the count cannot reach zero meanwhile: nothing needs to be ordered.
        if self.counted().holders.fetch_add(1, Ordering::Relaxed) > MAX_HOLDERS {
            std::process::abort();
        }
        Shared { counted: self.counted, _owns: PhantomData }
    }
}

#[allow(unsafe_code)]
impl<T> Drop for Shared<T> {
    #[inline]
    fn drop(&mut self) {
        if self.counted().holders.fetch_sub(1, Ordering::Release) > 1 {
            return;
        }
        // What the others did with the value comes before it is dropped.
        fence(Ordering::Acquire);
        // SAFETY: it was leaked by `new` from a box of this heap, and the last holder is gone.
        drop(unsafe { Box::from_raw_in(self.counted.as_ptr(), TreeMemory) });
    }
}

impl<T: Debug> Debug for Shared<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_last_holder_drops_the_value() {
        let (token, threads) = (Arc::new(()), 4);
        let shared = Shared::new(token.clone());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let shared = shared.clone();
                scope.spawn(move || {
                    let more: Vec<Shared<Arc<()>>> = (0..1000).map(|_| shared.clone()).collect();
                    assert!(more.iter().all(|other| Arc::ptr_eq(other, &shared)));
                });
            }
        });
        assert_eq!((Shared::holders(&shared), Arc::strong_count(&token)), (1, 2));
        drop(shared);
        assert_eq!(Arc::strong_count(&token), 1);
    }

    #[test]
    fn a_value_is_changed_in_place_by_its_only_holder() {
        let mut shared = Shared::new(vec![1]);
        let place = Shared::as_ptr(&shared);
        Shared::make_mut(&mut shared).push(2);
        assert_eq!(Shared::as_ptr(&shared), place);
        let before = shared.clone();
        assert!(Shared::get_mut(&mut shared).is_none());
        Shared::make_mut(&mut shared).push(3);
        assert_eq!((&*before, &*shared), (&vec![1, 2], &vec![1, 2, 3]));
    }
}
