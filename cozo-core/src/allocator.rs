//! mimalloc as the allocator of a whole program.
//!
//! [`Mimalloc`] is the allocator; [`keep_freed_memory`], [`return_freed_memory`] and `spare_addresses` set options of mimalloc and of the C library.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_long;

use libmimalloc_sys::{
    mi_free, mi_malloc, mi_malloc_aligned, mi_option_set_default, mi_option_t, mi_realloc, mi_realloc_aligned,
    mi_zalloc, mi_zalloc_aligned,
};

/// What mimalloc aligns every block to that is as large.
const ORDINARY_ALIGNMENT: usize = 16;

/// mimalloc's option `purge_delay`, for which its crate has no name.
const PURGE_DELAY: mi_option_t = 15;

/// The milliseconds for which freed memory stays with the process.
const PURGE_DELAY_MS: c_long = 10_000;

/// Lets mimalloc keep freed memory for a while. Large queries in sequence then reuse it, and the system need not clear it page by
/// page. `MIMALLOC_PURGE_DELAY` in the environment, or a value that the program has set before, stays.
pub(crate) fn keep_freed_memory() {
    set_purge_delay(PURGE_DELAY_MS);
}

/// Has mimalloc return freed memory at once, so that what one step of a query has freed is there for the next, in whatever form.
pub(crate) fn return_freed_memory() {
    set_purge_delay(0);
}

fn set_purge_delay(milliseconds: c_long) {
    // SAFETY: the option is one of mimalloc's, which takes any number at any time.
    #[allow(unsafe_code)]
    unsafe {
        mi_option_set_default(PURGE_DELAY, milliseconds);
    }
}

/// mimalloc, for programs with many small blocks, as results have: `#[global_allocator] static ALLOCATOR: Mimalloc = Mimalloc;`.
///
/// A request without special alignment takes mimalloc's shortest way. A program can have only one allocator: the crate's feature
/// `mimalloc` chooses this one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mimalloc;

impl Mimalloc {
    /// Makes the C library's own allocator use fewer addresses if the process may have only few (`ulimit -v`). Call it when the
    /// program begins. SQLite and RocksDB use that allocator, which reserves 64 MB of addresses for each thread: tens of threads
    /// would use up the addresses and end the process.
    pub fn spare_addresses() {
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        if rustix::process::getrlimit(rustix::process::Resource::As).current.is_some() {
            // SAFETY: the option takes any positive number, at any time.
            #[allow(unsafe_code)]
            unsafe {
                libc::mallopt(libc::M_ARENA_MAX, 1);
            }
        }
    }
}

/// Whether mimalloc aligns all blocks of the size of the layout as it wants.
#[inline]
pub(crate) fn is_ordinary(layout: Layout) -> bool {
    layout.align() <= ORDINARY_ALIGNMENT && layout.align() <= layout.size()
}

// SAFETY: blocks are mimalloc's, which are for any thread, have the size that is asked for, and the alignment: see `is_ordinary`.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Mimalloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        unsafe { if is_ordinary(layout) { mi_malloc(size) } else { mi_malloc_aligned(size, align) } }.cast()
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        unsafe { if is_ordinary(layout) { mi_zalloc(size) } else { mi_zalloc_aligned(size, align) } }.cast()
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        unsafe { mi_free(block.cast()) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, old: Layout, size: usize) -> *mut u8 {
        let (block, align) = (block.cast(), old.align());
        let is_ordinary = is_ordinary(old) && align <= size;
        unsafe { if is_ordinary { mi_realloc(block, size) } else { mi_realloc_aligned(block, size, align) } }.cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(unsafe_code)]
    fn a_database_has_freed_memory_kept_unless_the_program_says_otherwise() {
        let delay = || unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
        let set = |delay| unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, delay) };
        let _db = crate::DbInstance::default();
        assert_eq!(delay(), PURGE_DELAY_MS);
        set(70);
        let _another = crate::DbInstance::default();
        assert_eq!(delay(), 70);
        set(PURGE_DELAY_MS);
    }

    #[test]
    #[allow(unsafe_code)]
    fn blocks_are_aligned_cleared_and_kept_when_they_grow() {
        for (size, align) in [1, 3, 8, 16, 24, 40, 56, 100, 1000, 5000, 70_000, 3 << 20]
            .into_iter()
            .flat_map(|size| [1, 2, 4, 8, 16, 32, 64, 4096].map(|align| (size, align)))
        {
            let layout = Layout::from_size_align(size, align).expect("alignments are powers of two");
            // Several, so that they do not all begin a piece of memory.
            let blocks: Vec<*mut u8> = (0..5)
                .map(|_| unsafe {
                    let cleared = Mimalloc.alloc_zeroed(layout);
                    assert!((0..size).all(|at| cleared.add(at).read() == 0), "{layout:?}");
                    let block = Mimalloc.alloc(layout);
                    block.write_bytes(7, size);
                    let grown = Mimalloc.realloc(block, layout, size * 2);
                    assert!((0..size).all(|at| grown.add(at).read() == 7), "{layout:?}");
                    assert_eq!((cleared.addr() % align, grown.addr() % align), (0, 0), "{layout:?}");
                    Mimalloc.dealloc(cleared, layout);
                    grown
                })
                .collect();
            for block in blocks {
                let layout = Layout::from_size_align(size * 2, align).expect("as before");
                unsafe { Mimalloc.dealloc(block, layout) }
            }
        }
    }
}
