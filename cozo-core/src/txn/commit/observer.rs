//! The changes of other processes, for those who want to see them.

use std::sync::Arc;

use crate::storage::{ChangeSet, Snapshot};
use crate::txn::catalog::Catalog;

/// Sees the changes of other processes before they are published, in the order of the log.
pub trait Observer: Send + Sync {
    /// Whether it wants to see them now.
    fn listens(&self) -> bool;

    /// The changes of an entry. `before` has the rows before it.
    fn changed(&self, catalog: &Catalog, before: &Arc<dyn Snapshot>, changes: &[ChangeSet]);

    /// Called after they are published. No lock of the pipeline is held.
    fn published(&self);
}
