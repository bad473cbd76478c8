//! `MinimumSpanningTreePrim`: the lightest edges that connect the component of a node.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::inputs::EDGES_OF_ANY_WEIGHT;
use crate::fixed_rule::graph::{Direction, Edges, Graph, Weights};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, InputSpec, Output, Poison, Settings, Shape};
use crate::value::{Batch, Column};

/// The lightest edges that connect the component of a node.
pub static MINIMUM_SPANNING_TREE_PRIM: BuiltInRule = BuiltInRule {
    name: "MinimumSpanningTreePrim",
    aliases: &[],
    doc: "Chooses edges of the least total weight that connect the component of the starting node, whatever the direction \
          of edges. Each edge is given from the end that was reached first; the third column is its weight.",
    cost: "Time O(E log E), space O(V + E).",
    source: "R. C. Prim, Shortest connection networks and some generalizations, Bell System Tech. J. 36 (1957)",
    examples: &[(
        "e[a, b, w] <- [[1, 2, 5], [2, 3, 1], [1, 3, 2], [8, 9, 1]]  s[n] <- [[1]]
         ?[from, to, weight] <~ MinimumSpanningTreePrim(e[], s[])",
        "[[1, 3, 2.0], [3, 2, 1.0]]",
    )],
    inputs: &[
        EDGES_OF_ANY_WEIGHT,
        InputSpec::optional(
            "starting",
            Shape::Columns(1),
            "the node to start from, in its first row; if left out the first node of the first edge",
        ),
    ],
    options: &[],
    output: Output::Columns(&["from", "to", "weight"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, _: &Settings) -> Result<Batch, FixedRuleError> {
    let edges = call.input(0)?.edges(Some(Weights::Finite), &call.poison)?;
    let Some(start) = start(call, &edges)? else { return Ok(Batch::empty(3)) };
    let (nodes, graph) = edges.into_graph(Direction::Both);
    let tree = tree(&graph, start, &call.poison)?;
    let ends = |end: fn(&Edge) -> u32| nodes.values().take(&tree.iter().map(end).collect::<Vec<u32>>());
    let weights = Column::floats(tree.iter().map(|edge| edge.weight).collect());
    Ok(Batch::new(vec![ends(|edge| edge.from), ends(|edge| edge.to), weights], tree.len()))
}

/// The node to start from. None if there are no edges and no node was requested.
fn start(call: &Call<'_>, edges: &Edges) -> Result<Option<u32>, FixedRuleError> {
    let Some(input) = call.inputs.get(1) else { return Ok(edges.from().iter().min().copied()) };
    let rows = input.ordered(&call.poison)?;
    if rows.is_empty() {
        return Err(FixedRuleError::EmptyStarting { span: input.span });
    }
    let unknown =
        || FixedRuleError::StartingNodeNotFound { node: rows.columns[0].get(0).to_string(), span: input.span };
    edges.nodes.find(&rows.columns[0], 0).ok_or_else(unknown).map(Some)
}

/// An edge that leaves the tree. Edges are ordered by weight.
struct Edge {
    weight: f64,
    to: u32,
    from: u32,
}

impl Ord for Edge {
    fn cmp(&self, other: &Self) -> Ordering {
        self.weight.total_cmp(&other.weight).then((self.to, self.from).cmp(&(other.to, other.from)))
    }
}

impl PartialOrd for Edge {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Edge {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Edge {}

fn tree(graph: &Graph, start: u32, poison: &Poison) -> miette::Result<Vec<Edge>> {
    let mut pace = poison.pace();
    let mut reached = vec![false; graph.node_count()];
    let mut heap: BinaryHeap<Reverse<Edge>> = BinaryHeap::new();
    let mut tree = vec![];
    let mut last = Some(start);
    while let Some(from) = last {
        reached[from as usize] = true;
        for (to, weight) in graph.out_neighbors_with_weights(from).filter(|(to, _)| !reached[*to as usize]) {
            heap.push(Reverse(Edge { weight, to, from }));
        }
        last = None;
        while let Some(Reverse(edge)) = heap.pop() {
            pace.step()?;
            if !reached[edge.to as usize] {
                last = Some(edge.to);
                tree.push(edge);
                break;
            }
        }
    }
    Ok(tree)
}
