//! The current version, where many threads find it at once.

use std::ops::Deref;
use std::sync::Arc;
#[cfg(not(feature = "shuttle"))]
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use super::Version;
use super::sync::{AtomicU64, CachePadded, Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Threads beyond so many share what each has for itself.
pub const THREAD_PARTS: usize = 16;

/// The part of the calling thread: threads take the parts in turn.
#[cfg(not(feature = "shuttle"))]
pub fn thread_shard() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static PART: usize = THREADS.fetch_add(1, Ordering::Relaxed) % THREAD_PARTS);
    PART.with(|part| *part)
}

/// The part of the calling task of the model.
#[cfg(feature = "shuttle")]
pub fn thread_shard() -> usize {
    usize::from(shuttle::thread::current().id()) % THREAD_PARTS
}

/// The current version.
///
/// A version that is replaced soon is counted by all that read it in one place. Where many read the same version, that
/// counter would go to and fro between processors for longer than the reading takes; so a thread that finds a version for
/// the second time keeps a handle of its own, and counts there.
pub(super) struct Current {
    latest: CachePadded<RwLock<Arc<Version>>>,
    handles: [CachePadded<Mutex<Handle>>; THREAD_PARTS],
    /// A bit for each handle there is. Set while the version is locked for reading, and cleared while it is for writing.
    given: AtomicU64,
}

/// What a thread has of the current version for itself.
#[derive(Default)]
struct Handle {
    /// The number of the version that it read last.
    seen: u64,
    version: Option<Arc<Counter>>,
}

/// A reference to the version that is counted once, however many count references to it.
pub struct Counter(Arc<Version>);

/// A version that is held: nobody changes its rows in place.
pub enum VersionRef {
    /// Counted with the version.
    Version(Arc<Version>),
    /// Counted with a thread's handle.
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

    /// The version, held.
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

    /// The version, which nobody replaces meanwhile.
    pub fn read(&self) -> RwLockReadGuard<'_, Arc<Version>> {
        self.latest.read()
    }

    /// The version to be replaced: nobody can begin to read meanwhile, and who still reads has a count of it.
    pub fn write(&self) -> RwLockWriteGuard<'_, Arc<Version>> {
        let version = self.latest.write();
        let given = self.given.load(Ordering::Relaxed);
        if given != 0 {
            for part in (0..THREAD_PARTS).filter(|part| given & (1 << part) != 0) {
                // Whoever reads with it drops the version's count at last.
                drop(self.handles[part].lock().version.take());
            }
            self.given.store(0, Ordering::Relaxed);
        }
        version
    }
}
