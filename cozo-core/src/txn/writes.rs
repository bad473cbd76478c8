//! The writes of a transaction, its registration as active, and the marks to which it can return.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::schema::{RelationId, SchemaRef};
use crate::storage::{ChangeSet, RowChanges, Snapshot};
use crate::txn::catalog::Catalog;
use crate::txn::commit::pipeline::Pipeline;
use crate::txn::commit::request::CommitRequest;
use crate::txn::error::TxnError;
use crate::txn::keys::KeysMark;
use crate::txn::versions::active::Starting;
use crate::txn::versions::version::Version;
use crate::value::SmallStr;

/// The writes of a transaction so far.
pub struct Writes {
    pub started: Started,
    pub request: CommitRequest,
    /// The number of elements of `request.changes.rows` that `view` has.
    pub applied: usize,
    /// The base with the first `applied` changes.
    pub view: Option<Arc<dyn Snapshot>>,
    /// The number of changes that are counted in `bytes`.
    pub counted: usize,
    /// The approximate size of those changes.
    pub bytes: usize,
    /// The approximate size of what the callbacks hold.
    pub after_commit_bytes: usize,
    /// The relations whose search indices have grown.
    pub searched: Vec<SmallStr>,
}

/// The registration of a write transaction as active. Dropping it ends the registration.
pub struct Started {
    pub pipeline: Arc<Pipeline>,
    /// The registration while the transaction has read nothing.
    pub starting: Option<Starting>,
    /// The number of the version that it reads. A later change of its keys is a conflict.
    pub since: Option<u64>,
}

impl Started {
    /// Pins the transaction and returns its version.
    pub fn read(&mut self, starting: Starting) -> Arc<Version> {
        let version = self.pipeline.pin(starting);
        self.since = Some(version.sequence);
        version
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let active = &self.pipeline.active;
        if let Some(starting) = self.starting.take() {
            active.end_starting(starting);
        }
        if let Some(since) = self.since {
            active.end_readings([since]);
        }
    }
}

impl Writes {
    /// No writes so far.
    pub fn new(started: Started, base_catalog: u64) -> Self {
        let request = CommitRequest { base_catalog, ..CommitRequest::default() };
        Writes {
            started,
            request,
            applied: 0,
            view: None,
            counted: 0,
            bytes: 0,
            after_commit_bytes: 0,
            searched: vec![],
        }
    }

    /// See `Transaction::held_bytes`.
    pub fn held_bytes(&mut self) -> usize {
        let changes = &self.request.changes.rows;
        let bytes_of = |change: &RowChanges| size_of::<RowChanges>() + change.rows.memory_bytes();
        self.bytes += changes[self.counted..].iter().map(bytes_of).sum::<usize>();
        self.counted = changes.len();
        // A view has a second copy.
        let views = if self.applied > 0 { 2 } else { 1 };
        self.bytes * views + self.after_commit_bytes
    }

    /// Adds a new relation to the changes.
    pub fn create(&mut self, schema: SchemaRef) {
        self.request.changes.created.push(schema);
        // The next view is built from the base again, with the relation.
        (self.view, self.applied) = (None, 0);
    }

    pub fn mark(&self) -> WritesMark {
        let CommitRequest { keys, relations, whole, schemas, changes, after_commit, .. } = &self.request;
        let ChangeSet { created, dropped, rows, .. } = changes;
        WritesMark {
            keys: keys.mark(),
            schemas: schemas.iter().map(|change| change.after.clone()).collect(),
            lengths: [relations.len(), whole.len(), created.len(), dropped.len(), rows.len(), after_commit.len()],
        }
    }

    /// Undoes everything since the mark.
    pub fn roll_back_to(&mut self, mark: WritesMark) {
        let [relations, whole, created, dropped, rows, after_commit] = mark.lengths;
        let request = &mut self.request;
        request.keys.roll_back_to(mark.keys);
        // A name that was changed before the mark has the definition that it had then.
        request.schemas.truncate(mark.schemas.len());
        request.schemas.iter_mut().zip(mark.schemas).for_each(|(change, after)| change.after = after);
        request.relations.truncate(relations);
        request.whole.truncate(whole);
        request.changes.created.truncate(created);
        request.changes.dropped.truncate(dropped);
        request.changes.rows.truncate(rows);
        request.after_commit.truncate(after_commit);
        (self.view, self.applied, self.counted, self.bytes) = (None, 0, 0, 0);
    }

    /// Whether the transaction changed rows of any of these relations.
    pub fn touch(&self, relations: &[RelationId]) -> bool {
        self.request.changes.rows.iter().any(|change| relations.contains(&change.relation))
    }

    /// The base with all changes so far. Changes are applied here and not when they are made, since most transactions never
    /// read what they wrote.
    pub fn view(&mut self, base: &Version) -> Result<&Arc<dyn Snapshot>, TxnError> {
        let changes = &self.request.changes;
        let view = match self.view.take() {
            Some(view) if self.applied == changes.rows.len() => view,
            None if changes.rows.is_empty() && changes.created.is_empty() => base.snapshot.clone(),
            found => {
                let created = if found.is_none() { changes.created.clone() } else { vec![] };
                let rows = changes.rows[self.applied..].iter().cloned().collect();
                let pending = ChangeSet { created, rows, ..ChangeSet::default() };
                found.unwrap_or_else(|| base.snapshot.clone()).with_changes(pending)?
            }
        };
        self.applied = changes.rows.len();
        Ok(self.view.insert(view))
    }
}

/// See `Transaction::savepoint`.
pub struct Savepoint {
    pub changed_catalog: Option<Catalog>,
    pub writes: Option<WritesMark>,
    pub schemas: BTreeMap<SmallStr, SchemaRef>,
    pub rows: Option<Arc<dyn Snapshot>>,
}

/// The lengths of the lists of [`Writes`], and the changes of the catalog.
pub struct WritesMark {
    keys: KeysMark,
    /// The new definitions, in the order in which their names were first changed.
    schemas: Vec<Option<SchemaRef>>,
    lengths: [usize; 6],
}
