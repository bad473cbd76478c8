//! How relations get into the cache: by a scan that passes by, or in the background.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};
use imbl::OrdMap;
use parking_lot::Mutex;

use super::slot::{Slot, Usage};
use crate::schema::RelationId;
use crate::storage::mem::Tree;
use crate::storage::{BatchCursor, KeyRange, RelationShape, Snapshot, StorageError};
use crate::value::Batch;

/// How many rows go into a tree at a time: much more than a leaf holds, so that leaves are encoded once.
const ROWS_AT_ONCE: usize = 16 * 1024;

/// How often, in rows, a growing tree is measured.
const ROWS_BETWEEN_MEASURES: u64 = 1 << 20;

/// A tree that all rows of a relation go into, in key order.
struct Growing {
    tree: Tree,
    pending: Batch,
    measured_rows: u64,
}

impl Growing {
    fn new(shape: RelationShape) -> Self {
        Growing { tree: Tree::new(shape), pending: Batch::empty(shape.arity), measured_rows: 0 }
    }

    /// Takes rows; whether the tree still fits.
    fn take(&mut self, rows: &Batch, usage: &Usage) -> bool {
        self.pending.append(rows);
        if self.pending.len < ROWS_AT_ONCE {
            return true;
        }
        self.flush();
        if self.tree.row_count() < self.measured_rows + ROWS_BETWEEN_MEASURES {
            return true;
        }
        self.measured_rows = self.tree.row_count();
        usage.fits(self.tree.memory_bytes())
    }

    fn flush(&mut self) {
        let width = self.pending.columns.len();
        self.tree.put(&std::mem::replace(&mut self.pending, Batch::empty(width)));
    }

    fn finish(mut self, load: &Load) {
        self.flush();
        let bytes = self.tree.memory_bytes();
        // What does not fit is not tried again before it changes: its slot stays marked.
        if load.usage.fits(bytes) {
            load.slot.fill(self.tree, bytes, load.usage.tick());
            load.usage.keep_within_budget(load.all.values());
        }
    }
}

/// A slot that is being loaded.
pub struct Load {
    /// The slot, which is marked as loading.
    pub slot: Arc<Slot>,
    /// All slots of the snapshot: some may have to give up their trees.
    pub all: OrdMap<RelationId, Arc<Slot>>,
    /// The budget.
    pub usage: Arc<Usage>,
}

/// A scan of a whole relation that loads it by the way. One that is dropped before its end loads nothing.
pub struct LoadingScan<'a> {
    rows: Box<dyn BatchCursor + 'a>,
    columns: Box<[usize]>,
    growing: Option<Growing>,
    load: Load,
}

impl<'a> LoadingScan<'a> {
    /// A scan that gives some columns of `rows`, which are all rows of the relation with all their columns.
    pub fn new(rows: Box<dyn BatchCursor + 'a>, columns: &[usize], shape: RelationShape, load: Load) -> Self {
        LoadingScan { rows, columns: columns.into(), growing: Some(Growing::new(shape)), load }
    }
}

impl BatchCursor for LoadingScan<'_> {
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError> {
        let Some(batch) = self.rows.next_batch(max_rows)? else {
            if let Some(growing) = self.growing.take() {
                growing.finish(&self.load);
            }
            return Ok(None);
        };
        if self.growing.as_mut().is_some_and(|growing| !growing.take(&batch, &self.load.usage)) {
            self.growing = None;
        }
        let columns = self.columns.iter().map(|column| batch.columns[*column].clone()).collect();
        Ok(Some(Batch { columns, len: batch.len }))
    }
}

impl Drop for LoadingScan<'_> {
    fn drop(&mut self) {
        if self.growing.is_some() {
            self.load.slot.end_load();
        }
    }
}

/// A relation to be loaded.
struct Job {
    base: Arc<dyn Snapshot>,
    relation: RelationId,
    load: Load,
}

/// The thread that loads relations, started with the first of them.
#[derive(Default)]
pub struct Loader {
    shared: Handle,
}

/// The way to a [`Loader`].
#[derive(Clone, Default)]
pub struct Handle(Arc<State>);

#[derive(Default)]
struct State {
    stopped: Arc<AtomicBool>,
    thread: Mutex<Option<(Sender<Job>, JoinHandle<()>)>>,
}

/// How many loads wait at most; those that come later are asked for again by later look-ups.
const WAITING_LOADS: usize = 16;

impl Loader {
    /// The way to it.
    pub fn handle(&self) -> Handle {
        self.shared.clone()
    }

    /// Ends the thread; when this returns it holds nothing.
    pub fn stop(&self) {
        self.shared.0.stopped.store(true, Ordering::Release);
        if let Some((jobs, thread)) = self.shared.0.thread.lock().take() {
            drop(jobs);
            // A panic there was reported there, and has harmed nothing but a load.
            let _ = thread.join();
        }
    }
}

impl Handle {
    /// Has a relation loaded soon.
    pub fn load(&self, base: Arc<dyn Snapshot>, relation: RelationId, load: Load) {
        let slot = load.slot.clone();
        let mut thread = self.0.thread.lock();
        if self.0.stopped.load(Ordering::Acquire) {
            return;
        }
        if thread.is_none() {
            let (sender, jobs) = bounded(WAITING_LOADS);
            let stopped = self.0.stopped.clone();
            let started =
                std::thread::Builder::new().name("cozo-cache".to_string()).spawn(move || serve(&jobs, &stopped));
            let Ok(started) = started else { return slot.end_load() };
            *thread = Some((sender, started));
        }
        let job = Job { base, relation, load };
        let sent = thread.as_ref().is_some_and(|(jobs, _)| jobs.try_send(job).is_ok());
        if !sent {
            slot.end_load();
        }
    }
}

fn serve(jobs: &Receiver<Job>, stopped: &AtomicBool) {
    for job in jobs {
        // What cannot be read is an error for whoever asks for it, not for the cache.
        let _ = load(&job, stopped);
    }
}

/// Loads a relation, unless it is stopped.
fn load(job: &Job, stopped: &AtomicBool) -> Result<(), StorageError> {
    let Some(shape) = job.base.shape(job.relation) else { return Ok(()) };
    let columns: Vec<usize> = (0..shape.arity).collect();
    let mut rows = job.base.scan(job.relation, &KeyRange::all(), &columns)?;
    let mut growing = Growing::new(shape);
    while let Some(batch) = rows.next_batch(ROWS_AT_ONCE)? {
        if stopped.load(Ordering::Acquire) || !growing.take(&batch, &job.load.usage) {
            return Ok(());
        }
    }
    growing.finish(&job.load);
    Ok(())
}
