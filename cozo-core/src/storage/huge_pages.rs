//! Huge pages only for what is large.
//!
//! The allocator asks for huge pages for all that it gets from the system (Linux, `madvise`). What lies in hundreds of megabytes is found 5 to
//! 10 % sooner by them. But the system clears two megabytes at the first touch of each, and the allocator has each thread touch new memory
//! for each size of blocks: a hundred threads that begin to ask a small database would wait for that, for up to a third of a second. So
//! the memory that the allocator got first is to have none, until a relation or a query is large.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::mem::allocated_address;

/// From so many bytes on a relation or a query is large.
const LARGE: u64 = 4 << 20;

/// So many bytes the allocator asks the system for, and places at a multiple of them,
const ARENA: usize = 1 << 30;

/// between these addresses, where nothing else is unless it is put there. Elsewhere memory is shared with what is not the allocator's, and
/// stays as it is.
const PLACES: std::ops::Range<usize> = 2 << 40..32 << 40;

/// Whether anything is large.
static IS_LARGE: AtomicBool = AtomicBool::new(false);

/// The memory that the allocator got first, if it is known.
static FIRST: OnceLock<Option<usize>> = OnceLock::new();

/// Has the allocator's memory be without huge pages for now.
pub fn put_off() {
    FIRST.get_or_init(|| {
        let address = allocated_address() / ARENA * ARENA;
        let is_known = PLACES.contains(&address) && !IS_LARGE.load(Relaxed);
        is_known.then(|| advise(address, false)).map(|()| address)
    });
}

/// Says that something is about to take so many bytes, which are counted as long as nothing is large.
#[inline]
pub fn expect(bytes: impl FnOnce() -> u64) {
    if !IS_LARGE.load(Relaxed) && bytes() >= LARGE {
        IS_LARGE.store(true, Relaxed);
        if let Some(Some(first)) = FIRST.get() {
            advise(*first, true);
        }
    }
}

/// Whether there are to be huge pages where some of the allocator's memory begins.
#[cfg(target_os = "linux")]
fn advise(address: usize, huge: bool) {
    use rustix::mm::{Advice, madvise};

    let advice = if huge { Advice::LinuxHugepage } else { Advice::LinuxNoHugepage };
    // SAFETY: the advice changes how long memory takes, and nothing of what is in it. What is not mapped is passed over, with an error that
    // says so; so does a system without huge pages.
    #[allow(unsafe_code)]
    let _ = unsafe { madvise(std::ptr::without_provenance_mut(address), ARENA, advice) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_address: usize, _huge: bool) {}
