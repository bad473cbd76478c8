//! Heaps of mimalloc for trees alone, in huge pages.
//!
//! What lies in hundreds of megabytes is found 5 to 15 % sooner in pages of two megabytes. But the system clears all of such a page at its
//! first prefetch, for which a query of a tenth of a millisecond would wait when it takes memory for its rows. So mimalloc is compiled not to
//! ask for huge pages (Linux, `madvise`), and trees have memory of their own that does.

use std::alloc::Layout;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use libmimalloc_sys::{mi_heap_malloc, mi_heap_malloc_aligned, mi_heap_realloc, mi_heap_realloc_aligned, mi_heap_t};

use crate::allocator::is_ordinary;
use crate::storage::options::MEMORY_BYTES;

/// The addresses of a heap. mimalloc's third version takes less than 16 GB of them.
const HEAP_BYTES: usize = 8 << 30;

/// Larger blocks are for the system.
const MAX_BLOCK_BYTES: usize = HEAP_BYTES / 8;

/// A heap of mimalloc, never deleted.
struct Heap(NonNull<mi_heap_t>);

// SAFETY: in mimalloc's third version a heap is for all threads, each of which finds its own part through it.
#[allow(unsafe_code)]
unsafe impl Send for Heap {}
#[allow(unsafe_code)]
unsafe impl Sync for Heap {}

/// As many heaps as it takes for all memory of the machine, as far as the system gives addresses for them.
static HEAPS: [OnceLock<Option<Heap>>; 128] = [const { OnceLock::new() }; 128];

/// The heap that had room last.
static WITH_ROOM: AtomicUsize = AtomicUsize::new(0);

/// A block, if a heap has room for it.
#[inline]
#[allow(unsafe_code)]
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    // SAFETY: a heap takes any size, and fails by no block.
    in_heap(layout, |heap| unsafe {
        if is_ordinary(layout) {
            mi_heap_malloc(heap, layout.size())
        } else {
            mi_heap_malloc_aligned(heap, layout.size(), layout.align())
        }
    })
}

/// A block of another size for this one, with what is in it, if a heap has room for it; otherwise this one stays as it is.
///
/// # Safety
/// The block is mimalloc's, of whatever heap, and aligned as the layout says.
#[inline]
#[allow(unsafe_code)]
pub unsafe fn reallocate(block: NonNull<u8>, layout: Layout) -> Option<NonNull<u8>> {
    let block = block.as_ptr().cast();
    in_heap(layout, |heap| unsafe {
        if is_ordinary(layout) {
            mi_heap_realloc(heap, block, layout.size())
        } else {
            mi_heap_realloc_aligned(heap, block, layout.size(), layout.align())
        }
    })
}

#[inline]
fn in_heap(layout: Layout, block_of: impl Fn(*mut mi_heap_t) -> *mut c_void) -> Option<NonNull<u8>> {
    if layout.size() > MAX_BLOCK_BYTES {
        return None;
    }
    let first = WITH_ROOM.load(Relaxed);
    let heap = HEAPS[first].get_or_init(reserve).as_ref()?;
    NonNull::new(block_of(heap.0.as_ptr())).map(NonNull::cast).or_else(|| in_another_heap(first, block_of))
}

#[cold]
fn in_another_heap(full: usize, block_of: impl Fn(*mut mi_heap_t) -> *mut c_void) -> Option<NonNull<u8>> {
    let heaps = MEMORY_BYTES.div_ceil(HEAP_BYTES).min(HEAPS.len());
    (1..heaps).map(|step| (full + step) % heaps).find_map(|index| {
        let heap = HEAPS[index].get_or_init(reserve).as_ref()?;
        let block = NonNull::new(block_of(heap.0.as_ptr()))?;
        WITH_ROOM.store(index, Relaxed);
        Some(block.cast())
    })
}

/// A new heap, where its addresses cost nothing before they are used.
#[cfg(target_os = "linux")]
#[cold]
#[allow(unsafe_code)]
fn reserve() -> Option<Heap> {
    use std::ptr::null_mut;

    use libmimalloc_sys::{mi_heap_new_in_arena, mi_manage_os_memory_ex};
    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

    /// The heap begins at the beginning of a huge page.
    const HUGE_PAGE: usize = 2 << 20;

    /// So many bytes at its beginning have no huge pages: there are mimalloc's notes, 17 MB of mostly nothing, and the trees of small
    /// databases, which are not to wait for what they will not use.
    const WITHOUT: usize = 24 << 20;

    const MAPPED: usize = HEAP_BYTES + HUGE_PAGE;
    if !addresses_are_free() {
        return None;
    }
    let (readable, reserved) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
    // SAFETY: the mapping is new, so that nobody else has it. It is mimalloc's for good, or given back.
    unsafe {
        let mapped = mmap_anonymous(null_mut(), MAPPED, readable, reserved).ok()?;
        let start = mapped.map_addr(|address| address.next_multiple_of(HUGE_PAGE));
        // A system that has no huge pages says so, and does without.
        let _ = madvise(start.byte_add(WITHOUT), HEAP_BYTES - WITHOUT, Advice::LinuxHugepage);
        let mut arena = null_mut();
        if !mi_manage_os_memory_ex(start, HEAP_BYTES, true, false, true, -1, true, &raw mut arena) {
            let _ = munmap(mapped, MAPPED);
            return None;
        }
        NonNull::new(mi_heap_new_in_arena(arena)).map(Heap)
    }
}

/// Whether the system counts memory when it is used, and not the addresses that it may have one day.
#[cfg(target_os = "linux")]
fn addresses_are_free() -> bool {
    use rustix::process::{Resource, getrlimit};

    /// The system promises no more memory than it has.
    const PROMISES_ARE_KEPT: &str = "2";

    let policy = std::fs::read_to_string("/proc/sys/vm/overcommit_memory");
    getrlimit(Resource::As).current.is_none() && policy.is_ok_and(|policy| policy.trim() != PROMISES_ARE_KEPT)
}

/// Elsewhere mimalloc's heap of all else will do.
#[cfg(not(target_os = "linux"))]
fn reserve() -> Option<Heap> {
    None
}
