//! `TopSort`: an order of the nodes in which every edge leads forward.

use super::inputs::EDGES;
use crate::fixed_rule::graph::Direction;
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Settings};
use crate::value::{Batch, Column};

/// An order of the nodes in which every edge leads forward.
pub static TOP_SORT: BuiltInRule = BuiltInRule {
    name: "TopSort",
    aliases: &[],
    doc: "Numbers nodes from 0 so that every edge leads from a smaller number to a larger one. Nodes on cycles, and those that \
          can be reached from cycles, have no number and are left out.",
    cost: "Time and space O(V + E).",
    source: "A. B. Kahn, Topological sorting of large networks, Comm. ACM 5 (1962)",
    examples: &[(
        "e[a, b] <- [['dress', 'leave'], ['wake', 'dress'], ['wake', 'eat'], ['eat', 'leave']]  ?[index, node] <~ TopSort(e[])",
        "[[0, 'wake'], [1, 'dress'], [2, 'eat'], [3, 'leave']]",
    )],
    inputs: &[EDGES],
    options: &[],
    output: Output::Columns(&["index", "node"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, _: &Settings) -> Result<Batch, FixedRuleError> {
    let (nodes, graph) = call.input(0)?.edges(None, &call.poison)?.into_graph(Direction::Out);
    let mut missing = vec![0_u32; nodes.len()];
    for node in 0..nodes.len() as u32 {
        graph.out_neighbors(node).iter().for_each(|target| missing[*target as usize] += 1);
    }
    let mut order: Vec<u32> = (0..nodes.len() as u32).filter(|node| missing[*node as usize] == 0).collect();
    let mut pace = call.poison.pace();
    let mut next = 0;
    while let Some(node) = order.get(next).copied() {
        pace.step()?;
        for target in graph.out_neighbors(node) {
            missing[*target as usize] -= 1;
            if missing[*target as usize] == 0 {
                order.push(*target);
            }
        }
        next += 1;
    }
    let indices = Column::ints((0..order.len() as i64).collect());
    Ok(Batch::new(vec![indices, nodes.values().take(&order)], order.len()))
}
