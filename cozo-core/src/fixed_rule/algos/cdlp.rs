//! `CDLP`: communities by label propagation as LDBC Graphalytics defines them.

use super::inputs::{EDGES, UNDIRECTED};
use super::parallel::fill_with;
use crate::fixed_rule::graph::Direction;
use crate::fixed_rule::{BuiltInRule, Call, DefaultValue, FixedRuleError, OptionKind, OptionSpec, Output, Settings};
use crate::value::Batch;

/// Communities by label propagation, all nodes at once.
pub static CDLP: BuiltInRule = BuiltInRule {
    name: "CDLP",
    aliases: &[],
    doc: "Labels every node with itself. Then, in each round, all nodes at once take the label that most of their \
          neighbours have, or the smallest of several such labels. A neighbour counts for each edge, so one with edges in \
          both directions counts twice; with `undirected` it counts once, however many edges there are. Labels are nodes.",
    cost: "Time O(E log D) a round for degrees up to D, in parallel over nodes; space O(V + E).",
    source: "U. N. Raghavan, R. Albert and S. Kumara, Near linear time algorithm to detect community structures in large-scale \
             networks, Phys. Rev. E 76 (2007); LDBC Graphalytics specification 1.0.5, section 2.3.4",
    examples: &[(
        "e[a, b] <- [[1, 2], [2, 3], [3, 1], [7, 8], [8, 9], [9, 7]]  ?[node, label] <~ CDLP(e[])",
        "[[1, 1], [2, 1], [3, 1], [7, 7], [8, 7], [9, 7]]",
    )],
    inputs: &[EDGES],
    options: &[
        UNDIRECTED,
        OptionSpec::new("iterations", OptionKind::PositiveInt, DefaultValue::Int(10), "the number of rounds"),
    ],
    output: Output::Columns(&["node", "label"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let (nodes, mut graph) = call.input(0)?.edges(None, &call.poison)?.into_graph(Direction::Both);
    if settings.bool("undirected") {
        graph = graph.simple();
    }
    let pieces = graph.pieces();
    let mut labels: Vec<u32> = (0..nodes.len() as u32).collect();
    let mut next = labels.clone();
    for _ in 0..settings.count("iterations") {
        fill_with(&pieces, &mut next, &call.poison, Vec::new, |around, node| {
            around.clear();
            around.extend(graph.out_neighbors(node).iter().map(|neighbor| labels[*neighbor as usize]));
            most_frequent(around).unwrap_or(labels[node as usize])
        })?;
        std::mem::swap(&mut labels, &mut next);
        if labels == next {
            break;
        }
    }
    let labels = nodes.values().take(&labels);
    let count = nodes.len();
    Ok(Batch::new(vec![nodes.into_values(), labels], count))
}

/// The most frequent label, the smallest if there are several.
fn most_frequent(labels: &mut [u32]) -> Option<u32> {
    labels.sort_unstable();
    let mut best: Option<&[u32]> = None;
    for run in labels.chunk_by(|a, b| a == b) {
        if best.is_none_or(|best| run.len() > best.len()) {
            best = Some(run);
        }
    }
    best.map(|run| run[0])
}
