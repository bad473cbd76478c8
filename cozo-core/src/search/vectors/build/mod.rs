//! Builds graphs: nodes are inserted in batches, on all threads, always with the same result.
//!
//! ```text
//! order     nodes by level from the highest, then by hash           a batch grows with the graph
//! batch     plan     every node walks the graph as it is, and chooses its links         all threads, nothing is written
//!           link     the nodes get their links
//!           answer   the slots they link to get links back, by slot; full blocks        all threads, each slot once
//!                    are chosen anew
//! ```
//!
//! Nodes of one batch do not see each other, so a batch is a small part of the graph (prefix doubling: Manohar and others,
//! "ParlayANN", 2024). The order has no pattern even if the caller's has: nodes that are close together come in different
//! batches. Upper layers are complete before the many nodes of layer 0 come.

mod keep;
mod reach;
mod select;

use std::cmp::Reverse;

use rayon::prelude::*;

use super::graph::{Graph, Layer, hash_of, level_of};
use super::options::GraphOptions;
use super::order::{key, node_of};
use super::scratch::Scratch;
use super::space::Space;
use super::thresholds::{INSERTED_PER_BATCHED, MIN_BATCHES, NODES_PER_TASK};
use super::walk::{descend, nearest_many};
use super::watch::Watch;
use crate::budget::{Stop, make_room};
use crate::sync::Mutex;
use crate::threads;
pub(super) use keep::{Kept, extend};
use reach::reach_all;
use select::select;

/// A graph to which nodes are added.
pub(super) struct Builder<'a> {
    space: &'a Space,
    options: GraphOptions,
    pub graph: Graph,
    /// The keys of the links of each layer: their distances, and the slots once more.
    keys: Vec<Vec<u64>>,
    watch: Watch,
    scratches: Mutex<Vec<Scratch>>,
}

/// The links of a node, as keys for each of its layers from the lowest up.
struct Plan {
    node: u32,
    links: Vec<Vec<u64>>,
}

/// A link to be answered: the slot that it leads to, and the key of the slot where it begins.
type Answer = (u32, u64);

/// Builds a graph of nodes. Fails if the thread's script must stop.
pub(super) fn build(space: &Space, options: GraphOptions, nodes: &[u32]) -> Result<Graph, Stop> {
    let mut order: Vec<(u32, usize)> = nodes.iter().map(|node| (*node, level_of(*node, options.m))).collect();
    sort_order(&mut order);
    let Some((first, top)) = order.first().copied() else { return Ok(Graph::default()) };
    let (m, mut layers) = (options.m, vec![Layer::lowest(space.len, 2 * options.m)]);
    for layer in 1..=top {
        let end = order.partition_point(|(_, level)| *level >= layer);
        let mut nodes: Vec<u32> = order[..end].iter().map(|(node, _)| *node).collect();
        nodes.sort_unstable();
        layers.push(Layer::upper(nodes, &layers[layer - 1], m));
    }
    let entry = layers[top].slot(first).unwrap_or(0);
    let mut builder = Builder::new(space, options, Graph { layers, entry })?;
    builder.insert(&order[1..], 1)?;
    Ok(builder.finish(nodes))
}

/// Sorts nodes with their levels into the order of insertion.
fn sort_order(order: &mut [(u32, usize)]) {
    order.sort_by_cached_key(|(node, level)| (Reverse(*level), hash_of(*node), *node));
}

impl<'a> Builder<'a> {
    /// A builder for a graph whose layers have all nodes that will be inserted.
    pub fn new(space: &'a Space, options: GraphOptions, graph: Graph) -> Result<Self, Stop> {
        threads::ready();
        let links: usize = graph.layers.iter().map(|layer| layer.links.len()).sum();
        make_room(links * (size_of::<u64>() + size_of::<u32>()))?;
        let keys = graph.layers.iter().map(|layer| vec![0; layer.links.len()]).collect();
        Ok(Builder { space, options, graph, keys, watch: Watch::current(), scratches: Mutex::default() })
    }

    /// Inserts nodes in their order. So many others are already in the graph.
    pub fn insert(&mut self, mut rest: &[(u32, usize)], mut inserted: usize) -> Result<(), Stop> {
        while !rest.is_empty() {
            let most = (self.space.len / MIN_BATCHES).max(1);
            let (batch, others) = rest.split_at((inserted / INSERTED_PER_BATCHED).clamp(1, most).min(rest.len()));
            let mut batch = batch.to_vec();
            batch.sort_unstable();
            self.insert_batch(&batch)?;
            (rest, inserted) = (others, inserted + batch.len());
        }
        Ok(())
    }

    /// The graph, in which a way leads to each of the nodes.
    pub fn finish(mut self, nodes: &[u32]) -> Graph {
        for layer in (0..self.graph.layers.len()).rev() {
            let (starts, layer_of) = (self.graph.starts(layer).to_vec(), &mut self.graph.layers[layer]);
            let all: Vec<u32> = (0..layer_of.len() as u32).collect();
            reach_all(layer_of, &starts, if layer == 0 { nodes } else { &all });
        }
        self.graph
    }

