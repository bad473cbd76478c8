//! Power iteration: ranks of nodes that follow from the ranks of the nodes with edges to them, in rounds until they converge.
//!
//! In a round, a node *gathers*: it sums over its incoming edges what their sources pass on. [`Gathering`] has the reversed
//! adjacency for that, so each thread writes only to its own nodes. [`page_rank`] divides the nodes into pieces of about the same
//! number of edges, and processes the pieces in parallel.
//!
//! ```text
//!  score[n]  = spread * part(n) + sum over edges m -> n of passed[m]
//!  passed[m] = score[m] * theta / (weight of all edges that leave m)
//! ```
//!
//! Using new scores within a round converges faster than using those of the last round. Which scores a node uses ([`Seen`])
//! depends on the graph and the options only, never on the number of threads:
//!
//! | pieces | scores of sources in the own piece | of other pieces |
//! |---|---|---|
//! | 1 | new | - |
//! | 2 to 15 | new | of the last round |
//! | more, or `epsilon` 0 | of the last round | of the last round |

use std::iter::repeat;
use std::ops::Range;

use rayon::prelude::*;

use super::inputs::UNDIRECTED;
use super::parallel::{fill, split, sum};
use crate::fixed_rule::graph::{Direction, Edges, Graph, Nodes, Weights, among_threads};
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
        "stops when all scores together change by less; with 0 there are always `iterations` rounds, and each uses only the \
         scores of the round before, while otherwise it may use newer ones",
    ),
    OptionSpec::new("iterations", OptionKind::PositiveInt, DefaultValue::Int(10), "the maximum number of rounds"),
    OptionSpec::new(
        "dangling",
        OptionKind::Text,
        DefaultValue::Text("ignore"),
        "what happens to the scores of nodes without leaving edges: they are not passed on (`ignore`), or are passed on to \
         all nodes, like the part 1 - theta (`redistribute`)",
    ),
    OptionSpec::new(
        "weighted",
        OptionKind::Bool,
        DefaultValue::Bool(false),
        "whether a score is passed on in proportion to the weights in the third column, instead of evenly",
    ),
];

/// The approximate number of edges in a piece. A smaller piece would take less time than waking a thread.
const EDGES_PER_PIECE: usize = 1 << 18;

/// In graphs with fewer edges, nodes are scored one after another, in the order of their first occurrence in the sorted edges. Then a
/// few rounds come closest to the limit, and the order costs nothing.
const FEW_EDGES: usize = 1 << 15;

/// Nodes with at least this many edges are not sorted by their degree.
const MANY: usize = 64;

/// With this many pieces, nodes have hardly any edges from their own piece, and use the scores of the last round alone.
const MANY_PIECES: usize = 16;

/// From this `epsilon` on, scores are passed on as `f32`. Stopping at `epsilon` leaves an error of up to `theta / (1 - theta)` times
/// `epsilon`. The error by rounding to `f32` is that factor times 2^-24, which is much smaller.
const ROUGH_EPSILON: f64 = 1e-5;

/// The number of nodes that gather side by side. A floating-point addition takes several cycles, in which others can begin.
const BESIDE: usize = 4;

/// A graph whose nodes gather from their incoming edges.
pub struct Gathering {
    /// The nodes.
    pub nodes: Nodes,
    /// The incoming edges of each node, in ascending order of their sources.
    pub into: Graph,
    /// The total weight of the outgoing edges of each node.
    pub leaving: Vec<f64>,
    /// In a small graph, the nodes in the order of the edges.
    in_order: Option<Vec<u32>>,
}

impl Gathering {
    /// Reads the edges of the first input.
    pub fn read(call: &Call<'_>, settings: &Settings) -> Result<Self, FixedRuleError> {
        Ok(Gathering::new(Gathering::edges(call, settings)?, settings))
    }

    /// The edges of the first input, of which one adjacency is made.
    pub fn edges(call: &Call<'_>, settings: &Settings) -> Result<Edges, FixedRuleError> {
        call.input(0)?.edges_for(Some(gathered(settings)), weights(settings), &call.poison)
    }

