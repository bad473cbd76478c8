//! The mem engine: a persistent map from relations to [column trees](super::column_tree). Each commit publishes a new map.
//!
//! **mem never sees types, names or transactions.**

use std::sync::{Arc, LazyLock};

use imbl::OrdMap;

use super::column_tree::{MAX_WALKS, MIN_WALKS, PrefetchWalks, Tree};
use crate::schema::RelationId;
use crate::storage::changes::{ChangeSet, ChangedRows, RowChanges};
use crate::storage::cursor::{BatchCursor, LookupCursor, Nothing, probe_count};
use crate::storage::error::StorageError;
use crate::storage::range::{AsOf, End, KeyRange};
use crate::storage::shape::RelationShape;
use crate::storage::traits::{EngineTraits, Opened, RelationState, Snapshot, Storage};
use crate::sync::Mutex;
use crate::value::{Column, DataValue};

/// A commit of this many rows takes less than a millisecond.
const MAX_ROWS_IN_PLACE: usize = 1024;

/// The engine that stores everything in memory and nothing on disk.
#[derive(Default)]
pub struct MemStorage {
    pub(super) current: Mutex<Arc<MemSnapshot>>,
}

impl MemStorage {
    /// An engine without relations.
    pub fn new() -> Self {
        MemStorage::default()
    }
}

impl Storage for MemStorage {
    fn opened(&self) -> Result<Opened, StorageError> {
        Ok(Opened::default())
    }

    fn traits(&self) -> EngineTraits {
        EngineTraits { max_rows_in_place: MAX_ROWS_IN_PLACE, may_batch: true, rows_to_fill_with: 0 }
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        self.current.lock().clone()
    }

    /// Changes rows in place, unless a snapshot is held.
    fn commit(&self, changes: &mut [ChangeSet]) -> Result<Arc<dyn Snapshot>, StorageError> {
        let mut current = self.current.lock();
        // A single change of rows needs no check in advance: if it fails, it has changed nothing.
        let is_one = matches!(changes, [only] if only.has_rows_alone() && only.rows.len() == 1);
        if !is_one {
            current.check(changes)?;
        }
        let has_source = |set: &ChangeSet| set.rows.iter().any(|change| matches!(change.rows, ChangedRows::Source(_)));
        if changes.iter().any(has_source) {
            // Their rows are read meanwhile, which may fail.
            let mut next = MemSnapshot::clone(&current);
            changes.iter_mut().try_for_each(|change_set| next.take(change_set))?;
            *current = Arc::new(next);
            return Ok(current.clone());
        }
        let next = Arc::make_mut(&mut current);
        changes.iter_mut().try_for_each(|change_set| next.take(change_set))?;
        Ok(current.clone())
    }
}

/// The relations at one moment. The default has none.
#[derive(Clone, Default)]
pub struct MemSnapshot {
    relations: OrdMap<RelationId, Tree>,
}

/// A snapshot without relations, always the same one.
pub fn empty_snapshot() -> &'static Arc<dyn Snapshot> {
    static EMPTY: LazyLock<Arc<dyn Snapshot>> = LazyLock::new(|| Arc::new(MemSnapshot::default()));
    &EMPTY
}

impl MemSnapshot {
    /// The tree of a relation, if it exists.
    pub fn tree(&self, relation: RelationId) -> Option<&Tree> {
        self.relations.get(&relation)
    }

    /// Checks that changes can be applied: the relations of all changed rows exist.
    fn check(&self, changes: &[ChangeSet]) -> Result<(), StorageError> {
        let created = |id| changes.iter().flat_map(|set| &set.created).any(|schema| schema.id == id);
        let missing = |rows: &&RowChanges| !self.relations.contains_key(&rows.relation) && !created(rows.relation);
        match changes.iter().flat_map(|set| &set.rows).find(missing) {
            Some(rows) => Err(StorageError::NoSuchRelation(rows.relation.0)),
            None => Ok(()),
        }
    }

