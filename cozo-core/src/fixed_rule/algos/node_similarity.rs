//! `NodeSimilarity`: nodes with many common neighbours.

use super::inputs::{EDGES, UNDIRECTED, direction};
use super::parallel::map_runs;
use crate::fixed_rule::graph::Graph;
use crate::fixed_rule::{
    BuiltInRule, Call, DefaultValue, FixedRuleError, OptionKind, OptionSpec, Output, Pace, Settings,
};
use crate::value::{Batch, Column, allocated};

/// Nodes with many common neighbours.
pub static NODE_SIMILARITY: BuiltInRule = BuiltInRule {
    name: "NodeSimilarity",
    aliases: &[],
    doc: "Compares nodes by the sets of nodes that their edges lead to, and gives for each node the most similar nodes, at \
          most `top_k` of them; ties go to the smaller node. Similarity is the number of common neighbours, divided by the \
          number of all neighbours of the two nodes (`jaccard`) or by the smaller number of neighbours (`overlap`). Pairs \
          without a common neighbour are left out.",
    cost: "Time O(Σ in(v)²) over nodes v with in(v) edges that lead to them, in parallel over nodes; space O(V) for each thread, and \
           O(V top_k) for the answer.",
    source: "P. Jaccard, The distribution of the flora in the alpine zone, New Phytologist 11 (1912); D. Szymkiewicz, Une contribution \
             statistique à la géographie floristique, 1934",
    examples: &[(
        "e[a, b] <- [['ann', 'tea'], ['ann', 'milk'], ['bob', 'tea'], ['eve', 'milk'], ['eve', 'tea']]
         ?[a, b, similarity] <~ NodeSimilarity(e[], top_k: 1)",
        "[['ann', 'eve', 1.0], ['bob', 'ann', 0.5], ['eve', 'ann', 1.0]]",
    )],
    inputs: &[EDGES],
    options: &[
        UNDIRECTED,
        OptionSpec::new("metric", OptionKind::Text, DefaultValue::Text("jaccard"), "`jaccard` or `overlap`"),
        OptionSpec::new(
            "top_k",
            OptionKind::PositiveInt,
            DefaultValue::Int(10),
            "the most similar nodes for each node",
        ),
        OptionSpec::new(
            "cutoff",
            OptionKind::UnitInterval,
            DefaultValue::Float(0.0),
            "leaves out pairs that are less similar than this",
        ),
    ],
    output: Output::Columns(&["a", "b", "similarity"]),
    external_access: false,
    run,
};

/// The similarity of two nodes, by the number of common neighbours and the number of neighbours of each.
type Metric = fn(f64, f64, f64) -> f64;

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let metric: Metric = match settings.text("metric") {
        "jaccard" => |common, a, b| common / (a + b - common),
        "overlap" => |common, a, b| common / a.min(b),
        other => return Err(call.options.wrong("metric", "'jaccard' or 'overlap'", format!("'{other}'"))),
    };
    let (nodes, graph) = call.input(0)?.edges(None, &call.poison)?.into_graph(direction(settings));
    let graph = graph.unique();
    let back = graph.reversed();
    let all: Vec<u32> = (0..nodes.len() as u32).collect();
    let (top_k, cutoff) = (settings.count("top_k"), settings.float("cutoff"));
    let begin = || Common { counts: vec![0; nodes.len()], met: vec![], pace: call.poison.pace() };
    let similar = map_runs(&all, begin, |common, node| -> miette::Result<Vec<(u32, f64)>> {
        let degree = graph.out_degree(*node) as f64;
        let mut similar = common.count(&graph, &back, *node, |other, count| {
            (other, metric(f64::from(count), degree, graph.out_degree(other) as f64))
        })?;
        similar.retain(|(_, similarity)| *similarity >= cutoff);
        similar.sort_unstable_by(|(a, one), (b, other)| other.total_cmp(one).then(a.cmp(b)));
        similar.truncate(top_k);
        similar.shrink_to_fit();
        call.poison.make_room(allocated(similar.len() * size_of::<(u32, f64)>()))?;
        Ok(similar)
    })?;
    let pairs: Vec<(u32, u32, f64)> = all
        .iter()
        .zip(similar)
        .flat_map(|(a, similar)| similar.into_iter().map(|(b, similarity)| (*a, b, similarity)))
        .collect();
    let take = |end: fn(&(u32, u32, f64)) -> u32| nodes.values().take(&pairs.iter().map(end).collect::<Vec<u32>>());
    let similarities = Column::floats(pairs.iter().map(|pair| pair.2).collect());
    Ok(Batch::new(vec![take(|pair| pair.0), take(|pair| pair.1), similarities], pairs.len()))
}

/// Counts common neighbours of a node with all others.
struct Common<'a> {
    counts: Vec<u32>,
    met: Vec<u32>,
    pace: Pace<'a>,
}

impl Common<'_> {
    fn count(
        &mut self,
        graph: &Graph,
        back: &Graph,
        node: u32,
        similar: impl Fn(u32, u32) -> (u32, f64),
    ) -> miette::Result<Vec<(u32, f64)>> {
        for common in graph.out_neighbors(node) {
            self.pace.step()?;
            for other in back.out_neighbors(*common).iter().filter(|other| **other != node) {
                if self.counts[*other as usize] == 0 {
                    self.met.push(*other);
                }
                self.counts[*other as usize] += 1;
            }
        }
        let counts = &mut self.counts;
        Ok(self.met.drain(..).map(|other| similar(other, std::mem::take(&mut counts[other as usize]))).collect())
    }
}
