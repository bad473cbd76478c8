//! The sizes of nodes.

/// The most rows of a leaf. A change encodes its leaf again, so larger leaves make writes slower. A scan decodes one leaf at a time,
/// so smaller leaves make reads slower. See `docs/design/column-tree.md`.
pub const MAX_LEAF_ROWS: usize = 512;

/// The rows of each leaf after a bulk append. The rest is room for later rows in between, so that the first of them does not split
/// the leaf. Nor does it move a column of four-byte offsets, since the allocator gives it a block of 2048 bytes in any case.
pub(super) const APPENDED_LEAF_ROWS: usize = 480;

/// The approximate limit for strings and untyped values of a leaf with more than one row. A put copies all of them.
pub(super) const MAX_LEAF_BYTES: usize = 1 << 16;

/// The most children of an inner node. More children make the tree lower, which saves cold reads. Fewer make it cheaper to copy a
/// node that a snapshot holds, since a copy counts a reference to each child.
pub const MAX_CHILDREN: usize = 64;

/// About the most vectors of a scanned batch. A function reads them right after they were copied, so they should still be in the
/// cache. Unit: bytes. Bench: `search`.
pub(super) const BATCH_VECTOR_BYTES: usize = 1 << 19;
