//! Communities by modularity: the common part of Louvain and Leiden.
//!
//! A [`Level`] is a graph each of whose nodes may represent many nodes of the original graph. Its operations move nodes to the
//! community with the greatest gain of modularity (`improve`), divide communities into connected parts (`refine`), and make a
//! node of each part (`merge`). For directed edges modularity is by Leicht and Newman (2008). An undirected edge counts as one in
//! both directions.
//!
//! ```text
//! communities of nodes -> improve -> refine: parts of them -> merge: a node for each part -> improve -> ...
//!          ^                                                                                  |
//!          +---------------- until nothing improves any more, at most `iterations` times -----+
//! ```
//!
//! [`Totals`] has the weights that leave and reach each community. [`Around`] gathers the weights from one node to the
//! communities around it. Both make the gain of a move computable from the edges of one node.
//!
//! Invariant: the order of nodes and the random choices follow from the seed, so a result is reproducible.

use std::collections::VecDeque;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::parallel::sum;
use super::refinement::Refinement;
use crate::fixed_rule::graph::{Direction, Edges, Graph};
use crate::fixed_rule::{DefaultValue, OptionKind, OptionSpec, Poison, Settings};

/// The limit of rounds in which nodes are moved.
pub const MAX_ITER: OptionSpec =
    OptionSpec::new("max_iter", OptionKind::PositiveInt, DefaultValue::Int(10), "the most rounds for each level");

/// The limit of restarts with the communities found.
pub const ITERATIONS: OptionSpec = OptionSpec::new(
    "iterations",
    OptionKind::PositiveInt,
    DefaultValue::Int(10),
    "how often it begins anew with the communities that it has found, unless nothing improves before",
);

/// The gain of a round below which a level is done.
pub const DELTA: OptionSpec = OptionSpec::new(
    "delta",
    OptionKind::UnitInterval,
    DefaultValue::Float(0.0001),
    "a level is done when modularity gains less than this in a round",
);

/// A smaller gain is only a rounding error.
pub const NOISE: f64 = 1e-12;

/// A search for communities.
pub struct Search<'a> {
    rounds: usize,
    delta: f64,
    iterations: usize,
    random: StdRng,
    poison: &'a Poison,
}

/// A graph with the weights for modularity.
pub struct Level {
    /// All edges in both directions.
    pub(super) around: Graph,
    /// The weights of the outgoing and of the incoming edges of each node.
    pub(super) leaving: Vec<f64>,
    pub(super) reaching: Vec<f64>,
    /// The weight of all edges.
    pub(super) total: f64,
    /// The expected weight of edges for each unit that leaves a node and each that reaches another.
    pub(super) expected: f64,
    /// The scale of random choices: a gain that is smaller by this much is still likely to be chosen.
    pub(super) spread: f64,
}

/// The scale of random choices as a part of the mean weight of an edge (theta in Traag, Waltman and van Eck 2019).
const SPREAD_OF_EDGE: f64 = 0.01;

/// The totals of communities.
pub struct Totals {
    leaving: Vec<f64>,
    reaching: Vec<f64>,
}

/// The weights of edges from a node to each community around it.
pub struct Around {
    pub weights: Vec<f64>,
    pub met: Vec<u32>,
}

impl<'a> Search<'a> {
    /// A search with the settings of a rule.
    pub fn new(settings: &Settings, poison: &'a Poison) -> Self {
        Search {
            rounds: settings.count("max_iter"),
            delta: settings.float("delta"),
            iterations: settings.count("iterations"),
            random: StdRng::seed_from_u64(settings.int("seed") as u64),
            poison,
        }
    }

    /// The community of each node of a graph.
    pub fn communities(&mut self, graph: &Level) -> miette::Result<Vec<u32>> {
        let mut communities: Vec<u32> = (0..graph.node_count() as u32).collect();
        for _ in 0..self.iterations {
            if self.improve_on_all_levels(graph, &mut communities)? <= NOISE {
                break;
            }
        }
        Ok(communities)
    }

    /// Improves the communities of a graph, then those of its parts, and so on. Returns the gain of modularity.
    fn improve_on_all_levels(&mut self, graph: &Level, communities: &mut Vec<u32>) -> miette::Result<f64> {
        // The node of the level that represents each node of the graph.
        let mut stands: Vec<u32> = (0..graph.node_count() as u32).collect();
        let mut merged: Option<Level> = None;
        let mut of_level = std::mem::take(communities);
        let mut gained = 0.0;
        loop {
            let level = merged.as_ref().unwrap_or(graph);
            gained += level.improve(&mut of_level, |_, _| true, self)?;
            renumber(&mut of_level);
            let mut parts = level.refine(&of_level, self)?;
            let count = renumber(&mut parts);
            if count == level.node_count() {
                *communities = stands.into_iter().map(|node| of_level[node as usize]).collect();
                return Ok(gained);
            }
            let mut of_parts = vec![0; count];
            for (part, community) in parts.iter().zip(&of_level) {
                of_parts[*part as usize] = *community;
            }
            stands.iter_mut().for_each(|node| *node = parts[*node as usize]);
            merged = Some(level.merge(&parts, count));
            of_level = of_parts;
        }
    }

