//! What tells the contents of a relation between two changes from those before and after.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// No two different contents have the same, as long as the process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentVersion(u64);

/// Held beside contents, and replaced when they change. The identity is given when it is first asked for, so that changes need
/// not count in turn; clones made before each get their own.
#[derive(Clone, Debug, Default)]
pub struct Identity(OnceLock<ContentVersion>);

impl Identity {
    /// The identity.
    pub fn id(&self) -> ContentVersion {
        static GIVEN: AtomicU64 = AtomicU64::new(0);
        *self.0.get_or_init(|| ContentVersion(GIVEN.fetch_add(1, Ordering::Relaxed)))
    }
}
