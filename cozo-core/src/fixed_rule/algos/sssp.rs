//! `SSSP`: the costs of the cheapest paths from some nodes to all nodes.

use super::inputs::{STARTING, UNDIRECTED, WEIGHTED_EDGES, direction, known_nodes, weighted_edges};
use super::parallel::map_runs;
use super::search::Search;
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Settings};
use crate::value::{Batch, Column};

/// The costs of the cheapest paths from some nodes to all nodes.
pub static SSSP: BuiltInRule = BuiltInRule {
    name: "SSSP",
    aliases: &[],
    doc: "Gives the least cost of a path from each starting node to each node, infinite for nodes that cannot be reached. \
          Without weights the cost is the number of edges. Starting nodes that the graph does not have are left out. With \
          one starting node, this is SSSP of LDBC Graphalytics, and its BFS without weights.",
    cost: "Time O(S (V + E) log V) for S starting nodes, O(S (V + E)) without weights, in parallel over starting nodes; space O(V) \
           for each thread, and O(S V) for the answer.",
    source: "E. W. Dijkstra, A note on two problems in connexion with graphs, Numerische Mathematik 1 (1959); \
             LDBC Graphalytics specification 1.0.5, sections 2.3.1 and 2.3.6",
    examples: &[(
        "e[a, b, w] <- [[1, 2, 0.5], [2, 3, 2], [1, 3, 9]]  s[n] <- [[1]]  ?[start, node, cost] <~ SSSP(e[], s[])",
        "[[1, 1, 0.0], [1, 2, 0.5], [1, 3, 2.5]]",
    )],
    inputs: &[WEIGHTED_EDGES, STARTING],
    options: &[UNDIRECTED],
    output: Output::Columns(&["start", "node", "cost"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let (nodes, graph) = weighted_edges(call)?.into_graph(direction(settings));
    let starts = known_nodes(call, 1, &nodes)?;
    let count = nodes.len() as u32;
    let pairs = starts.len().saturating_mul(nodes.len());
    call.poison.make_room(pairs.saturating_mul(size_of::<(f64, u32, u32)>()))?;
    let costs = map_runs(
        &starts,
        || Search::new(&graph, &call.poison),
        |search, start| -> miette::Result<Vec<f64>> {
            search.run(*start, |_| false)?;
            Ok((0..count).map(|node| search.cost(node)).collect())
        },
    )?;
    let each_start: Vec<u32> = starts.iter().flat_map(|start| std::iter::repeat_n(*start, count as usize)).collect();
    let each_node: Vec<u32> = starts.iter().flat_map(|_| 0..count).collect();
    let (starts, ends) = (nodes.values().take(&each_start), nodes.values().take(&each_node));
    Ok(Batch::new(vec![starts, ends, Column::floats(costs.into_iter().flatten().collect())], each_node.len()))
}
