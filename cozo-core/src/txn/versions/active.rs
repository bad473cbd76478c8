//! The write transactions that have begun and not ended.
//!
//! Most write transactions read nothing: they put rows and commit. Such a transaction is *unpinned*. It has a catalog but no
//! version, so it commits as if it had begun at that moment. It is registered in the shard of its thread, so that writing
//! threads do not wait for one another here. A transaction that reads is pinned to a version and can conflict. It is
//! registered in one place, which every commit reads.
//!
//! ```text
//!  begin ──> unpinned (catalog) ──read──> reading (version) ──end_readings──> ended
//!                   └──────────────────end_starting─────────────────────────> ended
//! ```
//!
//! An unpinned transaction reads the last version with its catalog. So a change of the catalog puts the version before it
//! into `superseded` for as long as an unpinned transaction has its catalog.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arc_swap::ArcSwap;
use smallvec::SmallVec;

use crate::txn::catalog::Catalog;
use crate::txn::sync::{AtomicU64, CachePadded, Mutex};
use crate::txn::versions::current::{THREAD_PARTS, thread_shard};
use crate::txn::versions::version::Version;

/// The write transactions that have not ended.
pub struct Active {
    /// The catalog of the current version. Transactions begin with it.
    catalog: ArcSwap<Catalog>,
    /// The version of `catalog`, stored after the catalog and before the spare catalogs are dropped.
    catalog_version: AtomicU64,
    /// The transactions that have read nothing.
    unpinned: [CachePadded<Mutex<Beginners>>; THREAD_PARTS],
    /// The last version before each change of the catalog, as long as an unpinned transaction may read it.
    superseded: Mutex<Vec<Arc<Version>>>,
    /// The length of `superseded`, readable without the lock.
    superseded_count: AtomicU64,
    /// The transactions that can conflict.
    reading: CachePadded<Reading>,
}

/// The write transactions of one thread shard that have read nothing.
#[derive(Default)]
struct Beginners {
    /// The versions of their catalogs, in any order.
    catalogs: SmallVec<[u64; 8]>,
    /// The current catalog for the next transaction, left by one that ended. Moving it leaves the shared counter alone.
    spare: Option<Arc<Catalog>>,
}

/// The write transactions that have read rows.
#[derive(Default)]
struct Reading {
    /// The length of `versions`, readable without the lock.
    count: AtomicU64,
    /// The numbers of the versions that they read, in any order.
    versions: Mutex<SmallVec<[u64; 8]>>,
}

/// The registration of a transaction that has read nothing.
pub struct Starting {
    part: usize,
    /// The catalog that the transaction began with.
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

    /// Registers a transaction that begins, until [`Active::end_starting`] or [`Active::read`].
    pub fn begin(&self) -> Starting {
        let part = thread_shard();
        // The catalog is loaded under the lock: a change of the catalog takes this lock after it has stored the new one.
        let mut beginners = self.unpinned[part].lock();
        let catalog = beginners.spare.take().unwrap_or_else(|| self.catalog.load_full());
        beginners.catalogs.push(catalog.version);
        Starting { part, catalog }
    }

    /// Removes a transaction that has read nothing.
    pub fn end_starting(&self, started: Starting) {
        let Starting { part, catalog } = started;
        let mut beginners = self.unpinned[part].lock();
        remove(&mut beginners.catalogs, catalog.version);
        // A change of the catalog first stores the new version, and then drops the spare catalogs.
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

    /// Pins a transaction to the latest version with the catalog that it began with, until [`Active::end_readings`]. The
    /// caller excludes commits.
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

    /// Registers a transaction that reads a version, until [`Active::end_readings`]. The caller excludes commits.
    pub fn begin_reading(&self, sequence: u64) {
        let mut versions = self.reading.versions.lock();
        versions.push(sequence);
        self.reading.count.store(versions.len() as u64, Ordering::Release);
    }

    /// Removes a transaction for each of these versions, which it read.
    pub fn end_readings(&self, sequences: impl IntoIterator<Item = u64>) {
        let mut sequences = sequences.into_iter().peekable();
        if sequences.peek().is_some() {
            let mut versions = self.reading.versions.lock();
            sequences.for_each(|sequence| remove(&mut versions, sequence));
            self.reading.count.store(versions.len() as u64, Ordering::Release);
        }
    }

    /// The oldest version that a transaction reads or may still be pinned to. Commits after it may conflict with that
    /// transaction. The caller excludes transactions that begin to read.
    pub fn oldest(&self) -> Option<u64> {
        let is_any = |count: &AtomicU64| count.load(Ordering::Acquire) > 0;
        let read = is_any(&self.reading.count).then(|| self.reading.versions.lock().iter().min().copied()).flatten();
        let superseded = || self.superseded.lock().iter().map(|version| version.sequence).min();
        let kept = is_any(&self.superseded_count).then(superseded).flatten();
        read.into_iter().chain(kept).min()
    }

    /// Replaces the catalog. `superseded` is the last version with the catalog before. The caller excludes transactions that
    /// begin to read.
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

/// Removes one occurrence of a number.
fn remove(noted: &mut SmallVec<[u64; 8]>, number: u64) {
    if let Some(place) = noted.iter().position(|noted| *noted == number) {
        noted.swap_remove(place);
    }
}