    /// A graph of these edges.
    pub fn new(edges: Edges, settings: &Settings) -> Self {
        let direction = gathered(settings);
        among_threads(|| Gathering::of(edges.sorted(), direction))
    }

    fn of(edges: Edges, direction: Direction) -> Self {
        let undirected = direction == Direction::Both;
        let (mut into, leaving) = rayon::join(|| edges.graph(direction), || leaving(&edges, undirected));
        if undirected {
            into.sort_neighbors();
        }
        let in_order = (edges.len() < FEW_EDGES).then(|| by_first_edge(&edges));
        Gathering { nodes: edges.nodes, into, leaving, in_order }
    }

    /// The sum over edges of the weight times a number of the source.
    #[inline]
    pub fn gather(&self, edges: Range<usize>, number: impl Fn(u32) -> f64) -> f64 {
        if self.into.is_weighted() {
            edges.map(|edge| self.into.weight(edge) * number(self.into.target(edge))).sum()
        } else {
            self.into.targets(edges).iter().map(|from| number(*from)).sum()
        }
    }

    /// [`Gathering::gather`] for several nodes with the same number of edges. Their sums are independent, so their additions overlap.
    #[inline]
    fn gather_beside(&self, nodes: [Range<usize>; BESIDE], number: impl Fn(u32) -> f64) -> [f64; BESIDE] {
        let mut sums = [0.0; BESIDE];
        let count = nodes[0].len();
        if self.into.is_weighted() {
            for edge in 0..count {
                for (sum, edges) in sums.iter_mut().zip(&nodes) {
                    *sum += self.into.weight(edges.start + edge) * number(self.into.target(edges.start + edge));
                }
            }
        } else {
            let targets = nodes.map(|edges| &self.into.targets(edges)[..count]);
            for edge in 0..count {
                for (sum, targets) in sums.iter_mut().zip(&targets) {
                    *sum += number(targets[edge]);
                }
            }
        }
        sums
    }

    /// The nodes of a piece sorted by degree. Then the branch predictor knows where the loop over the edges ends.
    fn by_degree(&self, piece: &Range<usize>) -> Vec<u32> {
        let degree = |node: usize| self.into.out_degree(node as u32).min(MANY);
        let mut starts = [0; MANY + 2];
        piece.clone().for_each(|node| starts[degree(node) + 1] += 1);
        (0..MANY).for_each(|degree| starts[degree + 1] += starts[degree]);
        let mut nodes = vec![0; piece.len()];
        for node in piece.clone() {
            let place = &mut starts[degree(node)];
            nodes[*place] = node as u32;
            *place += 1;
        }
        nodes
    }

    /// For each node its edges from nodes of its own piece.
    fn within(&self, pieces: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut within = vec![0..0; self.nodes.len()];
        pieces.par_iter().zip(split(pieces, &mut within)).for_each(|(piece, within)| {
            for (node, within) in piece.clone().zip(within) {
                let edges = self.into.edges_of(node as u32);
                let before =
                    |end: usize| self.into.targets(edges.clone()).iter().filter(|from| (**from as usize) < end).count();
                *within = edges.start + before(piece.start)..edges.start + before(piece.end);
            }
        });
        within
    }
}

/// The direction of the edges by which nodes gather.
fn gathered(settings: &Settings) -> Direction {
    if settings.bool("undirected") { Direction::Both } else { Direction::In }
}

/// The valid weights in the third column, if the option `weighted` is set.
pub fn weights(settings: &Settings) -> Option<Weights> {
    settings.bool("weighted").then_some(Weights::NonNegative)
}

/// The nodes in the order of their first occurrence in the edges, sources before targets. Nodes without edges come last.
fn by_first_edge(edges: &Edges) -> Vec<u32> {
    let mut seen = vec![false; edges.nodes.len()];
    let ends = edges.from().iter().zip(edges.to().iter()).flat_map(|(from, to)| [*from, *to]);
    let all = ends.chain(0..edges.nodes.len() as u32);
    all.filter(|node| !std::mem::replace(&mut seen[*node as usize], true)).collect()
}

