//! The contents of one relation between two changes of it, and what all slots together take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use arc_swap::ArcSwapOption;

use crate::storage::mem::Tree;
use crate::storage::{ChangeKind, Identity, RelationShape};
use crate::value::Batch;

/// See the module.
pub struct Slot {
    /// All rows, if they are loaded.
    pub tree: ArcSwapOption<Tree>,
    /// Whether somebody loads them, or has found that they are too large.
    pub loading: AtomicBool,
    /// How many rows look-ups have read from the engine.
    pub heat: AtomicU64,
    /// When the tree was read last, by [`Usage::now`].
    pub last_used: AtomicU64,
    /// About how many bytes the tree takes, and how many rows it had when that was measured.
    bytes: AtomicUsize,
    measured_rows: AtomicU64,
    /// What tells these contents from others.
    pub identity: Identity,
}

impl Slot {
    /// A slot that is not loaded; its look-ups have read so many rows.
    pub fn cold(heat: u64) -> Self {
        Slot {
            tree: ArcSwapOption::empty(),
            loading: AtomicBool::new(false),
            heat: AtomicU64::new(heat),
            last_used: AtomicU64::new(0),
            bytes: AtomicUsize::new(0),
            measured_rows: AtomicU64::new(0),
            identity: Identity::default(),
        }
    }

    /// A loaded slot, with its size when it had so many rows.
    pub fn loaded(tree: Arc<Tree>, bytes: usize, measured_rows: u64) -> Self {
        let slot = Slot::cold(0);
        slot.tree.store(Some(tree));
        slot.bytes.store(bytes, Ordering::Relaxed);
        slot.measured_rows.store(measured_rows, Ordering::Relaxed);
        slot
    }

    /// Goes on to what the slot holds after a change of the relation, in place if nobody else has it; whether its size was
    /// measured: it is when the number of rows has changed by a quarter.
    pub fn change(slot: &mut Arc<Slot>, kind: ChangeKind, rows: &Batch) -> bool {
        let alone = Arc::get_mut(slot).is_some();
        let tree = if alone { slot.tree.swap(None) } else { slot.tree.load_full() };
        let Some(tree) = tree else {
            *slot = Arc::new(Slot::cold(slot.heat.load(Ordering::Relaxed)));
            return false;
        };
        let mut tree = Arc::unwrap_or_clone(tree);
        tree.apply(kind, rows);
        let (rows, measured) = (tree.row_count(), slot.measured_rows.load(Ordering::Relaxed));
        let measure = rows.abs_diff(measured) > measured / 4 + 1000;
        let size = if measure { (tree.memory_bytes(), rows) } else { (slot.bytes.load(Ordering::Relaxed), measured) };
        let next = Slot::loaded(Arc::new(tree), size.0, size.1);
        next.last_used.store(slot.last_used.load(Ordering::Relaxed), Ordering::Relaxed);
        *slot = Arc::new(next);
        measure
    }

    /// Keeps a tree of so many bytes that was loaded.
    pub fn fill(&self, tree: Tree, bytes: usize, now: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
        self.measured_rows.store(tree.row_count(), Ordering::Relaxed);
        self.last_used.store(now, Ordering::Relaxed);
        self.tree.store(Some(Arc::new(tree)));
    }

    /// Says that nobody loads the rows any longer.
    pub fn end_load(&self) {
        self.heat.store(0, Ordering::Relaxed);
        self.loading.store(false, Ordering::Release);
    }

    fn bytes(&self) -> usize {
        if self.tree.load().is_some() { self.bytes.load(Ordering::Relaxed) } else { 0 }
    }
}

/// What the trees of the newest snapshot take together.
pub struct Usage {
    budget_bytes: usize,
    clock: AtomicU64,
}

/// What a value takes in a tree at least.
const BYTES_PER_VALUE: u64 = 1;

impl Usage {
    /// A budget of which nothing is used.
    pub fn new(budget_bytes: usize) -> Self {
        Usage { budget_bytes, clock: AtomicU64::new(1) }
    }

    /// The number of the present, for [`Slot::last_used`].
    pub fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// Moves on to the next present, which what is loaded begins with, and gives its number.
    pub fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Whether so many rows might fit into an empty cache; they may still turn out to be too large.
    pub fn may_fit(&self, rows: u64, shape: RelationShape) -> bool {
        rows.saturating_mul(shape.arity as u64 * BYTES_PER_VALUE) <= self.budget_bytes as u64
    }

    /// Whether a tree of so many bytes fits into an empty cache.
    pub fn fits(&self, bytes: usize) -> bool {
        bytes <= self.budget_bytes
    }

    /// Gives up the trees used longest ago until the others are within the budget. Whoever still reads one keeps it until
    /// it is done.
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
                slot.tree.store(None);
                total -= bytes;
            }
        }
    }
}
