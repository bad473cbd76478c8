//! `Leiden`: communities by modularity, all of them connected.

use super::communities::{DELTA, Level, MAX_ITER, renumber};
use super::disjoint_sets::DisjointSets;
use super::inputs::{UNDIRECTED, WEIGHTED_EDGES, weighted_edges};
use crate::fixed_rule::graph::Edges;
use crate::fixed_rule::{
    BuiltInRule, Call, DefaultValue, FixedRuleError, OptionKind, OptionSpec, Output, Poison, Settings,
};
use crate::value::{Batch, Column};

/// Communities by modularity, all of them connected.
pub static LEIDEN: BuiltInRule = BuiltInRule {
    name: "Leiden",
    aliases: &[],
    doc: "Puts nodes into communities with more weight of edges inside than chance would give. Between moving nodes and merging them, \
          communities are divided into well-connected parts, and it is the parts that are merged: other than with Louvain, every \
          community is connected. Where the paper chooses at random, the best is taken. Communities are numbered from 0.",
    cost: "Time O(V + E) a round, and some ten rounds for each of a few levels, of which the first is the largest; space O(V + E).",
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
    let communities = leiden(&edges, settings, &call.poison)?;
    let sets = DisjointSets::new(edges.nodes.len());
    for (from, to) in edges.from().iter().zip(edges.to().iter()) {
        if communities[*from as usize] == communities[*to as usize] {
            sets.unite(*from, *to);
        }
    }
    let count = edges.nodes.len();
    Ok(Batch::new(vec![Column::ints(sets.numbers()), edges.nodes.into_values()], count))
}

fn leiden(edges: &Edges, settings: &Settings, poison: &Poison) -> miette::Result<Vec<u32>> {
    let (rounds, delta) = (settings.count("max_iter"), settings.float("delta"));
    let mut level = Level::new(edges, settings.bool("undirected"), settings.float("resolution"));
    let mut communities: Vec<u32> = (0..level.node_count() as u32).collect();
    // The node of the level that stands for each node of the graph.
    let mut stands = communities.clone();
    loop {
        level.improve(&mut communities, rounds, delta, poison)?;
        renumber(&mut communities);
        let mut refined = level.refine(&communities, poison)?;
        let count = renumber(&mut refined);
        if count == level.node_count() {
            return Ok(stands.into_iter().map(|node| communities[node as usize]).collect());
        }
        let mut merged = vec![0; count];
        for (part, community) in refined.iter().zip(&communities) {
            merged[*part as usize] = *community;
        }
        stands.iter_mut().for_each(|node| *node = refined[*node as usize]);
        level = level.merge(&refined, count);
        communities = merged;
    }
}
