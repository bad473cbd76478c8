//! What a script uses: for its limits, and for those who watch it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The bytes that a script has in memory and on disk now.
#[derive(Debug, Default)]
pub struct Usage {
    memory: AtomicUsize,
    /// The part of `memory` that would go to disk next.
    held: AtomicUsize,
    disk: AtomicU64,
}

impl Usage {
    /// The size of everything that the script has made and not dropped.
    #[inline]
    pub fn memory(&self) -> usize {
        self.memory.load(Ordering::Relaxed)
    }

    /// The memory without what would go to disk next.
    #[inline]
    pub(super) fn working(&self) -> usize {
        self.memory().saturating_sub(self.held.load(Ordering::Relaxed))
    }

    /// Holds bytes that would go to disk next in memory, if all that is held is at most `most_bytes` then. Returns whether it does.
    pub fn hold(&self, bytes: usize, most_bytes: usize) -> bool {
        if self.held.fetch_add(bytes, Ordering::Relaxed) + bytes > most_bytes {
            self.held.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        self.add_memory(bytes);
        true
    }

    /// Holds bytes no more.
    pub fn let_go(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
        self.remove_memory(bytes);
    }

    /// The size of the rows that the script has on disk.
    pub fn disk(&self) -> u64 {
        self.disk.load(Ordering::Relaxed)
    }

    /// Counts memory. Returns the sum.
    pub(super) fn add_memory(&self, bytes: usize) -> usize {
        self.memory.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes)
    }

    pub(super) fn remove_memory(&self, bytes: usize) {
        self.memory.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Counts bytes on disk.
    pub fn add_disk(&self, bytes: u64) {
        self.disk.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts bytes on disk no more.
    pub fn remove_disk(&self, bytes: u64) {
        self.disk.fetch_sub(bytes, Ordering::Relaxed);
    }
}
