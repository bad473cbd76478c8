//! Adjacency in compressed sparse rows (CSR), built and transformed in parallel.
//!
//! ```text
//!  edges    0 -> 2, 0 -> 3, 2 -> 0            starts   0  2  2  3  3     one for each node, and the end
//!                                             targets  2  3  0           node n has the edges starts[n] .. starts[n + 1]
//!                                             weights  one for each edge, or none: then each weight is 1
//! ```
//!
//! # Building a [`Graph`]
//! Writing each edge directly to the row of its node would touch the whole array in random order, and miss the cache for nearly
//! every edge. So large graphs are built in two passes, each of which stays within a small part of memory:
//!
//! 1. [`ByBlock`]: each part of the edges is grouped by blocks of nodes. The parts are processed in parallel.
//! 2. [`AdjacencyRows`]: the rows of each block are counted and filled from the groups. The blocks are processed in parallel, and
//!    each writes its own slices of `starts`, `targets` and `weights`.
//!
//! ```text
//!  part 0: edges ──> | block 0 | block 1 | ...     ┐
//!  part 1: edges ──> | block 0 | block 1 | ...     ┴──> block 0: rows of its nodes,  block 1: ...
//! ```
//!
//! The two ends of an edge are *near* (the node whose row has the edge) and *far* (the target). For [`Direction::In`] the ends
//! are exchanged. For [`Direction::Both`] all edges pass twice.
//!
//! Invariants:
//! - `starts` has one more element than there are nodes, does not decrease, and ends with the number of edges.
//! - The edges of a node are in the order of the input, whatever the number of threads.
//! - A clone shares its arrays. A change copies them first.

use std::borrow::Cow;
use std::iter::{repeat, zip};
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

/// Fewer edges are placed directly, by one thread.
const BLOCKS_MIN_EDGES: usize = 1 << 19;

/// The number of nodes of a block. It is greater if there would be more than [`MAX_BLOCKS`].
const NODES_PER_BLOCK: usize = 1 << 13;

/// The most blocks. With more, the write positions of all blocks would not stay in the cache.
const MAX_BLOCKS: usize = 1 << 10;