    /// The numbers from 0, in a random order.
    fn shuffled(&mut self, count: usize) -> Vec<u32> {
        let mut all: Vec<u32> = (0..count as u32).collect();
        all.shuffle(&mut self.random);
        all
    }
}

/// Numbers communities from 0, in the order of their first nodes. Returns the number of communities.
pub fn renumber(communities: &mut [u32]) -> usize {
    let mut numbers = vec![u32::MAX; communities.iter().max().map_or(0, |most| *most as usize + 1)];
    let mut count = 0;
    for community in communities {
        let number = &mut numbers[*community as usize];
        if *number == u32::MAX {
            *number = count;
            count += 1;
        }
        *community = *number;
    }
    count as usize
}

impl Level {
    /// The first level: the graph itself. A `resolution` of 1 is modularity. A greater one makes communities smaller.
    pub fn new(edges: &Edges, undirected: bool, resolution: f64) -> Self {
        let nodes = edges.nodes.len();
        let weight = |edge: usize| edges.weights.as_ref().map_or(1.0, |weights| weights[edge]);
        let (mut leaving, mut reaching) = (vec![0.0; nodes], vec![0.0; nodes]);
        for (edge, (from, to)) in edges.from().iter().zip(edges.to().iter()).enumerate() {
            leaving[*from as usize] += weight(edge);
            reaching[*to as usize] += weight(edge);
        }
        let total = sum(edges.len(), weight);
        let mut ends = total;
        if undirected {
            leaving.iter_mut().zip(&reaching).for_each(|(all, more)| *all += more);
            reaching.clone_from(&leaving);
            ends = 2.0 * total;
        }
        let (expected, spread) = (resolution / (ends * ends), SPREAD_OF_EDGE / edges.len().max(1) as f64);
        Level { around: edges.graph(Direction::Both), leaving, reaching, total, expected, spread }
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.around.node_count()
    }

    /// The gain of modularity if a single node joins a community with these totals and this weight of edges to the node.
    pub(super) fn gain(&self, node: usize, weight: f64, (leaving, reaching): (f64, f64)) -> f64 {
        let expected = self.leaving[node] * reaching + self.reaching[node] * leaving;
        weight / self.total - expected * self.expected
    }

    /// A gain with random noise. The probability that it is the greatest of several grows exponentially with the gain (Gumbel 1954).
    pub(super) fn by_chance(&self, gain: f64, random: &mut StdRng) -> f64 {
        let uniform: f64 = random.random_range(f64::MIN_POSITIVE..1.0);
        gain - self.spread * (-uniform.ln()).ln()
    }

    pub(super) fn totals(&self, communities: &[u32]) -> Totals {
        let none = vec![0.0; self.node_count()];
        let mut totals = Totals { leaving: none.clone(), reaching: none };
        (0..communities.len()).for_each(|node| totals.add(self, node, communities[node], 1.0));
        totals
    }

    pub(super) fn no_weights(&self) -> Around {
        Around { weights: vec![0.0; self.node_count()], met: vec![] }
    }

    /// Moves nodes to better communities, and returns the gain of modularity. `may_join` restricts which nodes may be together. A node
    /// is considered again when a neighbour has moved to another community. It ends after the limit of rounds, or when a round gains
    /// less than `delta`.
    pub fn improve(
        &self,
        communities: &mut [u32],
        may_join: impl Fn(usize, usize) -> bool,
        search: &mut Search<'_>,
    ) -> miette::Result<f64> {
        let nodes = self.node_count();
        let mut pace = search.poison.pace();
        let mut moves = Moves::new(self, communities);
        let mut waiting: VecDeque<u32> = search.shuffled(nodes).into();
        let mut is_waiting = vec![true; nodes];
        let (mut gained, mut of_round, mut left, mut rounds) = (0.0, 0.0, nodes, search.rounds);
        while let Some(node) = waiting.pop_front().map(|node| node as usize) {
            pace.step()?;
            is_waiting[node] = false;
            let (best, gain) = moves.best(node, communities, &may_join);
            if best != communities[node] {
                moves.moved(communities[node], best);
                communities[node] = best;
                of_round += gain;
                for other in self.around.out_neighbors(node as u32).iter().map(|other| *other as usize) {
                    if communities[other] != best && !std::mem::replace(&mut is_waiting[other], true) {
                        waiting.push_back(other as u32);
                    }
                }
            }
            left -= 1;
            if left == 0 {
                gained += of_round;
                rounds -= 1;
                if rounds == 0 || of_round < search.delta.max(NOISE) {
                    return Ok(gained);
                }
                (of_round, left) = (0.0, nodes);
            }
        }
        Ok(gained + of_round)
    }

    /// Divides communities into connected parts: single nodes join the parts that they are best connected to.
    pub fn refine(&self, communities: &[u32], search: &mut Search<'_>) -> miette::Result<Vec<u32>> {
        let mut pace = search.poison.pace();
        let mut refinement = Refinement::new(self, communities);
        for node in search.shuffled(self.node_count()) {
            pace.step()?;
            refinement.join(node as usize, &mut search.random);
        }
        Ok(refinement.parts)
    }

