//! The keys that recent commits changed, and the validation of a transaction against them.
//!
//! [`History`] belongs to the leader. It maps each hash of a changed key, and each changed relation, to the version that
//! changed it last. A transaction that reads version `base` conflicts if one of its keys has a greater number. [`Group`] has
//! the keys of the transactions that commit together with it and before it. Two keys with one hash cause a false conflict.
//! That is safe: nothing is written, and the caller gets the error of any conflict.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::schema::RelationId;
use crate::storage::{ChangeSet, ChangedRows, Snapshot};
use crate::txn::catalog::Catalog;
use crate::txn::commit::request::{CommitRequest, KnownRelation, SchemaChange};
use crate::txn::error::TxnError;

/// What a leader validates against: the current catalog, and the keys and relations that recent commits changed. An entry
/// stays only as long as an active transaction may conflict with it.
///
/// The history is not on the cache line of its lock, since threads that want to lead poll the lock.
pub struct History {
    pub catalog: Catalog,
    changed: FxHashMap<u64, u64>,
    written: FxHashMap<RelationId, u64>,
    /// The relations of which so many keys changed that they are not kept.
    overwritten: FxHashMap<RelationId, u64>,
    prune_at: usize,
    /// The shard of the thread that led last.
    pub leader: Option<usize>,
    /// An empty snapshot, which stands in the version while rows change in place. Counting a reference to the snapshot that
    /// all databases share would contend with other processors.
    pub nothing: Option<Arc<dyn Snapshot>>,
}

/// The history is pruned when it has twice the keys that the last pruning left, and at least this many. A history of this size
/// fits the processor's cache.
const MIN_PRUNED_KEYS: usize = 256;

impl History {
    pub fn new(catalog: Catalog) -> Self {
        let (changed, written, overwritten) = Default::default();
        History { catalog, changed, written, overwritten, prune_at: MIN_PRUNED_KEYS, leader: None, nothing: None }
    }

    /// Records the keys of a commit for the transactions that are still active. `oldest` is the oldest version that one of
    /// them reads; without any, the history is empty.
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
                self.overwritten.clear();
                self.prune_at = MIN_PRUNED_KEYS;
            }
            Some(oldest) => {
                if self.changed.len() > self.prune_at {
                    self.changed.retain(|_, changed| *changed > oldest);
                    self.prune_at = MIN_PRUNED_KEYS.max(2 * self.changed.len());
                }
                self.written.extend(written(changes).map(|relation| (relation, sequence)));
                self.overwritten.extend(overwritten(changes).map(|relation| (relation, sequence)));
                self.changed.extend(keys.into_iter().map(|key| (*key, sequence)));
            }
        }
    }
}

/// Refuses a transaction that keeps all answers if another process has done the same meanwhile.
pub fn validate_alike(request: &CommitRequest, history: &History) -> Result<(), TxnError> {
    let Some(base) = request.base.filter(|_| request.keeps_answers) else { return Ok(()) };
    let is_done = |key| history.changed.get(&key).is_some_and(|sequence| *sequence > base);
    if request.shared_keys()?.any(is_done) { Err(TxnError::Conflict) } else { Ok(()) }
}

/// The relations whose rows change.
fn written<'c>(changes: impl IntoIterator<Item = &'c ChangeSet>) -> impl Iterator<Item = RelationId> {
    changes.into_iter().flat_map(|changes| &changes.rows).map(|rows| rows.relation)
}

/// The relations of which more rows change than memory holds.
fn overwritten<'c>(changes: impl IntoIterator<Item = &'c ChangeSet>) -> impl Iterator<Item = RelationId> {
    let changes = changes.into_iter().flat_map(|changes| &changes.rows);
    changes.filter(|change| matches!(change.rows, ChangedRows::Source(_))).map(|change| change.relation)
}

/// The keys and relations that the accepted transactions of a group change.
#[derive(Default)]
pub struct Group {
    keys: FxHashSet<u64>,
    relations: FxHashSet<RelationId>,
    overwritten: FxHashSet<RelationId>,
}

impl Group {
    /// Adds a transaction that has passed validation.
    pub fn add(&mut self, request: &CommitRequest) {
        self.keys.extend(request.changed_keys());
        self.relations.extend(written([&request.changes]));
        self.overwritten.extend(overwritten([&request.changes]));
    }
}

/// Checks that nothing that a transaction wrote or ensured has changed since its version. `group` has the transactions that
/// commit together with it and before it.
pub fn validate(request: &CommitRequest, history: &History, group: &Group, catalog: &Catalog) -> Result<(), TxnError> {
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
    let overwritten_since = |id: &RelationId| history.overwritten.get(id).is_some_and(|sequence| *sequence > base);
    // Without changes the keys are not even hashed.
    let has_changed = !(history.changed.is_empty() && group.keys.is_empty());
    let (is_changed, is_written) = (
        |key: &u64| changed_since(key) || group.keys.contains(key),
        |id: &RelationId| written_since(id) || group.relations.contains(id),
    );
    let is_overwritten = |known: &KnownRelation| overwritten_since(&known.id) || group.overwritten.contains(&known.id);
    let conflicts = has_changed && request.keys.into_iter().any(is_changed)
        || request.whole.iter().any(is_written)
        || request.relations.iter().any(is_overwritten)
        || has_changed && request.keys.any_in_sources(is_written, is_changed)?;
    if conflicts { Err(TxnError::Conflict) } else { Ok(()) }
}
