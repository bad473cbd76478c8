//! Slots, each with the contents of one relation between two changes, and the memory that all slots use.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::storage::changes::{ChangeKind, ChangedRows};
use crate::storage::column_tree::Tree;
use crate::storage::content_version::Identity;
use crate::storage::shape::RelationShape;
use crate::sync::RwLock;

/// A slot; see the [module](super) for its states.
pub struct Slot {
    /// All rows, if they are loaded. A change of rows needs the only reference to the slot, and so takes no lock.
    tree: RwLock<Option<Arc<Tree>>>,
    /// Whether a load is running, or has found that the rows are too large.
    pub loading: AtomicBool,
    /// The number of rows that look-ups have read from the engine.
    pub heat: AtomicU64,
    /// The time of the last read of the tree, by [`Usage::now`].
    pub last_used: AtomicU64,
    /// The approximate size of the tree, and its number of rows when that was measured.
    bytes: AtomicUsize,
    measured_rows: AtomicU64,
    /// The identity of these contents.
    pub identity: Identity,
}

impl Slot {
    /// A slot that is not loaded. `heat` is the number of rows that look-ups have read.
    pub fn cold(heat: u64) -> Self {
        Slot {
            tree: RwLock::new(None),
            loading: AtomicBool::new(false),
            heat: AtomicU64::new(heat),
            last_used: AtomicU64::new(0),
            bytes: AtomicUsize::new(0),
            measured_rows: AtomicU64::new(0),
            identity: Identity::default(),
        }
    }

    /// A loaded slot without rows.
    pub fn empty(shape: RelationShape) -> Self {
        Slot { tree: RwLock::new(Some(Arc::new(Tree::new(shape)))), ..Slot::cold(0) }
    }

    /// Calls `read` with the rows, if they are loaded.
    pub fn with_tree<T>(&self, read: impl FnOnce(&Arc<Tree>) -> T) -> Option<T> {
        self.tree.read().as_ref().map(read)
    }

    /// Applies a change of the relation: in place if there is no other reference to the slot, otherwise to a successor, which
    /// replaces it. Returns whether the size was measured, which is done when the number of rows has changed by a quarter.
    /// Large values may be moved out of the rows.
    pub fn change(slot: &mut Arc<Slot>, kind: ChangeKind, rows: &mut ChangedRows) -> bool {
        if let ChangedRows::Source(_) = rows {
            // So many rows are loaded when they are read, if they fit.
            *slot = Arc::new(Slot::cold(0));
            return true;
        }
        let alone = match Arc::get_mut(slot) {
            Some(alone) => alone,
            None => {
                *slot = Arc::new(Slot::successor(slot));
                Arc::get_mut(slot).expect("just made")
            }
        };
        alone.identity = Identity::default();
        let Some(tree) = alone.tree.get_mut() else {
            // A relation that was too large may fit now.
            *alone.loading.get_mut() = false;
            return false;
        };
        let tree = Arc::make_mut(tree);
        tree.take(kind, rows).expect("rows in memory can be read");
        let (rows, measured) = (tree.row_count(), *alone.measured_rows.get_mut());
        let measure = rows.abs_diff(measured) > measured / 4 + 1000;
        if measure {
            *alone.bytes.get_mut() = tree.memory_bytes();
            *alone.measured_rows.get_mut() = rows;
        }
        measure
    }

    /// A slot with the same rows.
    fn successor(&self) -> Self {
        let copied = |number: &AtomicU64| AtomicU64::new(number.load(Ordering::Relaxed));
        Slot {
            tree: RwLock::new(self.with_tree(Arc::clone)),
            last_used: copied(&self.last_used),
            bytes: AtomicUsize::new(self.bytes.load(Ordering::Relaxed)),
            measured_rows: copied(&self.measured_rows),
            ..Slot::cold(self.heat.load(Ordering::Relaxed))
        }
    }

    /// Stores a loaded tree of a given size.
    pub fn fill(&self, tree: Tree, bytes: usize, now: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
        self.measured_rows.store(tree.row_count(), Ordering::Relaxed);
        self.last_used.store(now, Ordering::Relaxed);
        *self.tree.write() = Some(Arc::new(tree));
    }

    /// Marks the end of a load.
    pub fn end_load(&self) {
        self.heat.store(0, Ordering::Relaxed);
        self.loading.store(false, Ordering::Release);
    }

    fn bytes(&self) -> usize {
        if self.tree.read().is_some() { self.bytes.load(Ordering::Relaxed) } else { 0 }
    }
}

/// The memory budget of the trees, and the clock of their uses.
pub struct Usage {
    budget_bytes: usize,
    clock: AtomicU64,
}

/// A lower bound of the size of a value in a tree.
const BYTES_PER_VALUE: u64 = 1;

impl Usage {
    /// A budget with no trees.
    pub fn new(budget_bytes: usize) -> Self {
        Usage { budget_bytes, clock: AtomicU64::new(1) }
    }

    /// The time of the clock, for [`Slot::last_used`].
    pub fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// Advances the clock, and returns the new time.
    pub fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Whether this many rows might fit into an empty cache. A load may still find that they are too large.
    pub fn may_fit(&self, rows: u64, shape: RelationShape) -> bool {
        rows.saturating_mul(shape.arity as u64 * BYTES_PER_VALUE) <= self.budget_bytes as u64
    }

    /// Whether a tree of this size fits into an empty cache.
    pub fn fits(&self, bytes: usize) -> bool {
        bytes <= self.budget_bytes
    }

    /// Evicts the least recently used trees until the others are within the budget. A reader keeps its tree until it is done.
    pub fn keep_within_budget<'s>(&self, slots: impl Iterator<Item = &'s Arc<Slot>>) {
        let mut loaded: Vec<(u64, usize, &Arc<Slot>)> =
            slots.map(|slot| (slot.last_used.load(Ordering::Relaxed), slot.bytes(), slot)).collect();
        let mut total: usize = loaded.iter().map(|(_, bytes, _)| bytes).sum();
        loaded.sort_by_key(|(used, bytes, _)| (*used, *bytes));
        for (_, bytes, slot) in loaded {
            if total <= self.budget_bytes {
                break;
            }
            if bytes > 0 {
                *slot.tree.write() = None;
                total -= bytes;
            }
        }
    }
}
