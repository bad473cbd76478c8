//! The commit pipeline: one leader at a time commits everything that waits.

use std::slice::{from_mut, from_ref};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use super::active::{Active, Starting};
use super::current::{Current, VersionRef, thread_shard};
use super::history::{Group, History, validate};
use super::keys::KeyHashes;
use super::sync::{AtomicU64, CachePadded, Mutex, spin, yield_now};
use super::write_batcher::{BatchPolicy, Closed, Locked, SetAside, WriteBatcher};
use super::{Catalog, TxnError};
use crate::schema::{RelationId, RelationSchema, SchemaRef, with_indices};
use crate::storage::mem::MemSnapshot;
use crate::storage::{ChangeKind, ChangeSet, RowChanges, Snapshot, Storage, StorageError};
use crate::value::{Batch, SmallStr, compare_columns};

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

/// What a transaction asks to be committed.
#[derive(Default)]
pub(super) struct CommitRequest {
    /// The version that it reads, by number; none if it has read nothing, and so cannot conflict.
    pub base: Option<u64>,
    /// The version of the catalog that it began with.
    pub base_catalog: u64,
    /// The keys written and ensured.
    pub keys: KeyHashes,
    /// Relations written or ensured, that existed before, as they were at the start.
    pub relations: SmallVec<[KnownRelation; 1]>,
    /// Relations read as a whole: nobody else may have written any of their rows.
    pub whole: Vec<RelationId>,
    /// Names whose relation changed: what it was at the start, and what it becomes.
    pub schemas: Vec<SchemaChange>,
    /// The changed rows.
    pub changes: ChangeSet,
    /// What is called once it is committed.
    pub after_commit: Vec<AfterCommit>,
}

/// Called with nothing else being committed, in the order of commits, once the new version is published. Everybody who
/// commits waits for it meanwhile.
pub type AfterCommit = Box<dyn FnOnce() + Send>;

impl CommitRequest {
    /// Whether it may be set aside after it is told to be committed: it cannot conflict, and nobody is called.
    fn can_wait(&self) -> bool {
        self.base.is_none()
            && self.keys.are_at_most(MAX_DEFERRED_ROWS)
            && self.schemas.is_empty()
            && self.after_commit.is_empty()
            && self.changes.has_rows_alone()
    }

    /// Whether some of the relations have columns that are no keys.
    pub fn has_values(&self) -> bool {
        self.relations.iter().any(|relation| relation.has_values)
    }

    /// Calls who waits for the commit.
    fn call_back(&mut self) {
        self.after_commit.drain(..).for_each(|call| call());
    }

    /// Makes the changes of the catalog, once validated, a part of what is to be stored.
    fn define(&mut self) {
        self.changes.definitions.extend(self.schemas.drain(..).map(|change| (change.name, change.after)));
    }
}

/// What a transaction relies on in the definition of a relation. No reference to the definition: many write the same relation
/// at once, and would pass the counter to and fro.
pub(super) struct KnownRelation {
    pub id: RelationId,
    pub name: SmallStr,
    /// Whether there are columns that are no keys.
    has_values: bool,
    /// Who writes a relation must write its indices too.
    indices: SmallVec<[RelationId; 4]>,
}

impl KnownRelation {
    pub fn new(schema: &RelationSchema) -> Self {
        let indices = schema.indices.iter().map(|index| index.schema.id);
        let has_values = !schema.values.is_empty();
        KnownRelation { id: schema.id, name: schema.name.clone(), has_values, indices: indices.collect() }
    }

    /// Whether the relation as it is now has the same indices.
    pub fn agrees_with(&self, now: &RelationSchema) -> bool {
        self.indices.iter().copied().eq(now.indices.iter().map(|index| index.schema.id))
    }
}

/// A change to the catalog.
pub(super) struct SchemaChange {
    pub name: SmallStr,
    pub before: Option<SchemaRef>,
    pub after: Option<SchemaRef>,
}

/// A transaction waiting for a leader.
struct Waiting {
    request: Mutex<Option<CommitRequest>>,
    outcome: OnceLock<Result<(), TxnError>>,
}

