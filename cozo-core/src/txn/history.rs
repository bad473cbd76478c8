//! What commits of late have changed, for transactions that may conflict with it.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::pipeline::{CommitRequest, KnownRelation, SchemaChange};
use super::{Catalog, TxnError};
use crate::schema::RelationId;
use crate::storage::{ChangeSet, Snapshot};

/// What a leader validates against: the current catalog, and the keys committed of late, each with the version that changed it
/// last, and their relations likewise. Only what an active transaction may conflict with is kept. It lies apart from its lock,
/// too, which those look at who would lead next.
pub(super) struct History {
    pub catalog: Catalog,
    changed: FxHashMap<u64, u64>,
    written: FxHashMap<RelationId, u64>,
    prune_at: usize,
    /// The part of the thread that led last.
    pub leader: Option<usize>,
    /// A snapshot of nothing, for want of another while rows are changed in place. To count a reference to one that all
    /// databases share would wait for their processors.
    pub nothing: Option<Arc<dyn Snapshot>>,
}

/// The history is cleared of what no transaction can conflict with when it has twice the keys that the last time left, and this
/// many at least: so few stay near.
const MIN_PRUNED_KEYS: usize = 256;

impl History {
    pub fn new(catalog: Catalog) -> Self {
        let (changed, written) = Default::default();
        History { catalog, changed, written, prune_at: MIN_PRUNED_KEYS, leader: None, nothing: None }
    }

    /// Notes the keys of a commit for the transactions that are still active.
    pub fn remember<'k>(
        &mut self,
        keys: impl IntoIterator<Item = &'k u64>,
        changes: &[ChangeSet],
        sequence: u64,
        oldest: Option<u64>,
    ) {
        match oldest {
            None => {
                self.changed.clear();
                self.written.clear();
                self.prune_at = MIN_PRUNED_KEYS;
            }
            Some(oldest) => {
                if self.changed.len() > self.prune_at {
                    self.changed.retain(|_, changed| *changed > oldest);
                    self.prune_at = MIN_PRUNED_KEYS.max(2 * self.changed.len());
                }
                self.written.extend(written(changes).map(|relation| (relation, sequence)));
                self.changed.extend(keys.into_iter().map(|key| (*key, sequence)));
            }
        }
    }
}

/// The relations of which rows change.
fn written<'c>(changes: impl IntoIterator<Item = &'c ChangeSet>) -> impl Iterator<Item = RelationId> {
    changes.into_iter().flat_map(|changes| &changes.rows).map(|rows| rows.relation)
}

/// What the transactions of a group change that are to be committed so far.
#[derive(Default)]
pub(super) struct Group {
    keys: FxHashSet<u64>,
    relations: FxHashSet<RelationId>,
}

impl Group {
    /// Adds a transaction that is to be committed.
    pub fn add(&mut self, request: &CommitRequest) {
        self.keys.extend(&request.keys);
        self.relations.extend(written([&request.changes]));
    }
}

/// Whether nothing that a transaction wrote or ensured has changed since what it reads. `group` are those that commit together
/// with it, before it.
pub(super) fn validate(
    request: &CommitRequest,
    history: &History,
    group: &Group,
    catalog: &Catalog,
) -> Result<(), TxnError> {
    if request.base_catalog != catalog.version {
        let moved = |known: &&KnownRelation| !catalog.find_id(known.id).is_some_and(|now| known.agrees_with(now));
        if let Some(relation) = request.relations.iter().find(moved) {
            return Err(TxnError::SchemaConflict(relation.name.to_string()));
        }
        let moved = |change: &&SchemaChange| catalog.find(&change.name) != change.before.as_ref();
        if let Some(change) = request.schemas.iter().find(moved) {
            return Err(TxnError::SchemaConflict(change.name.to_string()));
        }
    }
    let Some(base) = request.base else { return Ok(()) };
    let changed_since = |key: &u64| history.changed.get(key).is_some_and(|sequence| *sequence > base);
    let written_since = |id: &RelationId| history.written.get(id).is_some_and(|sequence| *sequence > base);
    // Where nothing has changed, keys need not even be hashed.
    let has_changed = !(history.changed.is_empty() && group.keys.is_empty());
    let conflicts = has_changed && request.keys.into_iter().any(|key| changed_since(key) || group.keys.contains(key))
        || request.whole.iter().any(|id| written_since(id) || group.relations.contains(id));
    if conflicts { Err(TxnError::Conflict) } else { Ok(()) }
}
