//! The current version, which many threads look up at once.
//!
//! [`Current`] holds the latest [`Version`] in an `Arc` behind a lock. [`Current::hold`] returns a [`VersionRef`], which
//! keeps the version alive and its rows unchanged. All clones of one `Arc` share one counter. If many threads read the same
//! version, that counter moves between their processors for longer than the reads take. So each thread shard can have a
//! handle: a second `Arc` with a counter of its own, which counts as one reference to the version.
//!
//! ```text
//!  latest ──> Arc<Version> <── VersionRef::Version     a shard's first read of a version
//!                   ^ one reference for each handle
//!  handles[i] ──> Arc<Counter> <── VersionRef::Handle  its second and later reads
//! ```
//!
//! Invariants:
//! - A handle is made under the read lock of `latest`, so it never refers to an older version.
//! - [`Current::write`] drops all handles. From then on a count of one means that no reader is left, and that a commit may
//!   change rows in place.

use std::ops::Deref;
use std::sync::Arc;
#[cfg(not(feature = "shuttle"))]
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use crate::txn::sync::{AtomicU64, CachePadded, Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use crate::txn::versions::version::Version;

/// The number of thread shards. Further threads share them.
pub const THREAD_PARTS: usize = 16;

/// The shard of the calling thread. Shards are assigned round robin.
#[cfg(not(feature = "shuttle"))]
pub fn thread_shard() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static PART: usize = THREADS.fetch_add(1, Ordering::Relaxed) % THREAD_PARTS);
    PART.with(|part| *part)
}

/// The shard of the calling task of the model checker.
#[cfg(feature = "shuttle")]
pub fn thread_shard() -> usize {
    usize::from(shuttle::thread::current().id()) % THREAD_PARTS
}

/// The current version, and the handles of the thread shards to it.
pub struct Current {
    latest: CachePadded<RwLock<Arc<Version>>>,
    handles: [CachePadded<Mutex<Handle>>; THREAD_PARTS],
    /// A bit for each existing handle. A reader of `latest` sets bits, the writer clears them.
    given: AtomicU64,
}

/// A thread shard's own reference to the current version.
#[derive(Default)]
struct Handle {
    /// The number of the version that the shard read last.
    seen: u64,
    version: Option<Arc<Counter>>,
}

/// A reference to a version. The version counts it once, however many references there are to the handle.
pub struct Counter(Arc<Version>);

/// A held version: no commit changes its rows in place.
pub enum VersionRef {
    /// A reference that the version counts.
    Version(Arc<Version>),
    /// A reference that a shard's handle counts.
    Handle(Arc<Counter>),
}

impl Deref for VersionRef {
    type Target = Version;

    fn deref(&self) -> &Version {
        match self {
            VersionRef::Version(version) => version,
            VersionRef::Handle(counter) => &counter.0,
        }
    }
}

impl Current {
    pub fn new(version: Version) -> Self {
        let handles = std::array::from_fn(|_| CachePadded::default());
        let latest = CachePadded(RwLock::new(Arc::new(version)));
        Current { latest, handles, given: AtomicU64::new(0) }
    }

    /// Takes a reference to the version.
    pub fn hold(&self) -> VersionRef {
        let part = thread_shard();
        if let Some(version) = &self.handles[part].lock().version {
            return VersionRef::Handle(version.clone());
        }
        let version = self.latest.read();
        let mut handle = self.handles[part].lock();
        if handle.seen != version.sequence {
            handle.seen = version.sequence;
            return VersionRef::Version(version.clone());
        }
        self.given.fetch_or(1 << part, Ordering::Relaxed);
        VersionRef::Handle(handle.version.get_or_insert_with(|| Arc::new(Counter(version.clone()))).clone())
    }

    /// Locks the version against replacement.
    pub fn read(&self) -> RwLockReadGuard<'_, Arc<Version>> {
        self.latest.read()
    }

    /// Locks the version for replacement. No transaction can begin to read it meanwhile, and each that reads it holds a
    /// reference.
    pub fn write(&self) -> RwLockWriteGuard<'_, Arc<Version>> {
        let version = self.latest.write();
        let given = self.given.load(Ordering::Relaxed);
        if given != 0 {
            for part in (0..THREAD_PARTS).filter(|part| given & (1 << part) != 0) {
                // The last reader with this handle releases the version.
                drop(self.handles[part].lock().version.take());
            }
            self.given.store(0, Ordering::Relaxed);
        }
        version
    }
}
