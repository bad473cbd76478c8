//! Loading relations into the cache, by a scan of a query or in the background.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};
use imbl::OrdMap;

use super::slot::{Slot, Usage};
use crate::schema::RelationId;
use crate::storage::column_tree::Tree;
use crate::storage::cursor::BatchCursor;
use crate::storage::error::StorageError;
use crate::storage::range::KeyRange;
use crate::storage::shape::RelationShape;
use crate::storage::traits::Snapshot;
use crate::sync::Mutex;
use crate::threads;
use crate::value::Batch;

/// The number of rows put into a tree at a time. It is many times the size of a leaf, so that most leaves are encoded once.
const ROWS_AT_ONCE: usize = 16 * 1024;

/// The number of rows between two measurements of a growing tree.
const ROWS_BETWEEN_MEASURES: u64 = 1 << 20;

/// A running load of a relation. Its slot is marked until this is dropped, so that there is no second load of it.
pub struct Load {
    relation: RelationId,
    shape: RelationShape,
    slot: Arc<Slot>,
    /// All slots of the snapshot, whose trees may have to be evicted.
    all: OrdMap<RelationId, Arc<Slot>>,
    usage: Arc<Usage>,
    too_large: bool,
}

impl Load {
    /// Marks the slot of a relation. None if it is marked already.
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
        // The slot of a relation that is too large stays marked, so that it is not tried again before a change.
        if !self.too_large {
            self.slot.end_load();
        }
    }
}

/// A scan of a whole relation that also loads it. A scan dropped before its end loads nothing.
pub struct LoadingScan<'a> {
    rows: Box<dyn BatchCursor + 'a>,
    columns: Box<[usize]>,
    load: Load,
    /// The rows so far. Those of `pending` are put into the tree next.
    tree: Tree,
    pending: Batch,
    measured_rows: u64,
}

impl<'a> LoadingScan<'a> {
    /// A scan that returns some of the columns.
    pub fn new(base: &'a dyn Snapshot, columns: &[usize], load: Load) -> Result<Self, StorageError> {
        let all: Vec<usize> = (0..load.shape.arity).collect();
        let rows = base.scan(load.relation, &KeyRange::all(), &all, None)?;
        let (tree, pending) = (Tree::new(load.shape), Batch::empty(load.shape.arity));
        Ok(LoadingScan { rows, columns: columns.into(), load, tree, pending, measured_rows: 0 })
    }

    /// Adds rows with all columns.
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

    /// Measures the tree. Drops it if it is too large.
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

/// A request to load a relation from a snapshot of the engine.
struct Job {
    base: Arc<dyn Snapshot>,
    load: Load,
}

/// The thread that loads relations. It is started for the first request.
#[derive(Default)]
pub struct Loader {
    shared: Handle,
}

/// A handle that sends requests to a [`Loader`].
#[derive(Clone, Default)]
pub struct Handle(Arc<LoadState>);

#[derive(Default)]
struct LoadState {
    stopped: Arc<AtomicBool>,
    thread: Mutex<Option<(Sender<Job>, JoinHandle<()>)>>,
}

/// The most requests that wait.
const WAITING_LOADS: usize = 16;

impl Loader {
    /// A handle of the loader.
    pub fn handle(&self) -> Handle {
        self.shared.clone()
    }

    /// Ends the thread. When this returns, the thread holds no snapshot.
    pub fn stop(&self) {
        self.shared.0.stopped.store(true, Ordering::Release);
        let thread = self.shared.0.thread.lock().take();
        if let Some((jobs, thread)) = thread {
            drop(jobs);
            // A panic in the thread was reported there, and has only ended a load.
            let _ = thread.join();
        }
    }
}

impl Handle {
    /// Requests the load of a relation. The request is dropped if too many wait.
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
            // Later look-ups repeat a request that found no room.
            let _ = jobs.try_send(Job { base, load });
        }
    }
}

fn serve(jobs: Receiver<Job>, stopped: &AtomicBool) {
    for Job { base, load } in jobs {
        // A query that reads the relation gets the same error and reports it.
        let _ = read_all(&*base, load, stopped);
    }
}

/// Loads a relation, unless the loader is stopped or the relation is too large.
fn read_all(base: &dyn Snapshot, load: Load, stopped: &AtomicBool) -> Result<(), StorageError> {
    let mut scan = LoadingScan::new(base, &[], load)?;
    while !stopped.load(Ordering::Acquire) && !scan.load.too_large && scan.next_batch(ROWS_AT_ONCE)?.is_some() {}
    Ok(())
}
