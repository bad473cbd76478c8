//! One transaction: a version, and the writes since.
//!
//! A [`Transaction`] reads `base` and collects writes in a `CommitRequest`, which [`Transaction::commit`] hands to the
//! [`Pipeline`]. Relations whose names begin with `_` are ephemeral: they live in the transaction and are never committed.
//! [`Transaction::view`] gives a query one [`View`] of both kinds.
//!
//! ```text
//!                 base     Writes.started            others commit
//!  read           version  -                         no effect on it
//!  write, begun   none     starting (unpinned)       it commits as if begun later
//!  write, pinned  version  since = version number    a change of its keys is a conflict
//! ```
//!
//! `pin` leads from the second state to the third, when the transaction first reads a stored relation. Its own changes are
//! applied to a snapshot only when a query reads a relation that it wrote: `Writes.view` has the first `applied` of them.
//! A [`Savepoint`] records lengths, so rolling back truncates the lists and drops the view.

use std::sync::Arc;

use crate::clock::about_now_micros;
use crate::schema::{RelationId, RelationSchema, SchemaRef};
use crate::storage::{ChangeKind, ChangeSet, ChangedRows, RowChanges, Snapshot, empty_snapshot};
use crate::txn::catalog::Catalog;
use crate::txn::commit::alone::Alone;
use crate::txn::commit::pipeline::Pipeline;
use crate::txn::commit::request::{AfterCommit, CommitRequest, KnownRelation, SchemaChange};
use crate::txn::ephemeral::{Ephemeral, FIRST_EPHEMERAL_ID, is_ephemeral};
use crate::txn::error::TxnError;
use crate::txn::versions::current::VersionRef;
use crate::txn::view::{Now, View};
use crate::txn::writes::{Savepoint, Started, Writes};
use crate::txn::written::Written;
use crate::value::SmallStr;

/// The invariant of all writing operations.
const WRITES: &str = "only write transactions reach the writing operations";

/// A transaction. Dropping it without [`Transaction::commit`] leaves no trace.
///
/// All transactions that begin share the current version, its catalog and its rows. Each counted reference to them is memory
/// that processors contend for. So a read transaction counts one, to the version, and borrows the rest from it.
pub struct Transaction {
    /// The version that it reads; none while a write transaction has read nothing, see [`Transaction::pin`].
    base: Option<VersionRef>,
    /// The catalog, if this transaction has changed it.
    changed_catalog: Option<Catalog>,
    writes: Option<Writes>,
    pub(super) ephemeral: Ephemeral,
    /// The approximate time at which it began, in microseconds since the epoch.
    began_micros: i64,
    now: Now,
    /// How much the queries of a script have written so far.
    pub written: Written,
}

impl Transaction {
    /// Begins with the current version. A transaction that reads nothing counts as begun when it commits; see
    /// [`Transaction::begin_held`].
    pub fn begin(pipeline: &Arc<Pipeline>, write: bool) -> Self {
        if !write {
            return Transaction::new(Some(pipeline.current()));
        }
        let starting = pipeline.active.begin();
        let base_catalog = starting.catalog.version;
        let started = Started { pipeline: pipeline.clone(), starting: Some(starting), since: None };
        let mut txn = Transaction::new(None);
        txn.writes = Some(Writes::new(started, base_catalog));
        txn
    }

    /// Begins with the current version and holds it. A write transaction is pinned from the start.
    pub fn begin_held(pipeline: &Arc<Pipeline>, write: bool) -> Self {
        if !write {
            return Transaction::begin(pipeline, false);
        }
        let version = pipeline.begin_reading();
        let started = Started { pipeline: pipeline.clone(), starting: None, since: Some(version.sequence) };
        let base_catalog = version.catalog.version;
        let mut txn = Transaction::new(Some(VersionRef::Version(version)));
        txn.writes = Some(Writes::new(started, base_catalog));
        txn
    }

