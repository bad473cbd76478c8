//! The maximum flow through a network, by blocking flows in the graph of shortest paths (Dinic 1970).

use super::inputs::{GOALS, STARTING, UNDIRECTED, direction, known_nodes, weighted_edges};
use crate::fixed_rule::graph::{Direction, Graph, Nodes};
use crate::fixed_rule::{Call, FixedRuleError, InputSpec, OptionSpec, Poison, Settings, Shape};

/// The inputs of rules about flows.
pub const INPUTS: &[InputSpec] = &[
    InputSpec::required(
        "edges",
        Shape::Edges,
        "from, to, and the capacity, a finite number of at least 0; without a third column every capacity is 1",
    ),
    InputSpec { doc: "the sources", ..STARTING },
    InputSpec { doc: "the sinks", ..GOALS },
];

/// The options of rules about flows.
pub const OPTIONS: &[OptionSpec] = &[UNDIRECTED];

/// The level of an unreached node.
const NO_LEVEL: u32 = u32::MAX;

/// A network and a flow through it. Edge `i` has the forward arc `2 i` and the backward arc `2 i + 1`.
pub struct Network {
    /// The nodes. Two further nodes are a source before all sources and a sink after all sinks.
    pub nodes: Nodes,
    /// The source, the target and the capacity of each edge. Parallel edges are merged.
    pub edges: Vec<(u32, u32, f64)>,
    /// Whether a backward arc has the capacity of its edge, and not 0.
    both_ways: bool,
    /// The residual capacity of each arc.
    left: Vec<f64>,
    /// The target of each arc.
    heads: Vec<u32>,
    /// The arcs of each node.
    arcs: Graph,
    /// The number of arcs on the shortest path from the source to each reachable node.
    levels: Vec<u32>,
}

impl Network {
    /// The network of a call.
    pub fn read(call: &Call<'_>, settings: &Settings) -> Result<Self, FixedRuleError> {
        let direction = direction(settings);
        let (nodes, graph) = weighted_edges(call)?.into_graph(direction);
        let (sources, sinks) = (known_nodes(call, 1, &nodes)?, known_nodes(call, 2, &nodes)?);
        if let Some(both) = sources.iter().find(|node| sinks.binary_search(node).is_ok()) {
            return Err(FixedRuleError::SourceIsSink {
                node: nodes.value(*both).to_string(),
                span: call.input(2)?.span,
            });
        }
        let both_ways = direction == Direction::Both;
        let mut edges = merged(graph, both_ways);
        let real = edges.len();
        let (source, sink) = (nodes.len() as u32, nodes.len() as u32 + 1);
        edges.extend(sources.into_iter().map(|node| (source, node, f64::INFINITY)));
        edges.extend(sinks.into_iter().map(|node| (node, sink, f64::INFINITY)));
        let arcs = |edge: usize| (edges[edge].2, if both_ways && edge < real { edges[edge].2 } else { 0.0 });
        let left = (0..edges.len()).flat_map(|edge| <[f64; 2]>::from(arcs(edge))).collect();
        let heads: Vec<u32> = edges.iter().flat_map(|(from, to, _)| [*to, *from]).collect();
        let tails: Vec<u32> = edges.iter().flat_map(|(from, to, _)| [*from, *to]).collect();
        edges.truncate(real);
        let arcs = Graph::of_members(&tails, nodes.len() + 2);
        Ok(Network { nodes, edges, both_ways, left, heads, arcs, levels: vec![] })
    }

    /// Sends as much as possible from the sources to the sinks.
    pub fn fill(&mut self, poison: &Poison) -> miette::Result<()> {
        while self.find_levels(poison)? {
            self.block(poison)?;
        }
        Ok(())
    }

    /// The flow along an edge. It is negative if it goes backwards.
    pub fn flow(&self, edge: usize) -> f64 {
        let (there, back) = (self.left[2 * edge], self.left[2 * edge + 1]);
        if self.both_ways { (back - there) / 2.0 } else { back }
    }

