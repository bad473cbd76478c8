//! What an index is like: its distance, what it keeps, and how many links its graph has.

use serde::{Deserialize, Serialize};

use super::metric::Metric;
use super::thresholds::MAX_LINKS;

/// Whether an index keeps vectors or codes of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Quantization {
    /// The vectors themselves.
    None,
    /// A byte for each element. Searches read the original vectors of their candidates.
    Int8,
}

/// The options of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphOptions {
    /// How far vectors are apart.
    pub metric: Metric,
    /// What the index keeps.
    pub quantization: Quantization,
    /// The most links of a node on upper layers; twice as many on layer 0. From 2 to [`MAX_LINKS`].
    pub m: usize,
    /// The number of candidates among which links are chosen.
    pub ef_construction: usize,
    /// Whether links of candidates are candidates, too.
    pub extend_candidates: bool,
    /// Whether a node gets `m` links even if fewer are needed.
    pub keep_pruned_connections: bool,
}

impl GraphOptions {
    /// The options with numbers that a graph can have.
    pub(super) fn bounded(self) -> Self {
        GraphOptions { m: self.m.clamp(2, MAX_LINKS), ef_construction: self.ef_construction.max(1), ..self }
    }
}
