//! The write transactions that have begun and not ended.
//!
//! Most read nothing: they put rows, and are over. Those only begin with a catalog, and commit whatever others have committed
//! meanwhile, as if they had begun just then. Each is noted in the part of its thread, so that threads which write do not
//! wait for one another here. Only what has read rows can conflict, and is noted where commits look.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arc_swap::ArcSwap;
use smallvec::SmallVec;

use super::current::{THREAD_PARTS, thread_shard};
use super::sync::{AtomicU64, CachePadded, Mutex};
use super::{Catalog, Version};

/// The write transactions.
pub(super) struct Active {
    /// The catalog of the current version, with which they begin.
    catalog: ArcSwap<Catalog>,
    /// Its version, noted before those that begin find it.
    catalog_version: AtomicU64,
    /// Those that have read nothing.
    unpinned: [CachePadded<Mutex<Beginners>>; THREAD_PARTS],
    /// The last version before each change of the catalog, as long as one of those may come to read it.
    superseded: Mutex<Vec<Arc<Version>>>,
    /// How many there are, for those who only look.
    superseded_count: AtomicU64,
    /// Those that can conflict.
    reading: CachePadded<Reading>,
}

/// The write transactions of one part that have read nothing.
#[derive(Default)]
struct Beginners {
    /// Their catalogs, by version; in any order.
    catalogs: SmallVec<[u64; 8]>,
    /// The current catalog, for the next to begin: left by the one before, so that no reference is counted.
    spare: Option<Arc<Catalog>>,
}

/// The write transactions that have read rows.
#[derive(Default)]
struct Reading {
    /// How many there are, for those who only look.
    count: AtomicU64,
    /// The versions, by number, that they read; in any order.
    versions: Mutex<SmallVec<[u64; 8]>>,
}

/// Where a transaction is noted that has read nothing.
pub(super) struct Starting {
    part: usize,
    /// The catalog that it began with.
    pub catalog: Arc<Catalog>,
}

impl Active {
    /// No transactions, with this catalog.
    pub fn new(catalog: Catalog) -> Self {
        Active {
            catalog_version: AtomicU64::new(catalog.version),
            catalog: ArcSwap::from_pointee(catalog),
            unpinned: std::array::from_fn(|_| CachePadded::default()),
            superseded: Mutex::default(),
            superseded_count: AtomicU64::new(0),
            reading: CachePadded::default(),
        }
    }

    /// Notes a transaction that begins, until [`Active::end_starting`] or [`Active::read`].
    pub fn begin(&self) -> Starting {
        let part = thread_shard();
        // Within the lock: a change of the catalog looks here after it is done.
        let mut beginners = self.unpinned[part].lock();
        let catalog = beginners.spare.take().unwrap_or_else(|| self.catalog.load_full());
        beginners.catalogs.push(catalog.version);
        Starting { part, catalog }
    }

    /// Forgets a transaction that has read nothing.
    pub fn end_starting(&self, started: Starting) {
        let Starting { part, catalog } = started;
        let mut beginners = self.unpinned[part].lock();
        remove(&mut beginners.catalogs, catalog.version);
        // A change of the catalog notes its version, and takes the spare ones after that.
        if beginners.spare.is_none() && self.catalog_version.load(Ordering::Acquire) == catalog.version {
            beginners.spare = Some(catalog);
        }
        drop(beginners);
        if self.superseded_count.load(Ordering::Acquire) > 0 {
            let mut superseded = self.superseded.lock();
            superseded.retain(|version| self.may_be_read(version));
            self.superseded_count.store(superseded.len() as u64, Ordering::Release);
        }
    }

    /// Whether a transaction that has read nothing has begun with the catalog of a version.
    fn may_be_read(&self, version: &Version) -> bool {
        self.unpinned.iter().any(|part| part.lock().catalogs.contains(&version.catalog.version))
    }

    /// The version that a transaction reads from now on, with the catalog that it began with; noted until
    /// [`Active::end_readings`]. Nobody commits meanwhile.
    pub fn read(&self, started: Starting, current: &Arc<Version>) -> Arc<Version> {
        let superseded = || {
            let superseded = self.superseded.lock();
            superseded.iter().find(|version| version.catalog.version == started.catalog.version).cloned()
        };
        let version = match current.catalog.version == started.catalog.version {
            true => current.clone(),
            false => superseded().expect("kept for transactions that began with its catalog"),
        };
        self.begin_reading(version.sequence);
        self.end_starting(started);
        version
    }

    /// Notes a transaction that reads a version from now on, until [`Active::end_readings`]. Nobody commits meanwhile.
    pub fn begin_reading(&self, sequence: u64) {
        let mut versions = self.reading.versions.lock();
        versions.push(sequence);
        self.reading.count.store(versions.len() as u64, Ordering::Release);
    }

    /// Forgets transactions that read these versions.
    pub fn end_readings(&self, sequences: impl IntoIterator<Item = u64>) {
        let mut sequences = sequences.into_iter().peekable();
        if sequences.peek().is_some() {
            let mut versions = self.reading.versions.lock();
            sequences.for_each(|sequence| remove(&mut versions, sequence));
            self.reading.count.store(versions.len() as u64, Ordering::Release);
        }
    }

    /// The oldest version that a transaction reads or may come to read: what is committed after it may be a conflict. Nobody
    /// begins to read meanwhile.
    pub fn oldest(&self) -> Option<u64> {
        let is_any = |count: &AtomicU64| count.load(Ordering::Acquire) > 0;
        let read = is_any(&self.reading.count).then(|| self.reading.versions.lock().iter().min().copied()).flatten();
        let superseded = || self.superseded.lock().iter().map(|version| version.sequence).min();
        let kept = is_any(&self.superseded_count).then(superseded).flatten();
        read.into_iter().chain(kept).min()
    }

    /// Goes on to another catalog; `superseded` is the last version with the one before. Nobody begins to read meanwhile.
    pub fn catalog_changes(&self, catalog: &Catalog, superseded: Arc<Version>) {
        self.catalog.store(Arc::new(catalog.clone()));
        self.catalog_version.store(catalog.version, Ordering::Release);
        self.unpinned.iter().for_each(|part| drop(part.lock().spare.take()));
        if self.may_be_read(&superseded) {
            let mut all = self.superseded.lock();
            all.push(superseded);
            self.superseded_count.store(all.len() as u64, Ordering::Release);
        }
    }
}

/// Removes one of these.
fn remove(noted: &mut SmallVec<[u64; 8]>, number: u64) {
    if let Some(place) = noted.iter().position(|noted| *noted == number) {
        noted.swap_remove(place);
    }
}
