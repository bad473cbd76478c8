//! `BetweennessCentrality`: the number of shortest paths through each node.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::inputs::{UNDIRECTED, WEIGHTED_EDGES, direction, weighted_edges};
use super::parallel::map_runs;
use crate::fixed_rule::graph::Graph;
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Pace, Poison, Settings};
use crate::value::{Batch, Column};

/// The number of shortest paths through each node.
pub static BETWEENNESS_CENTRALITY: BuiltInRule = BuiltInRule {
    name: "BetweennessCentrality",
    aliases: &[],
    doc: "Sums for each node, over all pairs of other nodes, the share of the shortest paths from one to the other that \
          lead through the node. The sum is not normalised: networkx gives the same with `normalized=False`, but half as \
          much for undirected graphs, because here every pair counts in both orders. A path is a sequence of nodes, so \
          parallel edges add no paths. Weights should be greater than 0: not all paths along edges of weight 0 are \
          counted.",
    cost: "Time O(V E), with weights O(V E log V), in parallel over nodes; space O(V) for each of up to 64 parts of the work.",
    source: "U. Brandes, A faster algorithm for betweenness centrality, J. Math. Sociology 25 (2001)",
    examples: &[(
        "e[a, b] <- [[1, 2], [2, 3], [3, 4]]  ?[node, betweenness] <~ BetweennessCentrality(e[])",
        "[[1, 0.0], [2, 2.0], [3, 2.0], [4, 0.0]]",
    )],
    inputs: &[WEIGHTED_EDGES],
    options: &[UNDIRECTED],
    output: Output::Columns(&["node", "betweenness"]),
    external_access: false,
    run,
};

/// The number of parts of the starts. It does not depend on the number of threads, and so the order of additions does not either.
const PARTS: usize = 64;

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let (nodes, graph) = weighted_edges(call)?.into_graph(direction(settings));
    let graph = graph.simple();
    let count = nodes.len();
    let all: Vec<u32> = (0..count as u32).collect();
    let parts: Vec<&[u32]> = all.chunks(count.div_ceil(PARTS).max(1)).collect();
    let sums = map_runs(
        &parts,
        || (),
        |(), starts| -> miette::Result<Vec<f64>> {
            let mut brandes = Brandes::new(&graph, &call.poison);
            starts.iter().try_for_each(|start| brandes.add(*start))?;
            Ok(brandes.betweenness)
        },
    )?;
    let mut betweenness = vec![0.0; count];
    for part in sums {
        betweenness.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
    }
    Ok(Batch::new(vec![nodes.into_values(), Column::floats(betweenness)], count))
}

struct Brandes<'a> {
    graph: &'a Graph,
    pace: Pace<'a>,
    betweenness: Vec<f64>,
    /// The cost of each node, the number of shortest paths to it, and its dependency (Brandes).
    costs: Vec<f64>,
    paths: Vec<f64>,
    dependent: Vec<f64>,
    settled: Vec<bool>,
    /// The settled nodes in the order of their costs.
    order: Vec<u32>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// The edges of shortest paths as (from, to), in the order in which their sources are settled.
    steps: Vec<(u32, u32)>,
}

impl<'a> Brandes<'a> {
    fn new(graph: &'a Graph, poison: &'a Poison) -> Self {
        let nodes = graph.node_count();
        Brandes {
            graph,
            pace: poison.pace(),
            betweenness: vec![0.0; nodes],
            costs: vec![f64::INFINITY; nodes],
            paths: vec![0.0; nodes],
            dependent: vec![0.0; nodes],
            settled: vec![false; nodes],
            order: vec![],
            heap: BinaryHeap::new(),
            steps: vec![],
        }
    }

    /// Adds the contribution of the paths from `start`.
    fn add(&mut self, start: u32) -> miette::Result<()> {
        self.costs[start as usize] = 0.0;
        self.paths[start as usize] = 1.0;
        if self.graph.is_weighted() {
            self.by_cost(start)?
        } else {
            self.by_breadth(start)?
        }
        for (from, to) in self.steps.drain(..).rev() {
            let (from, to) = (from as usize, to as usize);
            self.dependent[from] += self.paths[from] / self.paths[to] * (1.0 + self.dependent[to]);
        }
        for node in self.order.drain(..) {
            let node = node as usize;
            if node != start as usize {
                self.betweenness[node] += self.dependent[node];
            }
            (self.costs[node], self.paths[node], self.dependent[node]) = (f64::INFINITY, 0.0, 0.0);
            self.settled[node] = false;
        }
        Ok(())
    }

    fn by_breadth(&mut self, start: u32) -> miette::Result<()> {
        self.order.push(start);
        let mut next = 0;
        while let Some(node) = self.order.get(next).copied() {
            self.pace.step()?;
            next += 1;
            let cost = self.costs[node as usize] + 1.0;
            for target in self.graph.out_neighbors(node) {
                let known = self.costs[*target as usize];
                if known == f64::INFINITY {
                    self.costs[*target as usize] = cost;
                    self.order.push(*target);
                }
                if known >= cost {
                    self.paths[*target as usize] += self.paths[node as usize];
                    self.steps.push((node, *target));
                }
            }
        }
        Ok(())
    }

    /// Counts paths by Dijkstra's algorithm. A second pass over the settled nodes finds the edges of shortest paths.
    fn by_cost(&mut self, start: u32) -> miette::Result<()> {
        self.heap.push(Reverse((0, start)));
        while let Some(Reverse((bits, node))) = self.heap.pop() {
            if std::mem::replace(&mut self.settled[node as usize], true) {
                continue;
            }
            self.pace.step()?;
            self.order.push(node);
            let cost = f64::from_bits(bits);
            for (target, weight) in self.graph.out_neighbors_with_weights(node) {
                let (cost, known) = (cost + weight, self.costs[target as usize]);
                if cost < known {
                    self.costs[target as usize] = cost;
                    self.paths[target as usize] = 0.0;
                    self.heap.push(Reverse((cost.to_bits(), target)));
                }
                if cost <= known && cost.is_finite() && !self.settled[target as usize] {
                    self.paths[target as usize] += self.paths[node as usize];
                }
            }
        }
        for node in &self.order {
            // The marks are cleared in the order of settling. So the marked nodes are those settled later, as in the first pass.
            self.settled[*node as usize] = false;
            let cost = self.costs[*node as usize];
            for (target, weight) in self.graph.out_neighbors_with_weights(*node) {
                if cost + weight == self.costs[target as usize] && self.settled[target as usize] {
                    self.steps.push((*node, target));
                }
            }
        }
        Ok(())
    }
}
