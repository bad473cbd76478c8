//! The traits of petgraph for a [`StoredGraph`].
//!
//! Facts are implemented for the graph itself, petgraph passes them on to references. What iterates is implemented for references.

use std::iter::{Enumerate, Map};
use std::ops::Range;
use std::slice;

use fixedbitset::FixedBitSet;
use petgraph::data::DataMap;
use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::{
    Data, EdgeCount, EdgeIndexable, GetAdjacencyMatrix, GraphBase, GraphProp, IntoEdgeReferences, IntoEdges,
    IntoEdgesDirected, IntoNeighbors, IntoNeighborsDirected, IntoNodeIdentifiers, IntoNodeReferences,
    NodeCompactIndexable, NodeCount, NodeIndexable, Visitable,
};
use petgraph::{Direction, EdgeType};

use super::{EdgeReference, EdgeReferences, Neighbors, NodeEdges, StoredGraph};
use crate::value::DataValue;

impl<Ty> GraphBase for StoredGraph<Ty> {
    type EdgeId = EdgeIndex;
    type NodeId = NodeIndex;
}

impl<Ty> Data for StoredGraph<Ty> {
    type NodeWeight = DataValue;
    type EdgeWeight = f64;
}

impl<Ty: EdgeType> GraphProp for StoredGraph<Ty> {
    type EdgeType = Ty;
}

impl<Ty> NodeCount for StoredGraph<Ty> {
    fn node_count(&self) -> usize {
        StoredGraph::node_count(self)
    }
}

impl<Ty> EdgeCount for StoredGraph<Ty> {
    fn edge_count(&self) -> usize {
        StoredGraph::edge_count(self)
    }
}

impl<Ty> NodeIndexable for StoredGraph<Ty> {
    fn node_bound(&self) -> usize {
        StoredGraph::node_count(self)
    }

    fn to_index(&self, node: NodeIndex) -> usize {
        node.index()
    }

    fn from_index(&self, index: usize) -> NodeIndex {
        NodeIndex::new(index)
    }
}

impl<Ty> NodeCompactIndexable for StoredGraph<Ty> {}

impl<Ty> EdgeIndexable for StoredGraph<Ty> {
    fn edge_bound(&self) -> usize {
        StoredGraph::edge_count(self)
    }

    fn to_index(&self, edge: EdgeIndex) -> usize {
        edge.index()
    }

    fn from_index(&self, index: usize) -> EdgeIndex {
        EdgeIndex::new(index)
    }
}

/// Weights by index. The first use lists the values of all nodes; [`StoredGraph::value`] needs no list.
impl<Ty> DataMap for StoredGraph<Ty> {
    fn node_weight(&self, node: NodeIndex) -> Option<&DataValue> {
        self.arrays.values().get(node.index())
    }

    fn edge_weight(&self, edge: EdgeIndex) -> Option<&f64> {
        (edge.index() < StoredGraph::edge_count(self)).then(|| self.arrays.weight(edge.index()))
    }
}

impl<Ty> Visitable for StoredGraph<Ty> {
    type Map = FixedBitSet;

    fn visit_map(&self) -> FixedBitSet {
        FixedBitSet::with_capacity(StoredGraph::node_count(self))
    }

    fn reset_map(&self, map: &mut FixedBitSet) {
        map.clear();
        map.grow(StoredGraph::node_count(self));
    }
}

/// There is no matrix, which would take the square of the number of nodes: an edge is found in the row of its source, in a time that
/// grows with the logarithm of its length.
impl<Ty: EdgeType> GetAdjacencyMatrix for StoredGraph<Ty> {
    type AdjMatrix = ();

    fn adjacency_matrix(&self) {}

    fn is_adjacent(&self, _matrix: &(), a: NodeIndex, b: NodeIndex) -> bool {
        self.arrays.has_edge(a, b) || (!Ty::is_directed() && self.arrays.has_edge(b, a))
    }
}

impl<Ty> IntoNodeIdentifiers for &StoredGraph<Ty> {
    type NodeIdentifiers = Map<Range<usize>, fn(usize) -> NodeIndex>;

    fn node_identifiers(self) -> Self::NodeIdentifiers {
        (0..StoredGraph::node_count(self)).map(NodeIndex::new)
    }
}

impl<'a, Ty> IntoNodeReferences for &'a StoredGraph<Ty> {
    type NodeRef = (NodeIndex, &'a DataValue);
    type NodeReferences =
        Map<Enumerate<slice::Iter<'a, DataValue>>, fn((usize, &'a DataValue)) -> (NodeIndex, &'a DataValue)>;

    fn node_references(self) -> Self::NodeReferences {
        self.arrays.values().iter().enumerate().map(|(node, value)| (NodeIndex::new(node), value))
    }
}

impl<'a, Ty: EdgeType> IntoNeighbors for &'a StoredGraph<Ty> {
    type Neighbors = Neighbors<'a>;

    fn neighbors(self, node: NodeIndex) -> Neighbors<'a> {
        Neighbors::new::<Ty>(&self.arrays, node, Direction::Outgoing)
    }
}

impl<'a, Ty: EdgeType> IntoNeighborsDirected for &'a StoredGraph<Ty> {
    type NeighborsDirected = Neighbors<'a>;

    fn neighbors_directed(self, node: NodeIndex, direction: Direction) -> Neighbors<'a> {
        Neighbors::new::<Ty>(&self.arrays, node, direction)
    }
}

impl<'a, Ty> IntoEdgeReferences for &'a StoredGraph<Ty> {
    type EdgeRef = EdgeReference<'a>;
    type EdgeReferences = EdgeReferences<'a>;

    fn edge_references(self) -> EdgeReferences<'a> {
        EdgeReferences::new(&self.arrays)
    }
}

impl<'a, Ty: EdgeType> IntoEdges for &'a StoredGraph<Ty> {
    type Edges = NodeEdges<'a>;

    fn edges(self, node: NodeIndex) -> NodeEdges<'a> {
        NodeEdges::new::<Ty>(&self.arrays, node, Direction::Outgoing)
    }
}

impl<'a, Ty: EdgeType> IntoEdgesDirected for &'a StoredGraph<Ty> {
    type EdgesDirected = NodeEdges<'a>;

    fn edges_directed(self, node: NodeIndex, direction: Direction) -> NodeEdges<'a> {
        NodeEdges::new::<Ty>(&self.arrays, node, direction)
    }
}