/// The number of edges of a part.
const EDGES_PER_PART: usize = 1 << 20;

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
    /// The adjacency of edges.
    pub(super) fn new(nodes: usize, from: &[u32], to: &[u32], weights: Option<&[f64]>, direction: Direction) -> Self {
        Graph::of_listed(nodes, &Listed { from: Sources::Each(from), to, weights }, direction)
    }

    fn of_listed(nodes: usize, listed: &Listed<'_>, direction: Direction) -> Self {
        let passes: &[bool] = match direction {
            Direction::Out => &[false],
            Direction::In => &[true],
            Direction::Both => &[false, true],
        };
        let (len, weighted) = (listed.to.len(), listed.weights.is_some());
        let total = len * passes.len();
        if total < BLOCKS_MIN_EDGES {
            let from = listed.from.range(0..len);
            let passes = passes.iter().map(|turned| listed.ends(&from, 0..len, *turned)).collect();
            return Graph::of_blocks(nodes, nodes, total, &[passes], weighted);
        }
        let block = nodes.div_ceil(MAX_BLOCKS).max(NODES_PER_BLOCK).next_power_of_two();
        let part = |start: usize| start..len.min(start + EDGES_PER_PART);
        let parts_of = |turned: &bool| (0..len).step_by(EDGES_PER_PART).map(part).zip(repeat(*turned));
        let parts: Vec<(Range<usize>, bool)> = passes.iter().flat_map(parts_of).collect();
        let by_block = |(edges, turned): &(Range<usize>, bool)| {
            let from = listed.from.range(edges.clone());
            ByBlock::of(listed.ends(&from, edges.clone(), *turned), block, nodes)
        };
        let parts: Vec<ByBlock> = parts.par_iter().map(by_block).collect();
        let blocks: Vec<Vec<Ends<'_>>> =
            (0..nodes.div_ceil(block)).map(|number| parts.iter().map(|part| part.block(number)).collect()).collect();
        Graph::of_blocks(nodes, block, total, &blocks, weighted)
    }

    /// The adjacency of `total` edges, which `blocks` has for each block of `block` nodes.
    fn of_blocks(nodes: usize, block: usize, total: usize, blocks: &[Vec<Ends<'_>>], weighted: bool) -> Self {
        let (mut starts, mut targets) = (vec![0; nodes + 1], vec![0; total]);
        let mut weights = weighted.then(|| vec![0.0; total]);
        starts[nodes] = total;
        let (mut begin, mut starts_left, mut targets_left) = (0, &mut starts[..nodes], &mut targets[..]);
        let mut weights_left = weights.as_deref_mut();
        let mut rows = Vec::with_capacity(blocks.len());
        for (number, edges) in blocks.iter().enumerate() {
            let len = edges.iter().map(|edges| edges.near.len()).sum();
            rows.push(AdjacencyRows {
                first: number * block,
                begin,
                starts: starts_left.split_off_mut(..block.min(starts_left.len())).expect("no more than there are"),
                targets: targets_left.split_off_mut(..len).expect("all blocks have as many edges as there are"),
                weights: weights_left.as_mut().and_then(|weights| weights.split_off_mut(..len)),
            });
            begin += len;
        }
        rows.into_par_iter().zip(blocks).for_each(|(rows, edges)| rows.fill(edges));
        Graph::from_rows(starts, targets, weights)
    }

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

    /// The source, the target and the weight of each edge.
    pub fn into_edges(self) -> (Vec<u32>, Vec<u32>, Option<Vec<f64>>) {
        let sources = sources(&self.starts, 0..self.edge_count());
        (sources, Arc::unwrap_or_clone(self.targets), self.weights.map(Arc::unwrap_or_clone))
    }

    /// The reversed edges.
    pub fn reversed(&self) -> Self {
        self.turned(Direction::In)
    }

    /// The adjacency in another direction, relative to this one.
    pub(super) fn turned(&self, direction: Direction) -> Self {
        let weights = self.weights.as_ref().map(|weights| weights.as_slice());
        let listed = Listed { from: Sources::AdjacencyRows(&self.starts), to: &self.targets, weights };
        Graph::of_listed(self.node_count(), &listed, direction)
    }
}

/// A list of edges.
struct Listed<'a> {
    from: Sources<'a>,
    to: &'a [u32],
    weights: Option<&'a [f64]>,
}

impl<'a> Listed<'a> {
    /// Some of the edges, with their sources `from`. Near ends are the sources or, if `turned`, the targets.
    fn ends<'e>(&self, from: &'e [u32], edges: Range<usize>, turned: bool) -> Ends<'e>
    where
        'a: 'e,
    {
        let (to, weights) = (&self.to[edges.clone()], self.weights.map(|weights| &weights[edges]));
        if turned { Ends { near: to, far: from, weights } } else { Ends { near: from, far: to, weights } }
    }
}

/// The sources of edges.
enum Sources<'a> {
    /// The source of each edge.
    Each(&'a [u32]),
    /// The first edge of each node, for edges sorted by source.
    AdjacencyRows(&'a [usize]),
}

impl Sources<'_> {
    /// The sources of some edges.
    fn range(&self, edges: Range<usize>) -> Cow<'_, [u32]> {
        match self {
            Sources::Each(from) => Cow::Borrowed(&from[edges]),
            Sources::AdjacencyRows(starts) => Cow::Owned(sources(starts, edges)),
        }
    }
}

/// The sources of some edges. `starts` has the first edge of each node.
pub(super) fn sources(starts: &[usize], edges: Range<usize>) -> Vec<u32> {
    let mut sources = Vec::with_capacity(edges.len());
    // The last node that starts at or before the first edge has it. Earlier nodes with the same start have no edges.
    let mut node = starts.partition_point(|start| *start <= edges.start).saturating_sub(1);
    while sources.len() < edges.len() {
        let end = starts[node + 1].min(edges.end);
        sources.resize(end - edges.start, node as u32);
        node += 1;
    }
    sources
}

/// Edges as near ends, whose rows they belong to, and far ends.
#[derive(Clone, Copy)]
struct Ends<'a> {
    near: &'a [u32],
    far: &'a [u32],
    weights: Option<&'a [f64]>,
}

