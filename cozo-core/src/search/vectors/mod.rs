//! Indexes over vectors, which know neither rows nor storage.
//!
//! An index has vectors of one length. Each is a *node*, a number from 0 on; the caller knows which key a node has. An index never
//! changes: nodes of deleted rows are left out of the allowed ones, and indexes are merged into new ones.
//!
//! | call | what it does |
//! |---|---|
//! | [`Vectors::with_capacity`], [`Vectors::push`] | vectors one after the other |
//! | [`VectorIndex::build`] | an index with a graph, from some 2,000 vectors on, on all threads |
//! | [`VectorIndex::flat`] | an index without a graph, as long as vectors come in |
//! | [`VectorIndex::search`] | the `k` nearest allowed nodes within a radius, with the way and the work it took ([`VectorHits`]) |
//! | [`VectorIndex::merge`] | an index of the nodes of others, with new numbers |
//! | [`VectorIndex::to_bytes`], [`VectorIndex::from_bytes`] | an index as bytes, and back |
//! | [`VectorIndex::level`], [`VectorIndex::degree`], [`VectorIndex::links`], [`VectorIndex::nodes`] | the graph, to be read |
//! | [`VectorIndex::verify`] | links that are wrong or missing |
//! | [`Metric::distance_f32`], [`Metric::distance_f64`] | the distance of two vectors |
//!
//! ```text
//! query ──> form of the rows ──> walk down the layers ──> walk on layer 0 ──> ef candidates ──> exact distances ──> k hits
//!           (metric, space)      (walk)                   (walk, filtered)                      (search)
//! ```
//!
//! | module | what it owns |
//! |---|---|
//! | `metric`, `codes` | distances of two vectors by the sums of `kernels`, vectors of bytes |
//! | `rows`, `space`, `twins` | vectors as they come in, as they are compared, and those that are equal |
//! | `order` | distances and nodes as integers that sort |
//! | `graph`, `walk`, `filtered` | layers with links, and the walks through them |
//! | `build`, `merge` | the making of graphs |
//! | `ways` | which way of a search costs least |
//! | `index`, `options`, `search`, `bytes`, `inspect` | the index, its options and its calls |
//!
//! **Searches are complete**: they find `k` nodes if so many are allowed, and then leave out those beyond the radius. A walk that
//! finds fewer is followed by the comparison of all allowed nodes.

mod build;
mod bytes;
mod codes;
mod filtered;
mod graph;
mod index;
mod inspect;
mod merge;
mod metric;
mod options;
mod order;
mod rows;
mod scratch;
mod search;
mod space;
#[cfg(test)]
mod tests;
pub mod thresholds;
mod twins;
mod walk;
mod watch;
mod ways;

pub use index::VectorIndex;
pub use inspect::{BrokenLink, LinkFault};
pub use merge::MergePart;
pub use metric::Metric;
pub use options::{GraphOptions, Quantization};
pub use rows::{Precision, VectorError, VectorRef, Vectors};
pub use scratch::Scratch;
pub use search::{AllowedNodes, Hit, Originals, VectorHits, VectorQuery};
pub use ways::SearchWay;