/// The sequence of versions, and the way to a next one.
pub struct Pipeline {
    current: Current,
    waiting: CachePadded<Mutex<Vec<Arc<Waiting>>>>,
    /// How many wait, for those who only look.
    waiting_count: AtomicU64,
    leader: CachePadded<Mutex<CachePadded<History>>>,
    /// Its locks are taken after `current`, where both are.
    active: Active,
    deferred: WriteBatcher,
    next_relation: AtomicU64,
    /// Versions have snapshots of it, which go before it: an engine that closes while one is read leaves its own log behind.
    storage: Box<dyn Storage>,
}

/// Who puts more rows at once commits them.
const MAX_DEFERRED_ROWS: usize = 4;

/// The keys of so many rows take some megabytes.
const FAR_ROWS: u64 = 1 << 19;

impl Pipeline {
    /// A pipeline over an engine, with the relations that it holds.
    pub fn new(storage: Box<dyn Storage>) -> Result<Self, StorageError> {
        let mut catalog = Catalog::default();
        storage.definitions()?.into_iter().for_each(|schema| catalog.insert(schema));
        let next = catalog.iter().flat_map(with_indices).map(|schema| schema.id.0 + 1).max().unwrap_or(1);
        let active = Active::new(catalog.clone());
        let deferred = WriteBatcher::new(catalog.version);
        let leader = CachePadded(Mutex::new(CachePadded(History::new(catalog.clone()))));
        let version = Version { sequence: 0, catalog, snapshot: storage.snapshot() };
        Ok(Pipeline {
            storage,
            current: Current::new(version),
            waiting: CachePadded::default(),
            waiting_count: AtomicU64::new(0),
            leader,
            active,
            deferred,
            next_relation: AtomicU64::new(next),
        })
    }

    /// The current version.
    pub fn current(&self) -> VersionRef {
        self.settle();
        self.current.hold()
    }

    /// Commits what lies aside, for who begins to read.
    #[inline]
    fn settle(&self) {
        if self.deferred.is_any() {
            self.settle_now();
        }
    }

    #[cold]
    fn settle_now(&self) {
        // Who leads may begin a long commit once it has committed what lies aside: nobody waits for that.
        while self.deferred.is_any() {
            match spin(|| self.leader.try_lock()) {
                Some(mut history) => self.commit_deferred(&mut history.0),
                None => yield_now(),
            }
        }
    }

    /// Commits all that lies aside.
    fn commit_deferred(&self, history: &mut History) {
        if self.deferred.is_any() {
            self.commit_locked(history, self.deferred.all());
        }
    }

    fn commit_locked(&self, history: &mut History, mut locked: Locked<'_>) {
        if let Some(part) = locked.in_order() {
            let committed = self.publish(history, [], &part.keys, from_mut(&mut part.changes));
            committed.expect("an engine that defers takes rows of relations that exist");
        }
    }

    /// Commits what the calling thread has set aside, or all if that must come before.
    fn commit_own(&self, history: &mut History) {
        match self.deferred.own() {
            Some(own) => self.commit_locked(history, own),
            None => self.commit_deferred(history),
        }
    }

    /// Notes that the calling thread leads, for a request. Where another led before they take turns, and it sets rows aside from
    /// now on; by itself it does where they go far.
    fn note_leader(&self, history: &mut History, request: &CommitRequest) {
        let part = thread_shard();
        let before = history.leader.replace(part);
        if !self.deferred.is_time_to_ask(part) || !self.storage.may_defer() {
            return;
        }
        if before.is_some_and(|before| before != part) {
            self.deferred.set_aside(part, BatchPolicy::All);
            return;
        }
        if !request.has_values() && self.goes_far(&request.changes) {
            self.deferred.set_aside(part, BatchPolicy::KeysAlone);
        }
        self.deferred.ask_later(part);
    }

    /// Whether rows are of relations that are larger than what is near to a processor.
    fn goes_far(&self, changes: &ChangeSet) -> bool {
        let current = self.current.read();
        changes.rows.iter().any(|rows| current.snapshot.row_count(rows.relation) >= FAR_ROWS)
    }

