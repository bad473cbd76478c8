//! The parts of an adjacency while it is built: see [`adjacency`](super::adjacency).

use std::borrow::Cow;
use std::iter::zip;
use std::ops::Range;

use rayon::prelude::*;

use super::adjacency::NODES_PER_BLOCK;

/// A list of edges.
pub struct Listed<'a> {
    pub from: Sources<'a>,
    pub to: &'a [u32],
    pub weights: Option<&'a [f64]>,
}

impl<'a> Listed<'a> {
    /// Some of the edges, with their sources `from`. Near ends are the sources or, if `turned`, the targets.
    pub fn ends<'e>(&self, from: &'e [u32], edges: Range<usize>, turned: bool) -> Ends<'e>
    where
        'a: 'e,
    {
        let (to, weights) = (&self.to[edges.clone()], self.weights.map(|weights| &weights[edges]));
        if turned { Ends { near: to, far: from, weights } } else { Ends { near: from, far: to, weights } }
    }
}

/// The sources of edges.
pub enum Sources<'a> {
    /// The source of each edge.
    Each(&'a [u32]),
    /// The first edge of each node, for edges sorted by source.
    AdjacencyRows(&'a [usize]),
}

impl Sources<'_> {
    /// The sources of some edges.
    pub fn range(&self, edges: Range<usize>) -> Cow<'_, [u32]> {
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
pub struct Ends<'a> {
    pub near: &'a [u32],
    pub far: &'a [u32],
    pub weights: Option<&'a [f64]>,
}

impl<'a> Ends<'a> {
    /// Some of the edges.
    pub fn range(self, edges: Range<usize>) -> Ends<'a> {
        let weights = self.weights.map(|weights| &weights[edges.clone()]);
        Ends { near: &self.near[edges.clone()], far: &self.far[edges], weights }
    }

    /// Writes the far ends and the weights. `place` returns the position for an edge by its near end.
    #[inline]
    pub fn put(self, mut place: impl FnMut(u32) -> usize, far: &mut [u32], weights: Option<&mut [f64]>) {
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
pub struct ByBlock {
    pub near: Vec<u32>,
    pub far: Vec<u32>,
    pub weights: Option<Vec<f64>>,
    /// The end of the edges of each block.
    pub ends: Vec<usize>,
}

impl ByBlock {
    /// Groups edges by blocks of `block` nodes, a power of two.
    pub fn of(edges: Ends<'_>, block: usize, nodes: usize) -> Self {
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
    pub fn block(&self, number: usize) -> Ends<'_> {
        let all = Ends { near: &self.near, far: &self.far, weights: self.weights.as_deref() };
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        all.range(start..self.ends[number])
    }
}

/// The slices of the adjacency for the rows of a block of nodes.
pub struct AdjacencyRows<'a> {
    /// The first node.
    pub first: usize,
    /// The number of edges of all nodes before.
    pub begin: usize,
    pub starts: &'a mut [usize],
    pub targets: &'a mut [u32],
    pub weights: Option<&'a mut [f64]>,
}

impl AdjacencyRows<'_> {
    /// Fills the rows with the edges of the block.
    pub fn fill(mut self, edges: &[Ends<'_>]) {
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
pub fn start_after_one_another(counts: &mut [usize], mut begin: usize) {
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
pub fn balanced(starts: &[usize], pieces: usize) -> Vec<Range<usize>> {
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
pub fn split<'a, T>(mut all: &'a mut [T], starts: &[usize], ranges: &[Range<usize>]) -> Vec<&'a mut [T]> {
    let mut parts = Vec::with_capacity(ranges.len());
    for range in ranges {
        let (part, rest) = all.split_at_mut(starts[range.end] - starts[range.start]);
        parts.push(part);
        all = rest;
    }
    parts
}
