//! The graph of a stored relation, for the algorithms of crate `petgraph` and of those that use its traits.
//!
//! [`StoredGraph`] is an adjacency of the graph cache with the values of its nodes. Its arrays are those that fixed rules work
//! on, so nothing is copied for a crate of algorithms. Indices are petgraph's own: a [`NodeIndex`] is the number of a node in
//! ascending order of values, an [`EdgeIndex`] that of an edge in order of source, target and weight.
//!
//! ```text
//!  out        a row for each node: the targets of its edges          node n: 2 5 7     edges e, e + 1, e + 2
//!  incoming   a row for each node: the sources of edges that end     node 5: n ..      and the numbers of these
//!             there, and the numbers of these edges                          e + 1 ..
//! ```
//!
//! `incoming` and the list of values are made when an algorithm first asks for them. An undirected graph is a view of the same
//! arrays, in which a node has the edges of both rows; a loop, which is in both, counts once.
//!
//! | file | what |
//! |---|---|
//! | `iterators` | neighbours, edges of a node, all edges |
//! | `visit` | the traits of petgraph |
//!
//! Invariants:
//! - The row of a node in `out` is in ascending order, so that an edge is found by a binary search.
//! - No index is out of range for a method here: a node that the graph does not have has no edges, and no value.

mod iterators;
mod visit;

use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::{Directed, EdgeType, Undirected};

pub use iterators::{EdgeReference, EdgeReferences, Neighbors, NodeEdges};

use super::{Direction, Edges, Graph, Nodes};
use crate::diag::SourceSpan;
use crate::fixed_rule::FixedRuleError;
use crate::value::DataValue;

/// The graph of a stored relation: its first two columns are the sources and targets of edges. It shows the rows of the moment
/// when it was made, and never changes. A clone shares everything.
///
/// `&StoredGraph` implements the traits of `petgraph::visit`, so that algorithms for any graph take it: those of petgraph,
/// of rustworkx-core and of other crates. The weight of a node is its value, that of an edge an `f64`, 1 without weights.
/// Rows of the same source and target, which further key columns tell apart, are parallel edges.
///
/// ```
/// # fn main() -> cozo::Result<()> {
/// use cozo::petgraph::algo::dijkstra;
///
/// let db = cozo::DbInstance::default();
/// db.run_default("?[a, b, km] <- [['x', 'y', 2], ['y', 'z', 3], ['x', 'z', 9]] :create road {a, b => km}")?;
/// let graph = db.weighted_graph("road")?;
/// let (x, z) = (graph.node("x").expect("it has a road"), graph.node("z").expect("it has a road"));
/// let km = dijkstra(&graph, x, Some(z), |road| *road.weight());
/// assert_eq!(km[&z], 5.0);
/// # Ok(())
/// # }
/// ```
pub struct StoredGraph<Ty = Directed> {
    arrays: Arc<GraphArrays>,
    edge_type: PhantomData<Ty>,
}

/// What all views of a graph share.
struct GraphArrays {
    nodes: Nodes,
    /// The edges in the rows of their sources.
    out: Graph,
    /// The edges in the rows of their targets, once they were requested.
    incoming: OnceLock<Incoming>,
    /// The values of all nodes, once references to them were requested.
    values: OnceLock<Vec<DataValue>>,
}

/// The edges in the rows of their targets.
struct Incoming {
    /// The numbers of the edges.
    edges: Graph,
    /// The source of each edge, in the order of `edges`.
    sources: Vec<u32>,
}

impl StoredGraph {
    /// The graph of edges.
    pub(crate) fn new(edges: Edges) -> Result<Self, FixedRuleError> {
        // Petgraph's greatest index stands for no edge.
        if edges.len() >= u32::MAX as usize {
            let limit = u64::from(u32::MAX) - 1;
            return Err(FixedRuleError::GraphTooLarge { what: "edges", limit, span: SourceSpan::default() });
        }
        let (nodes, out) = edges.into_graph(Direction::Out);
        let arrays = GraphArrays { nodes, out, incoming: OnceLock::new(), values: OnceLock::new() };
        Ok(StoredGraph { arrays: Arc::new(arrays), edge_type: PhantomData })
    }

