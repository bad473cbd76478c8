//! Loads that bring memory into the cache.
//!
//! A prefetch is an ordinary load whose result goes to `black_box`. It needs no unsafe code and no platform intrinsics, and an
//! out-of-order processor does not wait for one before it starts the next. So loads that do not depend on one another wait at the
//! same time. A function `prefetch` of a node or a column reads some of its memory, and returns a number without meaning, so that
//! the compiler does not drop the load.

/// The result of several loads.
#[inline]
pub(super) fn sum(values: impl Iterator<Item = usize>) -> usize {
    values.fold(0, usize::wrapping_add)
}

/// Runs loads.
#[inline]
pub(super) fn load(values: impl Iterator<Item = usize>) {
    std::hint::black_box(sum(values));
}