    /// Applies changes. Large values may be moved out of the rows instead of copied. After an error some changes are applied.
    fn take(&mut self, changes: &mut ChangeSet) -> Result<(), StorageError> {
        for schema in &changes.created {
            self.relations.insert(schema.id, Tree::new(RelationShape::from(&**schema)));
        }
        for some in changes.rows.chunks_mut(MAX_WALKS) {
            self.prefetch(some);
            for RowChanges { relation, kind, rows } in some {
                let tree = self.relations.get_mut(relation).ok_or(StorageError::NoSuchRelation(relation.0))?;
                tree.take(*kind, rows)?;
            }
        }
        for relation in &changes.dropped {
            self.relations.remove(relation);
        }
        Ok(())
    }

    /// Prefetches the leaves of rows that are changed one after another. A row with values was often read just before, so it is
    /// in the cache. A row of keys alone is mostly new.
    fn prefetch(&self, changes: &[RowChanges]) {
        if changes.len() < MIN_WALKS {
            return;
        }
        let mut walks = PrefetchWalks::default();
        for RowChanges { relation, rows, .. } in changes {
            if let (Some(tree), ChangedRows::One(row)) = (self.tree(*relation), rows)
                && row.len() == tree.shape().keys
            {
                tree.add_walk(row, &mut walks);
            }
        }
        walks.prefetch();
    }
}

impl Snapshot for MemSnapshot {
    fn describe(&self, relation: RelationId) -> Option<RelationState<'_>> {
        self.tree(relation).map(RelationState::of)
    }

    fn row_count_within(&self, relation: RelationId, range: &KeyRange) -> u64 {
        self.tree(relation).map_or(0, |tree| tree.row_count_within(range))
    }

    fn count(&self, relation: RelationId, prefix: &[DataValue]) -> Option<u64> {
        Some(self.tree(relation).map_or(0, |tree| tree.count(prefix)))
    }

    fn scan<'a>(
        &'a self,
        relation: RelationId,
        range: &KeyRange,
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Result<Box<dyn BatchCursor + 'a>, StorageError> {
        let scan = |tree: &'a Tree| tree.boxed_scan(range, columns, as_of);
        Ok(self.tree(relation).map_or_else(|| Box::new(Nothing) as _, scan))
    }

    fn partition(&self, relation: RelationId, range: &KeyRange, parts: usize) -> Vec<KeyRange> {
        self.tree(relation).map_or_else(|| vec![range.clone()], |tree| tree.partition(range, parts))
    }

    fn split_at_rank(
        &self,
        relation: RelationId,
        range: &KeyRange,
        rows: u64,
        end: End,
    ) -> Option<(KeyRange, Option<KeyRange>)> {
        Some(self.tree(relation).map_or_else(|| (range.clone(), None), |tree| tree.split_at_rank(range, rows, end)))
    }

    fn lookup<'a>(
        &'a self,
        relation: RelationId,
        prefixes: &'a [Column],
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Result<Box<dyn LookupCursor + 'a>, StorageError> {
        let lookup = |tree: &'a Tree| tree.boxed_lookup(prefixes, columns, as_of);
        Ok(self.tree(relation).map_or_else(|| Box::new(Nothing) as _, lookup))
    }

    fn get(
        &self,
        relation: RelationId,
        key: &[DataValue],
        outputs: &[(usize, usize)],
        places: &mut [DataValue],
    ) -> Result<bool, StorageError> {
        Ok(self.tree(relation).is_some_and(|tree| tree.get(key, outputs, places)))
    }

    fn contains(
        &self,
        relation: RelationId,
        prefixes: &[Column],
        as_of: Option<AsOf>,
    ) -> Result<Vec<bool>, StorageError> {
        let nothing = || vec![false; probe_count(prefixes)];
        Ok(self.tree(relation).map_or_else(nothing, |tree| tree.contains(prefixes, as_of)))
    }

    fn with_changes(self: Arc<Self>, mut changes: ChangeSet) -> Result<Arc<dyn Snapshot>, StorageError> {
        let mut next = MemSnapshot::clone(&self);
        next.take(&mut changes)?;
        Ok(Arc::new(next))
    }
}
