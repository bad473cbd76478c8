//! `PageRank`: the probability of each node after many random steps.

use super::inputs::{WEIGHTED_EDGES, with_nodes};
use super::power_iteration::{Gathering, PAGE_RANK_OPTIONS, page_rank};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, InputSpec, Output, Settings, Shape};
use crate::value::{Batch, Column};

/// The probability of each node after many random steps.
pub static PAGE_RANK: BuiltInRule = BuiltInRule {
    name: "PageRank",
    aliases: &[],
    doc: "Scores nodes by the scores of the nodes with edges to them: (1 - theta) / V + theta · Σ score(u) / out(u) over \
          edges from u, where out(u) counts the edges that leave u. Scores begin with 1 / V. Unless `dangling` says \
          otherwise, nodes without leaving edges do not pass on their scores, so scores need not add up to 1. For the \
          answer of LDBC Graphalytics, give all `nodes`, `dangling: 'redistribute'` and `epsilon: 0`. A third column is \
          ignored unless `weighted` is true.",
    cost: "Time O(V + E) a round, in parallel; space O(V + E): 4 bytes for each edge beside the input, 12 with weights.",
    source: "L. Page, S. Brin, R. Motwani and T. Winograd, The PageRank citation ranking, Stanford InfoLab 1999",
    examples: &[
        (
            "e[a, b] <- [[1, 2], [2, 3]]  r[n, s] <~ PageRank(e[])  ?[node, score] := r[node, s], score = round(s * 10000)",
            "[[1, 500.0], [2, 925.0], [3, 1286.0]]",
        ),
        (
            "e[a, b, w] <- [[1, 2, 3], [1, 3, 1]]  r[n, s] <~ PageRank(e[], weighted: true)
             ?[node, score] := r[node, s], score = round(s * 100000)",
            "[[1, 5000.0], [2, 8188.0], [3, 6063.0]]",
        ),
        (
            "e[a, b] <- [[1, 2], [2, 3]]  n[a] <- [[4]]  r[n, s] <~ PageRank(e[], n[], dangling: 'redistribute', epsilon: 0, iterations: 100)
             ?[node, score] := r[node, s], score = round(s * 1000)",
            "[[1, 156.0], [2, 288.0], [3, 401.0], [4, 156.0]]",
        ),
    ],
    inputs: &[
        WEIGHTED_EDGES,
        InputSpec::optional("nodes", Shape::Columns(1), "nodes in the first column, which need not have edges"),
    ],
    options: PAGE_RANK_OPTIONS,
    output: Output::Columns(&["node", "score"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let graph = Gathering::new(with_nodes(call, Gathering::edges(call, settings)?)?, settings);
    let count = graph.nodes.len();
    let part = 1.0 / count as f64;
    let scores = page_rank(&graph, |_| part, call, settings)?;
    Ok(Batch::new(vec![graph.nodes.into_values(), Column::floats(scores)], count))
}