fn leaving(edges: &Edges, undirected: bool) -> Vec<f64> {
    if let (Some(starts), None, false) = (edges.starts(), &edges.weights, undirected) {
        let degrees = starts.windows(2).map(|bounds| (bounds[1] - bounds[0]) as f64);
        return degrees.chain(repeat(0.0)).take(edges.nodes.len()).collect();
    }
    let mut leaving = vec![0.0; edges.nodes.len()];
    let backwards: &[u32] = if undirected { edges.to() } else { &[] };
    for ends in [edges.from(), backwards] {
        for (edge, end) in ends.iter().enumerate() {
            leaving[*end as usize] += edges.weights.as_ref().map_or(1.0, |weights| weights[edge]);
        }
    }
    leaving
}

/// The score of each node: its part of `1 - theta`, plus `theta` times its shares of the scores of its sources. A node without outgoing
/// edges passes nothing on, or passes its score to all nodes, by the option `dangling`.
///
/// In a large graph, reading the scores of sources misses the cache. There they are passed on as `f32`, of which twice as many fit the
/// cache, unless `epsilon` requires more precision. They are summed as `f64`.
pub fn page_rank(
    graph: &Gathering,
    part: impl Fn(u32) -> f64 + Send + Sync,
    call: &Call<'_>,
    settings: &Settings,
) -> Result<Vec<f64>, FixedRuleError> {
    let redistributes = match settings.text("dangling") {
        "ignore" => false,
        "redistribute" => true,
        other => return Err(call.options.wrong("dangling", "'ignore' or 'redistribute'", format!("'{other}'"))),
    };
    let poison = &call.poison;
    let pieces = graph.into.pieces_of(EDGES_PER_PIECE);
    if pieces.len() >= MANY_PIECES && settings.float("epsilon") >= ROUGH_EPSILON {
        Ok(scores::<f32>(graph, &pieces, part, redistributes, settings, poison)?)
    } else {
        Ok(scores::<f64>(graph, &pieces, part, redistributes, settings, poison)?)
    }
}

/// The number that a node passes on along an edge of weight 1.
trait Passed: Copy + Send + Sync + Into<f64> {
    fn of(number: f64) -> Self;
}

impl Passed for f32 {
    fn of(number: f64) -> Self {
        number as f32
    }
}

impl Passed for f64 {
    fn of(number: f64) -> Self {
        number
    }
}

fn scores<N: Passed>(
    graph: &Gathering,
    pieces: &[Range<usize>],
    part: impl Fn(u32) -> f64 + Send + Sync,
    redistributes: bool,
    settings: &Settings,
    poison: &Poison,
) -> miette::Result<Vec<f64>> {
    among_threads(|| {
        let (theta, epsilon) = (settings.float("theta"), settings.float("epsilon"));
        let count = graph.nodes.len();
        let share = |leaving: &f64| if *leaving == 0.0 { 0.0 } else { theta / leaving };
        let shares: Vec<f64> = graph.leaving.iter().map(share).collect();
        let mut scores = vec![0.0; count];
        fill(pieces, &mut scores, poison, &part)?;
        let mut passed = vec![N::of(0.0); count];
        fill(pieces, &mut passed, poison, |node| N::of(scores[node as usize] * shares[node as usize]))?;
        let mut next = passed.clone();
        let orders: Vec<Vec<u32>> = match &graph.in_order {
            Some(order) => vec![order.clone()],
            None => pieces.par_iter().map(|piece| graph.by_degree(piece)).collect(),
        };
        let seen = Seen::of(graph, pieces, epsilon);
        let dangling: Vec<u32> = match redistributes {
            true => (0..count as u32).filter(|node| graph.leaving[*node as usize] == 0.0).collect(),
            false => vec![],
        };
        for _ in 0..settings.count("iterations") {
            let held = sum(dangling.len(), |i| scores[dangling[i] as usize]);
            let spread = 1.0 - theta + theta * held;
            let scoring = Scoring { graph, shares: &shares, seen: &seen, spread, part: &part };
            let parts = split(pieces, &mut scores).into_par_iter().zip(split(pieces, &mut next));
            let changes = pieces.par_iter().zip(&orders).zip(parts).map(|((piece, order), (scores, next))| {
                poison.check()?;
                if !matches!(seen, Seen::Last) {
                    next.copy_from_slice(&passed[piece.clone()]);
                }
                Ok(scoring.score(piece.start, order, &passed, next, scores))
            });
            let changes: Vec<f64> = changes.collect::<miette::Result<_>>()?;
            std::mem::swap(&mut passed, &mut next);
            if changes.into_iter().sum::<f64>() < epsilon {
                break;
            }
        }
        Ok(scores)
    })
}

