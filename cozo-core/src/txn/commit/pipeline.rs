//! The commit pipeline: one leader at a time turns requests into the next version.
//!
//! A transaction ends as a [`CommitRequest`]: the version that it read, the keys that it relies on, and its changes. The thread
//! that holds the lock `leader` is the leader; it owns the [`History`] and alone calls the engine. A request takes one of
//! three routes, by `commit`, `commit_in_turn` and `lead`:
//!
//! ```text
//!            ┌ batched: few rows of a blind put ──────────> shard of the WriteBatcher ──> Ok; in the engine later
//!  request ──┼ direct:  leader's lock free, none waiting ─> validate ──> publish ──> callbacks ──> Ok
//!            └ grouped: Waiting in `waiting`; a leader takes the whole list ─┬─ validate ──> publish all as one ──> Ok
//!                                                                            └─ conflict ──> Err
//! ```
//!
//! If the engine refuses a group, its requests are published one by one, since only one of them may be at fault.
//!
//! `publish` has two orders. Either way `current` is locked for writing while the version is replaced, and readers that have
//! a reference to the version before are not disturbed.
//!
//! | rows | order | why |
//! |---|---|---|
//! | at most `max_rows_in_place` | lock `current`, commit, replace | no new reader takes a reference, so the engine can change rows in place |
//! | more, or definitions | commit, lock `current`, replace | transactions can begin with the version before while the commit runs |
//!
//! Invariants: before a version is read or replaced, all batched rows are committed ([`Pipeline::current`], `pin` and every
//! leader see to it). A transaction is either registered as active before the keys of a commit are recorded, or it reads the
//! version with them.

use std::slice::{from_mut, from_ref};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use crate::replica::{Replica, is_mark};
use crate::schema::{RelationId, SchemaRef, with_indices};
use crate::storage::{ChangeSet, EngineTraits, Opened, Storage, StorageError, empty_snapshot};
use crate::txn::catalog::Catalog;
use crate::txn::commit::history::{Group, History, validate};
use crate::txn::commit::observer::Observer;
use crate::txn::commit::request::CommitRequest;
use crate::txn::commit::turns::{Turns, Waiting};
use crate::txn::commit::write_batcher::{BatchPolicy, Closed, Locked, Pushed, WriteBatcher};
use crate::txn::error::TxnError;
use crate::txn::keys::KeyHashes;
use crate::txn::sync::{AtomicU64, CachePadded, Mutex, spin, yield_now};
use crate::txn::versions::active::{Active, Starting};
use crate::txn::versions::current::{Current, VersionRef, thread_shard};
use crate::txn::versions::version::Version;

/// The sequence of versions, and the way to a next one.
pub struct Pipeline {
    current: Current,
    waiting: CachePadded<Mutex<Vec<Arc<Waiting>>>>,
    /// The length of `waiting`, readable without the lock.
    waiting_count: AtomicU64,
    pub leader: CachePadded<Mutex<CachePadded<History>>>,
    /// The active transactions. Their locks are taken after the lock of `current`.
    pub active: Active,
    pub batcher: WriteBatcher,
    pub(super) next_relation: AtomicU64,
    /// The replica, if the database has a shared log.
    pub(super) replica: Option<Arc<Replica>>,
    pub(super) turns: Turns,
    /// Sees the changes of other processes.
    pub(super) observer: OnceLock<Box<dyn Observer>>,
    /// The engine. It is dropped after the versions, which have snapshots of it. Otherwise an engine with an open snapshot
    /// could not remove its log when it closes.
    pub storage: Box<dyn Storage>,
    pub traits: EngineTraits,
    /// The problems found when the database was opened, in words.
    warnings: Vec<String>,
}

/// The keys of a relation with this many rows take some megabytes, which exceeds the processor's cache.
const FAR_ROWS: u64 = 1 << 19;

impl Pipeline {
    /// A pipeline over an engine, with the relations that it holds.
    pub fn new(storage: Box<dyn Storage>) -> Result<Self, StorageError> {
        let Opened { definitions, warnings, .. } = storage.opened()?;
        Ok(Pipeline::over(storage, definitions, warnings, None))
    }

