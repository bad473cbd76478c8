//! `CommunityDetectionLouvain`: communities of communities, by modularity.

use super::communities::{DELTA, Level, MAX_ITER, renumber};
use super::inputs::{UNDIRECTED, WEIGHTED_EDGES, weighted_edges};
use crate::fixed_rule::graph::Edges;
use crate::fixed_rule::{
    BuiltInRule, Call, DefaultValue, FixedRuleError, OptionKind, OptionSpec, Output, Poison, Settings,
};
use crate::value::{Batch, Column, DataValue};

/// Communities of communities, by modularity.
pub static COMMUNITY_DETECTION_LOUVAIN: BuiltInRule = BuiltInRule {
    name: "CommunityDetectionLouvain",
    aliases: &[],
    doc: "Puts nodes into communities with more weight of edges inside than chance would give, then those into communities again, as long \
          as modularity grows. The labels of a node are its communities, the largest first, each numbered from 0. Nodes of a graph of \
          one or two nodes have no labels.",
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
        OptionSpec::new(
            "keep_depth",
            OptionKind::PositiveInt,
            DefaultValue::Null,
            "the most labels of a node, the first ones; if left out all",
        ),
    ],
    output: Output::Columns(&["labels", "node"]),
    external_access: false,
    run,
};

/// A graph with so few nodes is not divided.
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

/// The community of each node on each level, the smallest communities first.
fn levels(edges: &Edges, settings: &Settings, poison: &Poison) -> miette::Result<Vec<Vec<u32>>> {
    let mut level = Level::new(edges, settings.bool("undirected"), 1.0);
    let mut levels: Vec<Vec<u32>> = vec![];
    loop {
        let nodes = level.node_count();
        let mut communities: Vec<u32> = (0..nodes as u32).collect();
        level.improve(&mut communities, settings.count("max_iter"), settings.float("delta"), poison)?;
        let count = renumber(&mut communities);
        let Some(before) = levels.last() else {
            level = level.merge(&communities, count);
            levels.push(communities);
            continue;
        };
        if count == nodes {
            return Ok(levels);
        }
        level = level.merge(&communities, count);
        levels.push(before.iter().map(|community| communities[*community as usize]).collect());
    }
}
