//! Adjacency in compressed sparse rows (CSR), and its transformations in parallel.
//!
//! ```text
//!  edges    0 -> 2, 0 -> 3, 2 -> 0            starts   0  2  2  3  3     one for each node, and the end
//!                                             targets  2  3  0           node n has the edges starts[n] .. starts[n + 1]
//!                                             weights  one for each edge, or none: then each weight is 1
//! ```
//!
//! A [`Graph`] is built from lists of edges (`edge_list`) or from rows. [`Graph::turned`] lists its edges again for another
//! [`Direction`].
//!
//! Invariants:
//! - `starts` has one more element than there are nodes, does not decrease, and ends with the number of edges.
//! - The edges of a node are in the order of the input, whatever the number of threads.
//! - A clone shares its arrays. A change copies them first.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::edge_list::{Listed, Sources, sources};

/// The approximate number of edges in a piece of work.
const EDGES_PER_PIECE: usize = 1 << 14;

/// The edges in the row of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The edges that start at the node.
    Out,
    /// The edges that end at the node, reversed.
    In,
    /// Both: every edge counts twice.
    Both,
}

impl Direction {
    /// Both directions if `undirected`, otherwise that of the edges.
    pub fn undirected(undirected: bool) -> Self {
        if undirected { Direction::Both } else { Direction::Out }
    }
}

/// The edges of each node: their targets and weights. A clone shares them until either is changed.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The edges of node `n` are `starts[n]..starts[n + 1]`.
    starts: Arc<Vec<usize>>,
    targets: Arc<Vec<u32>>,
    weights: Option<Arc<Vec<f64>>>,
}

impl Graph {
    /// The adjacency of edges sorted by their sources. Nodes beyond `starts` have no edges.
    pub(super) fn of_sorted(
        nodes: usize,
        starts: &Arc<Vec<usize>>,
        targets: Arc<Vec<u32>>,
        weights: Option<Arc<Vec<f64>>>,
    ) -> Self {
        let mut starts = starts.clone();
        if starts.len() <= nodes {
            Arc::make_mut(&mut starts).resize(nodes + 1, targets.len());
        }
        Graph { starts, targets, weights }
    }

    /// The members of groups as adjacency: an edge from each group to each of its members.
    pub fn of_members(groups: &[u32], count: usize) -> Self {
        let members: Vec<u32> = (0..groups.len() as u32).collect();
        Graph::new(count, groups, &members, None, Direction::Out)
    }

    /// The adjacency in which node `n` has the edges `starts[n]..starts[n + 1]`.
    pub fn from_rows(starts: Vec<usize>, targets: Vec<u32>, weights: Option<Vec<f64>>) -> Self {
        debug_assert_eq!(starts.last(), Some(&targets.len()), "the last edges end where all do");
        Graph { starts: starts.into(), targets: targets.into(), weights: weights.map(Into::into) }
    }

    /// The approximate size.
    pub(super) fn memory_bytes(&self) -> usize {
        let weights = self.weights.as_ref().map_or(0, |weights| weights.len());
        8 * (self.starts.len() + weights) + 4 * self.targets.len()
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of edges. An undirected graph has twice those of the relation.
    pub fn edge_count(&self) -> usize {
        self.targets.len()
    }

    /// The number of edges that start at a node.
    pub fn out_degree(&self, node: u32) -> usize {
        self.edges_of(node).len()
    }

    /// The edges of a node, by number.
    #[inline]
    pub fn edges_of(&self, node: u32) -> Range<usize> {
        self.starts[node as usize]..self.starts[node as usize + 1]
    }

    /// The target of an edge.
    #[inline]
    pub fn target(&self, edge: usize) -> u32 {
        self.targets[edge]
    }

    /// The targets of some edges.
    #[inline]
    pub fn targets(&self, edges: Range<usize>) -> &[u32] {
        &self.targets[edges]
    }

    /// The weight of an edge.
    #[inline]
    pub fn weight(&self, edge: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[edge])
    }