    /// Whether a node can be reached from the sources in the residual graph of the maximum flow.
    pub fn is_source_side(&self, node: u32) -> bool {
        self.levels[node as usize] != NO_LEVEL
    }

    fn source(&self) -> u32 {
        self.nodes.len() as u32
    }

    fn sink(&self) -> u32 {
        self.nodes.len() as u32 + 1
    }

    /// Computes levels by arcs with residual capacity. Returns whether the sink is reached.
    fn find_levels(&mut self, poison: &Poison) -> miette::Result<bool> {
        let mut pace = poison.pace();
        self.levels.clear();
        self.levels.resize(self.arcs.node_count(), NO_LEVEL);
        let source = self.source();
        let mut queue = vec![source];
        self.levels[source as usize] = 0;
        let mut next = 0;
        while let Some(node) = queue.get(next).copied() {
            pace.step()?;
            next += 1;
            for arc in self.arcs.out_neighbors(node).iter().map(|arc| *arc as usize) {
                let head = self.heads[arc];
                if self.left[arc] > 0.0 && self.levels[head as usize] == NO_LEVEL {
                    self.levels[head as usize] = self.levels[node as usize] + 1;
                    queue.push(head);
                }
            }
        }
        Ok(self.levels[self.sink() as usize] != NO_LEVEL)
    }

    /// Sends flow along paths of ascending levels, until each such path has a full arc.
    fn block(&mut self, poison: &Poison) -> miette::Result<()> {
        let mut pace = poison.pace();
        let mut next: Vec<usize> =
            (0..self.arcs.node_count() as u32).map(|node| self.arcs.edges_of(node).start).collect();
        let mut way: Vec<usize> = vec![];
        loop {
            pace.step()?;
            let node = way.last().map_or(self.source(), |arc| self.heads[*arc]);
            if node == self.sink() {
                self.send(&mut way);
                continue;
            }
            let climbs = |edge: &usize| {
                let arc = self.arcs.target(*edge) as usize;
                let level = self.levels[self.heads[arc] as usize];
                self.left[arc] > 0.0 && level != NO_LEVEL && level == self.levels[node as usize] + 1
            };
            let end = self.arcs.edges_of(node).end;
            match (next[node as usize]..end).find(climbs) {
                Some(edge) => {
                    next[node as usize] = edge;
                    way.push(self.arcs.target(edge) as usize);
                }
                None => {
                    next[node as usize] = end;
                    // The arc to this node leads to a dead end.
                    let Some(arc) = way.pop() else { return Ok(()) };
                    next[self.heads[arc ^ 1] as usize] += 1;
                }
            }
        }
    }

    /// Sends as much as a path can take, and returns to the first arc that is full then.
    fn send(&mut self, way: &mut Vec<usize>) {
        let flow = way.iter().map(|arc| self.left[*arc]).fold(f64::INFINITY, f64::min);
        for arc in way.iter() {
            self.left[*arc] -= flow;
            self.left[arc ^ 1] += flow;
        }
        let full = way.iter().position(|arc| self.left[*arc] <= 0.0);
        way.truncate(full.unwrap_or_default());
    }
}

/// All edges, with parallel ones added up and without loops. If `both_ways`, each pair of nodes occurs once.
fn merged(mut graph: Graph, both_ways: bool) -> Vec<(u32, u32, f64)> {
    graph.sort_neighbors();
    let mut edges: Vec<(u32, u32, f64)> = vec![];
    for node in 0..graph.node_count() as u32 {
        for (target, weight) in graph.out_neighbors_with_weights(node) {
            if target == node || (both_ways && target < node) {
                continue;
            }
            match edges.last_mut() {
                Some((from, to, sum)) if (*from, *to) == (node, target) => *sum += weight,
                _ => edges.push((node, target, weight)),
            }
        }
    }
    edges
}
