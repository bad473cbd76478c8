//! Snapshots of an engine with a commit log: the engine's snapshot, and the commits that it does not have yet.
//!
//! An [`Era`] is a time without a change to the engine. It has the engine's snapshot and up to two [`Segment`]s of records. All
//! [`LoggedSnapshot`]s of an era share it; each records with `end` how much of the active segment belongs to it.
//!
//! ```text
//!  era.base     the engine's snapshot
//!  era.sealed   [commit 1][commit 2]               being applied, or failed to be (file 7)
//!  era.active   [commit 3][commit 4][commit 5]     appended since (file 8)
//!                                  ^ end           a snapshot after commit 4
//!
//!  view = base + sealed + active[..end]            an overlay, made on the first read
//! ```
//!
//! A commit to the log only appends to the active segment and moves `end`. When the sealed segment is applied, a new era begins
//! with the same contents: `base` has the sealed commits, and `sealed` is empty. The newest snapshot then refers to its
//! counterpart in the new era by `renewed`, so that its holders read with less to overlay and free the old base.
//!
//! Invariant: the records of `active[..end]` never change, so a snapshot without a view is still immutable.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::merge::Merge;
use super::record;
use crate::schema::RelationId;
use crate::storage::changes::{ChangeSet, RowChanges};
use crate::storage::cursor::{BatchCursor, LookupCursor};
use crate::storage::error::StorageError;
use crate::storage::overlay::overlay;
use crate::storage::range::{AsOf, End, KeyRange};
use crate::storage::traits::{RelationState, Snapshot, Storage};
use crate::sync::Mutex;
use crate::value::{Column, DataValue};

/// The records of a file of the log, as they were appended.
#[derive(Default)]
pub struct Segment(Mutex<Vec<u8>>);

impl Segment {
    pub fn of(records: Vec<u8>) -> Self {
        Segment(Mutex::new(records))
    }

    pub fn append(&self, record: &[u8]) -> usize {
        let mut bytes = self.0.lock();
        bytes.extend_from_slice(record);
        bytes.len()
    }

    fn read(&self, range: Range<usize>, take: impl FnMut(RowChanges)) -> Result<(), StorageError> {
        record::read(&self.0.lock()[range], take)
    }

    pub fn len(&self) -> usize {
        self.0.lock().len()
    }
}

/// A time without a change to the engine: the engine's contents and the commits since.
pub struct Era {
    /// The engine's contents.
    pub base: Arc<dyn Snapshot>,
    /// The commits that are being applied to the engine, or that it failed to apply.
    pub sealed: Option<Arc<Segment>>,
    /// The later commits. More may be appended.
    pub active: Arc<Segment>,
    /// The last view, with its end in the active segment.
    latest: Mutex<Option<(usize, Arc<dyn Snapshot>)>>,
}

impl Era {
    pub fn new(base: Arc<dyn Snapshot>, sealed: Option<Arc<Segment>>, active: Arc<Segment>) -> Arc<Self> {
        Arc::new(Era { base, sealed, active, latest: Mutex::default() })
    }

    /// The merged changes of all commits that the engine does not have.
    pub fn pending(&self) -> Result<Vec<RowChanges>, StorageError> {
        let all = |segment: &Arc<Segment>| (segment.clone(), 0..segment.len());
        self.changes(self.sealed.iter().chain([&self.active]).map(all))
    }

    /// The merged changes of the sealed commits.
    pub fn sealed_changes(&self) -> Result<Vec<RowChanges>, StorageError> {
        self.changes(self.sealed.iter().map(|sealed| (sealed.clone(), 0..sealed.len())))
    }

    fn changes(
        &self,
        pieces: impl Iterator<Item = (Arc<Segment>, Range<usize>)>,
    ) -> Result<Vec<RowChanges>, StorageError> {
        let mut merge = Merge::default();
        for (segment, range) in pieces {
            segment.read(range, |change| {
                merge.take(&change, |relation| self.base.describe(relation).map(|state| state.shape))
            })?;
        }
        Ok(merge.finish())
    }

    /// The engine's contents with the commits up to `end` in the active segment. It builds on the last view, if that ends earlier.
    fn view(&self, end: usize) -> Result<Arc<dyn Snapshot>, StorageError> {
        let mut latest = self.latest.lock();
        let before = latest.as_ref().filter(|(before, _)| *before <= end).cloned();
        let (from, view) = match before {
            Some(before) => before,
            None => (0, overlay(self.base.clone(), &ChangeSet::of_rows(self.sealed_changes()?))?),
        };
        let changes = self.changes([(self.active.clone(), from..end)].into_iter())?;
        let view = if changes.is_empty() { view } else { view.with_changes(ChangeSet::of_rows(changes))? };
        if latest.as_ref().is_none_or(|(before, _)| *before <= end) {
            *latest = Some((end, view.clone()));
        }
        Ok(view)
    }
}

