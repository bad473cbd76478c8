//! `KShortestPathYen`: the `k` cheapest paths without loops, for each pair of nodes.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use rustc_hash::FxHashSet;

use super::inputs::{GOALS, STARTING, UNDIRECTED, WEIGHTED_EDGES, direction, known_nodes, weighted_edges};
use super::parallel::map_runs;
use super::search::{Found, Search, UNREACHED, path_columns};
use crate::fixed_rule::graph::{Graph, NO_NODE};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, OptionKind, OptionSpec, Output, Pace, Poison, Settings};
use crate::value::{Batch, allocated};

/// The `k` cheapest paths without loops, for each pair of nodes.
pub static K_SHORTEST_PATH_YEN: BuiltInRule = BuiltInRule {
    name: "KShortestPathYen",
    aliases: &[],
    doc: "Finds the `k` cheapest paths from each starting node to each goal that visit no node twice, or fewer if there are \
          not `k` of them. Pairs without a path give no rows; nodes that the graph does not have are left out.",
    cost: "Time O(P k L (V + E) log V) for P pairs and paths of L nodes, in parallel over pairs; space O(V + k L) for each \
           thread. The exact costs to the goal guide the searches, so most of them visit little more than the path they \
           find.",
    source: "J. Y. Yen, Finding the k shortest loopless paths in a network, Management Science 17 (1971); E. L. Lawler, ibid. 18 (1972)",
    examples: &[(
        "e[a, b, w] <- [[1, 2, 1], [2, 4, 1], [1, 3, 2], [3, 4, 2], [1, 4, 9]]  s[n] <- [[1]]  g[n] <- [[4]]
         ?[start, goal, cost, path] <~ KShortestPathYen(e[], s[], g[], k: 2)",
        "[[1, 4, 2.0, [1, 2, 4]], [1, 4, 4.0, [1, 3, 4]]]",
    )],
    inputs: &[WEIGHTED_EDGES, STARTING, GOALS],
    options: &[
        OptionSpec::required("k", OptionKind::PositiveInt, "the maximum number of paths for each pair"),
        UNDIRECTED,
    ],
    output: Output::Columns(&["start", "goal", "cost", "path"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let (nodes, graph) = weighted_edges(call)?.into_graph(direction(settings));
    let graph = graph.simple();
    let back = graph.reversed();
    let (starts, goals) = (known_nodes(call, 1, &nodes)?, known_nodes(call, 2, &nodes)?);
    let pairs: Vec<(u32, u32)> = goals.iter().flat_map(|goal| starts.iter().map(|start| (*start, *goal))).collect();
    let begin = || (Search::new(&back, &call.poison), NO_NODE, Spur::new(&graph, &call.poison));
    let k = settings.count("k");
    let found = map_runs(&pairs, begin, |(to_goal, searched, spur), (start, goal)| -> miette::Result<Vec<Found>> {
        if *searched != *goal {
            to_goal.run(*goal, |_| false)?;
            *searched = *goal;
        }
        let paths = yen(spur, to_goal, *start, *goal, k, &call.poison.for_a_while())?;
        let found = |(cost, path): (f64, Vec<u32>)| {
            call.poison.make_room(size_of::<Found>())?;
            Ok(Found { start: *start, goal: *goal, cost, path: nodes.list(&path, &call.poison)? })
        };
        paths.into_iter().map(found).collect()
    })?;
    let found: Vec<Found> = found.into_iter().flatten().collect();
    let count = found.len();
    Ok(Batch::new(path_columns(nodes.values(), found), count))
}

/// Up to `k` paths with their costs, the cheapest first.
fn yen(
    spur: &mut Spur<'_>,
    to_goal: &Search<'_>,
    start: u32,
    goal: u32,
    k: usize,
    poison: &Poison,
) -> miette::Result<Vec<(f64, Vec<u32>)>> {
    let mut found: Vec<(f64, Vec<u32>)> = vec![];
    // Paths with the position where they leave the path that they were made from. Before it there are no new paths.
    let mut candidates: BTreeSet<(u64, Vec<u32>, usize)> = BTreeSet::new();
    let mut known: FxHashSet<Vec<u32>> = FxHashSet::default();
    spur.forbid(&[], vec![]);
    if let Some((cost, path)) = spur.run(to_goal, start, goal)? {
        candidates.insert((cost.to_bits(), path, 0));
    }
    while found.len() < k
        && let Some((cost, path, left_at)) = candidates.pop_first()
    {
        let mut before = 0.0;
        for at in 0..path.len() - 1 {
            if at >= left_at && found.len() + 1 < k {
                let followers =
                    |other: &[u32]| (other.len() > at && other[..=at] == path[..=at]).then(|| other[at + 1]);
                let all = found.iter().map(|(_, path)| &path[..]).chain([&path[..]]);
                spur.forbid(&path[..at], all.filter_map(followers).collect());
                if let Some((cost, rest)) = spur.run(to_goal, path[at], goal)? {
                    // Up to three copies are held: in `candidates`, `known` and `found`.
                    poison.make_room(3 * allocated((at + rest.len()) * size_of::<u32>()))?;
                    let whole = [&path[..at], &rest].concat();
                    if known.insert(whole.clone()) {
                        candidates.insert(((before + cost).to_bits(), whole, at));
                    }
                }
            }
            before += spur.weight(path[at], path[at + 1]);
        }
        found.push((f64::from_bits(cost), path));
    }
    Ok(found)
}

/// Searches that avoid some nodes, and some edges of the first node.
struct Spur<'a> {
    graph: &'a Graph,
    pace: Pace<'a>,
    avoided: FxHashSet<u32>,
    avoided_first: Vec<u32>,
    costs: Vec<f64>,
    parents: Vec<u32>,
    met: Vec<u32>,
}

impl<'a> Spur<'a> {
    fn new(graph: &'a Graph, poison: &'a Poison) -> Self {
        let nodes = graph.node_count();
        Spur {
            graph,
            pace: poison.pace(),
            avoided: FxHashSet::default(),
            avoided_first: vec![],
            costs: vec![UNREACHED; nodes],
            parents: vec![NO_NODE; nodes],
            met: vec![],
        }
    }

    fn weight(&self, from: u32, to: u32) -> f64 {
        let edge = self.graph.out_neighbors(from).binary_search(&to).expect("a path follows edges");
        self.graph.weight(self.graph.edges_of(from).start + edge)
    }

    fn forbid(&mut self, nodes: &[u32], first: Vec<u32>) {
        self.avoided = nodes.iter().copied().collect();
        self.avoided_first = first;
    }

    /// The cheapest remaining path. The search goes first where the cost so far plus the exact cost of the rest is least.
    fn run(&mut self, to_goal: &Search<'_>, start: u32, goal: u32) -> miette::Result<Option<(f64, Vec<u32>)>> {
        for node in self.met.drain(..) {
            self.costs[node as usize] = UNREACHED;
        }
        let mut heap = BinaryHeap::from([Reverse((to_goal.cost(start).to_bits(), 0, start))]);
        (self.costs[start as usize], self.parents[start as usize]) = (0.0, NO_NODE);
        self.met.push(start);
        while let Some(Reverse((_, cost, node))) = heap.pop() {
            self.pace.step()?;
            let cost = f64::from_bits(cost);
            if node == goal {
                return Ok((to_goal.cost(start) < UNREACHED).then(|| (cost, self.path(goal))));
            }
            if cost > self.costs[node as usize] {
                continue;
            }
            for (target, weight) in self.graph.out_neighbors_with_weights(node) {
                let (cost, rest) = (cost + weight, to_goal.cost(target));
                let avoided = self.avoided.contains(&target) || (node == start && self.avoided_first.contains(&target));
                if cost < self.costs[target as usize] && rest < UNREACHED && !avoided {
                    if self.costs[target as usize] == UNREACHED {
                        self.met.push(target);
                    }
                    (self.costs[target as usize], self.parents[target as usize]) = (cost, node);
                    heap.push(Reverse(((cost + rest).to_bits(), cost.to_bits(), target)));
                }
            }
        }
        Ok(None)
    }

    fn path(&self, goal: u32) -> Vec<u32> {
        let next = |node: &u32| Some(self.parents[*node as usize]).filter(|parent| *parent != NO_NODE);
        let mut path: Vec<u32> = std::iter::successors(Some(goal), next).collect();
        path.reverse();
        path
    }
}
