//! An identity for the contents of a relation between two changes. Caches compare it to see whether an entry is current.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// An identity of contents. While the process runs, no two different contents have the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentVersion(u64);

/// The place of an identity beside contents, replaced when they change. The identity is made on first use, so that changes do
/// not contend for the counter. Clones made before the first use get identities of their own.
#[derive(Clone, Debug, Default)]
pub struct Identity(OnceLock<ContentVersion>);

impl Identity {
    /// The identity.
    pub fn id(&self) -> ContentVersion {
        static GIVEN: AtomicU64 = AtomicU64::new(0);
        *self.0.get_or_init(|| ContentVersion(GIVEN.fetch_add(1, Ordering::Relaxed)))
    }
}
