//! Where the queries of a database put rows on disk, and how much they may put there.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::SpillError;

/// The folder for rows on disk, and the bytes that all queries of a database have there.
#[derive(Debug)]
pub struct SpillSpace {
    folder: PathBuf,
    limit_bytes: u64,
    used_bytes: AtomicU64,
}

impl SpillSpace {
    /// A space in a folder, which must exist when it is used. By default it is the system's folder for temporary files.
    pub fn new(folder: Option<PathBuf>, limit_bytes: u64) -> Self {
        let folder = folder.unwrap_or_else(std::env::temp_dir);
        SpillSpace { folder, limit_bytes, used_bytes: AtomicU64::new(0) }
    }

    /// The folder.
    pub fn folder(&self) -> &PathBuf {
        &self.folder
    }

    /// Takes so many bytes of the space.
    pub(super) fn take(&self, bytes: u64) -> Result<(), SpillError> {
        let used = self.used_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if used > self.limit_bytes {
            self.give_back(bytes);
            return Err(SpillError::Limit { limit_mb: self.limit_bytes >> 20 });
        }
        Ok(())
    }

    /// Returns bytes to the space.
    pub(super) fn give_back(&self, bytes: u64) {
        self.used_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}
