//! The thresholds of vector indexes: sizes, and from where on one way of working is faster than another.
//!
//! Each has its unit, and the bench that shows whether it is right.

// Sizes.

/// The most vectors of an index: a node and a mark share 32 bits.
/// Unit: nodes. Bench: none.
pub const MAX_NODES: usize = (1 << 31) - 1;

/// The most links of a node on an upper layer. More make every step slower and find no more.
/// Unit: links. Bench: none.
pub const MAX_LINKS: usize = 1024;

/// The most layers. A graph of so many has as many nodes as there may be, with two links each.
/// Unit: layers. Bench: none.
pub const MAX_LAYERS: usize = 32;

/// Fewer vectors have no graph: to compare all of them takes no longer than to walk, and misses none.
/// Unit: nodes. Bench: `search`.
pub const GRAPH_MIN_NODES: usize = 2000;

/// By how much of its value an element may differ that was divided by the length of its vector: a sum, whose rounding depends on the processor.
/// Unit: share. Bench: none; sums of some thousand `f32` in two orders differ by less.
pub const LENGTH_ROUNDING: f64 = 1e-4;

// Builds.

/// A batch has at most one in so many of the nodes that are already in the graph: nodes of one batch do not see each other.
/// Unit: ratio. Bench: `search`.
pub const INSERTED_PER_BATCHED: usize = 16;

/// A batch has at most one in so many of all nodes.
/// Unit: ratio. Bench: `search`.
pub const MIN_BATCHES: usize = 100;

/// The nodes of a batch that a thread takes at a time.
/// Unit: nodes. Bench: `search`.
pub const NODES_PER_TASK: usize = 8;

/// A graph is kept if so much of it is: its nodes that remain, of those that it had. Otherwise most links would be new.
/// Unit: share. Bench: `search`.
pub const KEEP_MIN_REMAINING: f64 = 0.6;

/// A graph is kept if its nodes are so large a part of the new one. Otherwise there is not much to save.
/// Unit: share. Bench: `search`.
pub const KEEP_MIN_SHARE: f64 = 0.25;

/// The slots that get new links between two checks of the budget.
/// Unit: slots. Bench: `search`.
pub const SLOTS_PER_CHECK: usize = 1 << 14;

/// The slots among which one with room is searched, if no link leads to a slot.
/// Unit: slots. Bench: `search`.
pub const REPAIR_MAX_SLOTS: usize = 500;

/// The rounds in which slots without a link to them get one.
/// Unit: rounds. Bench: `search`.
pub const REPAIR_ROUNDS: usize = 8;

// Searches.

/// The rows that are compared between two checks of the budget.
/// Unit: rows. Bench: `search`.
pub const ROWS_PER_CHECK: usize = 64;

/// The elements whose comparison takes about as long as a step of the budget.
/// Unit: elements. Bench: `search`.
pub const ELEMENTS_PER_STEP: usize = 16;

/// The originals that are read for each hit, if the index has codes. Codes that are further behind are not among the nearest.
/// Unit: nodes. Bench: `search`.
pub const REREAD_PER_HIT: usize = 3;

/// Vectors of fewer elements need so many more: their codes tell less apart. Divided by the number of elements.
/// Unit: nodes. Bench: `search`.
pub const REREAD_ELEMENTS: usize = 64;

/// The originals that are read at least, if there are so many candidates.
/// Unit: nodes. Bench: `search`.
pub const REREAD_MIN_NODES: usize = 32;

/// The cost of comparing a row in sequence, apart from its bytes. Costs are nanoseconds of one machine; what counts is how they
/// relate.
/// Unit: cost. Bench: `search`.
pub const SCAN_COST: f64 = 10.0;

/// The bytes of a row that cost 1 in sequence.
/// Unit: bytes. Bench: `search`.
pub const BYTES_PER_SCAN_COST: f64 = 12.0;

/// The cost of comparing a row on a walk, apart from its bytes.
/// Unit: cost. Bench: `search`.
pub const WALK_COST: f64 = 50.0;

/// The bytes of a row that cost 1 on a walk, which finds them in no cache.
/// Unit: bytes. Bench: `search`.
pub const BYTES_PER_WALK_COST: f64 = 6.0;

/// The nodes that a walk compares for each candidate that it keeps.
/// Unit: nodes. Bench: `search`.
pub const VISITS: f64 = 12.0;

/// The cost of the links that a walk by two hops reads for each candidate.
/// Unit: cost. Bench: `search`.
pub const TWO_HOPS_COST: f64 = 5000.0;

/// The nodes that such a walk compares for each candidate.
/// Unit: nodes. Bench: `search`.
pub const TWO_HOPS_VISITS: f64 = 10.0;

/// If a smaller share of the nodes is allowed, two hops lead to too few of them.
/// Unit: share. Bench: `search`.
pub const TWO_HOPS_MIN_SHARE: f64 = 0.05;

/// If a smaller part of the share of all nodes is allowed around the query, that is a hole.
/// Unit: ratio. Bench: `search`.
pub const HOLE_SHARE: f64 = 0.5;

/// A walk gives up when it has cost this part of comparing all allowed nodes.
/// Unit: ratio. Bench: `search`.
pub const MAX_WALK_COST: f64 = 0.5;

/// The nodes around the query that show which share is allowed.
/// Unit: nodes. Bench: `search`.
pub const SAMPLED_NODES: usize = 300;
