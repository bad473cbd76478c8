//! `Leiden`: connected communities by modularity.

use super::communities::{DELTA, ITERATIONS, MAX_ITER, Search};
use super::disjoint_sets::DisjointSets;
use super::inputs::{SEED, UNDIRECTED, WEIGHTED_EDGES, weighted_edges};
use super::modularity::Level;
use crate::fixed_rule::{BuiltInRule, Call, DefaultValue, FixedRuleError, OptionKind, OptionSpec, Output, Settings};
use crate::value::{Batch, Column};

/// Connected communities by modularity.
pub static LEIDEN: BuiltInRule = BuiltInRule {
    name: "Leiden",
    aliases: &[],
    doc: "Groups nodes into communities that have more edge weight inside than chance would give. Between moving nodes and \
          merging them, it divides communities into well-connected parts, and merges these parts. So every community is \
          connected, unlike with Louvain. It restarts from the communities that it has found, as long as modularity grows. \
          Communities are numbered from 0.",
    cost: "Time O(V + E) a round, and some rounds for each of a few levels, of which the first is the largest, for each iteration; \
           space O(V + E).",
    source: "V. A. Traag, L. Waltman and N. J. van Eck, From Louvain to Leiden: guaranteeing well-connected communities, \
             Sci. Rep. 9 (2019)",
    examples: &[(
        "e[a, b] <- [[1, 2], [2, 3], [3, 1], [3, 7], [7, 8], [8, 9], [9, 7]]  ?[community, node] <~ Leiden(e[], undirected: true)",
        "[[0, 1], [0, 2], [0, 3], [1, 7], [1, 8], [1, 9]]",
    )],
    inputs: &[WEIGHTED_EDGES],
    options: &[
        UNDIRECTED,
        MAX_ITER,
        DELTA,
        ITERATIONS,
        SEED,
        OptionSpec::new(
            "resolution",
            OptionKind::Float,
            DefaultValue::Float(1.0),
            "more than 1 makes more and smaller communities, less than 1 fewer and larger ones",
        ),
    ],
    output: Output::Columns(&["community", "node"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let edges = weighted_edges(call)?.sorted();
    let graph = Level::new(&edges, settings.bool("undirected"), settings.float("resolution"));
    let communities = Search::new(settings, &call.poison).communities(&graph)?;
    let sets = DisjointSets::new(edges.nodes.len());
    for (from, to) in edges.from().iter().zip(edges.to().iter()) {
        if communities[*from as usize] == communities[*to as usize] {
            sets.unite(*from, *to);
        }
    }
    let count = edges.nodes.len();
    Ok(Batch::new(vec![Column::ints(sets.numbers()), edges.nodes.into_values()], count))
}
