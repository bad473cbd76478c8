//! Communities by modularity: the common part of Louvain and Leiden.
//!
//! A [`Search`] begins with a [`Level`] whose nodes are those of the graph. It moves nodes to the community with the greatest gain of
//! modularity (`improve`, by [`Moves`]), divides communities into connected parts (`refine`, by [`Refinement`]), and makes a level
//! whose nodes are the parts (`merge`).
//!
//! ```text
//! communities of nodes -> improve -> refine: parts of them -> merge: a node for each part -> improve -> ...
//!          ^                                                                                  |
//!          +---------------- until nothing improves any more, at most `iterations` times -----+
//! ```
//!
//! Invariant: the order of nodes and the random choices follow from the seed, so a result is reproducible.

use std::collections::VecDeque;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::modularity::{Around, Level, Totals};
use crate::fixed_rule::{DefaultValue, OptionKind, OptionSpec, Poison, Settings};

/// The limit of rounds in which nodes are moved.
pub const MAX_ITER: OptionSpec = OptionSpec::new(
    "max_iter",
    OptionKind::PositiveInt,
    DefaultValue::Int(10),
    "the maximum number of rounds for each level",
);

/// The limit of restarts with the communities found.
pub const ITERATIONS: OptionSpec = OptionSpec::new(
    "iterations",
    OptionKind::PositiveInt,
    DefaultValue::Int(10),
    "how often the search restarts from the communities that it has found; it ends earlier if nothing improves",
);

/// The gain of a round below which a level is done.
pub const DELTA: OptionSpec = OptionSpec::new(
    "delta",
    OptionKind::UnitInterval,
    DefaultValue::Float(0.0001),
    "a level is done when modularity gains less than this in a round",
);

/// A smaller gain is only a rounding error.
const NOISE: f64 = 1e-12;

/// A search for communities.
pub struct Search<'a> {
    rounds: usize,
    delta: f64,
    iterations: usize,
    random: StdRng,
    poison: &'a Poison,
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

/// The parts of communities while they grow.
struct Refinement<'a> {
    level: &'a Level,
    communities: &'a [u32],
    /// The totals of the communities.
    bounds: Totals,
    /// The part of each node, and the totals and sizes of parts.
    parts: Vec<u32>,
    totals: Totals,
    sizes: Vec<u32>,
    /// The weight of the edges from each part to the rest of its community.
    outside: Vec<f64>,
    around: Around,
}

impl<'a> Refinement<'a> {
    /// The refinement in which every node is a part.
    fn new(level: &'a Level, communities: &'a [u32]) -> Self {
        let parts: Vec<u32> = (0..communities.len() as u32).collect();
        let (bounds, totals) = (level.totals(communities), level.totals(&parts));
        let mut around = level.no_weights();
        let mut inside = |node: usize| {
            around.gather(&level.around, node, |other| (communities[other] == communities[node]).then_some(0));
            let weight = around.weights[0];
            around.clear();
            weight
        };
        let outside = (0..parts.len()).map(&mut inside).collect();
        let sizes = vec![1; parts.len()];
        Refinement { level, communities, bounds, parts, totals, sizes, outside, around }
    }

    /// Whether the weight of edges from a part to the rest of its community is at least the expected one.
    fn is_well_connected(&self, part: u32, community: u32) -> bool {
        let ((leaving, reaching), bound) = (self.totals.of(part), self.bounds.of(community));
        let expected = leaving * (bound.1 - reaching) + reaching * (bound.0 - leaving);
        self.outside[part as usize] / self.level.total >= expected * self.level.expected
    }

    /// Lets a single node join a part of its community, most likely the one with the greatest gain.
    fn join(&mut self, node: usize, random: &mut StdRng) {
        let (own, community) = (self.parts[node], self.communities[node]);
        if self.sizes[own as usize] > 1 || !self.is_well_connected(own, community) {
            return;
        }
        let (communities, parts) = (self.communities, &self.parts);
        let part_of = |other: usize| (communities[other] == community).then_some(parts[other]);
        self.around.gather(&self.level.around, node, part_of);
        let (mut best, mut most) = (own, self.level.by_chance(0.0, random));
        for part in self.around.met.iter().filter(|part| **part != own && self.is_well_connected(**part, community)) {
            let gain = self.level.gain(node, self.around.weights[*part as usize], self.totals.of(*part));
            let chance = self.level.by_chance(gain, random);
            if gain > -NOISE && chance > most {
                (best, most) = (*part, chance);
            }
        }
        if best != own {
            self.outside[best as usize] += self.outside[own as usize] - 2.0 * self.around.weights[best as usize];
            self.sizes[own as usize] -= 1;
            self.sizes[best as usize] += 1;
            self.totals.add(self.level, node, own, -1.0);
            self.totals.add(self.level, node, best, 1.0);
            self.parts[node] = best;
        }
        self.around.clear();
    }
}
