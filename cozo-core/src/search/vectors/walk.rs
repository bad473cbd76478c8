//! Walks through a graph without a filter: to the nearest node of a layer, and to the `ef` nearest.
//!
//! ```text
//! list of candidates, sorted    [ followed | followed | nearest not followed | ... | ef-th ]
//!                                                       its links, if not seen before, are compared and inserted
//! ```
//!
//! A walk ends when all candidates in the list were followed.

use super::graph::{Graph, Layer};
use super::order::{FOLLOWED, key, node_of, order_of};
use super::scratch::Scratch;
use super::space::{Probe, Space};
use crate::kernels::prefetch;

/// The slot on layer `to` that is nearest to `from`, as far as walks to ever nearer slots find it.
pub(super) fn descend(space: &Space, graph: &Graph, from: Probe<'_>, to: usize, scratch: &mut Scratch) -> u32 {
    let mut slot = graph.entry;
    for layer in graph.layers[to + 1..].iter().rev() {
        slot = layer.down[nearest(space, layer, from, slot, scratch) as usize];
    }
    slot
}

/// Goes from a slot to the nearest of its links as long as that is nearer.
pub(super) fn nearest(space: &Space, layer: &Layer, from: Probe<'_>, slot: u32, scratch: &mut Scratch) -> u32 {
    let mut best = key(space.distance(from, layer.node(slot)), slot);
    loop {
        let links = layer.links(node_of(best));
        distances_of(space, layer, from, links, &mut scratch.nodes, &mut scratch.distances);
        let next = links.iter().zip(&scratch.distances).map(|(slot, distance)| key(*distance, *slot)).min();
        match next {
            Some(next) if order_of(next) < order_of(best) => best = next,
            _ => return node_of(best),
        }
    }
}

/// The distances from a vector to slots of a layer.
#[inline(always)]
pub(super) fn distances_of(
    space: &Space,
    layer: &Layer,
    from: Probe<'_>,
    slots: &[u32],
    nodes: &mut Vec<u32>,
    distances: &mut Vec<f32>,
) {
    if layer.nodes.is_empty() {
        return space.distances(from, slots, distances);
    }
    nodes.clear();
    nodes.extend(slots.iter().map(|slot| layer.node(*slot)));
    space.distances(from, nodes, distances);
}

/// Replaces the slots in the list by the `ef` nearest that a walk from them finds, as sorted keys. Returns the number of distances.
pub(super) fn nearest_many(space: &Space, layer: &Layer, from: Probe<'_>, ef: usize, scratch: &mut Scratch) -> usize {
    let Scratch { visited, list, fresh, nodes, distances, .. } = scratch;
    visited.begin(layer.len());
    list.iter().for_each(|key| {
        visited.insert(node_of(*key));
    });
    list.iter_mut().for_each(|key| *key &= !FOLLOWED);
    let (mut at, mut compared) = (0, list.len());
    while let Some(candidate) = list.get_mut(at) {
        if *candidate & FOLLOWED != 0 {
            at += 1;
            continue;
        }
        let slot = node_of(*candidate);
        *candidate |= FOLLOWED;
        fresh.clear();
        fresh.extend(layer.links(slot).iter().filter(|slot| visited.insert(**slot)));
        if let Some(next) = list.get(at + 1) {
            prefetch(&layer.block(node_of(*next))[0]);
        }
        distances_of(space, layer, from, fresh, nodes, distances);
        compared += fresh.len();
        let mut first = at + 1;
        for (slot, distance) in fresh.iter().zip(distances.iter()) {
            first = first.min(insert(list, key(*distance, *slot), ef));
        }
        at = first;
    }
    list.iter_mut().for_each(|key| *key &= !FOLLOWED);
    compared
}

/// Inserts a key into a sorted list of at most `ef`. Returns its place, or the end if it has none.
#[inline(always)]
pub(super) fn insert(list: &mut Vec<u64>, key: u64, ef: usize) -> usize {
    if list.len() >= ef {
        if list.last().is_none_or(|last| key >= *last) {
            return list.len();
        }
        list.pop();
    }
    let place = list.partition_point(|other| *other < key);
    list.insert(place, key);
    place
}