impl Seen {
    fn of(graph: &Gathering, pieces: &[Range<usize>], epsilon: f64) -> Self {
        match pieces.len() {
            _ if epsilon == 0.0 => Seen::Last,
            0..=1 => Seen::New,
            2..MANY_PIECES => Seen::NewWithin(graph.within(pieces)),
            _ => Seen::Last,
        }
    }
}

/// The scores that nodes use of sources in their own piece.
enum Seen {
    /// The new scores; there is one piece.
    New,
    /// The new scores, for these edges of each node. The ranges are computed in advance, since a test for each edge would be
    /// unpredictable.
    NewWithin(Vec<Range<usize>>),
    /// The scores of the last round.
    Last,
}

/// The data of one round of PageRank.
struct Scoring<'a, P> {
    graph: &'a Gathering,
    /// The part of each node's score that goes along an edge of weight 1.
    shares: &'a [f64],
    seen: &'a Seen,
    /// The sum of all scores that do not come from edges.
    spread: f64,
    /// The part of it for each node.
    part: &'a P,
}

impl<P: Fn(u32) -> f64> Scoring<'_, P> {
    /// Scores the nodes of a piece that begins with `first`, in this order. Returns the sum of all changes. `passed` has the numbers that
    /// all nodes passed on after the last round, and `next` those of the piece in this round.
    fn score<N: Passed>(&self, first: usize, order: &[u32], passed: &[N], next: &mut [N], scores: &mut [f64]) -> f64 {
        let graph = self.graph;
        let mut change = 0.0;
        let mut scored = |next: &mut [N], node: u32, gathered: f64| {
            let i = node as usize - first;
            let score = self.spread * (self.part)(node) + gathered;
            change += (score - scores[i]).abs();
            scores[i] = score;
            next[i] = N::of(score * self.shares[node as usize]);
        };
        let passed = |from: u32| -> f64 { passed[from as usize].into() };
        let mut rest = order;
        while let Some(&node) = rest.first() {
            let edges = graph.into.edges_of(node);
            let new = |from: u32| -> f64 { next[from as usize - first].into() };
            if let Some(beside) = self.beside(rest, edges.len()) {
                let edges = beside.map(|node| graph.into.edges_of(node));
                let gathered = match self.seen {
                    Seen::Last => graph.gather_beside(edges, passed),
                    _ => graph.gather_beside(edges, new),
                };
                beside.into_iter().zip(gathered).for_each(|(node, gathered)| scored(next, node, gathered));
                rest = &rest[BESIDE..];
                continue;
            }
            let gathered = match self.seen {
                Seen::New => graph.gather(edges, new),
                Seen::Last => graph.gather(edges, passed),
                Seen::NewWithin(within) => {
                    let own = within[node as usize].clone();
                    graph.gather(own.clone(), new)
                        + graph.gather(edges.start..own.start, passed)
                        + graph.gather(own.end..edges.end, passed)
                }
            };
            scored(next, node, gathered);
            rest = &rest[1..];
        }
        change
    }

    /// The first nodes, if they have the same number of edges and use one kind of scores. None in a small graph.
    #[inline]
    fn beside(&self, nodes: &[u32], edges: usize) -> Option<[u32; BESIDE]> {
        let beside = nodes.first_chunk::<BESIDE>()?;
        let alike = edges < MANY && self.graph.into.out_degree(beside[BESIDE - 1]) == edges;
        let from_one_place = !matches!(self.seen, Seen::NewWithin(_));
        (from_one_place && alike && self.graph.in_order.is_none()).then_some(*beside)
    }
}