    /// The same edges without directions: a view, which shares everything with this graph. Edges between two nodes in both
    /// directions are parallel edges.
    pub fn undirected(&self) -> StoredGraph<Undirected> {
        StoredGraph { arrays: self.arrays.clone(), edge_type: PhantomData }
    }
}

impl<Ty> StoredGraph<Ty> {
    /// The node with a value, if it has edges. Values are told apart as in relations: `1` and `1.0` are two nodes.
    pub fn node(&self, value: impl Into<DataValue>) -> Option<NodeIndex> {
        self.arrays.nodes.find_value(&value.into()).map(|node| NodeIndex::new(node as usize))
    }

    /// The value of a node; `None` if the graph has no such node.
    pub fn value(&self, node: NodeIndex) -> Option<DataValue> {
        (node.index() < self.node_count()).then(|| self.arrays.nodes.value(node.index() as u32))
    }

    /// The source and the target of an edge, whatever the direction in which an algorithm took it; `None` if the graph has no
    /// such edge. The source is found by a binary search.
    pub fn edge_endpoints(&self, edge: EdgeIndex) -> Option<(NodeIndex, NodeIndex)> {
        let (out, edge) = (&self.arrays.out, edge.index());
        let ends = || (NodeIndex::new(out.node_of(edge) as usize), NodeIndex::new(out.target(edge) as usize));
        (edge < out.edge_count()).then(ends)
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.arrays.out.node_count()
    }

    /// The number of edges: of rows of the relation, also for an undirected graph.
    pub fn edge_count(&self) -> usize {
        self.arrays.out.edge_count()
    }

    /// Whether the edges have the weights of a column. Otherwise each weight is 1.
    pub fn is_weighted(&self) -> bool {
        self.arrays.out.is_weighted()
    }
}

impl GraphArrays {
    /// The edges in the row of a node, by number; none if there is no such node.
    fn out_row(&self, node: NodeIndex) -> Range<usize> {
        row(&self.out, node)
    }

    /// The weight of an edge.
    fn weight(&self, edge: usize) -> &f64 {
        self.out.weights().map_or(&1.0, |weights| &weights[edge])
    }

    /// The edges in the rows of their targets.
    fn incoming(&self) -> &Incoming {
        made(&self.incoming, || Incoming::of(&self.out))
    }

    /// The values of all nodes.
    fn values(&self) -> &Vec<DataValue> {
        made(&self.values, || self.nodes.values().iter().collect())
    }

    /// Whether there is an edge from one node to the other.
    fn has_edge(&self, from: NodeIndex, to: NodeIndex) -> bool {
        self.out.targets(self.out_row(from)).binary_search(&(to.index() as u32)).is_ok()
    }
}

impl Incoming {
    fn of(out: &Graph) -> Self {
        let edges = Graph::of_members(out.targets(0..out.edge_count()), out.node_count());
        let sources = out.nodes_of_edges();
        let sources = edges.targets(0..edges.edge_count()).iter().map(|edge| sources[*edge as usize]).collect();
        Incoming { edges, sources }
    }
}

/// The edges in the row of a node; none if there is no such node.
fn row(graph: &Graph, node: NodeIndex) -> Range<usize> {
    if node.index() < graph.node_count() { graph.edges_of(node.index() as u32) } else { 0..0 }
}

/// What a cell has, or gets now. It is made outside of the cell, since a thread that waits for the others of a pool may take up
/// a task that needs the same cell. If several threads make it, they make the same.
fn made<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    if cell.get().is_none() {
        let _ = cell.set(make());
    }
    cell.get().expect("it was there or was just made")
}

impl<Ty> Clone for StoredGraph<Ty> {
    fn clone(&self) -> Self {
        StoredGraph { arrays: self.arrays.clone(), edge_type: PhantomData }
    }
}

impl<Ty: EdgeType> Debug for StoredGraph<Ty> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredGraph")
            .field("directed", &Ty::is_directed())
            .field("nodes", &self.node_count())
            .field("edges", &self.edge_count())
            .field("weighted", &self.is_weighted())
            .finish()
    }
}
