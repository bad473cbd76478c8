//! The column tree: the rows of one relation in memory.
//!
//! A column tree is a persistent B+tree. A leaf holds up to [`MAX_LEAF_ROWS`] rows as compact typed columns. An inner node
//! holds up to [`MAX_CHILDREN`] children, their row counts and the separators between them. Nodes are shared by counted
//! references, so a snapshot is a clone of the root. A change copies only the paths to the changed rows.
//!
//! ```text
//!                     Inner: separators  _  (20)  (57)
//!                            children    │    │     └──> Leaf   keys 57 ...
//!                                        │    └────────> Leaf   keys 20 to 56
//!                                        └─────────────> Leaf   keys below 20: columns[0] = keys, columns[1..] = values
//! ```
//!
//! | file | what |
//! |---|---|
//! | `tree`, `node`, `leaf`, `limits` | the tree, its nodes, a leaf's rows, their sizes |
//! | `columns`, `leaf_column` | the columns of a leaf, one of them |
//! | `int_column`, `text_column`, `plain_column`, `nulls` | encodings |
//! | `changes`, `apply`, `rebalance` | changes |
//! | `cursor`, `finger`, `search`, `as_of` | scans and look-ups |
//! | `loads`, `prefetch`, `leaf_directory` | look-ups that overlap their cache misses |
//! | `buffer`, `heap`, `shared` | memory |
//!
//! # The life of a put
//! 1. [`MemStorage`](super::mem) clones its map from relations to trees, if a snapshot is held, and hands each `RowChanges`
//!    to [`Tree::take`].
//! 2. `apply` descends. An inner node cuts the sorted rows at its separators and passes each part to one child. A node with
//!    one holder is changed in place. A shared node is copied first.
//! 3. A leaf puts few rows one by one, and retains an encoding if the value fits. Many rows are merged and encoded again.
//! 4. Rows beyond the limit split off as right siblings. The parent inserts them, and may split too, up to a new root. After
//!    removals a parent joins neighbours that together are at most half full.
//! 5. The new map is published. Snapshots with the old root are not affected.
//!
//! # The life of a look-up
//! 1. [`Tree::lookup`] makes a cursor with a `Finger`: a leaf and the path to it.
//! 2. For each probe the finger moves forward if the probe is greater than the one before. Otherwise it starts again at the
//!    root. A node is searched column by column, by binary search over the narrowed integers or strings.
//! 3. The run of matching rows is decoded into the requested columns. A run that reaches the end of its leaf continues in the
//!    next leaf. The cursor stops at about `max_rows` and resumes there.
//!
//! Many look-ups by an integer key use a [`LeafDirectory`]. A [`DirectoryReader`] then reads rows without a search.
//!
//! # The life of a read as of a time
//! 1. If all key columns but the Validity are known, the probe is the key with that time. One seek finds the version, however
//!    long the history is.
//! 2. Otherwise a walk visits each history. Within a leaf it gallops to the end of the history. A history that continues in
//!    the next leaf takes at most two seeks: one to the version and one past the end.
//!
//! # Invariants
//! - Rows are strictly ascending by key; all leaves have the same depth; only the root may be empty.
//! - Separator `i > 0` of an inner node is above every key of child `i - 1` and at or below every key of child `i`.
//!   Separator 0 is never read.
//! - Two neighbours below one parent together exceed half of the limit of one node. Rows with long strings or large lists
//!   make leaves of fewer rows, about 64 KiB.
//!
//! **column_tree never sees types, names or transactions**: an encoding follows from the values of a leaf alone.
//!
//! ```
//! use cozo::storage::{BatchCursor, KeyRange, ColumnTree, RelationShape};
//! use cozo::value::{Batch, Column};
//! let mut tree = ColumnTree::new(RelationShape { keys: 1, arity: 2 });
//! tree.put(&Batch::new(vec![Column::ints(vec![1, 2]), Column::ints(vec![10, 20])], 2));
//! let before = tree.clone();
//! tree.remove(&Batch::new(vec![Column::ints(vec![1])], 1));
//! assert_eq!((before.row_count(), tree.row_count()), (2, 1));
//! let batch = tree.scan(&KeyRange::all(), &[1]).next_batch(10)?.expect("one row is left");
//! assert_eq!(batch.columns[0].get(0), 20.into());
//! # Ok::<(), cozo::storage::StorageError>(())
//! ```

mod apply;
mod as_of;
mod buffer;
mod changes;
mod columns;
mod cursor;
mod finger;
mod heap;
mod int_column;
mod leaf;
mod leaf_column;
mod leaf_directory;
mod limits;
mod loads;
mod node;
mod nulls;
mod plain_column;
mod prefetch;
mod rebalance;
mod search;
mod shared;
#[cfg(test)]
mod tests;
mod text_column;
mod tree;
mod vector_column;

pub use cursor::{ScanCursor, TreeLookupCursor};
pub use leaf_directory::{DirectoryReader, LeafDirectory};
pub use limits::{MAX_CHILDREN, MAX_LEAF_ROWS};
pub(super) use prefetch::{MAX_WALKS, MIN_WALKS, PrefetchWalks};
pub use tree::Tree;