    /// A pipeline over the engine of a replica with these definitions.
    pub fn of_replica(
        storage: Box<dyn Storage>,
        replica: Replica,
        definitions: Vec<SchemaRef>,
    ) -> Result<Self, StorageError> {
        let warnings = storage.opened()?.warnings;
        Ok(Pipeline::over(storage, definitions, warnings, Some(Arc::new(replica))))
    }

    fn over(
        storage: Box<dyn Storage>,
        definitions: Vec<SchemaRef>,
        warnings: Vec<String>,
        replica: Option<Arc<Replica>>,
    ) -> Self {
        let mut catalog = Catalog::default();
        definitions.into_iter().filter(|schema| !is_mark(schema)).for_each(|schema| catalog.insert(schema));
        let next = catalog.iter().flat_map(with_indices).map(|schema| schema.id.0 + 1).max().unwrap_or(1);
        let active = Active::new(catalog.clone());
        let batcher = WriteBatcher::new(catalog.version);
        let leader = CachePadded(Mutex::new(CachePadded(History::new(catalog.clone()))));
        let version = Version { sequence: 0, catalog, snapshot: storage.snapshot() };
        let mut traits = storage.traits();
        // A commit that has succeeded is in the log.
        traits.may_batch &= replica.is_none();
        Pipeline {
            traits,
            replica,
            turns: Turns::default(),
            observer: OnceLock::new(),
            warnings,
            storage,
            current: Current::new(version),
            waiting: CachePadded::default(),
            waiting_count: AtomicU64::new(0),
            leader,
            active,
            batcher,
            next_relation: AtomicU64::new(next),
        }
    }

    /// The current version.
    pub fn current(&self) -> VersionRef {
        self.drain();
        self.current.hold()
    }

    /// The current version, for the thread that leads.
    pub(super) fn current_version(&self) -> Arc<Version> {
        self.current.read().clone()
    }

    /// Commits the batched rows, so that a transaction that begins to read sees them.
    #[inline]
    fn drain(&self) {
        if self.batcher.is_any() {
            self.drain_now();
        }
    }

    #[cold]
    fn drain_now(&self) {
        // The leader may begin a long commit once it has committed the batched rows. Readers must not wait for that commit,
        // so they poll.
        while self.batcher.is_any() {
            match spin(|| self.leader.try_lock()) {
                Some(mut history) => self.commit_batched(&mut history.0),
                None => yield_now(),
            }
        }
    }

    /// Commits all batched rows.
    pub fn commit_batched(&self, history: &mut History) {
        if self.batcher.is_any() {
            self.commit_locked(history, self.batcher.all());
        }
    }

    fn commit_locked(&self, history: &mut History, mut locked: Locked<'_>) {
        if let Some(part) = locked.in_order() {
            let committed = self.publish(history, [], &part.keys, from_mut(&mut part.changes));
            committed.expect("an engine that batches takes rows of relations that exist");
        }
    }

    /// Commits the rows of the calling thread's shard, or all batched rows if others have to come first.
    fn commit_own(&self, history: &mut History) {
        match self.batcher.own() {
            Some(own) => self.commit_locked(history, own),
            None => self.commit_batched(history),
        }
    }

    /// Records that the calling thread leads, and adjusts its batch policy. If another thread led before, threads take turns,
    /// and all rows are batched. Otherwise only rows without values are, if their relation exceeds the processor's cache.
    fn note_leader(&self, history: &mut History, request: &CommitRequest) {
        let part = thread_shard();
        let before = history.leader.replace(part);
        if !self.batcher.is_time_to_ask(part) || !self.traits.may_batch {
            return;
        }
        if before.is_some_and(|before| before != part) {
            self.batcher.widen(part, BatchPolicy::All);
            return;
        }
        if !request.has_values() && self.goes_far(&request.changes) {
            self.batcher.widen(part, BatchPolicy::KeysAlone);
        }
        self.batcher.ask_later(part);
    }

    /// Whether any rows go to a relation that exceeds the processor's cache.
    fn goes_far(&self, changes: &ChangeSet) -> bool {
        let current = self.current.read();
        changes.rows.iter().any(|rows| current.snapshot.row_count(rows.relation) >= FAR_ROWS)
    }

