//! `DegreeCentrality`: how many edges each node has.

use super::{NODES, edges_and_nodes};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, InputSpec, Output, Settings, Shape};
use crate::value::{Batch, Column};

/// How many edges each node has.
pub static DEGREE_CENTRALITY: BuiltInRule = BuiltInRule {
    name: "DegreeCentrality",
    aliases: &[],
    doc: "Counts the edges of each node: all, those that leave it, and those that reach it. An edge from a node to itself \
          counts as both. Takes time proportional to the edges.",
    // Any relation of two columns will do, and too few are refused as such.
    inputs: &[InputSpec::required("edges", Shape::Columns(2), "from, to"), NODES],
    options: &[],
    output: Output::Columns(&["node", "total", "out", "in"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, _: &Settings) -> Result<Batch, FixedRuleError> {
    let edges = edges_and_nodes(call)?;
    let count = |ends: &[u32]| -> Vec<i64> {
        let mut degrees = vec![0; edges.nodes.len()];
        ends.iter().for_each(|node| degrees[*node as usize] += 1);
        degrees
    };
    let (leaving, reaching) = (count(&edges.from), count(&edges.to));
    let total = leaving.iter().zip(&reaching).map(|(out, into)| out + into).collect();
    let columns =
        vec![edges.nodes.values().clone(), Column::ints(total), Column::ints(leaving), Column::ints(reaching)];
    Ok(Batch::new(columns, edges.nodes.len()))
}
