//! Ranks of nodes that follow from the ranks of those with edges to them, computed again and again until they stay.
//!
//! A node gathers from its edges, which come from the adjacency turned round; so each thread writes only to nodes of its own.

use rayon::prelude::*;

use super::inputs::UNDIRECTED;
use super::parallel::{fill, split};
use crate::fixed_rule::graph::{Direction, Edges, Graph, Nodes, Weights};
use crate::fixed_rule::{Call, DefaultValue, FixedRuleError, OptionKind, OptionSpec, Poison, Settings};

/// The options of PageRank.
pub const PAGE_RANK_OPTIONS: &[OptionSpec] = &[
    UNDIRECTED,
    OptionSpec::new(
        "theta",
        OptionKind::UnitInterval,
        DefaultValue::Float(0.85),
        "the part of a score that follows edges",
    ),
    OptionSpec::new(
        "epsilon",
        OptionKind::UnitInterval,
        DefaultValue::Float(0.0001),
        "stops when all scores together change by less",
    ),
    OptionSpec::new("iterations", OptionKind::PositiveInt, DefaultValue::Int(10), "the most rounds"),
    OptionSpec::new(
        "weighted",
        OptionKind::Bool,
        DefaultValue::Bool(false),
        "whether a score is passed on in proportion to the weights in the third column, instead of evenly",
    ),
];

/// A graph whose nodes gather from the edges that lead to them.
pub struct Gathering {
    /// The nodes.
    pub nodes: Nodes,
    /// The edges of each node turned round.
    pub into: Graph,
    /// The total weight of the edges that leave each node.
    pub leaving: Vec<f64>,
}

impl Gathering {
    /// The edges of the first input, with weights if the option `weighted` says so.
    pub fn read(call: &Call<'_>, settings: &Settings) -> Result<Self, FixedRuleError> {
        let weights = settings.bool("weighted").then_some(Weights::NonNegative);
        let edges = call.input(0)?.edges(weights, &call.poison)?.sorted();
        let undirected = settings.bool("undirected");
        let leaving = leaving(&edges, undirected);
        let (nodes, into) = edges.into_graph(if undirected { Direction::Both } else { Direction::In });
        Ok(Gathering { nodes, into, leaving })
    }

    /// The sum over the edges to a node of their weights times a number for each of their starts.
    #[inline]
    pub fn gather(&self, node: u32, number: impl Fn(u32) -> f64) -> f64 {
        if self.into.is_weighted() {
            self.into.out_neighbors_with_weights(node).map(|(from, weight)| weight * number(from)).sum()
        } else {
            self.into.out_neighbors(node).iter().map(|from| number(*from)).sum()
        }
    }
}

fn leaving(edges: &Edges, undirected: bool) -> Vec<f64> {
    let mut leaving = vec![0.0; edges.nodes.len()];
    let backwards: &[u32] = if undirected { &edges.to } else { &[] };
    for ends in [&edges.from, backwards] {
        for (edge, end) in ends.iter().enumerate() {
            leaving[*end as usize] += edges.weights.as_ref().map_or(1.0, |weights| weights[edge]);
        }
    }
    leaving
}

/// The score of each node: its part of `1 - theta`, and of `theta` times the scores of those with edges to it. Nodes without
/// edges that leave pass nothing on.
///
/// Nodes of a piece of the graph are scored one after another, each seeing the new scores of those before it there, which
/// converges faster than if all saw the scores of the last round; those of other pieces they see as they were.
pub fn page_rank(
    graph: &Gathering,
    part: impl Fn(u32) -> f64 + Sync,
    settings: &Settings,
    poison: &Poison,
) -> miette::Result<Vec<f64>> {
    let (theta, epsilon) = (settings.float("theta"), settings.float("epsilon"));
    let pieces = graph.into.pieces();
    let count = graph.nodes.len();
    let pass = |node: u32, score: f64| match graph.leaving[node as usize] {
        0.0 => 0.0,
        leaving => theta * score / leaving,
    };
    let mut scores = vec![0.0; count];
    fill(&pieces, &mut scores, poison, &part)?;
    // What each node passes on along an edge of weight 1.
    let mut passed = vec![0.0; count];
    fill(&pieces, &mut passed, poison, |node| pass(node, scores[node as usize]))?;
    let mut next = passed.clone();
    for _ in 0..settings.count("iterations") {
        let parts = split(&pieces, &mut scores).into_par_iter().zip(split(&pieces, &mut next));
        let changes = pieces.par_iter().zip(parts).map(|(piece, (scores, next))| {
            poison.check()?;
            next.copy_from_slice(&passed[piece.clone()]);
            let mut change = 0.0;
            for (i, node) in piece.clone().enumerate() {
                let (node, before) = (node as u32, scores[i]);
                scores[i] = (1.0 - theta) * part(node)
                    + graph.gather(node, |from| {
                        *next.get((from as usize).wrapping_sub(piece.start)).unwrap_or(&passed[from as usize])
                    });
                next[i] = pass(node, scores[i]);
                change += (scores[i] - before).abs();
            }
            Ok(change)
        });
        let changes: Vec<f64> = changes.collect::<miette::Result<_>>()?;
        std::mem::swap(&mut passed, &mut next);
        if changes.into_iter().sum::<f64>() < epsilon {
            break;
        }
    }
    Ok(scores)
}
