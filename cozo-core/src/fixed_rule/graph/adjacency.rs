//! Adjacency in compressed rows, made and reshaped in parallel.
//!
//! Each thread owns a range of nodes, and with it a range of the adjacency: it reads all edges and places those of its nodes.
//! Reading is cheap and in order, placing is neither, so that this pays although every thread reads everything.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

/// So few edges are placed by one thread.
const WORTH_PARALLEL: usize = 1 << 19;

/// The most threads that read all edges.
const MOST_READERS: usize = 8;

/// About so many edges are handled as one piece of work.
const EDGES_PER_PIECE: usize = 1 << 14;

/// Which edges a node is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Those that start there.
    Out,
    /// Those that end there, turned round.
    In,
    /// Both: every edge counts twice.
    Both,
}

impl Direction {
    /// Both directions if `undirected`, else that of the edges.
    pub fn undirected(undirected: bool) -> Self {
        if undirected { Direction::Both } else { Direction::Out }
    }
}

/// The edges of each node: where they lead, with their weights. A clone shares them until either is changed.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The edges of node `n` are those from `starts[n]` to `starts[n + 1]`.
    starts: Arc<Vec<usize>>,
    targets: Arc<Vec<u32>>,
    weights: Option<Arc<Vec<f64>>>,
}

/// One end of each edge, and the other.
type Ends<'a> = (&'a [u32], &'a [u32]);

impl Graph {
    /// The adjacency of edges.
    pub(super) fn new(nodes: usize, from: &[u32], to: &[u32], weights: Option<&[f64]>, direction: Direction) -> Self {
        let passes: &[Ends<'_>] = match direction {
            Direction::Out => &[(from, to)],
            Direction::In => &[(to, from)],
            Direction::Both => &[(from, to), (to, from)],
        };
        let starts = starts(nodes, passes);
        let total = starts[nodes];
        let (mut targets, mut placed) = (vec![0; total], weights.map(|_| vec![0.0; total]));
        place(&starts, passes, weights, &mut targets, placed.as_deref_mut());
        Graph::from_rows(starts, targets, placed)
    }

    /// The adjacency of edges that stand in the order of where they start.
    pub(super) fn of_sorted(nodes: usize, from: &[u32], to: Arc<Vec<u32>>, weights: Option<Arc<Vec<f64>>>) -> Self {
        Graph { starts: starts(nodes, &[(from, &to)]).into(), targets: to, weights }
    }

    /// The members of groups as adjacency: an edge from each group to all that are in it.
    pub fn of_members(groups: &[u32], count: usize) -> Self {
        let members: Vec<u32> = (0..groups.len() as u32).collect();
        Graph::new(count, groups, &members, None, Direction::Out)
    }

    /// The adjacency with the edges of node `n` from `starts[n]` to `starts[n + 1]`.
    pub fn from_rows(starts: Vec<usize>, targets: Vec<u32>, weights: Option<Vec<f64>>) -> Self {
        debug_assert_eq!(starts.last(), Some(&targets.len()), "the last edges end where all do");
        Graph { starts: starts.into(), targets: targets.into(), weights: weights.map(Into::into) }
    }

    /// About how many bytes it takes.
    pub(super) fn memory_bytes(&self) -> usize {
        let weights = self.weights.as_ref().map_or(0, |weights| weights.len());
        8 * (self.starts.len() + weights) + 4 * self.targets.len()
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of edges; of an undirected graph twice those of the relation.
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

    /// Where an edge leads.
    #[inline]
    pub fn target(&self, edge: usize) -> u32 {
        self.targets[edge]
    }

    /// Where some edges lead.
    #[inline]
    pub fn targets(&self, edges: Range<usize>) -> &[u32] {
        &self.targets[edges]
    }

    /// The weight of an edge.
    #[inline]
    pub fn weight(&self, edge: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[edge])
    }

    /// Whether edges have weights of their own; else each is 1.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// Where the edges of a node lead.
    #[inline]
    pub fn out_neighbors(&self, node: u32) -> &[u32] {
        self.targets(self.edges_of(node))
    }

