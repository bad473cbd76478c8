//! Snapshots: the engine's, and the commits that it does not have yet.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::merge::Merge;
use super::record;
use crate::schema::RelationId;
use crate::storage::overlay::overlay;
use crate::storage::{
    AsOf, BatchCursor, ChangeSet, End, KeyRange, LookupCursor, RelationShape, RowChanges, Snapshot, Storage,
    StorageError,
};
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

/// A time without a change to the engine: what it holds, and the commits since. To these more may be added.
pub struct Era {
    /// What the engine holds.
    pub base: Arc<dyn Snapshot>,
    /// Commits that are being applied to the engine, or have failed to be.
    pub sealed: Option<Arc<Segment>>,
    /// Commits after those.
    pub active: Arc<Segment>,
    /// The view that was made last, with the place in the active segment up to which it goes.
    latest: Mutex<Option<(usize, Arc<dyn Snapshot>)>>,
}

impl Era {
    pub fn new(base: Arc<dyn Snapshot>, sealed: Option<Arc<Segment>>, active: Arc<Segment>) -> Arc<Self> {
        Arc::new(Era { base, sealed, active, latest: Mutex::default() })
    }

    /// The changes of all commits that the engine does not have, merged.
    pub fn pending(&self) -> Result<Vec<RowChanges>, StorageError> {
        let all = |segment: &Arc<Segment>| (segment.clone(), 0..segment.len());
        self.changes(self.sealed.iter().chain([&self.active]).map(all))
    }

    /// The changes of the sealed commits, merged.
    pub fn sealed_changes(&self) -> Result<Vec<RowChanges>, StorageError> {
        self.changes(self.sealed.iter().map(|sealed| (sealed.clone(), 0..sealed.len())))
    }

    fn changes(
        &self,
        pieces: impl Iterator<Item = (Arc<Segment>, Range<usize>)>,
    ) -> Result<Vec<RowChanges>, StorageError> {
        let mut merge = Merge::default();
        for (segment, range) in pieces {
            segment.read(range, |change| merge.take(&change, |relation| self.base.shape(relation)))?;
        }
        Ok(merge.finish())
    }

    /// The engine's contents with the commits up to a place in the active segment. What views before it have in common with
    /// it is not made again.
    fn view(&self, end: usize) -> Result<Arc<dyn Snapshot>, StorageError> {
        let mut latest = self.latest.lock();
        let before = latest.as_ref().filter(|(before, _)| *before <= end).cloned();
        let (from, view) = match before {
            Some(before) => before,
            None => (0, overlay(self.base.clone(), &ChangeSet::of_rows(self.sealed_changes()?))?),
        };
        let changes = self.changes([(self.active.clone(), from..end)].into_iter())?;
        let view = if changes.is_empty() { view } else { view.with_changes(&ChangeSet::of_rows(changes))? };
        if latest.as_ref().is_none_or(|(before, _)| *before <= end) {
            *latest = Some((end, view.clone()));
        }
        Ok(view)
    }
}

/// The contents after some commit.
pub struct LoggedSnapshot {
    pub era: Arc<Era>,
    end: usize,
    view: OnceLock<Result<Arc<dyn Snapshot>, StorageError>>,
    /// The same contents in a later era, where less of them is laid over the engine.
    renewed: OnceLock<Arc<LoggedSnapshot>>,
}

impl LoggedSnapshot {
    pub fn new(era: Arc<Era>, end: usize) -> Self {
        LoggedSnapshot { era, end, view: OnceLock::new(), renewed: OnceLock::new() }
    }

    /// How far it goes in the active segment: of the newest snapshot, the length of the segment.
    pub fn end(&self) -> usize {
        self.end
    }

    /// What an engine holds now.
    pub fn of_engine(engine: &dyn Storage) -> Arc<Self> {
        Arc::new(LoggedSnapshot::new(Era::new(engine.snapshot(), None, Arc::default()), 0))
    }

    /// Goes on to another commit of the era, if nobody else has the snapshot; otherwise a new one does.
    pub fn advance(snapshot: &mut Arc<LoggedSnapshot>, end: usize) {
        match Arc::get_mut(snapshot) {
            Some(alone) => {
                alone.end = end;
                alone.view.take();
            }
            None => *snapshot = Arc::new(LoggedSnapshot::new(snapshot.era.clone(), end)),
        }
    }

    /// Goes on to another era in which the contents are the same, for everybody who has the newest snapshot.
    pub fn renew(newest: &mut Arc<LoggedSnapshot>, era: Arc<Era>, end: usize) {
        let renewed = Arc::new(LoggedSnapshot::new(era, end));
        let before = std::mem::replace(newest, renewed.clone());
        // Only the newest is renewed, and is not the newest any longer then.
        let _ = before.renewed.set(renewed);
    }

    /// The snapshot to read from.
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

    /// The snapshot to ask for what it only estimates.
    fn about(&self) -> &Arc<dyn Snapshot> {
        self.view().unwrap_or(&self.era.base)
    }
}

impl Snapshot for LoggedSnapshot {
    fn shape(&self, relation: RelationId) -> Option<RelationShape> {
        self.era.base.shape(relation)
    }

    fn row_count(&self, relation: RelationId) -> u64 {
        self.about().row_count(relation)
    }

    fn row_count_within(&self, relation: RelationId, range: &KeyRange) -> u64 {
        self.about().row_count_within(relation, range)
    }

    fn row_cost(&self, relation: RelationId) -> u64 {
        self.era.base.row_cost(relation)
    }

    fn scan<'a>(
        &'a self,
        relation: RelationId,
        range: &KeyRange,
        columns: &[usize],
    ) -> Result<Box<dyn BatchCursor + 'a>, StorageError> {
        self.view()?.scan(relation, range, columns)
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
    ) -> Result<Box<dyn LookupCursor + 'a>, StorageError> {
        self.view()?.lookup(relation, prefixes, columns)
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

    fn contains(&self, relation: RelationId, prefixes: &[Column]) -> Result<Vec<bool>, StorageError> {
        self.view()?.contains(relation, prefixes)
    }

    fn scan_as_of<'a>(
        &'a self,
        relation: RelationId,
        range: &KeyRange,
        columns: &[usize],
        as_of: AsOf,
    ) -> Result<Box<dyn BatchCursor + 'a>, StorageError> {
        self.view()?.scan_as_of(relation, range, columns, as_of)
    }

    fn lookup_as_of<'a>(
        &'a self,
        relation: RelationId,
        prefixes: &'a [Column],
        columns: &[usize],
        as_of: AsOf,
    ) -> Result<Box<dyn LookupCursor + 'a>, StorageError> {
        self.view()?.lookup_as_of(relation, prefixes, columns, as_of)
    }

    fn contains_as_of(
        &self,
        relation: RelationId,
        prefixes: &[Column],
        as_of: AsOf,
    ) -> Result<Vec<bool>, StorageError> {
        self.view()?.contains_as_of(relation, prefixes, as_of)
    }

    fn with_changes(self: Arc<Self>, changes: &ChangeSet) -> Result<Arc<dyn Snapshot>, StorageError> {
        overlay(self, changes)
    }
}
