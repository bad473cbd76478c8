//! The column cache: relations of a persistent engine as column trees in memory, within a budget.
//!
//! A relation is *loaded* if there is a tree with all its rows. Reads of a loaded relation never use the engine. A relation
//! created while the database is open is loaded from the start. Another one is loaded by a scan of all its rows, or in the
//! background, once look-ups have read about as many rows as it has. A commit goes to the engine first and then into the trees.
//! If the trees exceed the budget, the least recently used ones are evicted.
//!
//! # The states of a slot
//! A [`Slot`] stands for the contents of one relation between two changes:
//!
//! ```text
//!            many look-ups, or a full scan          end of the scan
//!  cold ─────────────────────────────────> loading ────────────────> loaded
//!    ^                                        │                         │
//!    │                                        └─> too large             │ over the budget
//!    │                                                │ a change        │
//!    └────────────────────────────────────────────────┴─────────────────┘
//! ```
//!
//! | state | `tree` | `loading` | reads |
//! |---|---|---|---|
//! | cold | none | false | from the engine, counted in `heat` |
//! | loading | none | true | from the engine |
//! | too large | none | true | from the engine; not tried again before a change |
//! | loaded | the rows | false | from the tree |
//!
//! # How snapshots share trees
//! All snapshots between two changes of a relation share its slot, so a tree that one of them loads serves all. A commit that
//! changes the relation makes a new slot, with the changed tree if there is one. If no other snapshot has the slot, it is
//! changed in place. So a tree always belongs to the moment of its snapshot. If a commit comes during a load, the tree serves
//! only the snapshots before it.

mod cursor;
mod load;
mod slot;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use imbl::OrdMap;

use self::cursor::{TreeLookup, TreeScan};
use self::load::{Load, Loader, LoadingScan};
use self::slot::{Slot, Usage};
use super::changes::ChangeSet;
use super::column_tree::Tree;
use super::cursor::{BatchCursor, LookupCursor, probe_count};
use super::error::StorageError;
use super::mem::empty_snapshot;
use super::overlay::overlay;
use super::range::{AsOf, End, KeyRange};
use super::shape::RelationShape;
use super::traits::{EngineTraits, Opened, RelationState, Snapshot, Storage};
use crate::schema::{RelationId, with_indices};
use crate::sync::Mutex;
use crate::value::{Column, DataValue};

/// A persistent engine with a column cache over it.
pub struct Cached {
    /// The latest snapshot. It has a snapshot of the engine, so it is dropped before the engine.
    current: Mutex<Arc<CachedSnapshot>>,
    loader: Loader,
    base: Box<dyn Storage>,
}

impl Cached {
    /// An engine with an empty cache of a given size.
    pub fn new(base: Box<dyn Storage>, budget_bytes: usize) -> Result<Self, StorageError> {
        let definitions = base.opened()?.definitions;
        let relations = definitions.iter().flat_map(with_indices);
        let slots = relations.map(|relation| (relation.id, Arc::new(Slot::cold(0)))).collect();
        let usage = Arc::new(Usage::new(budget_bytes));
        let loader = Loader::default();
        let snapshot = CachedSnapshot { base: base.snapshot(), slots, usage, loader: loader.handle() };
        Ok(Cached { base, current: Mutex::new(Arc::new(snapshot)), loader })
    }
}

impl Storage for Cached {
    fn opened(&self) -> Result<Opened, StorageError> {
        self.base.opened()
    }

    fn traits(&self) -> EngineTraits {
        self.base.traits()
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        self.current.lock().clone()
    }

    fn before_commit(&self) {
        self.base.before_commit();
    }

    fn commit(&self, changes: &mut [ChangeSet]) -> Result<Arc<dyn Snapshot>, StorageError> {
        let mut current = self.current.lock();
        if let Some(alone) = Arc::get_mut(&mut current) {
            // The cache gives up its snapshot of the engine, so that the engine can change its contents in place.
            alone.base = empty_snapshot().clone();
        }
        let committed = self.base.commit(changes);
        let next = Arc::make_mut(&mut current);
        match committed {
            Ok(snapshot) => next.base = snapshot,
            Err(error) => {
                next.base = self.base.snapshot();
                return Err(error);
            }
        }
        next.take(changes);
        Ok(current.clone())
    }