    fn insert_batch(&mut self, batch: &[(u32, usize)]) -> Result<(), Stop> {
        let plans = batch.par_chunks(NODES_PER_TASK).map(|nodes| {
            self.watch.check()?;
            let mut scratch = self.scratches.lock().pop().unwrap_or_default();
            let plans: Vec<Plan> = nodes.iter().map(|(node, level)| self.plan(*node, *level, &mut scratch)).collect();
            self.scratches.lock().push(scratch);
            Ok(plans)
        });
        let plans: Vec<Vec<Plan>> = plans.collect::<Result<_, Stop>>()?;
        let levels = batch.iter().map(|(_, level)| *level).max().unwrap_or(0);
        for layer in 0..=levels {
            let mut answers: Vec<Answer> = vec![];
            for plan in plans.iter().flatten().filter(|plan| plan.links.len() > layer) {
                let Some(slot) = self.graph.layers[layer].slot(plan.node) else { continue };
                self.set_links(layer, slot, &plan.links[layer]);
                let answer = |link: &u64| (node_of(*link), *link & !0xffff_ffff | u64::from(slot) << 1);
                answers.extend(plan.links[layer].iter().map(answer));
            }
            self.answer(layer, answers);
        }
        Ok(())
    }

    fn set_links(&mut self, layer: usize, slot: u32, links: &[u64]) {
        let layer_of = &mut self.graph.layers[layer];
        layer_of.set_links(slot, links.iter().map(|key| node_of(*key)));
        let start = slot as usize * layer_of.width;
        self.keys[layer][start..start + links.len()].copy_from_slice(links);
    }

    /// Finds the links of a node on its layers.
    fn plan(&self, node: u32, level: usize, scratch: &mut Scratch) -> Plan {
        let from = self.space.probe(node);
        let entry = descend(self.space, &self.graph, from, level, scratch);
        let at = self.graph.layers[level].node(entry);
        scratch.list.clear();
        scratch.list.push(key(self.space.distance(from, at), entry));
        let mut links = vec![vec![]; level + 1];
        for layer in (0..=level).rev() {
            let layer_of = &self.graph.layers[layer];
            nearest_many(self.space, layer_of, from, self.options.ef_construction, scratch);
            if self.options.extend_candidates {
                self.extend(layer_of, node, scratch);
            }
            links[layer] = self.select(layer_of, &scratch.list, self.options.m);
            for key in scratch.list.iter_mut().filter(|_| layer > 0) {
                *key = *key & !0xffff_ffff | u64::from(layer_of.down[node_of(*key) as usize]) << 1;
            }
        }
        Plan { node, links }
    }

    /// Adds the links of all candidates to the candidates.
    fn extend(&self, layer: &Layer, node: u32, scratch: &mut Scratch) {
        let from = self.space.probe(node);
        let known = scratch.list.len();
        // The walk has seen all of them, and kept the nearest.
        scratch.visited.begin(layer.len());
        (0..known).for_each(|i| {
            scratch.visited.insert(node_of(scratch.list[i]));
        });
        for i in 0..known {
            for slot in layer.links(node_of(scratch.list[i])) {
                if scratch.visited.insert(*slot) {
                    scratch.list.push(key(self.space.distance(from, layer.node(*slot)), *slot));
                }
            }
        }
        scratch.list.sort_unstable();
    }

    /// Links the slots that new links lead to back to where these begin.
    fn answer(&mut self, layer: usize, mut answers: Vec<Answer>) {
        answers.par_sort_unstable();
        let groups: Vec<&[Answer]> = answers.chunk_by(|a, b| a.0 == b.0).collect();
        let groups_to_merge = groups.par_iter().with_min_len(NODES_PER_TASK);
        let links: Vec<Vec<u64>> = groups_to_merge.map(|group| self.merged(layer, group)).collect();
        for (group, links) in groups.iter().zip(&links) {
            self.set_links(layer, group[0].0, links);
        }
    }

    /// The links of a slot with those of a group of answers, or the best of them if they are too many.
    fn merged(&self, layer: usize, group: &[Answer]) -> Vec<u64> {
        let (slot, layer_of) = (group[0].0, &self.graph.layers[layer]);
        let (width, start) = (layer_of.width, slot as usize * layer_of.width);
        let old = &self.keys[layer][start..start + layer_of.links(slot).len()];
        let mut links: Vec<u64> = old.iter().copied().chain(group.iter().map(|(_, key)| *key)).collect();
        links.sort_unstable();
        self.select(layer_of, &links, width)
    }

    fn select(&self, layer: &Layer, candidates: &[u64], limit: usize) -> Vec<u64> {
        select(self.space, layer, candidates, limit, self.options.keep_pruned_connections)
    }
}
