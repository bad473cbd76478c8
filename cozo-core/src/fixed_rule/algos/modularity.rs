//! Modularity: a graph with the weights that the gain of a move needs.
//!
//! Each node of a [`Level`] may represent many nodes of the original graph. For directed edges modularity is by Leicht and Newman
//! (2008). An undirected edge counts as one in both directions.
//!
//! [`Totals`] has the weights that leave and reach each community. [`Around`] gathers the weights from one node to the
//! communities around it. Both make the gain of a move computable from the edges of one node.

use rand::RngExt;
use rand::rngs::StdRng;

use super::parallel::sum;
use crate::fixed_rule::graph::{Direction, Edges, Graph};

/// A graph with the weights for modularity.
pub struct Level {
    /// All edges in both directions.
    pub(super) around: Graph,
    /// The weights of the outgoing and of the incoming edges of each node.
    leaving: Vec<f64>,
    reaching: Vec<f64>,
    /// The weight of all edges.
    pub(super) total: f64,
    /// The expected weight of edges for each unit that leaves a node and each that reaches another.
    pub(super) expected: f64,
    /// The scale of random choices: a gain that is smaller by this much is still likely to be chosen.
    spread: f64,
}

/// The scale of random choices as a part of the mean weight of an edge (theta in Traag, Waltman and van Eck 2019).
const SPREAD_OF_EDGE: f64 = 0.01;

/// The totals of communities.
pub(super) struct Totals {
    leaving: Vec<f64>,
    reaching: Vec<f64>,
}

/// The weights of edges from a node to each community around it.
pub(super) struct Around {
    /// The weight to each community.
    pub weights: Vec<f64>,
    /// The communities that have a weight.
    pub met: Vec<u32>,
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

    /// The totals of communities.
    pub(super) fn totals(&self, communities: &[u32]) -> Totals {
        let none = vec![0.0; self.node_count()];
        let mut totals = Totals { leaving: none.clone(), reaching: none };
        (0..communities.len()).for_each(|node| totals.add(self, node, communities[node], 1.0));
        totals
    }

    /// No edge yet.
    pub(super) fn no_weights(&self) -> Around {
        Around { weights: vec![0.0; self.node_count()], met: vec![] }
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

impl Totals {
    /// Adds the weights of a node to a community, so many times.
    pub(super) fn add(&mut self, level: &Level, node: usize, community: u32, times: f64) {
        self.leaving[community as usize] += times * level.leaving[node];
        self.reaching[community as usize] += times * level.reaching[node];
    }

    /// The weights that leave and reach a community.
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

    /// Forgets all weights.
    pub(super) fn clear(&mut self) {
        self.met.drain(..).for_each(|community| self.weights[community as usize] = 0.0);
    }
}
