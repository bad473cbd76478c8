//! Cursors that own their tree. The tree may be evicted while they read.

use std::sync::Arc;

use self_cell::self_cell;

use crate::storage::column_tree::Tree;
use crate::storage::cursor::{BatchCursor, LookupCursor, Matches};
use crate::storage::error::StorageError;
use crate::value::{Batch, Column};

type Scan<'a> = Box<dyn BatchCursor + 'a>;
type Lookup<'a> = Box<dyn LookupCursor + 'a>;
type Probes<'p> = (Arc<Tree>, &'p [Column]);

self_cell!(
    /// A scan and its tree.
    pub struct TreeScan {
        owner: Arc<Tree>,
        #[not_covariant]
        dependent: Scan,
    }
);

impl TreeScan {
    /// Makes a scan of the tree by `scan`.
    pub fn of(tree: Arc<Tree>, scan: impl for<'t> FnOnce(&'t Arc<Tree>) -> Scan<'t>) -> Self {
        TreeScan::new(tree, scan)
    }
}

impl BatchCursor for TreeScan {
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError> {
        self.with_dependent_mut(|_, scan| scan.next_batch(max_rows))
    }
}

self_cell!(
    /// A look-up, its tree and its probes.
    pub struct TreeLookup<'p> {
        owner: Probes<'p>,
        #[not_covariant]
        dependent: Lookup,
    }
);

impl<'p> TreeLookup<'p> {
    /// Makes a look-up in the tree by `lookup`.
    pub fn of(
        tree: Arc<Tree>,
        probes: &'p [Column],
        lookup: impl for<'t> FnOnce(&'t Probes<'p>) -> Lookup<'t>,
    ) -> Self {
        TreeLookup::new((tree, probes), lookup)
    }
}

impl LookupCursor for TreeLookup<'_> {
    fn next_matches(&mut self, max_rows: usize) -> Result<Option<Matches>, StorageError> {
        self.with_dependent_mut(|_, lookup| lookup.next_matches(max_rows))
    }
}
