//! `StronglyConnectedComponents`: the sets of nodes that reach one another.

use super::inputs::{EDGES, NODES, edges_and_nodes};
use crate::fixed_rule::graph::{Direction, Graph};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Poison, Settings};
use crate::value::{Batch, Column};

/// The sets of nodes that reach one another.
pub static STRONGLY_CONNECTED_COMPONENTS: BuiltInRule = BuiltInRule {
    name: "StronglyConnectedComponents",
    aliases: &["SCC", "StronglyConnectedComponent"],
    doc: "Numbers components from 0: two nodes have the same number if each can be reached from the other along edges.",
    cost: "Time and space O(V + E).",
    source: "R. E. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1 (1972), with a stack of its own",
    examples: &[(
        "e[a, b] <- [[1, 2], [2, 1], [2, 3]]  ?[node, component] <~ StronglyConnectedComponents(e[])",
        "[[1, 0], [2, 0], [3, 1]]",
    )],
    inputs: &[EDGES, NODES],
    options: &[],
    output: Output::Columns(&["node", "component"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, _: &Settings) -> Result<Batch, FixedRuleError> {
    let (nodes, graph) = edges_and_nodes(call, None)?.into_graph(Direction::Out);
    let components = components(&graph, 0, &call.poison)?;
    let count = nodes.len();
    Ok(Batch::new(vec![nodes.into_values(), Column::ints(components)], count))
}

/// The mark of a node that is not met yet.
const UNMET: u32 = u32::MAX;

/// The state of Tarjan's algorithm.
struct Tarjan<'a> {
    graph: &'a Graph,
    /// The low link of each node: its number in the order of meeting, lowered to the least number of an open node that it reaches.
    low: Vec<u32>,
    met: u32,
    /// The nodes whose component is not complete.
    open: Vec<u32>,
    /// The nodes on the path from the root, each with its number in the order of meeting and its next edge.
    path: Vec<(u32, u32, usize)>,
    /// The component of each node by the order of completion, [`UNMET`] while it is not known.
    component: Vec<u32>,
    complete: u32,
}

/// The component of each node, numbered from 0 in the order of their first nodes. Nodes before `first` are ignored.
pub fn components(graph: &Graph, first: u32, poison: &Poison) -> miette::Result<Vec<i64>> {
    let nodes = graph.node_count();
    let unmet = vec![UNMET; nodes];
    let (open, path, component) = (vec![], vec![], unmet.clone());
    let mut tarjan = Tarjan { graph, low: unmet, met: 0, open, path, component, complete: 0 };
    // Nodes marked as complete are skipped.
    tarjan.low[..first as usize].fill(0);
    tarjan.component[..first as usize].fill(0);
    tarjan.complete = u32::from(first > 0);
    let mut pace = poison.pace();
    for root in first..nodes as u32 {
        if tarjan.low[root as usize] == UNMET {
            tarjan.meet(root);
        }
        while tarjan.step() {
            pace.step()?;
        }
    }
    let mut numbers = vec![-1; tarjan.complete as usize];
    let mut found = 0;
    let number = |component: &u32| {
        let number = &mut numbers[*component as usize];
        if *number < 0 {
            *number = found;
            found += 1;
        }
        *number
    };
    Ok(tarjan.component.iter().map(number).collect())
}

impl Tarjan<'_> {
    fn meet(&mut self, node: u32) {
        self.low[node as usize] = self.met;
        self.open.push(node);
        self.path.push((node, self.met, self.graph.edges_of(node).start));
        self.met += 1;
    }

    /// Follows edges of the last node of the path until one leads to a new node, or leaves the node. Returns `false` if the path is
    /// empty.
    fn step(&mut self) -> bool {
        let Some((node, met, next)) = self.path.last_mut() else { return false };
        let (node, met) = (*node, *met);
        for edge in *next..self.graph.edges_of(node).end {
            let target = self.graph.target(edge);
            if self.low[target as usize] == UNMET {
                *next = edge + 1;
                self.meet(target);
                return true;
            }
            if self.component[target as usize] == UNMET {
                self.low[node as usize] = self.low[node as usize].min(self.low[target as usize]);
            }
        }
        self.path.pop();
        let low = self.low[node as usize];
        if let Some((parent, ..)) = self.path.last() {
            self.low[*parent as usize] = self.low[*parent as usize].min(low);
        }
        if low == met {
            self.complete_at(node);
        }
        true
    }

    /// Completes a component: all open nodes from `node` on.
    fn complete_at(&mut self, node: u32) {
        while let Some(open) = self.open.pop() {
            self.component[open as usize] = self.complete;
            if open == node {
                break;
            }
        }
        self.complete += 1;
    }
}
