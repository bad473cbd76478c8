//! Relations that live in one transaction only: their names begin with `_`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::schema::{RelationId, SchemaRef};
use crate::storage::{ChangeSet, ColumnTree, Snapshot, empty_snapshot};
use crate::txn::error::TxnError;
use crate::value::SmallStr;

/// Relations with this number or a greater one live in one transaction only.
pub const FIRST_EPHEMERAL_ID: u64 = 1 << 63;

/// Whether a relation lives in one transaction only.
pub fn is_ephemeral(relation: RelationId) -> bool {
    relation.0 >= FIRST_EPHEMERAL_ID
}

/// Relations that live in this transaction only.
#[derive(Default)]
pub struct Ephemeral {
    pub schemas: BTreeMap<SmallStr, SchemaRef>,
    /// Their rows; none before the first relation.
    pub rows: Option<Arc<dyn Snapshot>>,
    /// The number of relations created so far, dropped ones included.
    pub created: u64,
    /// An approximate upper bound of their size.
    pub bytes: usize,
}

impl Ephemeral {
    /// Measures the relations that exist.
    pub fn measure(&mut self) {
        let rows = self.rows.as_ref();
        let tree = |schema: &SchemaRef| rows?.describe(schema.id)?.tree;
        let bytes = |schema: &SchemaRef| tree(schema).map_or(0, ColumnTree::memory_bytes);
        self.bytes = self.schemas.values().map(bytes).sum();
    }

    pub fn rows(&self) -> &Arc<dyn Snapshot> {
        self.rows.as_ref().unwrap_or_else(|| empty_snapshot())
    }

    pub fn apply(&mut self, changes: ChangeSet) -> Result<(), TxnError> {
        self.bytes += changes.rows.iter().map(|change| change.rows.memory_bytes()).sum::<usize>();
        self.rows = Some(self.rows().clone().with_changes(changes)?);
        Ok(())
    }
}
