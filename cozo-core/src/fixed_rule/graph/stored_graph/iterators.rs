//! The edges of a [`StoredGraph`](super::StoredGraph) as petgraph sees them: neighbours, edges of a node, all edges.

use std::iter::Copied;
use std::ops::Range;
use std::slice;

use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;
use petgraph::{Direction, EdgeType};

use super::{GraphArrays, row};
use crate::fixed_rule::graph::NO_NODE;

/// An edge: its index, both ends, and its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeReference<'a> {
    id: EdgeIndex,
    source: NodeIndex,
    target: NodeIndex,
    weight: &'a f64,
}

impl<'a> EdgeReference<'a> {
    /// The edge with this number, which begins and ends at these nodes.
    fn new(arrays: &'a GraphArrays, edge: usize, source: u32, target: u32) -> Self {
        let [source, target] = [source, target].map(|node| NodeIndex::new(node as usize));
        EdgeReference { id: EdgeIndex::new(edge), source, target, weight: arrays.weight(edge) }
    }

    /// The index of the edge.
    pub fn id(&self) -> EdgeIndex {
        self.id
    }

    /// The node where the edge begins. Of an undirected graph, it is the node whose edges were requested.
    pub fn source(&self) -> NodeIndex {
        self.source
    }

    /// The node where the edge ends.
    pub fn target(&self) -> NodeIndex {
        self.target
    }

    /// The weight, which lives as long as the graph.
    pub fn weight(&self) -> &'a f64 {
        self.weight
    }
}

impl EdgeRef for EdgeReference<'_> {
    type NodeId = NodeIndex;
    type EdgeId = EdgeIndex;
    type Weight = f64;

    fn source(&self) -> NodeIndex {
        self.source
    }

    fn target(&self) -> NodeIndex {
        self.target
    }

    fn weight(&self) -> &f64 {
        self.weight
    }

    fn id(&self) -> EdgeIndex {
        self.id
    }
}

/// The rows that hold the edges of a node in a direction: those of the edges that start there, and those that end there.
fn sides<Ty: EdgeType>(direction: Direction) -> (bool, bool) {
    let outgoing = direction == Direction::Outgoing;
    if Ty::is_directed() { (outgoing, !outgoing) } else { (true, true) }
}

/// The neighbours of a node, one for each edge.
#[derive(Clone, Debug)]
pub struct Neighbors<'a> {
    targets: Copied<slice::Iter<'a, u32>>,
    sources: Copied<slice::Iter<'a, u32>>,
    /// A source that is not a neighbour again: the node itself in an undirected graph, whose loops are among the targets.
    skipped: u32,
}

impl<'a> Neighbors<'a> {
    pub(super) fn new<Ty: EdgeType>(arrays: &'a GraphArrays, node: NodeIndex, direction: Direction) -> Self {
        let (starting, ending) = sides::<Ty>(direction);
        let targets = if starting { arrays.out.targets(arrays.out_row(node)) } else { &[] };
        let sources = if ending { arrays.incoming().sources_of(node) } else { &[] };
        let skipped = if starting && ending { node.index() as u32 } else { NO_NODE };
        Neighbors { targets: targets.iter().copied(), sources: sources.iter().copied(), skipped }
    }
}

impl Iterator for Neighbors<'_> {
    type Item = NodeIndex;

    #[inline]
    fn next(&mut self) -> Option<NodeIndex> {
        let skipped = self.skipped;
        let source = |sources: &mut Copied<slice::Iter<'_, u32>>| sources.find(|source| *source != skipped);
        let node = self.targets.next().or_else(|| source(&mut self.sources))?;
        Some(NodeIndex::new(node as usize))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let least = if self.skipped == NO_NODE { self.sources.len() } else { 0 };
        (self.targets.len() + least, Some(self.targets.len() + self.sources.len()))
    }
}

/// The edges of a node.
#[derive(Clone)]
pub struct NodeEdges<'a> {
    arrays: &'a GraphArrays,
    node: u32,
    direction: Direction,
    /// The edges that start at the node, by number.
    starting: Range<usize>,
    /// The edges that end there: their numbers and sources.
    ending: std::iter::Zip<Copied<slice::Iter<'a, u32>>, Copied<slice::Iter<'a, u32>>>,
    /// See [`Neighbors`].
    skipped: u32,
}

impl<'a> NodeEdges<'a> {
    pub(super) fn new<Ty: EdgeType>(arrays: &'a GraphArrays, node: NodeIndex, direction: Direction) -> Self {
        let (starting, ending) = sides::<Ty>(direction);
        let (numbers, sources) = if ending { arrays.incoming().edges_of(node) } else { (&[][..], &[][..]) };
        NodeEdges {
            arrays,
            node: node.index() as u32,
            direction,
            starting: if starting { arrays.out_row(node) } else { 0..0 },
            ending: numbers.iter().copied().zip(sources.iter().copied()),
            skipped: if starting && ending { node.index() as u32 } else { NO_NODE },
        }
    }
}

impl<'a> Iterator for NodeEdges<'a> {
    type Item = EdgeReference<'a>;

    #[inline]
    fn next(&mut self) -> Option<EdgeReference<'a>> {
        let (edge, other) = match self.starting.next() {
            Some(edge) => (edge, self.arrays.out.target(edge)),
            None => {
                let skipped = self.skipped;
                let (edge, source) = self.ending.find(|(_, source)| *source != skipped)?;
                (edge as usize, source)
            }
        };
        // The node is the source of its outgoing edges, in an undirected graph too.
        Some(match self.direction {
            Direction::Outgoing => EdgeReference::new(self.arrays, edge, self.node, other),
            Direction::Incoming => EdgeReference::new(self.arrays, edge, other, self.node),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let least = if self.skipped == NO_NODE { self.ending.len() } else { 0 };
        (self.starting.len() + least, Some(self.starting.len() + self.ending.len()))
    }
}

/// All edges, in order of source, target and weight.
#[derive(Clone)]
pub struct EdgeReferences<'a> {
    arrays: &'a GraphArrays,
    /// The node whose row the next edge is in, or an earlier one.
    node: u32,
    /// The edges that are left, by number.
    edges: Range<usize>,
}

impl<'a> EdgeReferences<'a> {
    pub(super) fn new(arrays: &'a GraphArrays) -> Self {
        EdgeReferences { arrays, node: 0, edges: 0..arrays.out.edge_count() }
    }
}

impl<'a> Iterator for EdgeReferences<'a> {
    type Item = EdgeReference<'a>;

    #[inline]
    fn next(&mut self) -> Option<EdgeReference<'a>> {
        let edge = self.edges.next()?;
        while self.arrays.out.edges_of(self.node).end <= edge {
            self.node += 1;
        }
        Some(EdgeReference::new(self.arrays, edge, self.node, self.arrays.out.target(edge)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.edges.size_hint()
    }
}

impl ExactSizeIterator for EdgeReferences<'_> {}

impl super::Incoming {
    /// The sources of the edges that end at a node.
    fn sources_of(&self, node: NodeIndex) -> &[u32] {
        &self.sources[row(&self.edges, node)]
    }

    /// The edges that end at a node: their numbers and sources.
    fn edges_of(&self, node: NodeIndex) -> (&[u32], &[u32]) {
        let row = row(&self.edges, node);
        (self.edges.targets(row.clone()), &self.sources[row])
    }
}
