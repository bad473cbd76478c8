//! The refinement of Leiden: communities divided into well-connected parts.

use rand::rngs::StdRng;

use super::communities::{Around, Level, NOISE, Totals};

/// The parts of communities while they grow.
pub struct Refinement<'a> {
    level: &'a Level,
    communities: &'a [u32],
    /// The totals of the communities.
    bounds: Totals,
    /// The part of each node, and the totals and sizes of parts.
    pub parts: Vec<u32>,
    totals: Totals,
    sizes: Vec<u32>,
    /// The weight of the edges from each part to the rest of its community.
    outside: Vec<f64>,
    around: Around,
}

impl<'a> Refinement<'a> {
    /// The refinement in which every node is a part.
    pub fn new(level: &'a Level, communities: &'a [u32]) -> Self {
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
    pub fn is_well_connected(&self, part: u32, community: u32) -> bool {
        let ((leaving, reaching), bound) = (self.totals.of(part), self.bounds.of(community));
        let expected = leaving * (bound.1 - reaching) + reaching * (bound.0 - leaving);
        self.outside[part as usize] / self.level.total >= expected * self.level.expected
    }

    /// Lets a single node join a part of its community, most likely the one with the greatest gain.
    pub fn join(&mut self, node: usize, random: &mut StdRng) {
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
