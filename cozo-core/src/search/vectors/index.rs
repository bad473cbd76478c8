//! An index over vectors: the vectors, the graph, and what has no place in it.

use fixedbitset::FixedBitSet;
use rayon::prelude::*;

use super::build::build;
use super::graph::Graph;
use super::options::{GraphOptions, Quantization};
use super::rows::{Precision, Vectors};
use super::space::{Extent, Space};
use super::thresholds::GRAPH_MIN_NODES;
use super::twins::Twins;
use crate::budget::{Stop, make_room};
use crate::threads;

/// An index over vectors, which never changes.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorIndex {
    pub(super) options: GraphOptions,
    pub(super) space: Space,
    pub(super) graph: Graph,
    pub(super) twins: Twins,
    /// The nodes without a place in the graph that every search compares: those with infinite elements.
    pub(super) infinite: Vec<u32>,
}

impl VectorIndex {
    /// An index over vectors, of which each is the node of its number. The same vectors and options give the same index. Fails if
    /// the thread's script must stop.
    pub fn build(vectors: Vectors, options: GraphOptions) -> Result<Self, Stop> {
        make_room(if options.quantization == Quantization::Int8 { vectors.memory_bytes() / 4 } else { 0 })?;
        let space = Space::new(vectors, options.metric, options.quantization == Quantization::Int8);
        let mut index = VectorIndex::without_graph(space, options.bounded());
        if index.len() >= GRAPH_MIN_NODES {
            let heads = index.place(&FixedBitSet::new());
            index.graph = build(&index.space, index.options, &heads)?;
        }
        Ok(index)
    }

    /// An index over vectors without a graph, whatever their number: searches compare all allowed vectors.
    pub fn flat(vectors: Vectors, options: GraphOptions) -> Self {
        let space = Space::new(vectors, options.metric, options.quantization == Quantization::Int8);
        VectorIndex::without_graph(space, options.bounded())
    }

    pub(super) fn without_graph(space: Space, options: GraphOptions) -> Self {
        VectorIndex { options, space, graph: Graph::default(), twins: Twins::default(), infinite: vec![] }
    }

    /// Finds twins and infinite vectors. Returns the nodes that belong into the graph. Of twins, preferred ones become heads.
    pub(super) fn place(&mut self, preferred: &FixedBitSet) -> Vec<u32> {
        threads::ready();
        let extents: Vec<Extent> = (0..self.len() as u32).into_par_iter().map(|node| self.space.extent(node)).collect();
        let (mut finite, mut infinite) = (vec![], vec![]);
        for (node, extent) in (0..).zip(extents) {
            match extent {
                Extent::Finite => finite.push(node),
                Extent::Infinite => infinite.push(node),
                Extent::Nan => {}
            }
        }
        self.infinite = infinite;
        self.twins = Twins::find(&self.space, &finite, preferred);
        let mut members = FixedBitSet::with_capacity(self.len());
        self.twins.members.iter().for_each(|node| members.insert(*node as usize));
        finite.retain(|node| !members.contains(*node as usize));
        finite
    }

    /// The number of vectors.
    pub fn len(&self) -> usize {
        self.space.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of elements of a vector.
    pub fn dim(&self) -> usize {
        self.space.dim
    }

    /// The element type of the vectors.
    pub fn precision(&self) -> Precision {
        self.space.precision
    }

    /// The options of the index.
    pub fn options(&self) -> &GraphOptions {
        &self.options
    }

    /// Whether there is a graph, or all searches are exact.
    pub fn has_graph(&self) -> bool {
        !self.graph.layers.is_empty()
    }

    /// The memory of the index, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let lists = self.infinite.capacity() * size_of::<u32>() + self.twins.memory_bytes();
        self.space.memory_bytes() + self.graph.memory_bytes() + lists + size_of::<Self>()
    }
}
