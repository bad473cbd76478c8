//! What a query sees: the stored and the ephemeral relations, and the instant that stands for "now".

use std::sync::{Arc, OnceLock};

use crate::clock::now_micros;
use crate::schema::RelationId;
use crate::storage::Snapshot;
use crate::txn::ephemeral::is_ephemeral;

/// The instant that `'ASSERT'` stands for throughout a transaction: the time at which it was first needed.
#[derive(Default)]
pub struct Now(pub OnceLock<i64>);

impl Now {
    /// In microseconds since the epoch.
    pub fn micros(&self) -> i64 {
        *self.0.get_or_init(now_micros)
    }
}

/// The stored and ephemeral relations as they are when a query starts.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub stored: &'a Arc<dyn Snapshot>,
    pub ephemeral: &'a Arc<dyn Snapshot>,
    pub now: &'a Now,
}

impl<'a> View<'a> {
    /// The instant that stands for "now", in microseconds since the epoch.
    pub fn now_micros(&self) -> i64 {
        self.now.micros()
    }

    /// The snapshot that has a relation.
    pub fn of(&self, relation: RelationId) -> &'a dyn Snapshot {
        &**self.shared(relation)
    }

    /// [`View::of`] as a reference that can be cloned.
    pub fn shared(&self, relation: RelationId) -> &'a Arc<dyn Snapshot> {
        if is_ephemeral(relation) { self.ephemeral } else { self.stored }
    }
}