    /// A transaction that reads.
    #[inline]
    fn new(base: Option<VersionRef>) -> Self {
        Transaction {
            base,
            changed_catalog: None,
            // As an argument it would be copied, and it is large.
            writes: None,
            ephemeral: Ephemeral::default(),
            began_micros: about_now_micros(),
            now: Now::default(),
            written: Written::default(),
        }
    }

    /// Whether it may write stored relations.
    pub fn is_write(&self) -> bool {
        self.writes.is_some()
    }

    /// The time at which it began, in microseconds since the epoch, exact to some milliseconds.
    pub fn began_micros(&self) -> i64 {
        self.began_micros
    }

    /// The instant that stands for "now" throughout the transaction, in microseconds since the epoch.
    pub fn now_micros(&self) -> i64 {
        self.now.micros()
    }

    /// Sets the instant that [`Transaction::now_micros`] returns.
    pub fn set_now(&mut self, micros: i64) {
        self.now = Now(micros.into());
    }

    /// The stored relations as this transaction sees them.
    pub fn catalog(&self) -> &Catalog {
        self.changed_catalog.as_ref().unwrap_or_else(|| self.base_catalog())
    }

    /// The catalog that it began with.
    fn base_catalog(&self) -> &Catalog {
        match (&self.base, &self.writes) {
            (Some(version), _) => &version.catalog,
            (None, Some(Writes { started: Started { starting: Some(starting), .. }, .. })) => &starting.catalog,
            (None, _) => unreachable!("what has no version has noted that it begins"),
        }
    }

    /// Whether it has no schema changes and no ephemeral relations.
    pub fn has_base_catalog(&self) -> bool {
        self.ephemeral.schemas.is_empty() && self.writes.as_ref().is_none_or(|w| w.request.schemas.is_empty())
    }

    /// A relation by name; names that begin with `_` are ephemeral.
    pub fn relation(&self, name: &str) -> Option<&SchemaRef> {
        if name.starts_with('_') { self.ephemeral.schemas.get(name) } else { self.catalog().find(name) }
    }

    /// The names of all relations, stored and ephemeral.
    pub fn relation_names(&self) -> Vec<SmallStr> {
        let stored = self.catalog().iter().map(|schema| schema.name.clone());
        stored.chain(self.ephemeral.schemas.keys().cloned()).collect()
    }

