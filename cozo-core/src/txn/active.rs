//! The write transactions that have begun and not ended.

use std::sync::Arc;

use arc_swap::ArcSwap;
use smallvec::SmallVec;

use super::{Catalog, Version};

/// Write transactions by the version that each began with, and what they may still come to read.
pub(super) struct Active {
    /// The number of the current version, with which they begin.
    pub sequence: u64,
    /// Its catalog.
    pub catalog: ArcSwap<Catalog>,
    /// The numbers of the versions that they began with, in any order.
    began: SmallVec<[u64; 8]>,
    /// The last version before each change of the catalog, as long as a transaction that began no later is active.
    superseded: Vec<Arc<Version>>,
}

impl Active {
    /// No transactions, at this version.
    pub fn new(sequence: u64, catalog: Catalog) -> Self {
        Active { sequence, catalog: ArcSwap::from_pointee(catalog), began: SmallVec::new(), superseded: vec![] }
    }

    /// Goes on to the next version; `superseded` is the one before, where its catalog was another.
    pub fn advance(&mut self, to: &Version, superseded: Option<Arc<Version>>) {
        if superseded.is_some() {
            self.catalog.store(Arc::new(to.catalog.clone()));
        }
        self.superseded.extend(superseded.filter(|_| !self.began.is_empty()));
        self.sequence = to.sequence;
    }

    /// Notes a transaction that begins with a version.
    pub fn begin(&mut self, sequence: u64) {
        self.began.push(sequence);
    }

    /// Forgets a transaction that began with a version.
    pub fn end(&mut self, sequence: u64) {
        if let Some(place) = self.began.iter().position(|began| *began == sequence) {
            self.began.swap_remove(place);
        }
        if !self.superseded.is_empty() {
            let oldest = self.oldest().unwrap_or(u64::MAX);
            self.superseded.retain(|version| version.sequence >= oldest);
        }
    }

    /// The version that the oldest began with.
    pub fn oldest(&self) -> Option<u64> {
        self.began.iter().min().copied()
    }

    /// The last version with a catalog that a later one has replaced.
    pub fn last_with_catalog(&self, catalog: u64) -> Option<Arc<Version>> {
        self.superseded.iter().find(|version| version.catalog.version == catalog).cloned()
    }
}
