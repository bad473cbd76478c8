//! Shortest paths from one node: breadth-first without weights, otherwise by Dijkstra's algorithm with a binary heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::fixed_rule::graph::{Graph, NO_NODE};
use crate::fixed_rule::{Pace, Poison};
use crate::value::{Column, DataValue};

/// The cost of an unreached node.
pub const UNREACHED: f64 = f64::INFINITY;

/// A search over a graph. It can be run many times, each at the cost of the nodes that it reaches.
pub struct Search<'a> {
    graph: &'a Graph,
    pace: Pace<'a>,
    costs: Vec<f64>,
    parents: Vec<u32>,
    /// All nodes with a cost, in the order in which they were met.
    met: Vec<u32>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

impl<'a> Search<'a> {
    /// A search that is not run yet.
    pub fn new(graph: &'a Graph, poison: &'a Poison) -> Self {
        let nodes = graph.node_count();
        Search {
            graph,
            pace: poison.pace(),
            costs: vec![UNREACHED; nodes],
            parents: vec![NO_NODE; nodes],
            met: vec![],
            heap: BinaryHeap::new(),
        }
    }

    /// Searches from a node until `enough` returns `true` for a settled node.
    pub fn run(&mut self, start: u32, enough: impl FnMut(u32) -> bool) -> miette::Result<()> {
        for node in self.met.drain(..) {
            self.costs[node as usize] = UNREACHED;
        }
        self.heap.clear();
        self.meet(start, 0.0, NO_NODE);
        if self.graph.is_weighted() { self.by_cost(start, enough) } else { self.by_breadth(enough) }
    }

    fn meet(&mut self, node: u32, cost: f64, parent: u32) {
        self.costs[node as usize] = cost;
        self.parents[node as usize] = parent;
        self.met.push(node);
    }

    fn by_breadth(&mut self, mut enough: impl FnMut(u32) -> bool) -> miette::Result<()> {
        let graph = self.graph;
        let mut next = 0;
        while let Some(node) = self.met.get(next).copied() {
            self.pace.step()?;
            if enough(node) {
                break;
            }
            let cost = self.costs[node as usize] + 1.0;
            for target in graph.out_neighbors(node) {
                if self.costs[*target as usize] == UNREACHED {
                    self.meet(*target, cost, node);
                }
            }
            next += 1;
        }
        Ok(())
    }

    fn by_cost(&mut self, start: u32, mut enough: impl FnMut(u32) -> bool) -> miette::Result<()> {
        let graph = self.graph;
        self.heap.push(Reverse((0, start)));
        while let Some(Reverse((bits, node))) = self.heap.pop() {
            let cost = f64::from_bits(bits);
            if cost > self.costs[node as usize] {
                continue;
            }
            self.pace.step()?;
            if enough(node) {
                break;
            }
            for (target, weight) in graph.out_neighbors_with_weights(node) {
                let (cost, known) = (cost + weight, self.costs[target as usize]);
                if cost < known {
                    if known == UNREACHED {
                        self.met.push(target);
                    }
                    self.costs[target as usize] = cost;
                    self.parents[target as usize] = node;
                    // The bits of non-negative numbers sort as the numbers do.
                    self.heap.push(Reverse((cost.to_bits(), target)));
                }
            }
        }
        Ok(())
    }

    /// The cost of a node, [`UNREACHED`] if it was not met.
    pub fn cost(&self, node: u32) -> f64 {
        self.costs[node as usize]
    }

    /// All nodes that were met.
    pub fn met(&self) -> &[u32] {
        &self.met
    }

    /// The path to a node, with both ends; empty if it was not met.
    pub fn path(&mut self, node: u32) -> miette::Result<Vec<u32>> {
        let mut path = vec![];
        let mut at = if self.cost(node) == UNREACHED { NO_NODE } else { node };
        while at != NO_NODE {
            self.pace.step()?;
            path.push(at);
            at = self.parents[at as usize];
        }
        path.reverse();
        Ok(path)
    }
}

/// Detects when all nodes of a set are settled.
pub struct Wanted {
    wanted: Vec<bool>,
    count: usize,
    left: usize,
}

impl Wanted {
    /// The set of the nodes in a list, which are distinct.
    pub fn new(nodes: usize, list: &[u32]) -> Self {
        let mut wanted = vec![false; nodes];
        list.iter().for_each(|node| wanted[*node as usize] = true);
        Wanted { wanted, count: list.len(), left: list.len() }
    }

    /// Restarts the count.
    pub fn restart(&mut self) {
        self.left = self.count;
    }

    /// Counts a settled node. Returns whether it was the last one of the set.
    pub fn settle(&mut self, node: u32) -> bool {
        self.left -= usize::from(self.wanted[node as usize]);
        self.left == 0
    }
}

/// A path that was found.
pub struct Found {
    /// The first node.
    pub start: u32,
    /// The last node.
    pub goal: u32,
    /// The cost.
    pub cost: f64,
    /// The nodes, as a list.
    pub path: DataValue,
}

/// Columns of start, goal, cost and path.
pub fn path_columns(values: &Column, found: Vec<Found>) -> Vec<Column> {
    let nodes = |node: fn(&Found) -> u32| values.take(&found.iter().map(node).collect::<Vec<u32>>());
    let (starts, goals) = (nodes(|found| found.start), nodes(|found| found.goal));
    let costs = Column::floats(found.iter().map(|found| found.cost).collect());
    vec![starts, goals, costs, Column::Any(found.into_iter().map(|found| found.path).collect())]
}
