//! How relations get into the cache: by a scan that passes by, or in the background.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};
use imbl::OrdMap;

use super::slot::{Slot, Usage};
use crate::schema::RelationId;
use crate::storage::mem::Tree;
use crate::storage::{BatchCursor, KeyRange, RelationShape, Snapshot, StorageError};
use crate::sync::Mutex;
use crate::threads;
use crate::value::Batch;

/// How many rows go into a tree at a time: much more than a leaf holds, so that leaves are encoded once.
const ROWS_AT_ONCE: usize = 16 * 1024;

/// How often, in rows, a growing tree is measured.
const ROWS_BETWEEN_MEASURES: u64 = 1 << 20;

/// A relation that is being loaded. Its slot is marked until this is dropped, so that nobody else loads it.
pub struct Load {
    relation: RelationId,
    shape: RelationShape,
    slot: Arc<Slot>,
    /// All slots of the snapshot: some may have to give up their trees.
    all: OrdMap<RelationId, Arc<Slot>>,
    usage: Arc<Usage>,
    too_large: bool,
}

impl Load {
    /// Marks the slot of a relation; nothing if it is marked already.
    pub fn begin(
        relation: RelationId,
        shape: RelationShape,
        slot: &Arc<Slot>,
        all: OrdMap<RelationId, Arc<Slot>>,
        usage: Arc<Usage>,
    ) -> Option<Self> {
        let marked = slot.loading.swap(true, Ordering::AcqRel);
        (!marked).then(|| Load { relation, shape, slot: slot.clone(), all, usage, too_large: false })
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // What is too large is not tried again before it changes: its slot stays marked.
        if !self.too_large {
            self.slot.end_load();
        }
    }
}

/// A scan of a whole relation that loads it by the way. One that is dropped before its end loads nothing.
pub struct LoadingScan<'a> {
    rows: Box<dyn BatchCursor + 'a>,
    columns: Box<[usize]>,
    load: Load,
    /// What came so far: a tree that is measured now and then, and the rows that go into it next.
    tree: Tree,
    pending: Batch,
    measured_rows: u64,
}

impl<'a> LoadingScan<'a> {
    /// A scan that gives some columns.
    pub fn new(base: &'a dyn Snapshot, columns: &[usize], load: Load) -> Result<Self, StorageError> {
        let all: Vec<usize> = (0..load.shape.arity).collect();
        let rows = base.scan(load.relation, &KeyRange::all(), &all)?;
        let (tree, pending) = (Tree::new(load.shape), Batch::empty(load.shape.arity));
        Ok(LoadingScan { rows, columns: columns.into(), load, tree, pending, measured_rows: 0 })
    }

    /// Takes rows of all columns.
    fn take(&mut self, rows: &Batch) {
        self.pending.append(rows);
        if self.pending.len < ROWS_AT_ONCE {
            return;
        }
        self.flush();
        if self.tree.row_count() >= self.measured_rows + ROWS_BETWEEN_MEASURES {
            self.measured_rows = self.tree.row_count();
            self.measure();
        }
    }

    fn flush(&mut self) {
        let width = self.pending.columns.len();
        self.tree.put(&std::mem::replace(&mut self.pending, Batch::empty(width)));
    }

    /// The bytes of the tree; if they are too many it is given up.
    fn measure(&mut self) -> usize {
        let bytes = self.tree.memory_bytes();
        if !self.load.usage.fits(bytes) {
            self.load.too_large = true;
            self.tree = Tree::new(self.load.shape);
        }
        bytes
    }

    fn finish(&mut self) {
        self.flush();
        let bytes = self.measure();
        if !self.load.too_large {
            let Load { slot, all, usage, .. } = &self.load;
            slot.fill(self.tree.clone(), bytes, usage.tick());
            usage.keep_within_budget(all.values());
        }
    }
}

impl BatchCursor for LoadingScan<'_> {
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError> {
        let next = self.rows.next_batch(max_rows)?;
        if !self.load.too_large {
            match &next {
                Some(batch) => self.take(batch),
                None => self.finish(),
            }
        }
        Ok(next.map(|mut batch| {
            batch.columns = self.columns.iter().map(|column| batch.columns[*column].clone()).collect();
            batch
        }))
    }
}

/// A relation to be loaded from a snapshot of the engine.
struct Job {
    base: Arc<dyn Snapshot>,
    load: Load,
}

/// The thread that loads relations, started with the first of them.
#[derive(Default)]
pub struct Loader {
    shared: Handle,
}

/// The way to a [`Loader`].
#[derive(Clone, Default)]
pub struct Handle(Arc<LoadState>);

#[derive(Default)]
struct LoadState {
    stopped: Arc<AtomicBool>,
    thread: Mutex<Option<(Sender<Job>, JoinHandle<()>)>>,
}

/// How many loads wait at most.
const WAITING_LOADS: usize = 16;

impl Loader {
    /// The way to it.
    pub fn handle(&self) -> Handle {
        self.shared.clone()
    }

    /// Ends the thread; when this returns it holds nothing.
    pub fn stop(&self) {
        self.shared.0.stopped.store(true, Ordering::Release);
        let thread = self.shared.0.thread.lock().take();
        if let Some((jobs, thread)) = thread {
            drop(jobs);
            // A panic there was reported there, and has harmed nothing but a load.
            let _ = thread.join();
        }
    }
}

impl Handle {
    /// Has a relation loaded soon, if not too many others wait.
    pub fn load(&self, base: Arc<dyn Snapshot>, load: Load) {
        let mut thread = self.0.thread.lock();
        if self.0.stopped.load(Ordering::Acquire) {
            return;
        }
        if thread.is_none() {
            let (sender, jobs) = bounded(WAITING_LOADS);
            let stopped = self.0.stopped.clone();
            let started = threads::start("cozo-cache", move || serve(jobs, &stopped));
            *thread = started.ok().map(|started| (sender, started));
        }
        if let Some((jobs, _)) = &*thread {
            // Those that do not find room are asked for again by later look-ups.
            let _ = jobs.try_send(Job { base, load });
        }
    }
}

fn serve(jobs: Receiver<Job>, stopped: &AtomicBool) {
    for Job { base, load } in jobs {
        // What cannot be read is an error for whoever asks for it, not for the cache.
        let _ = read_all(&*base, load, stopped);
    }
}

/// Loads a relation, unless it is stopped or too large.
fn read_all(base: &dyn Snapshot, load: Load, stopped: &AtomicBool) -> Result<(), StorageError> {
    let mut scan = LoadingScan::new(base, &[], load)?;
    while !stopped.load(Ordering::Acquire) && !scan.load.too_large && scan.next_batch(ROWS_AT_ONCE)?.is_some() {}
    Ok(())
}