    /// The view of a query that reads these relations.
    pub fn view(&mut self, relations: &[RelationId]) -> Result<View<'_>, TxnError> {
        let reads_stored = !relations.iter().all(|id| is_ephemeral(*id));
        if reads_stored {
            self.pin();
        }
        let stored = match (&self.base, &mut self.writes) {
            (Some(base), Some(writes)) if writes.touch(relations) => writes.view(base)?,
            (Some(base), _) => &base.snapshot,
            (None, _) => empty_snapshot(),
        };
        Ok(View { stored, ephemeral: self.ephemeral.rows(), now: &self.now })
    }

    /// Pins a write transaction to a version, when it first reads. Until then it holds no rows that others would have to copy
    /// before they change them.
    pub(super) fn pin(&mut self) {
        if let Some(Writes { started, .. }) = &mut self.writes
            && let Some(starting) = started.starting.take()
        {
            self.base = Some(VersionRef::Version(started.read(starting)));
        }
    }

    /// A snapshot to estimate the size of a relation from. It lacks this transaction's writes to stored relations.
    pub fn estimates_of(&self, relation: RelationId) -> Arc<dyn Snapshot> {
        match &self.base {
            _ if is_ephemeral(relation) => self.ephemeral.rows().clone(),
            Some(base) => base.snapshot.clone(),
            None => self.pipeline().current().snapshot.clone(),
        }
    }

    /// The number of rows that this transaction has put into a stored relation.
    pub fn rows_put(&self, relation: RelationId) -> usize {
        let changes = self.writes.iter().flat_map(|writes| &writes.request.changes.rows);
        let puts = changes.filter(|change| change.relation == relation && change.kind == ChangeKind::Put);
        puts.map(|change| change.rows.len()).sum()
    }

    /// Creates a relation with a new identity. The name must be free.
    pub fn create(&mut self, mut schema: RelationSchema) -> Result<SchemaRef, TxnError> {
        if schema.name.starts_with('_') {
            schema.id = RelationId(FIRST_EPHEMERAL_ID + self.ephemeral.created);
            self.ephemeral.created += 1;
            let schema = Arc::new(schema);
            self.ephemeral.apply(ChangeSet { created: vec![schema.clone()], ..Default::default() })?;
            self.ephemeral.schemas.insert(schema.name.clone(), schema.clone());
            return Ok(schema);
        }
        schema.id = self.pipeline().next_relation_id();
        let schema = Arc::new(schema);
        self.change_schema(&schema.name, Some(schema.clone()));
        self.writes_mut().create(schema.clone());
        Ok(schema)
    }

    /// Exchanges two ephemeral relations.
    pub fn swap_ephemeral(&mut self, a: &SchemaRef, b: &SchemaRef) {
        let renamed = |schema: &SchemaRef, name: &SmallStr| {
            Arc::new(RelationSchema { name: name.clone(), ..RelationSchema::clone(schema) })
        };
        self.ephemeral.schemas.insert(a.name.clone(), renamed(b, &a.name));
        self.ephemeral.schemas.insert(b.name.clone(), renamed(a, &b.name));
    }

    /// Puts or removes rows. They are sorted by key, and each key occurs once.
    pub fn write(
        &mut self,
        schema: &SchemaRef,
        kind: ChangeKind,
        rows: impl Into<ChangedRows>,
    ) -> Result<(), TxnError> {
        let change = RowChanges::new(schema.id, kind, rows);
        if change.rows.is_empty() {
            return Ok(());
        }
        if is_ephemeral(schema.id) {
            return self.ephemeral.apply(ChangeSet::of_rows(vec![change]));
        }
        self.rely_on(schema, &change.rows)?;
        self.writes_mut().request.changes.rows.push(change);
        Ok(())
    }

    /// Puts or removes rows of an index, sorted, each once. They derive from rows of the relation, whose keys suffice to find
    /// conflicts.
    pub fn write_derived(&mut self, index: &SchemaRef, kind: ChangeKind, rows: impl Into<ChangedRows>) {
        let rows = rows.into();
        if !rows.is_empty() {
            self.writes_mut().request.changes.rows.push(RowChanges::new(index.id, kind, rows));
        }
    }

    /// Makes the commit fail if another transaction changes any of these keys.
    pub fn rely_on(&mut self, schema: &SchemaRef, keys: &ChangedRows) -> Result<(), TxnError> {
        if is_ephemeral(schema.id) {
            return Ok(());
        }
        let id = schema.id;
        let writes = self.writes.as_mut().expect(WRITES);
        let request = &mut writes.request;
        let created_here = request.changes.created.iter().any(|created| created.id == id);
        // No other transaction knows the relation yet, and the hashes of so many keys would take much memory.
        if created_here && matches!(keys, ChangedRows::Source(_)) {
            return Ok(());
        }
        request.keys.push(id, keys, schema.keys.len());
        if !created_here && !request.relations.iter().any(|known| known.id == id) {
            // The definition at the start, even if this transaction has changed it.
            let changed = (!request.schemas.is_empty()).then(|| self.base_catalog().find_id(id)).flatten();
            let known = KnownRelation::new(changed.unwrap_or(schema));
            self.writes_mut().request.relations.push(known);
        }
        Ok(())
    }

    /// Says that every query has the same answer after the commit as before it. Other transactions need not know its keys then.
    pub fn keep_answers(&mut self) {
        self.writes_mut().request.keeps_answers = true;
    }

    /// Notes that the tail of a search index of a relation has grown.
    pub fn note_search(&mut self, relation: &SmallStr) {
        let searched = &mut self.writes_mut().searched;
        if !searched.contains(relation) {
            searched.push(relation.clone());
        }
    }

    /// The relations whose search indices have grown.
    pub fn take_searched(&mut self) -> Vec<SmallStr> {
        self.writes.as_mut().map_or(vec![], |writes| std::mem::take(&mut writes.searched))
    }

    /// Adds a callback of the commit, see [`AfterCommit`]. [`Transaction::roll_back_to`] undoes it.
    pub fn after_commit(&mut self, call: AfterCommit) {
        self.writes_mut().request.after_commit.push(call);
    }

    /// Whether the commit has callbacks.
    pub fn has_after_commit(&self) -> bool {
        self.writes.as_ref().is_some_and(|writes| !writes.request.after_commit.is_empty())
    }

    /// The approximate size of its writes and its ephemeral relations. If the first estimate exceeds `at_most`, the ephemeral
    /// relations are measured.
    pub fn held_bytes(&mut self, at_most: usize) -> usize {
        let written = self.writes.as_mut().map_or(0, Writes::held_bytes);
        if written.saturating_add(self.ephemeral.bytes) > at_most {
            self.ephemeral.measure();
        }
        written.saturating_add(self.ephemeral.bytes)
    }

    /// Adds to the size of what the callbacks hold.
    pub fn hold(&mut self, bytes: usize) {
        self.writes_mut().after_commit_bytes += bytes;
    }

    /// A mark to return to with [`Transaction::roll_back_to`].
    pub fn savepoint(&self) -> Savepoint {
        let writes = self.writes.as_ref().map(Writes::mark);
        Savepoint {
            changed_catalog: self.changed_catalog.clone(),
            writes,
            schemas: self.ephemeral.schemas.clone(),
            rows: self.ephemeral.rows.clone(),
        }
    }

    /// Undoes everything since the savepoint.
    pub fn roll_back_to(&mut self, savepoint: Savepoint) {
        self.changed_catalog = savepoint.changed_catalog;
        self.ephemeral.schemas = savepoint.schemas;
        self.ephemeral.rows = savepoint.rows;
        if let (Some(writes), Some(mark)) = (&mut self.writes, savepoint.writes) {
            writes.roll_back_to(mark);
        }
    }

    /// Makes the writes durable and visible, or fails and leaves no trace. The transaction is of no use afterwards. It is
    /// borrowed only because it is too large to move cheaply.
    pub fn commit(&mut self) -> Result<(), TxnError> {
        self.commit_by(Pipeline::commit)
    }

    /// Commits a transaction that began while its thread kept all others from committing.
    pub fn commit_alone(&mut self, alone: &mut Alone<'_>) -> Result<(), TxnError> {
        self.commit_by(|_, request| alone.commit(request))
    }

    fn commit_by(
        &mut self,
        commit: impl FnOnce(&Pipeline, &mut CommitRequest) -> Result<(), TxnError>,
    ) -> Result<(), TxnError> {
        let Some(Writes { started, request, view, .. }) = &mut self.writes else { return Ok(()) };
        if request.keys.is_empty() && request.schemas.is_empty() && !request.keeps_answers {
            return Ok(());
        }
        // Released rows can be changed in place by this commit.
        drop((self.base.take(), view.take()));
        request.base = started.since.take();
        commit(&started.pipeline, request)
    }

    /// The pipeline of a write transaction.
    pub(super) fn pipeline(&self) -> &Pipeline {
        &self.writes.as_ref().expect(WRITES).started.pipeline
    }

    pub(super) fn writes_mut(&mut self) -> &mut Writes {
        self.writes.as_mut().expect(WRITES)
    }

    pub(super) fn change_schema(&mut self, name: &SmallStr, after: Option<SchemaRef>) {
        if self.changed_catalog.is_none() {
            self.changed_catalog = Some(self.base_catalog().clone());
        }
        let catalog = self.changed_catalog.as_mut().expect("just made");
        match &after {
            Some(schema) => catalog.insert(schema.clone()),
            None => catalog.remove(name),
        }
        let before = self.base_catalog().find(name).cloned();
        let schemas = &mut self.writes_mut().request.schemas;
        match schemas.iter_mut().find(|change| change.name == *name) {
            Some(change) => change.after = after,
            None => schemas.push(SchemaChange { name: name.clone(), before, after }),
        }
    }
}