    /// Has nothing be set aside while something is committed that takes long or changes the catalog.
    fn close_for(&self, request: &CommitRequest) -> Option<Closed<'_>> {
        let is_short = request.schemas.is_empty() && self.are_few(from_ref(&request.changes));
        (!is_short).then(|| self.deferred.close())
    }

    /// Whether these are few rows, and nothing else.
    fn are_few(&self, changes: &[ChangeSet]) -> bool {
        rows_alone(changes).is_some_and(|rows| rows <= self.storage.max_rows_in_place())
    }

    /// An identity for a new relation.
    pub fn next_relation_id(&self) -> RelationId {
        RelationId(self.next_relation.fetch_add(1, Ordering::Relaxed))
    }

    /// The write transactions.
    pub(super) fn active(&self) -> &Active {
        &self.active
    }

    /// What a write transaction reads from now on: the latest version with the catalog that it began with. Until then
    /// commits may change all rows in place.
    pub(super) fn pin(&self, started: Starting) -> Arc<Version> {
        self.settle();
        self.active.read(started, &self.current.read())
    }

    /// What a write transaction reads that begins by reading: the latest version.
    pub(super) fn begin_reading(&self) -> Arc<Version> {
        self.settle();
        let current = self.current.read();
        self.active.begin_reading(current.sequence);
        current.clone()
    }

    /// Commits a transaction, together with all others that wait. It reads no more, whatever the outcome; what is left of the
    /// request is of no use.
    pub(super) fn commit(&self, request: &mut CommitRequest) -> Result<(), TxnError> {
        if self.storage.may_defer() && request.can_wait() {
            let leader = match self.deferred.push(request) {
                SetAside::Refused => return self.commit_now(request),
                SetAside::Aside => None,
                SetAside::Enough => self.leader.try_lock(),
                SetAside::Full => Some(self.leader.lock()),
            };
            if let Some(mut history) = leader {
                self.commit_own(&mut history.0);
            }
            return Ok(());
        }
        self.commit_now(request)
    }

    fn commit_now(&self, request: &mut CommitRequest) -> Result<(), TxnError> {
        let base = request.base;
        let outcome = self.commit_in_turn(request);
        if let (Some(base), Err(_)) = (base, &outcome) {
            self.active.end_readings([base]);
        }
        outcome
    }

    fn commit_in_turn(&self, request: &mut CommitRequest) -> Result<(), TxnError> {
        // Where a commit takes microseconds, to wait for the one before takes less than to have it done by another leader.
        if let Some(mut history) = spin(|| self.leader.try_lock())
            && self.waiting_count.load(Ordering::Relaxed) == 0
        {
            self.note_leader(&mut history.0, request);
            let _closed = self.close_for(request);
            self.commit_deferred(&mut history.0);
            validate(request, &history, &Group::default(), &history.catalog)?;
            request.define();
            self.publish(&mut history.0, request.base, &request.keys, from_mut(&mut request.changes))?;
            request.call_back();
            return Ok(());
        }
        let request = Mutex::new(Some(std::mem::take(request)));
        let waiting = Arc::new(Waiting { request, outcome: OnceLock::new() });
        self.waiting_count.fetch_add(1, Ordering::Relaxed);
        self.waiting.lock().push(waiting.clone());
        let mut history = self.leader.lock();
        if waiting.outcome.get().is_none() {
            let group = std::mem::take(&mut *self.waiting.lock());
            self.waiting_count.fetch_sub(group.len() as u64, Ordering::Relaxed);
            self.lead(&mut history.0, &group);
        }
        drop(history);
        waiting.outcome.get().cloned().expect("a leader gives every waiting transaction an outcome")
    }

    /// Validates a group, and commits those that pass as one.
    fn lead(&self, history: &mut History, group: &[Arc<Waiting>]) {
        let _closed = self.deferred.close();
        self.commit_deferred(history);
        let mut catalog = history.catalog.clone();
        let (mut winners, mut requests): (Vec<&Waiting>, Vec<CommitRequest>) = (vec![], vec![]);
        let mut before = Group::default();
        for waiting in group {
            let Some(mut request) = waiting.request.lock().take() else { continue };
            match validate(&request, history, &before, &catalog) {
                Ok(()) => {
                    if group.len() > 1 {
                        before.add(&request);
                    }
                    request.define();
                    catalog.apply(&request.changes, catalog.version + 1);
                    winners.push(waiting);
                    requests.push(request);
                }
                Err(error) => waiting.ends(Err(error)),
            }
        }
        if winners.is_empty() {
            return;
        }
        let mut changes: Vec<ChangeSet> =
            requests.iter_mut().map(|request| std::mem::take(&mut request.changes)).collect();
        match self.publish_requests(history, &mut requests, &mut changes) {
            Ok(()) => winners.iter().for_each(|waiting| waiting.ends(Ok(()))),
            // One of them may be to blame, so that the others would succeed without it.
            Err(error) if winners.len() > 1 && !error.is_unknown_outcome() => {
                for ((waiting, request), changes) in winners.iter().zip(&mut requests).zip(&mut changes) {
                    waiting.ends(self.publish_requests(history, from_mut(request), from_mut(changes)));
                }
            }
            Err(error) => winners.iter().for_each(|waiting| waiting.ends(Err(error.clone()))),
        }
    }

    /// Commits transactions, whose changes are given by themselves, as one, publishes the next version and ends them. After an
    /// error nothing has happened.
    fn publish_requests(
        &self,
        history: &mut History,
        requests: &mut [CommitRequest],
        changes: &mut [ChangeSet],
    ) -> Result<(), TxnError> {
        let keys = requests.iter().flat_map(|request| &request.keys);
        self.publish(history, requests.iter().filter_map(|request| request.base), keys, changes)?;
        requests.iter_mut().for_each(CommitRequest::call_back);
        Ok(())
    }

    /// Commits changes of these keys, and publishes the next version; ends the reading of those that began with the versions
    /// `ended`. After an error nothing has happened.
    fn publish<'k>(
        &self,
        history: &mut History,
        ended: impl IntoIterator<Item = u64>,
        keys: impl IntoIterator<Item = &'k u64>,
        changes: &mut [ChangeSet],
    ) -> Result<(), TxnError> {
        self.storage.before_commit();
        // Nobody can begin to read while a few rows are committed; in return the engine need not copy what no other
        // snapshot holds. Beside a longer commit everybody may go on to begin with the current version.
        let are_few = self.are_few(changes);
        let mut current;
        let (committed, snapshot, next);
        let mut superseded = None;
        if are_few {
            current = self.current.write();
            wait_for_readers(&current);
            next = Arc::make_mut(&mut current);
            next.snapshot = history.nothing.take().unwrap_or_else(|| MemSnapshot::empty().clone());
            (committed, snapshot) = self.storage.commit_and_snapshot(changes);
        } else {
            (committed, snapshot) = self.storage.commit_and_snapshot(changes);
            current = self.current.write();
            let defines = committed.is_ok() && changes.iter().any(|changes| !changes.definitions.is_empty());
            superseded = defines.then(|| current.clone());
            next = Arc::make_mut(&mut current);
        }
        let before = std::mem::replace(&mut next.snapshot, snapshot);
        history.nothing = are_few.then_some(before);
        committed?;
        next.sequence += 1;
        changes.iter().for_each(|changes| next.catalog.apply(changes, next.sequence));
        if superseded.is_some() {
            history.catalog = next.catalog.clone();
            self.deferred.set_catalog(next.catalog.version);
        }
        // Nobody begins to read before all this is done: a transaction is either noted before the keys are remembered or
        // dropped, or reads the new version and cannot conflict with them.
        if let Some(superseded) = superseded {
            self.active.catalog_changes(&next.catalog, superseded);
        }
        self.active.end_readings(ended);
        history.remember(keys, changes, next.sequence, self.active.oldest());
        Ok(())
    }

    /// Has an empty database filled by `fill`, while nobody else commits; nothing is visible before its end, and nothing
    /// is left after an error.
    pub fn fill<E: From<TxnError>>(&self, fill: impl FnOnce(&mut Filler<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut history = self.leader.lock();
        let _closed = self.deferred.close();
        self.commit_deferred(&mut history.0);
        let current = self.current();
        if let Some(relation) = current.catalog.iter().next() {
            return Err(TxnError::NotEmpty(relation.name.to_string()).into());
        }
        let mut filler = Filler { pipeline: self, created: vec![], definitions: vec![], pending: None };
        let outcome = fill(&mut filler).and_then(|()| {
            filler.flush()?;
            let changes = ChangeSet { definitions: std::mem::take(&mut filler.definitions), ..ChangeSet::default() };
            Ok(self.publish(&mut history.0, [], [], &mut [changes])?)
        });
        if outcome.is_err() {
            let undone = ChangeSet { dropped: filler.created, ..ChangeSet::default() };
            // If even that fails, nobody sees what is left, and the next opening takes it away.
            let _ = self.storage.commit(&[undone]);
        }
        outcome
    }

    /// What was found wrong when the database was opened, in words.
    pub fn warnings(&self) -> Vec<String> {
        self.storage.warnings()
    }

    /// What the engine finds wrong with what it has stored, in words.
    pub fn verify(&self) -> Result<Vec<String>, StorageError> {
        self.storage.verify()
    }

    /// Gives back the space of what was removed or replaced.
    pub fn compact(&self) -> Result<(), StorageError> {
        self.storage.compact()
    }
}