    /// Closes the batcher for a commit that takes long or changes the catalog.
    fn close_for(&self, request: &CommitRequest) -> Option<Closed<'_>> {
        let is_short = request.schemas.is_empty() && self.are_few(from_ref(&request.changes));
        (!is_short).then(|| self.batcher.close())
    }

    /// Whether these changes are of few rows, and of nothing else.
    fn are_few(&self, changes: &[ChangeSet]) -> bool {
        rows_alone(changes).is_some_and(|rows| rows <= self.traits.max_rows_in_place)
    }

    /// A new relation's identity.
    pub fn next_relation_id(&self) -> RelationId {
        RelationId(self.next_relation.fetch_add(1, Ordering::Relaxed))
    }

    /// Pins a write transaction to the latest version with the catalog that it began with. Until then it holds no rows that a
    /// commit could not change in place.
    pub fn pin(&self, started: Starting) -> Arc<Version> {
        self.drain();
        self.active.read(started, &self.current.read())
    }

    /// Begins a write transaction that is pinned to the latest version from the start.
    pub fn begin_reading(&self) -> Arc<Version> {
        self.drain();
        let current = self.current.read();
        self.active.begin_reading(current.sequence);
        current.clone()
    }

    /// Commits a transaction. It counts as ended for readers, whatever the outcome, and the rest of the request is of no use.
    pub fn commit(&self, request: &mut CommitRequest) -> Result<(), TxnError> {
        if self.traits.may_batch && request.can_wait() {
            let leader = match self.batcher.push(request) {
                Pushed::Refused => return self.commit_now(request),
                Pushed::Batched => None,
                Pushed::Enough => self.leader.try_lock(),
                Pushed::Full => Some(self.leader.lock()),
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
        self.observer.get().into_iter().for_each(|observer| observer.published());
        if let (Some(base), Err(_)) = (base, &outcome) {
            self.active.end_readings([base]);
        }
        outcome
    }

    fn commit_in_turn(&self, request: &mut CommitRequest) -> Result<(), TxnError> {
        if self.replica.is_some() {
            return self.commit_shared(&self.wait_for_leader(request));
        }
        // A commit may take microseconds. Then waiting for the lock takes less time than having another leader commit.
        if let Some(mut history) = spin(|| self.leader.try_lock())
            && self.waiting_count.load(Ordering::Relaxed) == 0
        {
            self.note_leader(&mut history.0, request);
            let _closed = self.close_for(request);
            self.commit_batched(&mut history.0);
            return self.commit_leading(&mut history.0, request);
        }
        let waiting = self.wait_for_leader(request);
        let mut history = self.leader.lock();
        if waiting.outcome().is_none() {
            self.lead_all(&mut history.0);
        }
        drop(history);
        waiting.outcome().expect("a leader gives every waiting transaction an outcome")
    }

    /// Leaves a request to the next leader.
    fn wait_for_leader(&self, request: &mut CommitRequest) -> Arc<Waiting> {
        let waiting = Waiting::new(std::mem::take(request));
        self.waiting_count.fetch_add(1, Ordering::Relaxed);
        self.waiting.lock().push(waiting.clone());
        waiting
    }

    /// Commits all requests that wait.
    pub(super) fn lead_all(&self, history: &mut History) {
        let group = std::mem::take(&mut *self.waiting.lock());
        self.waiting_count.fetch_sub(group.len() as u64, Ordering::Relaxed);
        self.lead(history, &group);
    }

    /// Validates a request and commits it. All batched rows are committed.
    pub fn commit_leading(&self, history: &mut History, request: &mut CommitRequest) -> Result<(), TxnError> {
        if let Some(replica) = &self.replica {
            return self.commit_replicated(replica, history, from_mut(request)).remove(0);
        }
        validate(request, history, &Group::default(), &history.catalog)?;
        request.define();
        // Not by `changed_keys`: the changes are borrowed beside the keys.
        let keys = if request.keeps_answers { &KeyHashes::default() } else { &request.keys };
        self.publish(history, request.base, keys, from_mut(&mut request.changes))?;
        request.call_back();
        Ok(())
    }

    /// Validates a group, and commits those that pass as one.
    fn lead(&self, history: &mut History, group: &[Arc<Waiting>]) {
        let _closed = self.batcher.close();
        self.commit_batched(history);
        if let Some(replica) = &self.replica {
            let (waiting, mut requests): (Vec<_>, Vec<_>) =
                group.iter().filter_map(|waiting| Some((waiting, waiting.take()?))).unzip();
            let outcomes = self.commit_replicated(replica, history, &mut requests);
            waiting.iter().zip(outcomes).for_each(|(waiting, outcome)| waiting.ends(outcome));
            return;
        }
        let mut catalog = history.catalog.clone();
        let (mut winners, mut requests): (Vec<&Waiting>, Vec<CommitRequest>) = (vec![], vec![]);
        let mut before = Group::default();
        for waiting in group {
            let Some(mut request) = waiting.take() else { continue };
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

    /// Commits transactions as one, publishes the next version, and runs the callbacks. `changes` has the changes taken out of
    /// the requests. After an error nothing has happened.
    fn publish_requests(
        &self,
        history: &mut History,
        requests: &mut [CommitRequest],
        changes: &mut [ChangeSet],
    ) -> Result<(), TxnError> {
        let keys = requests.iter().flat_map(CommitRequest::changed_keys);
        self.publish(history, requests.iter().filter_map(|request| request.base), keys, changes)?;
        requests.iter_mut().for_each(CommitRequest::call_back);
        Ok(())
    }

    /// Commits changes of these keys, and publishes the next version. `ended` are the versions that the committed transactions
    /// read. After an error nothing has happened.
    pub fn publish<'k>(
        &self,
        history: &mut History,
        ended: impl IntoIterator<Item = u64>,
        keys: impl IntoIterator<Item = &'k u64>,
        changes: &mut [ChangeSet],
    ) -> Result<(), TxnError> {
        self.storage.before_commit();
        // A commit of few rows excludes new readers. In return the engine copies only what another snapshot holds. During a
        // longer commit transactions can still begin with the current version.
        let are_few = self.are_few(changes);
        let mut current;
        let (committed, next);
        let mut superseded = None;
        if are_few {
            current = self.current.write();
            wait_for_readers(&current);
            next = Arc::make_mut(&mut current);
            next.snapshot = history.nothing.take().unwrap_or_else(|| empty_snapshot().clone());
            committed = self.storage.commit(changes);
        } else {
            committed = self.storage.commit(changes);
            current = self.current.write();
            let defines = committed.is_ok() && changes.iter().any(|changes| !changes.definitions.is_empty());
            superseded = defines.then(|| current.clone());
            next = Arc::make_mut(&mut current);
        }
        let (snapshot, outcome) = match committed {
            Ok(snapshot) => (snapshot, Ok(())),
            Err(error) => (self.storage.snapshot(), Err(error)),
        };
        let before = std::mem::replace(&mut next.snapshot, snapshot);
        history.nothing = are_few.then_some(before);
        outcome?;
        next.sequence += 1;
        changes.iter().for_each(|changes| next.catalog.apply(changes, next.sequence));
        if superseded.is_some() {
            history.catalog = next.catalog.clone();
            self.batcher.set_catalog(next.catalog.version);
        }
        // `current` stays locked to the end. So a transaction is either active when the keys are recorded or pruned, or it
        // reads the new version and cannot conflict with them.
        if let Some(superseded) = superseded {
            self.active.catalog_changes(&next.catalog, superseded);
        }
        self.active.end_readings(ended);
        history.remember(keys, changes, next.sequence, self.active.oldest());
        Ok(())
    }

    /// The problems found when the database was opened, in words.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// The problems that the engine finds in its stored data, in words.
    pub fn verify(&self) -> Result<Vec<String>, StorageError> {
        self.storage.verify()
    }

    /// Gives back the space of removed and replaced rows.
    pub fn compact(&self) -> Result<(), StorageError> {
        self.storage.compact()
    }
}

/// Waits some microseconds for the readers of a version. A look-up usually ends earlier than the rows that it holds are copied.
fn wait_for_readers(version: &Arc<Version>) {
    let _ = spin(|| (Arc::strong_count(version) == 1).then_some(()));
}

/// The number of changed rows, if nothing else changes.
fn rows_alone(changes: &[ChangeSet]) -> Option<usize> {
    let rows = changes.iter().flat_map(|set| &set.rows).map(|rows| rows.rows.len());
    changes.iter().all(ChangeSet::has_rows_alone).then(|| rows.sum())
}
