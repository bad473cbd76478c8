//! A graph that goes on with other numbers, without some of its nodes, and with others.
//!
//! ```text
//! old     p -> x -> a        p -> x -> b        x is dropped
//! new     p -> a, b          what x and a led to are candidates to take the place of x
//! ```
//!
//! Links that remain stay (unlike those of FreshDiskANN, Singh and others, 2021, which are chosen anew: these find less).

use rayon::prelude::*;

use super::super::graph::{Graph, Layer, NONE, level_of};
use super::super::options::GraphOptions;
use super::super::order::key;
use super::super::space::{Probe, Space};
use super::super::thresholds::SLOTS_PER_CHECK;
use super::super::walk::distances_of;
use super::select::add_diverse;
use super::{Builder, build, sort_order};
use crate::budget::Stop;

/// A graph to be kept.
#[derive(Clone, Copy)]
pub(in super::super) struct Kept<'a> {
    pub graph: &'a Graph,
    /// The new number of each of its nodes, or `NONE`.
    pub moved: &'a [u32],
}

/// A graph of kept nodes and others, which are together all `nodes`. Fails if the thread's script must stop.
pub(in super::super) fn extend(
    space: &Space,
    options: GraphOptions,
    old: Kept<'_>,
    others: &[u32],
    nodes: &[u32],
) -> Result<Graph, Stop> {
    let kept: Vec<Vec<u32>> = old.graph.layers.iter().map(|layer| old.kept_nodes(layer)).collect();
    let layers = kept.iter().position(Vec::is_empty).unwrap_or(kept.len());
    if layers == 0 {
        return build(space, options, nodes);
    }
    let mut order: Vec<(u32, usize)> =
        others.iter().map(|node| (*node, level_of(*node, options.m).min(layers - 1))).collect();
    sort_order(&mut order);
    let mut graph = Graph { layers: vec![Layer::lowest(space.len, 2 * options.m)], entry: 0 };
    for (number, kept) in kept[..layers].iter().enumerate().skip(1) {
        let new = order.iter().filter(|(_, level)| *level >= number).map(|(node, _)| *node);
        let mut nodes: Vec<u32> = kept.iter().copied().chain(new).collect();
        nodes.sort_unstable();
        let layer = Layer::upper(nodes, &graph.layers[number - 1], options.m);
        graph.layers.push(layer);
    }
    // A walk begins at a node that has links.
    let top = &graph.layers[layers - 1];
    let entry = old
        .graph
        .layers
        .get(layers - 1)
        .map_or(NONE, |layer| old.moved[layer.node(old.graph.entry.min(layer.len() as u32 - 1)) as usize]);
    graph.entry = top.slot(entry).or_else(|| top.slot(kept[layers - 1][0])).unwrap_or(0);
    let mut builder = Builder::new(space, options, graph)?;
    for layer in 0..layers {
        builder.keep_links(layer, old)?;
    }
    builder.insert(&order, kept[0].len())?;
    Ok(builder.finish(nodes))
}

impl Kept<'_> {
    /// The new numbers of the nodes of a layer that remain.
    fn kept_nodes(self, layer: &Layer) -> Vec<u32> {
        let moved = (0..layer.len() as u32).map(|slot| self.moved[layer.node(slot) as usize]);
        moved.filter(|node| *node != NONE).collect()
    }

    /// The new slot of each old slot of a layer, or `NONE`.
    fn moved_slots(self, old: &Layer, new: &Layer) -> Vec<u32> {
        let moved = (0..old.len() as u32).map(|slot| self.moved[old.node(slot) as usize]);
        moved.map(|node| if node == NONE { NONE } else { new.slot(node).unwrap_or(NONE) }).collect()
    }
}

impl Builder<'_> {
    /// Takes over the links of a layer.
    fn keep_links(&mut self, layer: usize, old: Kept<'_>) -> Result<(), Stop> {
        let old_layer = &old.graph.layers[layer];
        let moved = old.moved_slots(old_layer, &self.graph.layers[layer]);
        let slots: Vec<u32> = (0..old_layer.len() as u32).filter(|slot| moved[*slot as usize] != NONE).collect();
        for slots in slots.chunks(SLOTS_PER_CHECK) {
            self.watch.check()?;
            let links: Vec<Vec<u64>> =
                slots.par_iter().map(|slot| self.kept_links(layer, old_layer, *slot, &moved)).collect();
            for (slot, links) in slots.iter().zip(&links) {
                self.set_links(layer, moved[*slot as usize], links);
            }
        }
        Ok(())
    }

    /// The links of an old slot that remain. In place of the others come the best of what all of its links led to: first those into
    /// directions that no link has, then the nearest.
    fn kept_links(&self, layer: usize, old: &Layer, slot: u32, moved: &[u32]) -> Vec<u64> {
        let layer_of = &self.graph.layers[layer];
        let new = |slot: &u32| Some(moved[*slot as usize]).filter(|slot| *slot != NONE);
        let from = self.space.probe(layer_of.node(moved[slot as usize]));
        let links = old.links(slot);
        let mut kept = self.keys_of(layer_of, from, links.iter().filter_map(new));
        if kept.len() == links.len() {
            return kept;
        }
        let around = links.iter().flat_map(|link| old.links(*link)).filter(|link| **link != slot);
        let mut candidates = self.keys_of(layer_of, from, around.filter_map(new));
        candidates.retain(|key| kept.binary_search(key).is_err());
        let rest = add_diverse(self.space, layer_of, &candidates, layer_of.width, &mut kept);
        let missing = links.len().saturating_sub(kept.len());
        kept.extend(rest.into_iter().take(missing));
        kept.sort_unstable();
        kept
    }

    /// Slots with their distances from a vector, sorted, each once.
    fn keys_of(&self, layer: &Layer, from: Probe<'_>, slots: impl Iterator<Item = u32>) -> Vec<u64> {
        let mut slots: Vec<u32> = slots.collect();
        slots.sort_unstable();
        slots.dedup();
        let (mut nodes, mut distances) = (vec![], vec![]);
        distances_of(self.space, layer, from, &slots, &mut nodes, &mut distances);
        let mut keys: Vec<u64> = slots.iter().zip(distances).map(|(slot, distance)| key(distance, *slot)).collect();
        keys.sort_unstable();
        keys
    }
}
