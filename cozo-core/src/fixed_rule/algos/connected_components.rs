//! `ConnectedComponents`: the components of a graph, regardless of the direction of edges.

use rayon::prelude::*;

use super::disjoint_sets::DisjointSets;
use super::inputs::{EDGES, NODES, edges_and_nodes};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Settings};
use crate::value::{Batch, Column};

/// The number of edges processed between two checks of the poison.
const EDGES_PER_CHECK: usize = 1 << 14;

/// The components of a graph.
pub static CONNECTED_COMPONENTS: BuiltInRule = BuiltInRule {
    name: "ConnectedComponents",
    aliases: &["WCC"],
    doc: "Numbers components from 0: two nodes have the same number if a path of edges in any direction joins them.",
    cost: "Time O(E α(V)), nearly linear, in parallel over edges; space O(V + E).",
    source: "R. E. Tarjan and J. van Leeuwen, Worst-case analysis of set union algorithms, J. ACM 31 (1984); \
             S. V. Jayanti and R. E. Tarjan, A randomized concurrent algorithm for disjoint set union, PODC 2016",
    examples: &[(
        "e[a, b] <- [[1, 2], [3, 2], [8, 9]]  n[x] <- [[5]]  ?[node, component] <~ ConnectedComponents(e[], n[])",
        "[[1, 0], [2, 0], [3, 0], [5, 2], [8, 1], [9, 1]]",
    )],
    inputs: &[EDGES, NODES],
    options: &[],
    output: Output::Columns(&["node", "component"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, _: &Settings) -> Result<Batch, FixedRuleError> {
    let edges = edges_and_nodes(call, None)?;
    let sets = DisjointSets::new(edges.nodes.len());
    let (from, to) = (edges.from().par_chunks(EDGES_PER_CHECK), edges.to().par_chunks(EDGES_PER_CHECK));
    from.zip(to).try_for_each(|(from, to)| {
        call.poison.check()?;
        for (from, to) in from.iter().zip(to) {
            sets.unite(*from, *to);
        }
        Ok::<_, miette::Report>(())
    })?;
    let count = edges.nodes.len();
    Ok(Batch::new(vec![edges.nodes.into_values(), Column::ints(sets.numbers())], count))
}