/// The contents after a commit.
pub struct LoggedSnapshot {
    pub era: Arc<Era>,
    end: usize,
    view: OnceLock<Result<Arc<dyn Snapshot>, StorageError>>,
    /// The same contents in a later era, with fewer commits to overlay.
    renewed: OnceLock<Arc<LoggedSnapshot>>,
}

impl LoggedSnapshot {
    pub fn new(era: Arc<Era>, end: usize) -> Self {
        LoggedSnapshot { era, end, view: OnceLock::new(), renewed: OnceLock::new() }
    }

    /// The end of its records in the active segment. For the newest snapshot that is the length of the segment.
    pub fn end(&self) -> usize {
        self.end
    }

    /// The engine's contents now.
    pub fn of_engine(engine: &dyn Storage) -> Arc<Self> {
        Arc::new(LoggedSnapshot::new(Era::new(engine.snapshot(), None, Arc::default()), 0))
    }

    /// Moves to a later commit of the era: in place if the snapshot has no other holder, otherwise by a new snapshot.
    pub fn advance(snapshot: &mut Arc<LoggedSnapshot>, end: usize) {
        match Arc::get_mut(snapshot) {
            Some(alone) => {
                alone.end = end;
                alone.view.take();
            }
            None => *snapshot = Arc::new(LoggedSnapshot::new(snapshot.era.clone(), end)),
        }
    }

    /// Moves to another era with the same contents, for all holders of the newest snapshot.
    pub fn renew(newest: &mut Arc<LoggedSnapshot>, era: Arc<Era>, end: usize) {
        let renewed = Arc::new(LoggedSnapshot::new(era, end));
        let before = std::mem::replace(newest, renewed.clone());
        // It was not set before: only the newest snapshot is renewed, and after that it is not the newest.
        let _ = before.renewed.set(renewed);
    }

    /// The snapshot for reads.
    fn view(&self) -> Result<&Arc<dyn Snapshot>, StorageError> {
        let mut latest = self;
        while let Some(renewed) = latest.renewed.get() {
            latest = renewed;
        }
        if latest.end == 0 && latest.era.sealed.is_none() {
            return Ok(&latest.era.base);
        }
        latest.view.get_or_init(|| latest.era.view(latest.end)).as_ref().map_err(StorageError::clone)
    }

    /// The snapshot for estimates. It ignores errors.
    fn about(&self) -> &Arc<dyn Snapshot> {
        self.view().unwrap_or(&self.era.base)
    }
}

impl Snapshot for LoggedSnapshot {
    fn describe(&self, relation: RelationId) -> Option<RelationState<'_>> {
        self.about().describe(relation)
    }

    fn row_count_within(&self, relation: RelationId, range: &KeyRange) -> u64 {
        self.about().row_count_within(relation, range)
    }

    fn scan<'a>(
        &'a self,
        relation: RelationId,
        range: &KeyRange,
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Result<Box<dyn BatchCursor + 'a>, StorageError> {
        self.view()?.scan(relation, range, columns, as_of)
    }

    fn partition(&self, relation: RelationId, range: &KeyRange, parts: usize) -> Vec<KeyRange> {
        self.about().partition(relation, range, parts)
    }

    fn split_at_rank(
        &self,
        relation: RelationId,
        range: &KeyRange,
        rows: u64,
        end: End,
    ) -> Option<(KeyRange, Option<KeyRange>)> {
        self.about().split_at_rank(relation, range, rows, end)
    }

    fn lookup<'a>(
        &'a self,
        relation: RelationId,
        prefixes: &'a [Column],
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Result<Box<dyn LookupCursor + 'a>, StorageError> {
        self.view()?.lookup(relation, prefixes, columns, as_of)
    }

    fn get(
        &self,
        relation: RelationId,
        key: &[DataValue],
        outputs: &[(usize, usize)],
        places: &mut [DataValue],
    ) -> Result<bool, StorageError> {
        self.view()?.get(relation, key, outputs, places)
    }

    fn contains(
        &self,
        relation: RelationId,
        prefixes: &[Column],
        as_of: Option<AsOf>,
    ) -> Result<Vec<bool>, StorageError> {
        self.view()?.contains(relation, prefixes, as_of)
    }

    fn with_changes(self: Arc<Self>, changes: ChangeSet) -> Result<Arc<dyn Snapshot>, StorageError> {
        overlay(self, &changes)
    }
}
