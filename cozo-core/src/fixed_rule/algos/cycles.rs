//! `Cycles`: paths that lead back to their first node and visit no other node twice.

use rustc_hash::FxHashSet;

use super::inputs::EDGES;
use super::strongly_connected_components::components;
use crate::fixed_rule::graph::{Direction, Graph};
use crate::fixed_rule::{
    BuiltInRule, Call, DefaultValue, FixedRuleError, OptionKind, OptionSpec, Output, Pace, Poison, Settings,
};
use crate::value::{Batch, Column, allocated};

/// Paths that lead back to their first node.
pub static CYCLES: BuiltInRule = BuiltInRule {
    name: "Cycles",
    aliases: &[],
    doc: "Finds each cycle that visits no node twice, as the list of its nodes, beginning with the smallest. A loop is a \
          cycle of one node. There may be very many cycles: at most `limit` are found, those with the smallest first nodes. \
          The second column is the number of nodes.",
    cost: "Time O((V + E) C) for C cycles without `max_length`, O((V + E + C) l D^l) at worst for degrees up to D with it; space O(V + E).",
    source: "D. B. Johnson, Finding all the elementary circuits of a directed graph, SIAM J. Comput. 4 (1975); A. Gupta and T. Suzumura, \
             Finding all bounded-length simple cycles in a directed graph, arXiv:2105.10094",
    examples: &[(
        "e[a, b] <- [[1, 2], [2, 3], [3, 1], [2, 1], [3, 4]]  ?[cycle, length] <~ Cycles(e[])",
        "[[[1, 2], 2], [[1, 2, 3], 3]]",
    )],
    inputs: &[EDGES],
    options: &[
        OptionSpec::new(
            "max_length",
            OptionKind::PositiveInt,
            DefaultValue::Null,
            "the maximum number of nodes of a cycle; without it any number",
        ),
        OptionSpec::new("limit", OptionKind::PositiveInt, DefaultValue::Int(1000), "the maximum number of cycles"),
    ],
    output: Output::Columns(&["cycle", "length"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let (nodes, graph) = call.input(0)?.edges(None, &call.poison)?.into_graph(Direction::Out);
    let longest = settings.value("max_length").get_int().map_or(usize::MAX, |length| length as usize);
    let cycles = cycles(&graph.unique(), longest.min(nodes.len()), settings.count("limit"), &call.poison)?;
    let lengths = Column::ints(cycles.iter().map(|cycle| cycle.len() as i64).collect());
    let count = cycles.len();
    let lists = cycles.iter().map(|cycle| nodes.list(cycle, &call.poison)).collect::<miette::Result<_>>()?;
    Ok(Batch::new(vec![Column::Any(lists), lengths], count))
}

fn cycles(graph: &Graph, longest: usize, limit: usize, poison: &Poison) -> miette::Result<Vec<Vec<u32>>> {
    let nodes = graph.node_count();
    let mut search = CycleSearch {
        graph,
        components: components(graph, 0, poison)?,
        vain: 0,
        longest,
        limit,
        pace: poison.pace(),
        closed_from: vec![usize::MAX; nodes],
        blocked: vec![FxHashSet::default(); nodes],
        on_path: vec![false; nodes],
        changed: vec![],
        path: vec![],
        found: vec![],
    };
    for root in 0..nodes as u32 {
        search.from(root)?;
        // Without the smaller nodes, components may fall apart, so they are computed again. That costs no more than the steps
        // in vain.
        if search.vain > graph.edge_count() + nodes {
            search.vain = 0;
            search.components = components(graph, root + 1, poison)?;
        }
    }
    Ok(search.found)
}

/// A search for the cycles of each root, which is the smallest node of a cycle.
struct CycleSearch<'a> {
    graph: &'a Graph,
    /// The number of steps for roots without a cycle since components were computed.
    vain: usize,
    components: Vec<i64>,
    longest: usize,
    limit: usize,
    pace: Pace<'a>,
    /// The length of the path from which on entering a node is known to be in vain.
    closed_from: Vec<usize>,
    /// The nodes that may open when this one opens.
    blocked: Vec<FxHashSet<u32>>,
    /// Whether a node is on the path.
    on_path: Vec<bool>,
    /// The nodes whose three entries above have changed.
    changed: Vec<u32>,
    /// The nodes of the path, each with its next edge and the fewest nodes from it back to the root.
    path: Vec<(u32, usize, usize)>,
    found: Vec<Vec<u32>>,
}

impl CycleSearch<'_> {
    fn from(&mut self, root: u32) -> miette::Result<()> {
        let (found, mut steps) = (self.found.len(), 0);
        self.enter(root);
        while let Some((node, next, back)) = self.path.last_mut() {
            self.pace.step()?;
            steps += 1;
            if self.found.len() == self.limit {
                self.path.clear();
                break;
            }
            let (node, edge) = (*node, *next);
            if edge == self.graph.edges_of(node).end {
                self.leave(root);
                continue;
            }
            *next += 1;
            let target = self.graph.target(edge);
            if target == root {
                *back = 1;
                self.pace.make_room(size_of::<Vec<u32>>() + allocated(self.path.len() * size_of::<u32>()))?;
                self.found.push(self.path.iter().map(|(node, ..)| *node).collect());
            } else if self.may_enter(root, target) {
                self.enter(target);
            }
        }
        self.vain += if self.found.len() == found { steps } else { 0 };
        for node in self.changed.drain(..) {
            self.closed_from[node as usize] = usize::MAX;
            self.blocked[node as usize].clear();
            self.on_path[node as usize] = false;
        }
        Ok(())
    }

    /// Whether a cycle of the root may continue at this node.
    fn may_enter(&self, root: u32, node: u32) -> bool {
        let (length, closed_from) = (self.path.len(), self.closed_from[node as usize]);
        node > root
            && self.components[node as usize] == self.components[root as usize]
            && length < closed_from.min(self.longest)
    }

    fn enter(&mut self, node: u32) {
        self.path.push((node, self.graph.edges_of(node).start, usize::MAX));
        self.changed.push(node);
        self.on_path[node as usize] = true;
        self.closed_from[node as usize] = self.path.len();
    }

    /// Leaves the last node of the path. If it led back to the root, it opens for short enough paths, and so do the nodes blocked by
    /// it. Otherwise it stays closed until one of its targets opens.
    fn leave(&mut self, root: u32) {
        let Some((node, _, back)) = self.path.pop() else { return };
        self.on_path[node as usize] = false;
        if let Some((.., before)) = self.path.last_mut() {
            *before = (*before).min(back.saturating_add(1));
        }
        if back < usize::MAX {
            self.open(node, back);
            return;
        }
        for target in self.graph.out_neighbors(node).iter().filter(|target| **target > root) {
            if self.blocked[*target as usize].insert(node) {
                self.changed.push(*target);
            }
        }
    }

    /// Opens a node from which `back` nodes, including itself, lead back to the root.
    fn open(&mut self, node: u32, back: usize) {
        let mut opening = vec![(node, back)];
        while let Some((node, back)) = opening.pop() {
            let closed_from = (self.longest + 1).saturating_sub(back);
            if self.closed_from[node as usize] >= closed_from {
                continue;
            }
            self.closed_from[node as usize] = closed_from;
            for other in &self.blocked[node as usize] {
                if !self.on_path[*other as usize] {
                    opening.push((*other, back + 1));
                }
            }
        }
    }
}
