//! The memory of trees: vectors with an allocator of their own.
//!
//! Trees live long, and most allocations of queries live briefly. In a common heap, result rows would fill the holes between
//! nodes and scatter over the memory, unless the program's allocator separates sizes.

use std::alloc::{GlobalAlloc, Layout};
use std::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator};

use super::heap;
use crate::allocator::Mimalloc;

/// Values of a leaf column, or children of a node.
pub(super) type Buffer<T> = allocator_api2::vec::Vec<T, TreeMemory>;

/// The spare room of a copied buffer, so that the insertion that caused the copy does not move it again.
const ROOM: usize = 4;

/// The heap of all trees. When it has no room, the general heap of mimalloc is used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TreeMemory;

// SAFETY: a block of mimalloc stays where it is until it is freed, and any thread may free it, whichever heap it is from. All
// `TreeMemory` values are equal. `GlobalAlloc` does not accept layouts of size 0, which `Allocator` does. Buffers never request
// them, and here they are an error rather than a dangling block.
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

/// A buffer with these values.
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

/// Inserts a value, or replaces one. The buffer grows by little, since a leaf is rarely inserted into twice before it is copied.
pub(super) fn write<T>(values: &mut Buffer<T>, index: usize, value: T, is_new: bool) {
    if !is_new {
        values[index] = value;
        return;
    }
    if values.len() == values.capacity() {
        values.reserve_exact(ROOM * 4);
    }
    values.insert(index, value);
}

/// The size of a buffer.
pub(super) fn bytes_of<T>(values: &Buffer<T>) -> usize {
    values.capacity() * size_of::<T>()
}