    /// Where the edges of a node lead, with their weights.
    #[inline]
    pub fn out_neighbors_with_weights(&self, node: u32) -> impl ExactSizeIterator<Item = (u32, f64)> + '_ {
        self.edges_of(node).map(|edge| (self.targets[edge], self.weight(edge)))
    }

    /// All nodes, in ranges of about as many edges each. They depend on the graph alone, and not on the number of threads.
    pub fn pieces(&self) -> Vec<Range<usize>> {
        self.pieces_of(EDGES_PER_PIECE)
    }

    /// As [`Graph::pieces`], with about so many edges each.
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

    /// The graph with neighbours in ascending order, without loops, and of parallel edges only the lightest.
    pub fn simple(self) -> Self {
        self.reduce(false)
    }

    /// The graph with neighbours in ascending order, and of parallel edges only the lightest.
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

    /// Where each edge starts.
    pub(super) fn sources(&self) -> Vec<u32> {
        let mut sources = Vec::with_capacity(self.edge_count());
        for node in 0..self.node_count() as u32 {
            sources.extend(std::iter::repeat_n(node, self.out_degree(node)));
        }
        sources
    }

    /// Where each edge starts, where it ends, and its weight.
    pub fn into_edges(self) -> (Vec<u32>, Vec<u32>, Option<Vec<f64>>) {
        (self.sources(), Arc::unwrap_or_clone(self.targets), self.weights.map(Arc::unwrap_or_clone))
    }

    /// The same edges turned round.
    pub fn reversed(&self) -> Self {
        let weights = self.weights.as_ref().map(|weights| weights.as_slice());
        Graph::new(self.node_count(), &self.sources(), &self.targets, weights, Direction::In)
    }
}

/// Places the ends of edges, and their weights, where the rows of the nodes are.
fn place(
    starts: &[usize],
    passes: &[Ends<'_>],
    given: Option<&[f64]>,
    targets: &mut [u32],
    weights: Option<&mut [f64]>,
) {
    let ranges = balanced(starts, readers(targets.len()));
    let targets = split(targets, starts, &ranges);
    let weights: Vec<Option<&mut [f64]>> = match weights {
        Some(weights) => split(weights, starts, &ranges).into_iter().map(Some).collect(),
        None => ranges.iter().map(|_| None).collect(),
    };
    ranges.into_par_iter().zip(targets).zip(weights).for_each(|((range, targets), mut weights)| {
        let first = starts[range.start];
        let mut next: Vec<usize> = starts[range.clone()].iter().map(|start| start - first).collect();
        // A node before the range turns into one far behind it.
        let mut place = |end: u32| {
            let at = next.get_mut((end as usize).wrapping_sub(range.start))?;
            *at += 1;
            Some(*at - 1)
        };
        for (ends, others) in passes {
            match (&mut weights, given) {
                (Some(weights), Some(given)) => {
                    for ((end, other), weight) in ends.iter().zip(*others).zip(given) {
                        let Some(at) = place(*end) else { continue };
                        (targets[at], weights[at]) = (*other, *weight);
                    }
                }
                _ => {
                    for (end, other) in ends.iter().zip(*others) {
                        let Some(at) = place(*end) else { continue };
                        targets[at] = *other;
                    }
                }
            }
        }
    });
}

fn readers(edges: usize) -> usize {
    if edges < WORTH_PARALLEL { 1 } else { rayon::current_num_threads().min(MOST_READERS) }
}

/// Where the edges of each node start, and where those of the last end.
fn starts(nodes: usize, passes: &[Ends<'_>]) -> Vec<usize> {
    let mut starts = vec![0; nodes + 1];
    let share = nodes.div_ceil(readers(passes.iter().map(|(ends, _)| ends.len()).sum())).max(1);
    starts[1..].par_chunks_mut(share).enumerate().for_each(|(i, counts)| {
        for (ends, _) in passes {
            for end in *ends {
                if let Some(count) = counts.get_mut((*end as usize).wrapping_sub(i * share)) {
                    *count += 1;
                }
            }
        }
    });
    for node in 0..nodes {
        starts[node + 1] += starts[node];
    }
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

/// The parts of what stands beside edges that belong to ranges of nodes, which come one after another from the first on.
fn split<'a, T>(mut all: &'a mut [T], starts: &[usize], ranges: &[Range<usize>]) -> Vec<&'a mut [T]> {
    let mut parts = Vec::with_capacity(ranges.len());
    for range in ranges {
        let (part, rest) = all.split_at_mut(starts[range.end] - starts[range.start]);
        parts.push(part);
        all = rest;
    }
    parts
}