impl<'a> Ends<'a> {
    /// Some of the edges.
    fn range(self, edges: Range<usize>) -> Ends<'a> {
        let weights = self.weights.map(|weights| &weights[edges.clone()]);
        Ends { near: &self.near[edges.clone()], far: &self.far[edges], weights }
    }

    /// Writes the far ends and the weights. `place` returns the position for an edge by its near end.
    #[inline]
    fn put(self, mut place: impl FnMut(u32) -> usize, far: &mut [u32], weights: Option<&mut [f64]>) {
        match (weights, self.weights) {
            (Some(weights), Some(given)) => {
                for ((node, other), weight) in zip(self.near, self.far).zip(given) {
                    let place = place(*node);
                    (far[place], weights[place]) = (*other, *weight);
                }
            }
            _ => zip(self.near, self.far).for_each(|(node, other)| far[place(*node)] = *other),
        }
    }
}

/// Edges grouped by blocks of nodes. The edges of a block are in their original order.
struct ByBlock {
    near: Vec<u32>,
    far: Vec<u32>,
    weights: Option<Vec<f64>>,
    /// The end of the edges of each block.
    ends: Vec<usize>,
}

impl ByBlock {
    /// Groups edges by blocks of `block` nodes, a power of two.
    fn of(edges: Ends<'_>, block: usize, nodes: usize) -> Self {
        let shift = block.trailing_zeros();
        let mut places = vec![0; nodes.div_ceil(block)];
        edges.near.iter().for_each(|node| places[(node >> shift) as usize] += 1);
        start_after_one_another(&mut places, 0);
        let len = edges.near.len();
        let (mut near, mut far) = (vec![0; len], vec![0; len]);
        let mut weights = edges.weights.map(|_| vec![0.0; len]);
        let place = |node: u32| {
            let next = &mut places[(node >> shift) as usize];
            near[*next] = node;
            *next += 1;
            *next - 1
        };
        edges.put(place, &mut far, weights.as_deref_mut());
        ByBlock { near, far, weights, ends: places }
    }

    /// The edges of a block.
    fn block(&self, number: usize) -> Ends<'_> {
        let all = Ends { near: &self.near, far: &self.far, weights: self.weights.as_deref() };
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        all.range(start..self.ends[number])
    }
}

/// The slices of the adjacency for the rows of a block of nodes.
struct AdjacencyRows<'a> {
    /// The first node.
    first: usize,
    /// The number of edges of all nodes before.
    begin: usize,
    starts: &'a mut [usize],
    targets: &'a mut [u32],
    weights: Option<&'a mut [f64]>,
}

impl AdjacencyRows<'_> {
    /// Fills the rows with the edges of the block.
    fn fill(mut self, edges: &[Ends<'_>]) {
        for node in edges.iter().flat_map(|edges| edges.near) {
            self.starts[*node as usize - self.first] += 1;
        }
        let mut places = self.starts.to_vec();
        start_after_one_another(&mut places, 0);
        start_after_one_another(self.starts, self.begin);
        for edges in edges {
            let place = |node: u32| {
                let next = &mut places[node as usize - self.first];
                *next += 1;
                *next - 1
            };
            edges.put(place, self.targets, self.weights.as_deref_mut());
        }
    }
}

/// Converts counts of consecutive items into their starts (exclusive prefix sums).
fn start_after_one_another(counts: &mut [usize], mut begin: usize) {
    for count in counts {
        let len = std::mem::replace(count, begin);
        begin += len;
    }
}

/// The first edge of each node, and the end, for edges sorted by their near ends.
pub(super) fn starts_of_sorted(nodes: usize, near: &[u32]) -> Vec<usize> {
    let mut starts = vec![0; nodes + 1];
    starts.par_chunks_mut(NODES_PER_BLOCK).enumerate().for_each(|(number, starts)| {
        let first = number * NODES_PER_BLOCK;
        let mut edge = near.partition_point(|node| (*node as usize) < first);
        for (node, start) in (first..).zip(starts) {
            edge += near[edge..].iter().take_while(|near| (**near as usize) < node).count();
            *start = edge;
        }
    });
    starts
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
