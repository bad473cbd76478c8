//! `LabelPropagation`: communities by label propagation, a node at a time.

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::inputs::{SEED, UNDIRECTED, WEIGHTED_EDGES, direction, weighted_edges};
use crate::fixed_rule::graph::Graph;
use crate::fixed_rule::{
    BuiltInRule, Call, DefaultValue, FixedRuleError, OptionKind, OptionSpec, Output, Poison, Settings,
};
use crate::value::{Batch, Column};

/// Communities by label propagation, a node at a time.
pub static LABEL_PROPAGATION: BuiltInRule = BuiltInRule {
    name: "LabelPropagation",
    aliases: &[],
    doc: "Gives every node a label of its own. Then each node in turn, in random order, takes the label of the greatest \
          weight among the nodes that its edges lead to. If several labels have this weight, the node keeps its label if \
          that is one of them, or else takes one at random. Ends after a round in which no label changed. Labels are \
          integers without other meaning.",
    cost: "Time O(V + E) a round, space O(V + E).",
    source: "U. N. Raghavan, R. Albert and S. Kumara, Near linear time algorithm to detect community structures in large-scale \
             networks, Phys. Rev. E 76 (2007)",
    examples: &[(
        "e[a, b] <- [[1, 2], [2, 3], [3, 1], [7, 8], [8, 9], [9, 7]]  c[label, node] <~ LabelPropagation(e[], undirected: true)
         ?[a, b] := c[label, a], c[label, b], a < b",
        "[[1, 2], [1, 3], [2, 3], [7, 8], [7, 9], [8, 9]]",
    )],
    inputs: &[WEIGHTED_EDGES],
    options: &[
        UNDIRECTED,
        OptionSpec::new("max_iter", OptionKind::PositiveInt, DefaultValue::Int(10), "the maximum number of rounds"),
        SEED,
    ],
    output: Output::Columns(&["label", "node"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let (nodes, graph) = weighted_edges(call)?.into_graph(direction(settings));
    let random = StdRng::seed_from_u64(settings.int("seed") as u64);
    let labels = propagate(&graph, settings.count("max_iter"), random, &call.poison)?;
    let count = nodes.len();
    let labels = Column::ints(labels.into_iter().map(i64::from).collect());
    Ok(Batch::new(vec![labels, nodes.into_values()], count))
}

fn propagate(graph: &Graph, rounds: usize, mut random: StdRng, poison: &Poison) -> miette::Result<Vec<u32>> {
    let mut pace = poison.pace();
    let mut labels: Vec<u32> = (0..graph.node_count() as u32).collect();
    let mut order = labels.clone();
    // The weight of each label around a node, and the labels that occur.
    let mut weights = vec![0.0; labels.len()];
    let mut around: Vec<u32> = vec![];
    for _ in 0..rounds {
        order.shuffle(&mut random);
        let mut changed = false;
        for node in &order {
            pace.step()?;
            for (target, weight) in graph.out_neighbors_with_weights(*node) {
                let label = labels[target as usize];
                if weights[label as usize] == 0.0 {
                    around.push(label);
                }
                weights[label as usize] += weight;
            }
            let most = around.iter().map(|label| weights[*label as usize]).fold(0.0, f64::max);
            let own = &mut labels[*node as usize];
            if weights[*own as usize] < most {
                let best: Vec<u32> = around.iter().copied().filter(|label| weights[*label as usize] == most).collect();
                *own = best[random.random_range(0..best.len())];
                changed = true;
            }
            around.drain(..).for_each(|label| weights[label as usize] = 0.0);
        }
        if !changed {
            break;
        }
    }
    Ok(labels)
}