/// Waits some microseconds for those who read in a version: a look-up ends sooner than what it holds is copied.
fn wait_for_readers(version: &Arc<Version>) {
    let _ = spin(|| (Arc::strong_count(version) == 1).then_some(()));
}

impl Waiting {
    fn ends(&self, outcome: Result<(), TxnError>) {
        let _ = self.outcome.set(outcome);
    }
}

/// Fills an empty database; see [`Pipeline::fill`].
pub struct Filler<'p> {
    pipeline: &'p Pipeline,
    created: Vec<RelationId>,
    definitions: Vec<(SmallStr, Option<SchemaRef>)>,
    /// Rows of one relation that come after each other, not put yet.
    pending: Option<(SchemaRef, Batch)>,
}

/// Rows of so many bytes are put at once, however few they are.
const FILLED_BYTES: usize = 16 << 20;

impl Filler<'_> {
    /// Makes a relation with its indices, all empty and with identities of this database.
    pub fn create(&mut self, schema: &RelationSchema) -> Result<SchemaRef, TxnError> {
        let mut schema = RelationSchema { id: self.pipeline.next_relation_id(), ..schema.clone() };
        for index in &mut schema.indices {
            let id = self.pipeline.next_relation_id();
            index.schema = Arc::new(RelationSchema { id, ..RelationSchema::clone(&index.schema) });
        }
        let schema = Arc::new(schema);
        let created: Vec<SchemaRef> = with_indices(&schema).cloned().collect();
        self.created.extend(created.iter().map(|schema| schema.id));
        self.pipeline.storage.commit(&[ChangeSet { created, ..ChangeSet::default() }])?;
        self.definitions.push((schema.name.clone(), Some(schema.clone())));
        Ok(schema)
    }

    /// Puts rows into a relation or an index made before, sorted by key, each key once.
    pub fn put(&mut self, relation: &SchemaRef, rows: Batch) -> Result<(), TxnError> {
        match &mut self.pending {
            Some((pending, before)) if pending.id == relation.id && follow(relation.keys.len(), before, &rows) => {
                before.append(&rows);
            }
            _ => {
                self.flush()?;
                self.pending = Some((relation.clone(), rows));
            }
        }
        let enough = self.pipeline.storage.rows_to_fill_with();
        let is_much = |rows: &Batch| rows.len >= enough || rows.memory_bytes() >= FILLED_BYTES;
        if self.pending.as_ref().is_some_and(|(_, rows)| is_much(rows)) { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), TxnError> {
        let Some((relation, rows)) = self.pending.take() else { return Ok(()) };
        let rows = RowChanges::new(relation.id, ChangeKind::Put, rows);
        self.pipeline.storage.before_commit();
        Ok(self.pipeline.storage.commit(&[ChangeSet::of_rows(vec![rows])])?)
    }
}

/// Whether rows come after others, by so many key columns.
fn follow(keys: usize, before: &Batch, rows: &Batch) -> bool {
    let Some(last) = before.len.checked_sub(1) else { return true };
    rows.is_empty() || compare_columns(&before.columns[..keys], last, &rows.columns[..keys], 0).is_lt()
}

/// The number of rows changed, if nothing else is.
fn rows_alone(changes: &[ChangeSet]) -> Option<usize> {
    let rows = changes.iter().flat_map(|set| &set.rows).map(|rows| rows.rows.len());
    changes.iter().all(ChangeSet::has_rows_alone).then(|| rows.sum())
}
