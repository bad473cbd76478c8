//! Communities by modularity: what Louvain and Leiden share.
//!
//! A [`Level`] is a graph whose nodes may stand for many. Moving a node to the community where modularity gains most, and making
//! a node of each community, are its operations. For directed edges modularity is that of Leicht and Newman (2008); an
//! undirected edge is one in both directions.

use super::parallel::sum;
use crate::fixed_rule::graph::{Direction, Edges, Graph};
use crate::fixed_rule::{DefaultValue, OptionKind, OptionSpec, Poison};

/// How often nodes are moved.
pub const MAX_ITER: OptionSpec =
    OptionSpec::new("max_iter", OptionKind::PositiveInt, DefaultValue::Int(10), "the most rounds for each level");

/// When a level is done.
pub const DELTA: OptionSpec = OptionSpec::new(
    "delta",
    OptionKind::UnitInterval,
    DefaultValue::Float(0.0001),
    "a level is done when modularity gains less than this in a round",
);

/// A gain that is less is the noise of additions.
const NOISE: f64 = 1e-12;

/// A graph with what modularity needs to know.
pub struct Level {
    /// All edges in both directions.
    around: Graph,
    /// The weight of the edges that leave each node, and of those that reach it.
    leaving: Vec<f64>,
    reaching: Vec<f64>,
    /// The weight of all edges.
    total: f64,
    /// The weight to be expected of edges for each unit that leaves a node and each that reaches another.
    expected: f64,
}

/// The totals of communities.
struct Totals {
    leaving: Vec<f64>,
    reaching: Vec<f64>,
}

/// The weights of edges from a node to each community around it.
struct Around {
    weights: Vec<f64>,
    met: Vec<u32>,
}

/// Numbers communities from 0, in the order of their first nodes; how many there are.
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
    /// The graph itself. `resolution` 1 is modularity; more makes communities smaller.
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
        Level { around: edges.graph(Direction::Both), leaving, reaching, total, expected: resolution / (ends * ends) }
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.around.node_count()
    }

    /// What modularity gains if a node that is alone joins those with these totals and this weight of edges to it.
    fn gain(&self, node: usize, weight: f64, (leaving, reaching): (f64, f64)) -> f64 {
        let expected = self.leaving[node] * reaching + self.reaching[node] * leaving;
        weight / self.total - expected * self.expected
    }

    fn totals(&self, communities: &[u32]) -> Totals {
        let none = vec![0.0; self.node_count()];
        let mut totals = Totals { leaving: none.clone(), reaching: none };
        (0..communities.len()).for_each(|node| totals.add(self, node, communities[node], 1.0));
        totals
    }

    fn no_weights(&self) -> Around {
        Around { weights: vec![0.0; self.node_count()], met: vec![] }
    }

    /// Moves nodes to better communities, in rounds, until one gains less than `delta`.
    pub fn improve(&self, communities: &mut [u32], rounds: usize, delta: f64, poison: &Poison) -> miette::Result<()> {
        let mut pace = poison.pace();
        let mut totals = self.totals(communities);
        let mut around = self.no_weights();
        for _ in 0..rounds {
            let mut gained = 0.0;
            for node in 0..self.node_count() {
                pace.step()?;
                gained += self.improve_node(node, communities, &mut totals, &mut around);
            }
            if gained < delta.max(NOISE) {
                break;
            }
        }
        Ok(())
    }

    fn improve_node(&self, node: usize, communities: &mut [u32], totals: &mut Totals, around: &mut Around) -> f64 {
        let own = communities[node];
        totals.add(self, node, own, -1.0);
        around.gather(&self.around, node, |other| Some(communities[other]));
        let gain = |community: u32| self.gain(node, around.weights[community as usize], totals.of(community));
        let stay = gain(own);
        let (mut best, mut most) = (own, stay);
        for community in &around.met {
            let gain = gain(*community);
            if gain > most + NOISE {
                (best, most) = (*community, gain);
            }
        }
        around.clear();
        totals.add(self, node, best, 1.0);
        communities[node] = best;
        most - stay
    }

    /// Communities within the given ones: nodes that are alone join what they are best connected to, so that all that are
    /// together are connected.
    pub fn refine(&self, communities: &[u32], poison: &Poison) -> miette::Result<Vec<u32>> {
        let mut pace = poison.pace();
        let mut refinement = Refinement::new(self, communities);
        for node in 0..self.node_count() {
            pace.step()?;
            refinement.join(node);
        }
        Ok(refinement.parts)
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
        Level { around, leaving, reaching, total: self.total, expected: self.expected }
    }
}

/// Parts of communities while they grow.
struct Refinement<'a> {
    level: &'a Level,
    communities: &'a [u32],
    /// The totals of the communities.
    bounds: Totals,
    /// The part of each node, and the totals and sizes of parts.
    parts: Vec<u32>,
    totals: Totals,
    sizes: Vec<u32>,
    /// The weight of the edges from each part to the rest of the community that it is in.
    outside: Vec<f64>,
    around: Around,
}

impl<'a> Refinement<'a> {
    /// Every node is a part.
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

    /// Whether a part has more weight of edges to the rest of its community than is to be expected.
    fn is_well_connected(&self, part: u32, community: u32) -> bool {
        let ((leaving, reaching), bound) = (self.totals.of(part), self.bounds.of(community));
        let expected = leaving * (bound.1 - reaching) + reaching * (bound.0 - leaving);
        self.outside[part as usize] / self.level.total >= expected * self.level.expected
    }

    /// Lets a node that is alone join the part of its community where modularity gains most.
    fn join(&mut self, node: usize) {
        let (own, community) = (self.parts[node], self.communities[node]);
        if self.sizes[own as usize] > 1 || !self.is_well_connected(own, community) {
            return;
        }
        let (communities, parts) = (self.communities, &self.parts);
        let part_of = |other: usize| (communities[other] == community).then_some(parts[other]);
        self.around.gather(&self.level.around, node, part_of);
        let (mut best, mut most) = (own, NOISE);
        for part in self.around.met.iter().filter(|part| **part != own && self.is_well_connected(**part, community)) {
            let gain = self.level.gain(node, self.around.weights[*part as usize], self.totals.of(*part));
            if gain > most {
                (best, most) = (*part, gain);
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

impl Totals {
    fn add(&mut self, level: &Level, node: usize, community: u32, times: f64) {
        self.leaving[community as usize] += times * level.leaving[node];
        self.reaching[community as usize] += times * level.reaching[node];
    }

    fn of(&self, community: u32) -> (f64, f64) {
        (self.leaving[community as usize], self.reaching[community as usize])
    }
}

impl Around {
    /// Adds the weights of the edges of a node to the communities of their other ends; `None` is left out, and so are loops.
    fn gather(&mut self, graph: &Graph, node: usize, community: impl Fn(usize) -> Option<u32>) {
        for (target, weight) in graph.out_neighbors_with_weights(node as u32) {
            let Some(community) = community(target as usize).filter(|_| target as usize != node) else { continue };
            let sum = &mut self.weights[community as usize];
            if *sum == 0.0 && weight > 0.0 {
                self.met.push(community);
            }
            *sum += weight;
        }
    }

    fn clear(&mut self) {
        self.met.drain(..).for_each(|community| self.weights[community as usize] = 0.0);
    }
}
