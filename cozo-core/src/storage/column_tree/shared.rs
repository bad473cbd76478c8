//! Counted references to values in the [heap of trees](super::buffer), which `Arc` cannot use.

use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use allocator_api2::boxed::Box;

use super::buffer::TreeMemory;

/// A counted reference like `Arc`, without weak references. Dropping the last one drops the value.
pub(super) struct Shared<T> {
    counted: NonNull<Counted<T>>,
    _owns: PhantomData<Counted<T>>,
}

struct Counted<T> {
    holders: AtomicUsize,
    value: T,
}

/// The greatest count. Beyond it, forgotten clones could make the counter wrap.
const MAX_HOLDERS: usize = isize::MAX as usize;

// SAFETY: as for `Arc`: each holder may read the value from its thread, and the last one drops the value in its thread.
#[allow(unsafe_code)]
unsafe impl<T: Send + Sync> Send for Shared<T> {}
#[allow(unsafe_code)]
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

#[allow(unsafe_code)]
impl<T> Shared<T> {
    /// A value with one holder.
    pub fn new(value: T) -> Self {
        let counted = Box::new_in(Counted { holders: AtomicUsize::new(1), value }, TreeMemory);
        Shared { counted: NonNull::from(Box::leak(counted)), _owns: PhantomData }
    }

    #[inline]
    fn counted(&self) -> &Counted<T> {
        // SAFETY: `new` made the value, and it is freed when the last holder is dropped. `self` is a holder.
        unsafe { self.counted.as_ref() }
    }

    /// The number of holders.
    #[inline]
    pub fn holders(this: &Self) -> usize {
        this.counted().holders.load(Ordering::Acquire)
    }

    /// The value for a change, if there is one holder.
    #[inline]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        if Shared::holders(this) > 1 {
            return None;
        }
        // SAFETY: the only holder is borrowed mutably, so no other code reads the value or clones the reference. The acquiring load
        // of the count orders all accesses of earlier holders before this one.
        Some(unsafe { &mut this.counted.as_mut().value })
    }

    /// The address of the value.
    #[cfg(test)]
    pub fn as_ptr(this: &Self) -> *const T {
        &raw const this.counted().value
    }
}

impl<T: Clone> Shared<T> {
    /// The value for a change: the value itself if there is one holder, otherwise a copy, which replaces it.
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
        // `self` is a holder, so the count cannot reach zero meanwhile. No ordering is needed.
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
        // All accesses of other holders come before the drop.
        fence(Ordering::Acquire);
        // SAFETY: `new` leaked the value from a box of this heap, and this was the last holder.
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
