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

/// So few allowed nodes are always compared one by one.
/// Unit: nodes. Bench: `search`.
pub const SCAN_MAX_NODES: usize = 2000;

/// Up to this many allowed nodes for each candidate that a walk keeps, they are compared one by one.
/// Unit: ratio. Bench: `search`.
pub const SCANNED_PER_CANDIDATE: usize = 20;

/// From this share of allowed nodes on, a walk goes through all nodes.
/// Unit: share. Bench: `search`.
pub const ONE_HOP_MIN_SHARE: f64 = 0.4;

/// From this share of allowed nodes on, a walk over two hops compares the first of them.
/// Unit: share. Bench: `search`.
pub const DIRECTED_MIN_SHARE: f64 = 0.08;
