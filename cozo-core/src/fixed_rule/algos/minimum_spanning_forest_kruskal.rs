//! `MinimumSpanningForestKruskal`: the lightest edges that connect each component.

use rayon::prelude::*;

use super::disjoint_sets::DisjointSets;
use super::inputs::EDGES_OF_ANY_WEIGHT;
use crate::fixed_rule::graph::Weights;
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Settings};
use crate::value::{Batch, Column};

/// The lightest edges that connect each component.
pub static MINIMUM_SPANNING_FOREST_KRUSKAL: BuiltInRule = BuiltInRule {
    name: "MinimumSpanningForestKruskal",
    aliases: &[],
    doc: "Chooses edges of the least total weight that connect each component of the graph, whatever the direction of \
          edges: a tree for each component. The third column is the weight of the edge.",
    cost: "Time O(E log E), sorting in parallel; space O(V + E).",
    source: "J. B. Kruskal, On the shortest spanning subtree of a graph, Proc. AMS 7 (1956)",
    examples: &[(
        "e[a, b, w] <- [[1, 2, 5], [2, 3, 1], [1, 3, 2], [8, 9, -1]]  ?[from, to, weight] <~ MinimumSpanningForestKruskal(e[])",
        "[[1, 3, 2.0], [2, 3, 1.0], [8, 9, -1.0]]",
    )],
    inputs: &[EDGES_OF_ANY_WEIGHT],
    options: &[],
    output: Output::Columns(&["from", "to", "weight"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, _: &Settings) -> Result<Batch, FixedRuleError> {
    let edges = call.input(0)?.edges(Some(Weights::Finite), &call.poison)?;
    let weight = |edge: usize| edges.weights.as_ref().map_or(1.0, |weights| weights[edge]);
    let mut order: Vec<usize> = (0..edges.len()).collect();
    let (from, to) = (edges.from(), edges.to());
    let key = |edge: usize| (from[edge], to[edge]);
    order.par_sort_unstable_by(|a, b| weight(*a).total_cmp(&weight(*b)).then_with(|| key(*a).cmp(&key(*b))));
    let sets = DisjointSets::new(edges.nodes.len());
    let mut pace = call.poison.pace();
    let mut chosen = vec![];
    for edge in order {
        pace.step()?;
        if sets.unite(from[edge], to[edge]) {
            chosen.push(edge);
        }
    }
    let weights = Column::floats(chosen.iter().map(|edge| weight(*edge)).collect());
    let ends = |ends: &[u32]| edges.nodes.values().take(&chosen.iter().map(|edge| ends[*edge]).collect::<Vec<u32>>());
    Ok(Batch::new(vec![ends(from), ends(to), weights], chosen.len()))
}
