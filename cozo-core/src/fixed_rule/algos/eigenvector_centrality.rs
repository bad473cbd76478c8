//! `EigenvectorCentrality`: the score of a node is proportional to the scores of the nodes with edges to it.

use super::inputs::{UNDIRECTED, WEIGHTED_EDGES};
use super::parallel::{fill, sum};
use super::power_iteration::Gathering;
use crate::fixed_rule::{BuiltInRule, Call, DefaultValue, FixedRuleError, OptionKind, OptionSpec, Output, Settings};
use crate::value::{Batch, Column};

/// The score of a node is proportional to the scores of the nodes with edges to it.
pub static EIGENVECTOR_CENTRALITY: BuiltInRule = BuiltInRule {
    name: "EigenvectorCentrality",
    aliases: &[],
    doc: "Scores each node in proportion to the sum of the scores of nodes with edges to it; the squares of the scores add \
          up to 1. This is the eigenvector of the greatest eigenvalue. Each round adds to every node the scores that its \
          edges bring, then scales all scores. If `iterations` rounds are not enough, the result of the last round is \
          given.",
    cost: "Time O(V + E) a round, in parallel; space O(V + E).",
    source: "P. Bonacich, Power and centrality: a family of measures, Am. J. Sociology 92 (1987)",
    examples: &[(
        "e[a, b] <- [['m', 'x'], ['m', 'y']]  c[n, v] <~ EigenvectorCentrality(e[], undirected: true)
         ?[node, centrality] := c[node, v], centrality = round(v * 1000)",
        "[['m', 707.0], ['x', 500.0], ['y', 500.0]]",
    )],
    inputs: &[WEIGHTED_EDGES],
    options: &[
        UNDIRECTED,
        OptionSpec::new("iterations", OptionKind::PositiveInt, DefaultValue::Int(100), "the maximum number of rounds"),
        OptionSpec::new(
            "epsilon",
            OptionKind::UnitInterval,
            DefaultValue::Float(0.000001),
            "stops when nodes change by less than this on average",
        ),
        OptionSpec::new(
            "weighted",
            OptionKind::Bool,
            DefaultValue::Bool(true),
            "whether edges count by their weights, if there is a third column",
        ),
    ],
    output: Output::Columns(&["node", "centrality"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let graph = Gathering::read(call, settings)?;
    let count = graph.nodes.len();
    let (pieces, poison) = (graph.into.pieces(), &call.poison);
    let change_allowed = settings.float("epsilon") * count as f64;
    let mut values = vec![1.0 / count as f64; count];
    let mut next = vec![0.0; count];
    for _ in 0..settings.count("iterations") {
        // Adding the old score does not change the eigenvectors, and makes bipartite graphs converge.
        fill(&pieces, &mut next, poison, |node| {
            values[node as usize] + graph.gather(graph.into.edges_of(node), |from| values[from as usize])
        })?;
        let length = sum(count, |node| next[node] * next[node]).sqrt();
        let change = sum(count, |node| (next[node] / length - values[node]).abs());
        fill(&pieces, &mut values, poison, |node| next[node as usize] / length)?;
        if change < change_allowed {
            break;
        }
    }
    Ok(Batch::new(vec![graph.nodes.into_values(), Column::floats(values)], count))
}
