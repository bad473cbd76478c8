//! Lists of edges, and the adjacency that is built of them.
//!
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

use std::borrow::Cow;
use std::iter::{repeat, zip};
use std::ops::Range;

use rayon::prelude::*;

use super::adjacency::{Direction, Graph};

/// Fewer edges are placed directly, by one thread.
const BLOCKS_MIN_EDGES: usize = 1 << 19;

/// The number of nodes of a block. It is greater if there would be more than [`MAX_BLOCKS`].
const NODES_PER_BLOCK: usize = 1 << 13;

/// The most blocks. With more, the write positions of all blocks would not stay in the cache.
const MAX_BLOCKS: usize = 1 << 10;

/// The number of edges of a part.
const EDGES_PER_PART: usize = 1 << 20;

impl Graph {
    /// The adjacency of edges.
    pub(super) fn new(nodes: usize, from: &[u32], to: &[u32], weights: Option<&[f64]>, direction: Direction) -> Self {
        Graph::of_listed(nodes, &Listed { from: Sources::Each(from), to, weights }, direction)
    }

    /// The adjacency of a list of edges.
    pub(super) fn of_listed(nodes: usize, listed: &Listed<'_>, direction: Direction) -> Self {
        let passes = passes(direction);
        let (len, weighted) = (listed.to.len(), listed.weights.is_some());
        let total = len * passes.len();
        if total < BLOCKS_MIN_EDGES {
            return Graph::of_listed_one_by_one(nodes, listed, direction);
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

    /// [`Graph::of_listed`] with nothing in memory but the edges and the adjacency: each edge is placed directly, by one thread.
    pub(super) fn of_listed_one_by_one(nodes: usize, listed: &Listed<'_>, direction: Direction) -> Self {
        let (passes, len) = (passes(direction), listed.to.len());
        let from = listed.from.range(0..len);
        let ends = passes.iter().map(|turned| listed.ends(&from, 0..len, *turned)).collect();
        Graph::of_blocks(nodes, nodes, len * passes.len(), &[ends], listed.weights.is_some())
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
}

/// For each pass over the edges whether their ends are exchanged.
fn passes(direction: Direction) -> &'static [bool] {
    match direction {
        Direction::Out => &[false],
        Direction::In => &[true],
        Direction::Both => &[false, true],
    }
}

/// A list of edges.
pub(super) struct Listed<'a> {
    /// The sources.
    pub from: Sources<'a>,
    /// The target of each.
    pub to: &'a [u32],
    /// The weight of each, if they have weights.
    pub weights: Option<&'a [f64]>,
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
pub(super) enum Sources<'a> {
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