    /// The gain of modularity of these communities over single nodes.
    pub fn quality(&self, communities: &[u32]) -> f64 {
        let totals = self.totals(communities);
        let inside: f64 = (0..self.node_count())
            .flat_map(|node| {
                let community = communities[node];
                let edges = self.around.out_neighbors_with_weights(node as u32);
                edges.filter(move |(other, _)| communities[*other as usize] == community).map(|(_, weight)| weight)
            })
            .sum();
        // `around` has each edge in both directions.
        let expected: f64 =
            totals.leaving.iter().zip(&totals.reaching).map(|(leaving, reaching)| leaving * reaching).sum();
        inside / (2.0 * self.total) - expected * self.expected
    }

    /// The graph whose nodes are `count` communities.
    pub fn merge(&self, communities: &[u32], count: usize) -> Self {
        let members = Graph::of_members(communities, count);
        let (mut starts, mut targets, mut weights) = (vec![0], vec![], vec![]);
        let mut around = Around { weights: vec![0.0; count], met: vec![] };
        let (mut leaving, mut reaching) = (vec![0.0; count], vec![0.0; count]);
        for community in 0..count as u32 {
            for member in members.out_neighbors(community) {
                leaving[community as usize] += self.leaving[*member as usize];
                reaching[community as usize] += self.reaching[*member as usize];
                around.gather(&self.around, *member as usize, |other| {
                    Some(communities[other]).filter(|other| *other != community)
                });
            }
            weights.extend(around.met.iter().map(|other| around.weights[*other as usize]));
            targets.extend_from_slice(&around.met);
            around.clear();
            starts.push(targets.len());
        }
        let around = Graph::from_rows(starts, targets, Some(weights));
        Level { around, leaving, reaching, total: self.total, expected: self.expected, spread: self.spread }
    }
}

/// The communities while nodes move between them.
struct Moves<'a> {
    level: &'a Level,
    totals: Totals,
    sizes: Vec<u32>,
    /// The communities without nodes.
    empty: Vec<u32>,
    around: Around,
}

impl<'a> Moves<'a> {
    fn new(level: &'a Level, communities: &[u32]) -> Self {
        let mut sizes = vec![0; level.node_count()];
        communities.iter().for_each(|community| sizes[*community as usize] += 1);
        let empty = (0..sizes.len() as u32).filter(|community| sizes[*community as usize] == 0).collect();
        Moves { level, totals: level.totals(communities), sizes, empty, around: level.no_weights() }
    }

    /// The best community for a node among those of nodes that it may join, and the gain over its present one. Afterwards the totals
    /// are those after the move.
    fn best(&mut self, node: usize, communities: &[u32], may_join: impl Fn(usize, usize) -> bool) -> (u32, f64) {
        let (level, own) = (self.level, communities[node]);
        self.totals.add(level, node, own, -1.0);
        self.around.gather(&level.around, node, |other| may_join(node, other).then_some(communities[other]));
        let gain =
            |community: u32| level.gain(node, self.around.weights[community as usize], self.totals.of(community));
        let stay = gain(own);
        let (mut best, mut most) = (own, stay);
        for community in &self.around.met {
            let gain = gain(*community);
            if gain > most + NOISE {
                (best, most) = (*community, gain);
            }
        }
        if let (true, Some(alone)) = (most < -NOISE, self.empty.last()) {
            (best, most) = (*alone, 0.0);
        }
        self.around.clear();
        self.totals.add(level, node, best, 1.0);
        (best, most - stay)
    }

    /// Updates the sizes after a node has moved from one community to another.
    fn moved(&mut self, from: u32, to: u32) {
        self.sizes[from as usize] -= 1;
        self.sizes[to as usize] += 1;
        if self.empty.last() == Some(&to) {
            self.empty.pop();
        }
        if self.sizes[from as usize] == 0 {
            self.empty.push(from);
        }
    }
}

impl Totals {
    pub(super) fn add(&mut self, level: &Level, node: usize, community: u32, times: f64) {
        self.leaving[community as usize] += times * level.leaving[node];
        self.reaching[community as usize] += times * level.reaching[node];
    }

    pub(super) fn of(&self, community: u32) -> (f64, f64) {
        (self.leaving[community as usize], self.reaching[community as usize])
    }
}

impl Around {
    /// Adds the weights of a node's edges to the communities of their other ends. Ends for which `community` returns `None` and loops
    /// are skipped.
    pub(super) fn gather(&mut self, graph: &Graph, node: usize, community: impl Fn(usize) -> Option<u32>) {
        for (target, weight) in graph.out_neighbors_with_weights(node as u32) {
            let Some(community) = community(target as usize).filter(|_| target as usize != node) else { continue };
            let sum = &mut self.weights[community as usize];
            if *sum == 0.0 && weight > 0.0 {
                self.met.push(community);
            }
            *sum += weight;
        }
    }

    pub(super) fn clear(&mut self) {
        self.met.drain(..).for_each(|community| self.weights[community as usize] = 0.0);
    }
}