    fn settle(&self) -> Result<(), StorageError> {
        self.base.settle()
    }

    fn verify(&self) -> Result<Vec<String>, StorageError> {
        self.base.verify()
    }

    fn compact(&self) -> Result<(), StorageError> {
        self.base.compact()
    }
}

impl Drop for Cached {
    fn drop(&mut self) {
        // A load holds a snapshot of the engine, which must be dropped before the engine closes.
        self.loader.stop();
    }
}

/// A snapshot of the engine, and the slots of its relations.
#[derive(Clone)]
struct CachedSnapshot {
    base: Arc<dyn Snapshot>,
    slots: OrdMap<RelationId, Arc<Slot>>,
    usage: Arc<Usage>,
    loader: load::Handle,
}

impl CachedSnapshot {
    /// Applies committed changes to the slots. Large values may be moved out of the changes instead of copied.
    fn take(&mut self, changes: &mut [ChangeSet]) {
        let mut measured = false;
        for changes in changes {
            for schema in &changes.created {
                self.slots.insert(schema.id, Arc::new(Slot::empty(RelationShape::from(&**schema))));
            }
            for rows in &mut changes.rows {
                if let Some(slot) = self.slots.get_mut(&rows.relation) {
                    measured |= Slot::change(slot, rows.kind, &mut rows.rows);
                }
            }
            for relation in &changes.dropped {
                self.slots.remove(relation);
            }
        }
        if measured {
            self.usage.keep_within_budget(self.slots.values());
            self.usage.tick();
        }
    }

    /// The rows of a relation, if they are loaded.
    fn loaded(&self, relation: RelationId) -> Option<Arc<Tree>> {
        self.with_loaded(relation, Arc::clone)
    }

    /// Calls `read` with the rows of a relation, if they are loaded. They are not evicted meanwhile.
    fn with_loaded<T>(&self, relation: RelationId, read: impl FnOnce(&Arc<Tree>) -> T) -> Option<T> {
        self.with_rows_of(self.slots.get(&relation)?, read)
    }

    fn with_rows_of<T>(&self, slot: &Slot, read: impl FnOnce(&Arc<Tree>) -> T) -> Option<T> {
        let read = slot.with_tree(read)?;
        let now = self.usage.now();
        // The slot is written only if needed. Threads that read the same relation would contend for its cache line.
        if slot.last_used.load(Ordering::Relaxed) != now {
            slot.last_used.store(now, Ordering::Relaxed);
        }
        Some(read)
    }

    /// Counts look-ups that read rows from the engine. Requests a load once there are as many as the relation has rows.
    fn note_lookups(&self, relation: RelationId, probes: usize) {
        let Some(slot) = self.slots.get(&relation) else { return };
        let probes = probes as u64;
        let heat = slot.heat.fetch_add(probes, Ordering::Relaxed) + probes;
        if heat >= self.base.row_count(relation).max(1)
            && let Some(load) = self.begin_load(relation)
        {
            self.loader.load(self.base.clone(), load);
        }
    }

    /// The shape of a relation that might fit into an empty cache.
    fn may_fit(&self, relation: RelationId) -> Option<RelationShape> {
        let RelationState { rows, shape, .. } = self.base.describe(relation)?;
        self.usage.may_fit(rows, shape).then_some(shape)
    }

    /// Begins a load of a relation, if it might fit and no other load of it is running.
    fn begin_load(&self, relation: RelationId) -> Option<Load> {
        let slot = self.slots.get(&relation)?;
        Load::begin(relation, self.may_fit(relation)?, slot, self.slots.clone(), self.usage.clone())
    }
}

