//! `CommunityDetectionLouvain`: a hierarchy of communities by modularity.

use super::communities::{DELTA, ITERATIONS, MAX_ITER, Search, renumber};
use super::inputs::{SEED, UNDIRECTED, WEIGHTED_EDGES, weighted_edges};
use super::modularity::Level;
use crate::fixed_rule::graph::Edges;
use crate::fixed_rule::{
    BuiltInRule, Call, DefaultValue, FixedRuleError, OptionKind, OptionSpec, Output, Poison, Settings,
};
use crate::value::{Batch, Column, DataValue};

/// A hierarchy of communities by modularity.
pub static COMMUNITY_DETECTION_LOUVAIN: BuiltInRule = BuiltInRule {
    name: "CommunityDetectionLouvain",
    aliases: &[],
    doc: "Groups nodes into communities that have more edge weight inside than chance would give, then groups these \
          communities again, as long as modularity grows. The labels of a node are its communities, the largest first, each \
          numbered from 0. In a graph of one or two nodes, nodes have no labels.",
    cost: "Time O(V + E) a round, and some ten rounds for each of a few levels, of which the first is the largest; space O(V + E).",
    source: "V. D. Blondel, J.-L. Guillaume, R. Lambiotte and E. Lefebvre, Fast unfolding of communities in large networks, J. Stat. Mech. \
             2008; E. A. Leicht and M. E. J. Newman, Community structure in directed networks, Phys. Rev. Lett. 100 (2008)",
    examples: &[(
        "e[a, b] <- [[1, 2], [2, 3], [3, 1], [3, 7], [7, 8], [8, 9], [9, 7]]
         ?[labels, node] <~ CommunityDetectionLouvain(e[], undirected: true)",
        "[[[0], 1], [[0], 2], [[0], 3], [[1], 7], [[1], 8], [[1], 9]]",
    )],
    inputs: &[WEIGHTED_EDGES],
    options: &[
        UNDIRECTED,
        MAX_ITER,
        DELTA,
        ITERATIONS,
        SEED,
        OptionSpec::new(
            "keep_depth",
            OptionKind::PositiveInt,
            DefaultValue::Null,
            "the maximum number of labels of a node, the first ones; without it all",
        ),
    ],
    output: Output::Columns(&["labels", "node"]),
    external_access: false,
    run,
};

/// A graph with at most this many nodes is not divided.
const TOO_FEW: usize = 2;

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let edges = weighted_edges(call)?.sorted();
    let levels = if edges.nodes.len() > TOO_FEW { levels(&edges, settings, &call.poison)? } else { vec![] };
    let depth = settings.value("keep_depth").get_int().map_or(usize::MAX, |depth| depth as usize);
    let label = |level: &Vec<u32>, node: usize| DataValue::from(i64::from(level[node]));
    let labels = |node| levels.iter().rev().take(depth).map(|level| label(level, node)).collect();
    let count = edges.nodes.len();
    let labels = Column::Any((0..count).map(|node| DataValue::List(labels(node))).collect());
    Ok(Batch::new(vec![labels, edges.nodes.into_values()], count))
}

/// The community of each node on each level, the smallest communities first. The largest ones are found by Leiden, which finds better
/// ones than the merges of Louvain. The smaller ones are communities of Louvain within them.
fn levels(edges: &Edges, settings: &Settings, poison: &Poison) -> miette::Result<Vec<Vec<u32>>> {
    let graph = Level::new(edges, settings.bool("undirected"), 1.0);
    let mut search = Search::new(settings, poison);
    let mut largest = search.communities(&graph)?;
    let count = renumber(&mut largest);
    let mut levels: Vec<Vec<u32>> = vec![];
    let mut merged: Option<Level> = None;
    // The largest community of each node of the level.
    let mut within = largest.clone();
    loop {
        let level = merged.as_ref().unwrap_or(&graph);
        let mut communities: Vec<u32> = (0..level.node_count() as u32).collect();
        level.improve(&mut communities, |node, other| within[node] == within[other], &mut search)?;
        let fewer = renumber(&mut communities);
        if fewer == level.node_count() && !levels.is_empty() {
            break;
        }
        let mut within_fewer = vec![0; fewer];
        for (community, largest) in communities.iter().zip(&within) {
            within_fewer[*community as usize] = *largest;
        }
        merged = Some(level.merge(&communities, fewer));
        within = within_fewer;
        levels.push(match levels.last() {
            Some(before) => before.iter().map(|community| communities[*community as usize]).collect(),
            None => communities,
        });
    }
    let last = levels.last().expect("there is one at least");
    let is_last = merged.is_some_and(|level| level.node_count() == count);
    if !is_last && graph.quality(&largest) > graph.quality(last) {
        levels.push(largest);
    }
    Ok(levels)
}
