//! The memory of trees: vectors with an allocator of their own.
//!
//! Data stays for long, what queries allocate for moments only. In one heap the rows of results would come to lie
//! in the holes between nodes, all over the memory, wherever the program's allocator does not keep sizes apart.

use std::alloc::{GlobalAlloc, Layout};
use std::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator};

use super::heap;
use crate::allocator::Mimalloc;

/// Values of a leaf column, or children of a node.
pub(super) type Buffer<T> = allocator_api2::vec::Vec<T, TreeMemory>;

/// Room for a few more rows that a copied buffer gets, so that the insertion it was copied for does not move it again.
const ROOM: usize = 4;

/// The heap of all trees, and where it has no room mimalloc's of all else.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TreeMemory;

// SAFETY: mimalloc gives blocks that stay where they are until they are freed, from any thread and whichever heap they are of, and every
// `TreeMemory` is the same. `GlobalAlloc` does not take layouts of no size, which `Allocator` does; buffers never ask for them, and
// here they are an error rather than a dangling block.
#[allow(unsafe_code)]
unsafe impl Allocator for TreeMemory {
    #[inline]
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if layout.size() == 0 {
            return Err(AllocError);
        }
        let elsewhere = || NonNull::new(unsafe { Mimalloc.alloc(layout) });
        let block = heap::allocate(layout).or_else(elsewhere).ok_or(AllocError)?;
        Ok(NonNull::slice_from_raw_parts(block, layout.size()))
    }

    #[inline]
    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        unsafe { Mimalloc.dealloc(block.as_ptr(), layout) }
    }

    #[inline]
    unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if old.align() != new.align() {
            return Err(AllocError);
        }
        let elsewhere = || NonNull::new(unsafe { Mimalloc.realloc(block.as_ptr(), old, new.size()) });
        let block = unsafe { heap::reallocate(block, new) }.or_else(elsewhere).ok_or(AllocError)?;
        Ok(NonNull::slice_from_raw_parts(block, new.size()))
    }
}

/// A buffer of these values.
pub(super) fn buffer<T>(values: impl ExactSizeIterator<Item = T>) -> Buffer<T> {
    let mut buffer = Buffer::with_capacity_in(values.len(), TreeMemory);
    buffer.extend(values);
    buffer
}

/// A copy with room for a few more values.
pub(super) fn copy_with_room<T: Clone>(values: &[T]) -> Buffer<T> {
    let mut copy = Buffer::with_capacity_in(values.len() + ROOM, TreeMemory);
    copy.extend_from_slice(values);
    copy
}

/// Inserts, growing by little: a leaf is rarely inserted into twice before it is copied.
pub(super) fn insert_compact<T>(values: &mut Buffer<T>, index: usize, value: T) {
    if values.len() == values.capacity() {
        values.reserve_exact(ROOM * 4);
    }
    values.insert(index, value);
}
