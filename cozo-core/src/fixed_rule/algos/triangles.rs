//! Triangles: for each node the number of edges between its neighbours, or of pairs of its edges to joined neighbours.
//!
//! Edges are directed towards the node of the greater degree, so that no node has many outgoing edges. Then each triangle is found
//! once, in the intersection of two sorted lists (Chiba and Nishizeki 1985; Latapy 2008).

use std::cmp::Ordering;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use crate::fixed_rule::Poison;
use crate::fixed_rule::graph::{Direction, Edges, Graph};

/// The number of neighbours of each node, and the count of joined pairs among them.
pub struct Triangles {
    /// The number of distinct neighbours of each node, without itself.
    pub neighbors: Vec<u64>,
    /// The count of joined pairs of neighbours, by [`Joined`].
    pub joined: Vec<u64>,
}

/// The count of two joined neighbours of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// One.
    Once,
    /// The number of directions in which they are joined: one or two.
    ByDirections,
    /// The number of pairs of edges to them, where each parallel edge counts.
    ByEnds,
}

/// Edges towards the node of the greater degree.
struct Upwards {
    graph: Graph,
    /// The multiplicity of each edge.
    counts: Vec<u32>,
    /// Whether an edge counts for its own ends, and not for the opposite node of a triangle.
    by_ends: bool,
}

/// Counts triangles. The edges must have been read without weights.
pub fn triangles(edges: &Edges, joined: Joined, poison: &Poison) -> miette::Result<Triangles> {
    let both = edges.graph(Direction::Both).simple();
    let upwards = match joined {
        // Without parallel edges and loops there is exactly one pair of edges for each opposite edge.
        Joined::ByEnds if 2 * edges.len() == both.edge_count() => Upwards::new(&both, |_, _| 1),
        Joined::Once => Upwards::new(&both, |_, _| 1),
        Joined::ByDirections => {
            let out = edges.graph(Direction::Out).simple();
            let has = |from: u32, to: u32| u32::from(out.out_neighbors(from).binary_search(&to).is_ok());
            Upwards::new(&both, |a, b| has(a, b) + has(b, a))
        }
        Joined::ByEnds => {
            let mut all = edges.graph(Direction::Both);
            all.sort_neighbors();
            let until = |ends: &[u32], end: u32| ends.partition_point(|other| *other <= end);
            let copies = |a: u32, b: u32| {
                let ends = all.out_neighbors(a);
                (until(ends, b) - b.checked_sub(1).map_or(0, |before| until(ends, before))) as u32
            };
            Upwards { by_ends: true, ..Upwards::new(&both, copies) }
        }
    };
    let joined: Vec<AtomicU64> = (0..both.node_count()).map(|_| AtomicU64::new(0)).collect();
    upwards.graph.pieces().into_par_iter().try_for_each(|piece| {
        let mut pace = poison.pace();
        for low in piece.map(|node| node as u32) {
            for edge in upwards.graph.edges_of(low) {
                pace.step()?;
                upwards.count(low, edge, &joined);
            }
        }
        Ok::<_, miette::Report>(())
    })?;
    let neighbors = (0..both.node_count() as u32).map(|node| both.out_degree(node) as u64).collect();
    Ok(Triangles { neighbors, joined: joined.into_iter().map(AtomicU64::into_inner).collect() })
}

impl Upwards {
    fn new(both: &Graph, count: impl Fn(u32, u32) -> u32) -> Self {
        let rank = |node: u32| (both.out_degree(node), node);
        let (mut starts, mut targets) = (vec![0], vec![]);
        for node in 0..both.node_count() as u32 {
            targets.extend(both.out_neighbors(node).iter().filter(|other| rank(node) < rank(**other)));
            starts.push(targets.len());
        }
        let graph = Graph::from_rows(starts, targets, None);
        let mut counts = Vec::with_capacity(graph.edge_count());
        for node in 0..graph.node_count() as u32 {
            counts.extend(graph.out_neighbors(node).iter().map(|other| count(node, *other)));
        }
        Upwards { graph, counts, by_ends: false }
    }

    /// The count of a triangle at one of its nodes, by the opposite edge or by the two edges at the node.
    #[inline]
    fn counted(&self, opposite: usize, ends: [usize; 2]) -> u64 {
        let count = |edge: usize| u64::from(self.counts[edge]);
        if self.by_ends { count(ends[0]) * count(ends[1]) } else { count(opposite) }
    }

    /// Counts the triangles that begin with an edge: those with a node to which both its ends have edges.
    fn count(&self, low: u32, edge: usize, joined: &[AtomicU64]) {
        let (graph, middle) = (&self.graph, self.graph.target(edge));
        let add = |node: u32, by: u64| joined[node as usize].fetch_add(by, Relaxed);
        let (ours, theirs) = (graph.edges_of(low), graph.edges_of(middle));
        let (mut our, mut their) = (ours.start, theirs.start);
        let (mut of_low, mut of_middle) = (0, 0);
        while our < ours.end && their < theirs.end {
            match graph.target(our).cmp(&graph.target(their)) {
                Ordering::Less => our += 1,
                Ordering::Greater => their += 1,
                Ordering::Equal => {
                    of_low += self.counted(their, [edge, our]);
                    of_middle += self.counted(our, [edge, their]);
                    add(graph.target(our), self.counted(edge, [our, their]));
                    our += 1;
                    their += 1;
                }
            }
        }
        if of_low > 0 {
            add(low, of_low);
            add(middle, of_middle);
        }
    }
}
