//! `PersonalizedPageRank`: the probability of each node in random walks from some nodes.

use super::inputs::{STARTING, WEIGHTED_EDGES, known_nodes};
use super::power_iteration::{Gathering, PAGE_RANK_OPTIONS, page_rank};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Settings};
use crate::value::{Batch, Column};

/// The probability of each node in random walks from some nodes.
pub static PERSONALIZED_PAGE_RANK: BuiltInRule = BuiltInRule {
    name: "PersonalizedPageRank",
    aliases: &[],
    doc: "As PageRank, but only the starting nodes get the part 1 - theta and the initial scores, evenly, so nodes score by \
          how near they are to the starting nodes. Starting nodes that the graph does not have are left out; if none is \
          left, all scores are 0.",
    cost: "Time O(V + E) a round, in parallel; space O(V + E).",
    source: "T. H. Haveliwala, Topic-sensitive PageRank, WWW 2002",
    examples: &[(
        "e[a, b] <- [[1, 2], [2, 1], [8, 9], [9, 8]]  s[n] <- [[1]]
         r[n, s] <~ PersonalizedPageRank(e[], s[], theta: 0.5, iterations: 100)  ?[node, score] := r[node, s], score = round(s * 1000)",
        "[[1, 667.0], [2, 333.0], [8, 0.0], [9, 0.0]]",
    )],
    inputs: &[WEIGHTED_EDGES, STARTING],
    options: PAGE_RANK_OPTIONS,
    output: Output::Columns(&["node", "score"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let graph = Gathering::read(call, settings)?;
    let starts = known_nodes(call, 1, &graph.nodes)?;
    let count = graph.nodes.len();
    let mut parts = vec![0.0; count];
    for start in &starts {
        parts[*start as usize] = 1.0 / starts.len() as f64;
    }
    let scores = page_rank(&graph, |node| parts[node as usize], call, settings)?;
    Ok(Batch::new(vec![graph.nodes.into_values(), Column::floats(scores)], count))
}
