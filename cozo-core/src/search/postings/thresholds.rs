//! The thresholds of text search. Each has its unit, and the bench that shows whether it is right.

/// The documents of a block.
/// Unit: documents. It is what the packing of bits takes at once.
pub const BLOCK_DOCS: usize = 128;

/// Documents or postings between two checks of the budget.
/// Unit: documents. Bench: `search`.
pub const DOCS_PER_CHECK: usize = 4096;
