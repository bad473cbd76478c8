//! Heaps of mimalloc for trees alone, in huge pages.
//!
//! Large trees are read faster in huge pages, since there are fewer misses in the TLB. But the system clears a huge page at the
//! first access, and a short query that allocates its rows there would wait for that. So mimalloc is compiled without huge pages
//! (Linux, `madvise`), and trees have heaps of their own that use them.
//!
//! ```text
//!  heap (HEAP_BYTES of reserved addresses)
//!  |-- ordinary pages, WITHOUT bytes --|-- huge pages ------------------------------------------------|
//!   mimalloc's notes, small databases   larger trees
//! ```
//!
//! Heaps are reserved one after another on first use, as many as the machine's memory can fill. An allocation that no heap
//! can serve fails here, and [`TreeMemory`](super::buffer::TreeMemory) falls back to the general heap.

use std::alloc::Layout;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use libmimalloc_sys::{mi_heap_malloc, mi_heap_malloc_aligned, mi_heap_realloc, mi_heap_realloc_aligned, mi_heap_t};

use crate::allocator::is_ordinary;
use crate::storage::options::MEMORY_BYTES;

/// The addresses of a heap. mimalloc's third version accepts less than 16 GB.
const HEAP_BYTES: usize = 8 << 30;

/// Larger blocks are not allocated in these heaps.
const MAX_BLOCK_BYTES: usize = HEAP_BYTES / 8;

/// A heap of mimalloc. It is never deleted.
struct Heap(NonNull<mi_heap_t>);

// SAFETY: in mimalloc's third version all threads may use a heap. Each finds its own part through it.
#[allow(unsafe_code)]
unsafe impl Send for Heap {}
#[allow(unsafe_code)]
unsafe impl Sync for Heap {}

/// The heaps. Only as many are used as the memory of the machine can fill. `None` stands for a failed reservation.
static HEAPS: [OnceLock<Option<Heap>>; 128] = [const { OnceLock::new() }; 128];

/// The index of the heap that had room last.
static WITH_ROOM: AtomicUsize = AtomicUsize::new(0);

/// Allocates a block, if a heap has room for it.
#[inline]
#[allow(unsafe_code)]
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    // SAFETY: a heap accepts any size, and returns null on failure.
    in_heap(layout, |heap| unsafe {
        if is_ordinary(layout) {
            mi_heap_malloc(heap, layout.size())
        } else {
            mi_heap_malloc_aligned(heap, layout.size(), layout.align())
        }
    })
}

/// Moves a block to one of another size, if a heap has room for it. Otherwise the block does not change.
///
/// # Safety
/// The block is from any heap of mimalloc, and has the alignment of the layout.
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

/// A new heap. None if the system charges for addresses that are not used yet.
#[cfg(target_os = "linux")]
#[cold]
#[allow(unsafe_code)]
fn reserve() -> Option<Heap> {
    use std::ptr::null_mut;

    use libmimalloc_sys::{mi_heap_new_in_arena, mi_manage_os_memory_ex};
    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

    /// The size of a huge page, and the alignment of the heap.
    const HUGE_PAGE: usize = 2 << 20;

    /// The bytes at the beginning of the heap without huge pages. They have mimalloc's sparse notes, and the trees of small databases,
    /// which should not wait for the clearing of pages that they hardly use.
    const WITHOUT: usize = 24 << 20;

    const MAPPED: usize = HEAP_BYTES + HUGE_PAGE;
    if !addresses_are_free() {
        return None;
    }
    let (readable, reserved) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
    // SAFETY: the mapping is new, so no other code uses it. Either mimalloc owns it from here on, or it is unmapped.
    unsafe {
        let mapped = mmap_anonymous(null_mut(), MAPPED, readable, reserved).ok()?;
        let start = mapped.map_addr(|address| address.next_multiple_of(HUGE_PAGE));
        // A system without huge pages returns an error, and the heap works without them.
        let _ = madvise(start.byte_add(WITHOUT), HEAP_BYTES - WITHOUT, Advice::LinuxHugepage);
        let mut arena = null_mut();
        if !mi_manage_os_memory_ex(start, HEAP_BYTES, true, false, true, -1, true, &raw mut arena) {
            let _ = munmap(mapped, MAPPED);
            return None;
        }
        NonNull::new(mi_heap_new_in_arena(arena)).map(Heap)
    }
}

/// Whether the system counts used memory only, and not reserved addresses.
#[cfg(target_os = "linux")]
fn addresses_are_free() -> bool {
    use rustix::process::{Resource, getrlimit};

    /// The setting under which reserved addresses count as memory.
    const PROMISES_ARE_KEPT: &str = "2";

    let policy = std::fs::read_to_string("/proc/sys/vm/overcommit_memory");
    getrlimit(Resource::As).current.is_none() && policy.is_ok_and(|policy| policy.trim() != PROMISES_ARE_KEPT)
}

/// Other systems use mimalloc's general heap.
#[cfg(not(target_os = "linux"))]
fn reserve() -> Option<Heap> {
    None
}
