//! The write transactions that have begun and not ended.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Catalog, Version};

/// Write transactions by the version that each began with, and what they may still come to read.
pub(super) struct Active {
    /// The number of the current version, with which they begin.
    pub sequence: u64,
    /// Its catalog.
    pub catalog: Catalog,
    began: BTreeMap<u64, usize>,
    /// The last version before each change of the catalog, as long as a transaction that began no later is active.
    superseded: Vec<Arc<Version>>,
}

impl Active {
    /// No transactions, at this version.
    pub fn new(sequence: u64, catalog: Catalog) -> Self {
        Active { sequence, catalog, began: BTreeMap::new(), superseded: vec![] }
    }

    /// Goes on from one version to the next.
    pub fn advance(&mut self, from: &Arc<Version>, to: &Version) {
        if from.catalog.version != to.catalog.version {
            if !self.began.is_empty() {
                self.superseded.push(from.clone());
            }
            self.catalog = to.catalog.clone();
        }
        self.sequence = to.sequence;
    }

    /// Notes a transaction that begins with a version.
    pub fn begin(&mut self, sequence: u64) {
        *self.began.entry(sequence).or_default() += 1;
    }

    /// Forgets a transaction that began with a version.
    pub fn end(&mut self, sequence: u64) {
        if let Some(count) = self.began.get_mut(&sequence) {
            *count -= 1;
            if *count == 0 {
                self.began.remove(&sequence);
            }
        }
        let oldest = self.oldest().unwrap_or(u64::MAX);
        self.superseded.retain(|version| version.sequence >= oldest);
    }

    /// The version that the oldest began with.
    pub fn oldest(&self) -> Option<u64> {
        self.began.keys().next().copied()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.began.values().sum()
    }

    /// The last version with a catalog that a later one has replaced.
    pub fn last_with_catalog(&self, catalog: u64) -> Option<Arc<Version>> {
        self.superseded.iter().find(|version| version.catalog.version == catalog).cloned()
    }
}