impl Snapshot for CachedSnapshot {
    /// There is no tree, since it may be evicted at any time.
    fn describe(&self, relation: RelationId) -> Option<RelationState<'_>> {
        let slot = self.slots.get(&relation)?;
        let identity = Some(&slot.identity);
        let state = |tree: &Arc<Tree>| (tree.shape(), tree.row_count());
        match self.with_rows_of(slot, state) {
            Some((shape, rows)) => Some(RelationState { shape, rows, row_cost: 1, identity, tree: None }),
            None => Some(RelationState { identity, tree: None, ..self.base.describe(relation)? }),
        }
    }

    fn row_count_within(&self, relation: RelationId, range: &KeyRange) -> u64 {
        let loaded = self.with_loaded(relation, |tree| tree.row_count_within(range));
        loaded.unwrap_or_else(|| self.base.row_count_within(relation, range))
    }

    fn count(&self, relation: RelationId, prefix: &[DataValue]) -> Option<u64> {
        self.with_loaded(relation, |tree| tree.count(prefix))
    }

    fn scan<'a>(
        &'a self,
        relation: RelationId,
        range: &KeyRange,
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Result<Box<dyn BatchCursor + 'a>, StorageError> {
        if let Some(tree) = self.loaded(relation) {
            return Ok(Box::new(TreeScan::of(tree, |tree| tree.boxed_scan(range, columns, as_of))));
        }
        match (*range == KeyRange::all() && as_of.is_none()).then(|| self.begin_load(relation)).flatten() {
            Some(load) => Ok(Box::new(LoadingScan::new(&*self.base, columns, load)?)),
            None => self.base.scan(relation, range, columns, as_of),
        }
    }

    /// A relation that may be loaded is one part, since a scan of the whole loads it.
    fn partition(&self, relation: RelationId, range: &KeyRange, parts: usize) -> Vec<KeyRange> {
        if let Some(tree) = self.loaded(relation) {
            return tree.partition(range, parts);
        }
        match *range == KeyRange::all() && self.may_fit(relation).is_some() {
            true => vec![range.clone()],
            false => self.base.partition(relation, range, parts),
        }
    }

    fn split_at_rank(
        &self,
        relation: RelationId,
        range: &KeyRange,
        rows: u64,
        end: End,
    ) -> Option<(KeyRange, Option<KeyRange>)> {
        self.loaded(relation).map(|tree| tree.split_at_rank(range, rows, end))
    }

    fn lookup<'a>(
        &'a self,
        relation: RelationId,
        prefixes: &'a [Column],
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Result<Box<dyn LookupCursor + 'a>, StorageError> {
        if let Some(tree) = self.loaded(relation) {
            return Ok(Box::new(TreeLookup::of(tree, prefixes, |(tree, prefixes)| {
                tree.boxed_lookup(prefixes, columns, as_of)
            })));
        }
        self.note_lookups(relation, probe_count(prefixes));
        self.base.lookup(relation, prefixes, columns, as_of)
    }

    fn get(
        &self,
        relation: RelationId,
        key: &[DataValue],
        outputs: &[(usize, usize)],
        places: &mut [DataValue],
    ) -> Result<bool, StorageError> {
        if let Some(found) = self.with_loaded(relation, |tree| tree.get(key, outputs, places)) {
            return Ok(found);
        }
        self.note_lookups(relation, 1);
        self.base.get(relation, key, outputs, places)
    }

    fn contains(
        &self,
        relation: RelationId,
        prefixes: &[Column],
        as_of: Option<AsOf>,
    ) -> Result<Vec<bool>, StorageError> {
        if let Some(found) = self.with_loaded(relation, |tree| tree.contains(prefixes, as_of)) {
            return Ok(found);
        }
        self.note_lookups(relation, probe_count(prefixes));
        self.base.contains(relation, prefixes, as_of)
    }

    /// An overlay. Uncommitted rows must not be in a slot's tree, which may be evicted at any time.
    fn with_changes(self: Arc<Self>, changes: ChangeSet) -> Result<Arc<dyn Snapshot>, StorageError> {
        overlay(self, &changes)
    }
}

#[cfg(test)]
mod tests;
