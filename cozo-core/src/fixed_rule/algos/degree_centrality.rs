//! `DegreeCentrality`: the number of edges of each node.

use super::inputs::{NODES, edges_and_nodes};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, InputSpec, Output, Settings, Shape};
use crate::value::{Batch, Column};

/// The number of edges of each node.
pub static DEGREE_CENTRALITY: BuiltInRule = BuiltInRule {
    name: "DegreeCentrality",
    aliases: &[],
    doc: "Counts the edges of each node: all edges, the edges that leave it, and the edges that reach it. An edge from a \
          node to itself counts as both.",
    cost: "Time and space O(V + E).",
    source: "L. C. Freeman, Centrality in social networks: conceptual clarification, Social Networks 1 (1979)",
    examples: &[(
        "e[a, b] <- [['a', 'b'], ['c', 'b'], ['b', 'b']]  ?[node, total, out, in] <~ DegreeCentrality(e[])",
        "[['a', 1, 1, 0], ['b', 4, 1, 3], ['c', 1, 1, 0]]",
    )],
    // Any relation of two columns is valid. Fewer columns are refused as for other inputs, not as missing edges.
    inputs: &[InputSpec::required("edges", Shape::Columns(2), "from, to"), NODES],
    options: &[],
    output: Output::Columns(&["node", "total", "out", "in"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, _: &Settings) -> Result<Batch, FixedRuleError> {
    let edges = edges_and_nodes(call, None)?;
    let nodes = edges.nodes.len();
    let count = |ends: &[u32]| -> Vec<i64> {
        let mut degrees = vec![0; nodes];
        ends.iter().for_each(|node| degrees[*node as usize] += 1);
        degrees
    };
    let (leaving, reaching) = rayon::join(|| count(edges.from()), || count(edges.to()));
    let total = leaving.iter().zip(&reaching).map(|(out, into)| out + into).collect();
    let columns = vec![edges.nodes.into_values(), Column::ints(total), Column::ints(leaving), Column::ints(reaching)];
    Ok(Batch::new(columns, nodes))
}