    /// The weight of each edge, if edges have weights. Otherwise each weight is 1.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_ref().map(|weights| weights.as_slice())
    }

    /// Whether edges have weights. Otherwise each weight is 1.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// The targets of a node's edges.
    #[inline]
    pub fn out_neighbors(&self, node: u32) -> &[u32] {
        self.targets(self.edges_of(node))
    }

    /// The targets of a node's edges, with their weights.
    #[inline]
    pub fn out_neighbors_with_weights(&self, node: u32) -> impl ExactSizeIterator<Item = (u32, f64)> + '_ {
        self.edges_of(node).map(|edge| (self.targets[edge], self.weight(edge)))
    }

    /// All nodes, in ranges with about the same number of edges. They depend on the graph alone, not on the number of threads.
    pub fn pieces(&self) -> Vec<Range<usize>> {
        self.pieces_of(EDGES_PER_PIECE)
    }

    /// [`Graph::pieces`] with about `edges` edges each.
    pub fn pieces_of(&self, edges: usize) -> Vec<Range<usize>> {
        balanced(&self.starts, (self.edge_count() + self.node_count()) / edges + 1)
    }

    /// Puts the neighbours of each node into ascending order.
    pub fn sort_neighbors(&mut self) {
        let (pieces, starts) = (self.pieces(), &self.starts);
        let rows = |range: &Range<usize>| {
            let first = starts[range.start];
            range.clone().map(move |node| starts[node] - first..starts[node + 1] - first)
        };
        let targets = split(Arc::make_mut(&mut self.targets).as_mut_slice(), starts, &pieces);
        let Some(weights) = &mut self.weights else {
            pieces.par_iter().zip(targets).for_each(|(piece, targets)| {
                rows(piece).for_each(|row| targets[row].sort_unstable());
            });
            return;
        };
        let weights = split(Arc::make_mut(weights).as_mut_slice(), starts, &pieces);
        pieces.par_iter().zip(targets).zip(weights).for_each(|((piece, targets), weights)| {
            for row in rows(piece).filter(|row| !row.is_empty()) {
                let both = |i: usize| (targets[i], weights[i]);
                let mut sorted: Vec<(u32, f64)> = row.clone().map(both).collect();
                sorted.sort_unstable_by(|(a, weight), (b, other)| a.cmp(b).then(weight.total_cmp(other)));
                for (i, (target, weight)) in row.zip(sorted) {
                    (targets[i], weights[i]) = (target, weight);
                }
            }
        });
    }

    /// The graph with neighbours in ascending order, without loops, and with only the lightest of parallel edges.
    pub fn simple(self) -> Self {
        self.reduce(false)
    }

    /// The graph with neighbours in ascending order, and with only the lightest of parallel edges.
    pub fn unique(self) -> Self {
        self.reduce(true)
    }

    fn reduce(mut self, loops: bool) -> Self {
        self.sort_neighbors();
        let (starts, targets) = (Arc::make_mut(&mut self.starts), Arc::make_mut(&mut self.targets));
        let mut weights = self.weights.as_mut().map(Arc::make_mut);
        let (mut kept, mut begin) = (0, 0);
        for node in 0..starts.len() - 1 {
            let end = starts[node + 1];
            let first = kept;
            for edge in begin..end {
                let target = targets[edge];
                let repeated = kept > first && targets[kept - 1] == target;
                if repeated || (target as usize == node && !loops) {
                    continue;
                }
                targets[kept] = target;
                if let Some(weights) = &mut weights {
                    weights[kept] = weights[edge];
                }
                kept += 1;
            }
            begin = end;
            starts[node + 1] = kept;
        }
        targets.truncate(kept);
        if let Some(weights) = weights {
            weights.truncate(kept);
        }
        self
    }

    /// The target of each edge.
    pub(super) fn shared_targets(&self) -> Arc<Vec<u32>> {
        self.targets.clone()
    }

    /// The node with an edge in its row, found by a binary search.
    pub fn node_of(&self, edge: usize) -> u32 {
        debug_assert!(edge < self.edge_count(), "only edges that there are");
        // Of nodes with the same start, the last has the edge. The others have none.
        (self.starts.partition_point(|start| *start <= edge) - 1) as u32
    }

    /// The node with the edge in its row, for each edge.
    pub(super) fn nodes_of_edges(&self) -> Vec<u32> {
        sources(&self.starts, 0..self.edge_count())
    }

    /// The source, the target and the weight of each edge.
    pub fn into_edges(self) -> (Vec<u32>, Vec<u32>, Option<Vec<f64>>) {
        (self.nodes_of_edges(), Arc::unwrap_or_clone(self.targets), self.weights.map(Arc::unwrap_or_clone))
    }

    /// The reversed edges.
    pub fn reversed(&self) -> Self {
        self.turned(Direction::In)
    }

    /// The adjacency in another direction, relative to this one.
    pub(super) fn turned(&self, direction: Direction) -> Self {
        let listed = Listed { from: Sources::AdjacencyRows(&self.starts), to: &self.targets, weights: self.weights() };
        Graph::of_listed(self.node_count(), &listed, direction)
    }
}

/// All nodes in at most `pieces` ranges with about as many edges and nodes each.
fn balanced(starts: &[usize], pieces: usize) -> Vec<Range<usize>> {
    let nodes = starts.len() - 1;
    let work = |node: usize| starts[node] + node;
    let mut ranges: Vec<Range<usize>> = Vec::with_capacity(pieces);
    let mut begin = 0;
    for piece in 1..=pieces {
        let until = work(nodes) / pieces * piece;
        let (mut low, mut high) = (begin, nodes);
        while low < high {
            let middle = low + (high - low) / 2;
            if work(middle) < until { low = middle + 1 } else { high = middle }
        }
        let end = if piece == pieces { nodes } else { low };
        if begin < end {
            ranges.push(begin..end);
        }
        begin = end;
    }
    ranges
}

/// Splits a slice with an element for each edge at ranges of nodes. The ranges are consecutive from the first node on.
fn split<'a, T>(mut all: &'a mut [T], starts: &[usize], ranges: &[Range<usize>]) -> Vec<&'a mut [T]> {
    let mut parts = Vec::with_capacity(ranges.len());
    for range in ranges {
        let (part, rest) = all.split_at_mut(starts[range.end] - starts[range.start]);
        parts.push(part);
        all = rest;
    }
    parts
}
