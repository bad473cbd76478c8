//! The layers of a graph: which nodes each has, and the links between them.
//!
//! HNSW (Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable Small World
//! graphs", 2018): every node is on layer 0, and each layer has about one in `m` of the nodes of the layer below.
//!
//! ```text
//! layer 2      s0                      nodes  [3]          down [0]           slots of layer 1
//! layer 1      s0 -- s1 ---- s2        nodes  [3, 40, 77]  down [3, 40, 77]   slots of layer 0, which are the nodes
//! layer 0      every node              links  a block of 2m for each slot, of the slots that it leads to, then NONE
//! ```
//!
//! A walk goes from slot to slot, so an upper layer needs no table of all nodes. A node that stands for equal vectors
//! ([`twins`](super::twins)) has their links; nodes that no walk can find have none.

use fixedbitset::FixedBitSet;

/// No slot: the rest of a block of links.
pub(super) const NONE: u32 = u32::MAX;

/// One layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Layer {
    /// The node of each slot, in ascending order. Empty on layer 0, where slots are nodes.
    pub nodes: Vec<u32>,
    /// The slot of the same node on the layer below. Empty on layer 0.
    pub down: Vec<u32>,
    /// The length of a block of links.
    pub width: usize,
    /// A block of links for each slot.
    pub links: Vec<u32>,
}

/// The layers, from the lowest up. Without any there is no graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Graph {
    pub layers: Vec<Layer>,
    /// The slot on the highest layer where walks begin.
    pub entry: u32,
}

impl Layer {
    /// Layer 0 of so many nodes, without links.
    pub fn lowest(nodes: usize, width: usize) -> Layer {
        Layer { nodes: vec![], down: vec![], width, links: vec![NONE; nodes * width] }
    }

    /// An upper layer of these nodes, which are in ascending order and all on the layer below, without links.
    pub fn upper(nodes: Vec<u32>, below: &Layer, width: usize) -> Layer {
        let down = nodes.iter().map(|node| below.slot(*node).unwrap_or(NONE)).collect();
        Layer { links: vec![NONE; nodes.len() * width], nodes, down, width }
    }

    /// The number of slots.
    pub fn len(&self) -> usize {
        self.links.len() / self.width
    }

    /// The slots that a slot leads to.
    #[inline(always)]
    pub fn links(&self, slot: u32) -> &[u32] {
        let block = self.block(slot);
        let len = block.iter().position(|slot| *slot == NONE).unwrap_or(block.len());
        &block[..len]
    }

    /// The links of a slot, with `NONE` at the end if there are fewer than fit.
    #[inline(always)]
    pub fn block(&self, slot: u32) -> &[u32] {
        let start = slot as usize * self.width;
        &self.links[start..start + self.width]
    }

    /// Sets the links of a slot; as many as fit.
    pub fn set_links(&mut self, slot: u32, links: impl Iterator<Item = u32>) {
        let start = slot as usize * self.width;
        let links = links.chain(std::iter::repeat(NONE));
        self.links[start..start + self.width].iter_mut().zip(links).for_each(|(place, link)| *place = link);
    }

    /// The node of a slot.
    #[inline(always)]
    pub fn node(&self, slot: u32) -> u32 {
        if self.nodes.is_empty() { slot } else { self.nodes[slot as usize] }
    }

    /// The slot of a node that is on this layer.
    pub fn slot(&self, node: u32) -> Option<u32> {
        match self.nodes.is_empty() {
            true => ((node as usize) < self.len()).then_some(node),
            false => self.nodes.binary_search(&node).ok().map(|slot| slot as u32),
        }
    }

    /// Sets one link of a slot.
    pub fn set_link(&mut self, slot: u32, place: usize, link: u32) {
        self.links[slot as usize * self.width + place] = link;
    }

    /// The slots that links lead to from some slots, and these.
    pub fn reachable(&self, starts: &[u32]) -> FixedBitSet {
        let mut reached = FixedBitSet::with_capacity(self.len());
        starts.iter().for_each(|slot| self.reach_further(*slot, &mut reached));
        reached
    }

    /// Adds the slots that links lead to from one more slot.
    pub fn reach_further(&self, start: u32, reached: &mut FixedBitSet) {
        let mut rest = vec![start];
        reached.insert(start as usize);
        while let Some(slot) = rest.pop() {
            rest.extend(self.links(slot).iter().copied().filter(|slot| !reached.put(*slot as usize)));
        }
    }

    /// The memory of the layer, in bytes.
    pub fn memory_bytes(&self) -> usize {
        (self.nodes.capacity() + self.down.capacity() + self.links.capacity()) * size_of::<u32>()
    }
}

impl Graph {
    /// The highest layer that a node is on.
    pub fn level(&self, node: u32) -> usize {
        self.layers.iter().rposition(|layer| layer.slot(node).is_some()).unwrap_or(0)
    }

    /// The slots of a layer where walks begin: those of the layer above.
    pub fn starts(&self, layer: usize) -> &[u32] {
        self.layers.get(layer + 1).map_or(std::slice::from_ref(&self.entry), |above| &above.down)
    }

    /// The memory of all layers, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.layers.iter().map(Layer::memory_bytes).sum()
    }
}

/// A number without pattern, always the same for the same node.
pub(super) fn hash_of(node: u32) -> u64 {
    // The finalizer of SplitMix64.
    let mut x = u64::from(node).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The highest layer of a node in a graph with `m` links on upper layers: layer `l` or higher with probability `m` to the power of
/// `-l`.
pub(super) fn level_of(node: u32, m: usize) -> usize {
    let uniform = ((hash_of(node) >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    let level = -uniform.ln() / (m.max(2) as f64).ln();
    (level as usize).min(super::thresholds::MAX_LAYERS - 1)
}
