//! Walks through layer 0 that return allowed nodes alone.
//!
//! | way | follows links of | compares |
//! |---|---|---|
//! | one hop | every node near enough | all links |
//! | directed two hops | allowed nodes | all links; then the allowed links of the nearest of these |
//! | blind two hops | allowed nodes | allowed links; then the allowed links of the others, in any order |
//!
//! The more nodes are allowed, the fewer detours (Sehgal and Salihoğlu, "NaviX", 2025). A walk by two hops goes from allowed node to
//! allowed node, so the others cost it a look at the set and no comparison.
//!
//! **A walk may fail**: it finds fewer than `ef` nodes, or it compares more than it was given. Then the allowed nodes are compared one by
//! one, so that no filter makes results incomplete, or a search much slower than that.

use fixedbitset::FixedBitSet;

use super::graph::{Graph, Layer};
use super::order::{FOLLOWED, key, node_of};
use super::scratch::Scratch;
use super::space::{Probe, Space};
use super::twins::Twins;
use super::walk::insert;

/// What a filtered walk goes through.
pub(super) struct FilteredWalk<'a> {
    pub space: &'a Space,
    pub graph: &'a Graph,
    pub twins: &'a Twins,
    pub allowed: &'a FixedBitSet,
    /// The number of nodes to find.
    pub ef: usize,
    /// The number of distances after which the walk fails.
    pub max_compared: usize,
}

impl FilteredWalk<'_> {
    /// Whether a node, or one with the same vector, is allowed.
    #[inline(always)]
    fn passes(&self, node: u32) -> bool {
        let is_allowed = |node: &u32| self.allowed.contains(*node as usize);
        is_allowed(&node) || self.twins.members(node).iter().any(is_allowed)
    }

    fn lowest(&self) -> &Layer {
        &self.graph.layers[0]
    }

    /// Walks from a slot by one hop. The nodes found are in the list. Returns the number of distances, and whether it succeeded.
    pub fn one_hop(&self, from: Probe<'_>, entry: u32, scratch: &mut Scratch) -> (usize, bool) {
        let Scratch { visited, list, fresh, distances, queue, .. } = scratch;
        let mut compared = 1;
        visited.begin(self.lowest().len());
        list.clear();
        queue.clear();
        let first = key(self.space.distance(from, entry), entry);
        visited.insert(entry);
        queue.push(std::cmp::Reverse(first));
        if self.passes(entry) {
            list.push(first);
        }
        while let Some(std::cmp::Reverse(candidate)) = queue.pop() {
            if list.len() >= self.ef && list.last().is_some_and(|last| candidate > *last) {
                break;
            }
            fresh.clear();
            fresh.extend(self.lowest().links(node_of(candidate)).iter().filter(|slot| visited.insert(**slot)));
            self.space.distances(from, fresh, distances);
            compared += fresh.len();
            if compared > self.max_compared {
                return (compared, false);
            }
            for (slot, distance) in fresh.iter().zip(distances.iter()) {
                let key = key(*distance, *slot);
                if list.len() < self.ef || list.last().is_some_and(|last| key < *last) {
                    queue.push(std::cmp::Reverse(key));
                    if self.passes(*slot) {
                        insert(list, key, self.ef);
                    }
                }
            }
        }
        (compared, list.len() >= self.ef)
    }

    /// Walks from a slot by two hops, as [`FilteredWalk::one_hop`].
    pub fn two_hops(&self, from: Probe<'_>, entry: u32, directed: bool, scratch: &mut Scratch) -> (usize, bool) {
        scratch.visited.begin(self.lowest().len());
        scratch.crossed.begin(self.lowest().len());
        scratch.list.clear();
        scratch.visited.insert(entry);
        let first = key(self.space.distance(from, entry), entry);
        let mut compared = 1 + self.compare_around(from, entry, directed, scratch);
        if self.passes(entry) {
            insert(&mut scratch.list, first | FOLLOWED, self.ef);
        }
        let mut at = 0;
        while let Some(candidate) = scratch.list.get_mut(at) {
            if *candidate & FOLLOWED != 0 {
                at += 1;
                continue;
            }
            *candidate |= FOLLOWED;
            let slot = node_of(*candidate);
            compared += self.compare_around(from, slot, directed, scratch);
            if compared > self.max_compared {
                return (compared, false);
            }
            at = 0;
        }
        scratch.list.iter_mut().for_each(|key| *key &= !FOLLOWED);
        (compared, scratch.list.len() >= self.ef)
    }

    /// Compares allowed nodes one or two hops from a slot, and inserts them into the list. Returns the number of distances.
    fn compare_around(&self, from: Probe<'_>, slot: u32, directed: bool, scratch: &mut Scratch) -> usize {
        let Scratch { visited, crossed, list, fresh, nodes, distances, .. } = scratch;
        let layer = self.lowest();
        let mut compared = 0;
        fresh.clear();
        nodes.clear();
        nodes.extend(layer.links(slot));
        if directed {
            self.space.distances(from, nodes, distances);
            compared += nodes.len();
            let mut keys: Vec<u64> =
                nodes.iter().zip(distances.iter()).map(|(slot, distance)| key(*distance, *slot)).collect();
            keys.sort_unstable();
            nodes.clear();
            nodes.extend(keys.iter().map(|key| node_of(*key)));
            for key in keys {
                let slot = node_of(key);
                if visited.insert(slot) && self.passes(slot) {
                    insert(list, key, self.ef);
                    compared += 0;
                }
            }
        } else {
            fresh.extend(nodes.iter().filter(|slot| visited.insert(**slot) && self.passes(**slot)));
        }
        for hop in nodes.iter() {
            if fresh.len() >= layer.width {
                break;
            }
            if crossed.insert(*hop) {
                fresh.extend(layer.links(*hop).iter().filter(|slot| visited.insert(**slot) && self.passes(**slot)));
            }
        }
        self.space.distances(from, fresh, distances);
        for (slot, distance) in fresh.iter().zip(distances.iter()) {
            insert(list, key(*distance, *slot), self.ef);
        }
        compared + fresh.len()
    }
}
