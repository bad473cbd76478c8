//! Walks through layer 0 that return allowed nodes alone.
//!
//! | way | goes on from | compares |
//! |---|---|---|
//! | one hop | every node near enough | all links |
//! | two hops | allowed nodes | allowed links, then the allowed links of the others |
//!
//! A walk by two hops goes from allowed node to allowed node, so the others cost it a look at the set and no comparison (after
//! Sehgal and Salihoğlu, "NaviX", 2025).
//!
//! **A walk may fail**: it finds fewer than `ef` nodes, or it compares so many that it costs more than to compare the allowed nodes one
//! by one. Then these are compared, so that no filter makes results incomplete, or a search much slower than that.

use std::cmp::Reverse;

use fixedbitset::FixedBitSet;

use super::graph::{Graph, Layer};
use super::order::{FOLLOWED, key, node_of};
use super::scratch::Scratch;
use super::space::{Probe, Space};
use super::thresholds::SAMPLED_NODES;
use super::twins::Twins;
use super::walk::insert;
use super::ways::{SearchCosts, SearchWay};

/// What a filtered walk goes through.
pub(super) struct FilteredWalk<'a> {
    pub space: &'a Space,
    pub graph: &'a Graph,
    pub twins: &'a Twins,
    pub allowed: &'a FixedBitSet,
    /// The number of nodes to find.
    pub ef: usize,
    pub costs: SearchCosts,
}

impl FilteredWalk<'_> {
    /// Walks from a slot the cheapest way. The nodes found are in the list. Returns the way, `Exact` if no walk was good enough, and
    /// adds the number of distances.
    pub fn run(&self, from: Probe<'_>, entry: u32, scratch: &mut Scratch, compared: &mut usize) -> SearchWay {
        let mut way = self.one_hop(from, entry, scratch, compared);
        if way == SearchWay::TwoHops {
            way = self.two_hops(from, entry, scratch, compared);
        }
        if scratch.list.len() < self.ef { SearchWay::Exact } else { way }
    }

    /// Whether a node, or one with the same vector, is allowed.
    #[inline(always)]
    fn passes(&self, node: u32) -> bool {
        let is_allowed = |node: &u32| self.allowed.contains(*node as usize);
        is_allowed(&node) || self.twins.members(node).iter().any(is_allowed)
    }

    fn lowest(&self) -> &Layer {
        &self.graph.layers[0]
    }

    /// Walks from a slot by one hop. Returns another way if that turns out to be better.
    pub fn one_hop(&self, from: Probe<'_>, entry: u32, scratch: &mut Scratch, compared: &mut usize) -> SearchWay {
        let Scratch { visited, list, fresh, distances, queue, .. } = scratch;
        let (mut seen, mut passed, max_seen) = (1, 0, self.costs.max_visits());
        let mut sampled = SAMPLED_NODES;
        visited.begin(self.lowest().len());
        list.clear();
        queue.clear();
        visited.insert(entry);
        let first = key(self.space.distance(from, entry), entry);
        queue.push(Reverse(first));
        if self.passes(entry) {
            list.push(first);
        }
        while let Some(Reverse(candidate)) = queue.pop() {
            if list.len() >= self.ef && list.last().is_some_and(|last| candidate > *last) {
                break;
            }
            fresh.clear();
            fresh.extend(self.lowest().links(node_of(candidate)).iter().filter(|slot| visited.insert(**slot)));
            self.space.distances(from, fresh, distances);
            seen += fresh.len();
            for (slot, distance) in fresh.iter().zip(distances.iter()) {
                let key = key(*distance, *slot);
                let passes = self.passes(*slot);
                passed += usize::from(passes);
                if list.len() < self.ef || list.last().is_some_and(|last| key < *last) {
                    queue.push(Reverse(key));
                    if passes {
                        insert(list, key, self.ef);
                    }
                }
            }
            if seen >= sampled && list.len() < self.ef {
                sampled = usize::MAX;
                let way = self.costs.way(passed as f64 / seen as f64);
                if way != SearchWay::OneHop {
                    *compared += seen;
                    return way;
                }
            }
            if seen > max_seen {
                *compared += seen;
                return SearchWay::Exact;
            }
        }
        *compared += seen;
        SearchWay::OneHop
    }

    /// Walks from a slot by two hops. Returns `Exact` if that costs too much.
    pub fn two_hops(&self, from: Probe<'_>, entry: u32, scratch: &mut Scratch, compared: &mut usize) -> SearchWay {
        scratch.visited.begin(self.lowest().len());
        scratch.crossed.begin(self.lowest().len());
        scratch.list.clear();
        scratch.visited.insert(entry);
        let first = key(self.space.distance(from, entry), entry);
        let mut seen = 1 + self.compare_around(from, entry, scratch).0;
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
            let (more, place) = self.compare_around(from, slot, scratch);
            at = place.min(at);
            seen += more;
            if seen > self.costs.max_visits() {
                *compared += seen;
                return SearchWay::Exact;
            }
        }
        scratch.list.iter_mut().for_each(|key| *key &= !FOLLOWED);
        *compared += seen;
        SearchWay::TwoHops
    }

    /// Compares allowed nodes one or two hops from a slot, and inserts them into the list. Returns the number of distances, and the
    /// first place in the list that has a new node.
    fn compare_around(&self, from: Probe<'_>, slot: u32, scratch: &mut Scratch) -> (usize, usize) {
        let Scratch { visited, crossed, list, fresh, distances, .. } = scratch;
        let layer = self.lowest();
        let mut is_new = |slot: &u32| visited.insert(*slot) && self.passes(*slot);
        fresh.clear();
        fresh.extend(layer.links(slot).iter().copied().filter(&mut is_new));
        for hop in layer.links(slot) {
            if fresh.len() >= layer.width {
                break;
            }
            if crossed.insert(*hop) {
                fresh.extend(layer.links(*hop).iter().copied().filter(&mut is_new));
            }
        }
        self.space.distances(from, fresh, distances);
        let keys = fresh.iter().zip(distances.iter()).map(|(slot, distance)| key(*distance, *slot));
        let first = keys.map(|key| insert(list, key, self.ef)).min();
        (fresh.len(), first.unwrap_or(usize::MAX))
    }
}
