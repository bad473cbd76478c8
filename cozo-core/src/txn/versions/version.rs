//! The database at one moment.

use std::sync::Arc;

use crate::storage::Snapshot;
use crate::txn::catalog::Catalog;

/// The database at one moment.
#[derive(Clone)]
pub struct Version {
    /// Grows with every commit.
    pub sequence: u64,
    /// The relations.
    pub catalog: Catalog,
    /// Their rows.
    pub snapshot: Arc<dyn Snapshot>,
}
