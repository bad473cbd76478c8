//! The mem engine: a *column tree* for each relation.
//!
//! A column tree is a persistent B+tree. Its leaves hold up to [`MAX_LEAF_ROWS`] rows as compact typed columns, its
//! inner nodes up to [`MAX_CHILDREN`] children with their row counts and the separators between them. Nodes are shared
//! by counted references, so a snapshot is a clone of the root, and a change copies no more than the paths to the rows it touches.
//!
//! # The life of a put
//! 1. [`MemStorage::commit`](crate::storage::Storage::commit) clones the current [`MemSnapshot`] (a persistent map from
//!    relation to [`Tree`]) and hands each `RowChanges` to [`Tree::apply`].
//! 2. `apply` walks down: an inner node cuts the sorted rows at its separators and passes each part to one child. A node
//!    that this commit owns alone is changed in place, a shared one is copied first, once.
//! 3. A leaf puts few rows one by one, keeping its encodings where the values fit; many rows are merged and encoded anew.
//! 4. What no longer fits splits off as right siblings, which the parent takes in, up to a new root. After removals a
//!    parent joins neighbours that together are at most half full.
//! 5. The new map is published; snapshots that hold the old root do not notice.
//!
//! # The life of a look-up
//! 1. [`Tree::lookup`] makes a cursor with a `Finger`: a leaf and the path to it.
//! 2. For each probe the finger moves forward if the probe is greater than the one before, otherwise it starts again at
//!    the root. A node is searched column by column, each a binary search over the narrowed integers or strings.
//! 3. The run of matching rows is decoded straight into the columns that were asked for; a run that reaches the end of
//!    its leaf goes on in the next. The cursor stops at about `max_rows` and resumes there.
//!
//! Whoever looks up many keys of one integer has [`LeafDirectory`] made, and then reads [`DirectoryReader`] without a search.
//!
//! # The life of a read as of a time
//! 1. Where all key columns but the Validity are known, the probe is the key with that time: one seek finds the version,
//!    however long the history is.
//! 2. Otherwise a walk goes from history to history. Within a leaf it gallops to the end of each; a history that goes on
//!    in the next leaf is left by two seeks at most, to the version and past the end.
//!
//! # Invariants
//! - Rows are strictly ascending by key; leaves all have the same depth; only the root may be empty.
//! - Separator `i > 0` of an inner node is above every key of child `i - 1` and at or below every key of child `i`.
//!   Separator 0 is never looked at.
//! - Neighbours below one parent are together more than half of what one node may hold. Rows of long strings or large
//!   mixtures make leaves of fewer rows, about 64 KiB.
//!
//! **mem never sees types, names or transactions**: an encoding follows from the values a leaf happens to hold.
//!
//! ```
//! use cozo::storage::{BatchCursor, KeyRange, RelationShape, mem::Tree};
//! use cozo::value::{Batch, Column};
//! let mut tree = Tree::new(RelationShape { keys: 1, arity: 2 });
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
#[cfg(test)]
mod check;
mod cursor;
mod engine;
mod finger;
mod heap;
mod int_column;
pub(super) mod key;
mod leaf;
mod leaf_column;
mod leaf_directory;
mod node;
mod nulls;
mod prefetch;
mod rebalance;
mod search;
mod shared;
#[cfg(test)]
mod tests;
mod text_column;
mod tree;

pub use as_of::AsOfScan;
pub use cursor::{ScanCursor, TreeLookupCursor};
pub use engine::{MemSnapshot, MemStorage};
pub use leaf_directory::{DirectoryReader, LeafDirectory};
pub use node::{MAX_CHILDREN, MAX_LEAF_ROWS};
pub use tree::Tree;
