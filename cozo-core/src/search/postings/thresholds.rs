//! The thresholds of text search. Each has its unit, and the bench that shows whether it is right.

/// The documents of a block.
/// Unit: documents. It is what the packing of bits takes at once.
pub const BLOCK_DOCS: usize = 128;

/// Documents or postings between two checks of the budget.
/// Unit: documents. Bench: `search`.
pub const DOCS_PER_CHECK: usize = 4096;

/// The pairs of a frequency and a length that a block is known by at most. More give closer bounds, and longer blocks.
/// Unit: pairs; at most 255. Bench: `search`.
pub const FRONT_PAIRS: usize = 8;

/// In a query of leaves that a document must have all, those with at most so many times the documents of the rarest are bounded by
/// blocks. Others have several blocks to one of the rarest.
/// Unit: times. Bench: `search`.
pub const BLOCKWISE: u64 = 8;

/// The documents of a block that a jump looks at one by one, before it halves those that remain.
/// Unit: documents. Bench: `search`.
pub const STEPS: usize = 8;
