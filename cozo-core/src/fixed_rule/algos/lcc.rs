//! `LCC`: the local clustering coefficient as LDBC Graphalytics defines it.

use super::inputs::{EDGES, UNDIRECTED};
use super::triangles::{Joined, triangles};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Settings};
use crate::value::{Batch, Column};

/// The local clustering coefficient.
pub static LCC: BuiltInRule = BuiltInRule {
    name: "LCC",
    aliases: &[],
    doc: "Gives for each node the number of edges between its neighbours, divided by the number of possible edges between \
          them. The neighbours of a node are the nodes that an edge joins with it in either direction, each once. Edges \
          between them count by direction, so n neighbours have n (n - 1) possible edges. Nodes with fewer than two \
          neighbours have 0.0. With `undirected`, two nodes are joined or not, whatever the direction.",
    cost: "Time O(E sqrt(E)), in parallel over edges; space O(V + E).",
    source: "LDBC Graphalytics specification 1.0.5, section 2.3.5",
    examples: &[(
        "e[a, b] <- [[1, 2], [3, 1], [2, 3], [3, 2], [1, 4]]  c[n, v] <~ LCC(e[])  ?[node, coefficient] := c[node, v], coefficient = round(v * 100)",
        "[[1, 33.0], [2, 50.0], [3, 50.0], [4, 0.0]]",
    )],
    inputs: &[EDGES],
    options: &[UNDIRECTED],
    output: Output::Columns(&["node", "coefficient"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let edges = call.input(0)?.edges(None, &call.poison)?;
    let directed = !settings.bool("undirected");
    let joined = if directed { Joined::ByDirections } else { Joined::Once };
    let found = triangles(&edges, joined, &call.poison)?;
    // In an undirected graph a joined pair counts as two edges.
    let times = if directed { 1.0 } else { 2.0 };
    let coefficient = |(neighbors, joined): (&u64, &u64)| match *neighbors as f64 {
        neighbors if neighbors < 2.0 => 0.0,
        neighbors => times * *joined as f64 / (neighbors * (neighbors - 1.0)),
    };
    let coefficients = found.neighbors.iter().zip(&found.joined).map(coefficient).collect();
    let count = edges.nodes.len();
    Ok(Batch::new(vec![edges.nodes.into_values(), Column::floats(coefficients)], count))
}
