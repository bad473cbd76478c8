//! What a graph looks like, node by node, whether it is whole, and whether it has the right vectors.

use std::fmt::{self, Display, Formatter};

use fixedbitset::FixedBitSet;

use super::codes::{FACTOR_BYTES, factors};
use super::graph::Layer;
use super::index::VectorIndex;
use super::metric::Metric;
use super::space::Probe;
use super::thresholds::LENGTH_ROUNDING;

/// A link, or a missing one, that no graph should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenLink {
    /// The layer, 0 for the lowest.
    pub layer: usize,
    /// The node where the link begins.
    pub from: u32,
    /// The node that it leads to; the same node if the link is missing.
    pub to: u32,
    /// What is wrong.
    pub fault: LinkFault,
}

/// What is wrong with a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkFault {
    /// There is no such node.
    OutOfRange,
    /// The node is not in the graph, so that no link leads on.
    WrongNode,
    /// The node is where the link begins, or has another link from there.
    Doubled,
    /// No way leads to the node.
    Unreachable,
}

/// `no way leads to node 7 of layer 1`
impl Display for BrokenLink {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let BrokenLink { layer, from, to, fault } = self;
        match fault {
            LinkFault::OutOfRange => {
                write!(f, "node {from} of layer {layer} has a link to node {to}, which is not there")
            }
            LinkFault::WrongNode => write!(f, "node {from} of layer {layer} has a link to node {to}, which has none"),
            LinkFault::Doubled => {
                write!(f, "node {from} of layer {layer} has two links to node {to}, or one to itself")
            }
            LinkFault::Unreachable => write!(f, "no way leads to node {from} of layer {layer}"),
        }
    }
}

impl VectorIndex {
    /// The number of links that a node has on the upper layers.
    pub fn max_links(&self) -> usize {
        self.options.m
    }

    /// The number of layers of the graph, 0 if there is none.
    pub fn layers(&self) -> usize {
        self.graph.layers.len()
    }

    /// The highest layer of a node.
    pub fn level(&self, node: u32) -> usize {
        self.graph.level(node)
    }

    /// The nodes of a layer, in ascending order.
    pub fn nodes(&self, layer: usize) -> impl Iterator<Item = u32> {
        let layer = self.graph.layers.get(layer);
        layer.into_iter().flat_map(|layer| (0..layer.len() as u32).map(|slot| layer.node(slot)))
    }

    /// The number of links of a node on the lowest layer. Nodes behind an equal one ([`VectorIndex::twins`]) have none.
    pub fn degree(&self, node: u32) -> usize {
        self.slot(0, node).map_or(0, |(layer, slot)| layer.links(slot).len())
    }

    /// The links of a node on a layer, with the distances as the index measures them.
    pub fn links(&self, layer: usize, node: u32) -> impl Iterator<Item = (u32, f64)> {
        let links = self.slot(layer, node).into_iter();
        links.flat_map(move |(layer, slot)| {
            let nodes = layer.links(slot).iter().map(|slot| layer.node(*slot));
            nodes.map(move |to| (to, self.space.exact(self.space.probe(node), to)))
        })
    }

    /// The nodes that stand in the graph for others with equal vectors, with these.
    pub fn twins(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.twins.heads.iter().map(|head| (*head, self.twins.members(*head)))
    }

    fn slot(&self, layer: usize, node: u32) -> Option<(&Layer, u32)> {
        let layer = self.graph.layers.get(layer)?;
        layer.slot(node).map(|slot| (layer, slot))
    }

    /// The links that are wrong or missing; none in an index that was built, merged, or read from undamaged bytes.
    pub fn verify(&self) -> Vec<BrokenLink> {
        let mut broken = vec![];
        let in_graph = self.in_graph();
        for (number, layer) in self.graph.layers.iter().enumerate() {
            for slot in 0..layer.len() as u32 {
                let from = layer.node(slot);
                for (i, link) in layer.links(slot).iter().enumerate() {
                    let to = if *link < layer.len() as u32 { layer.node(*link) } else { *link };
                    let fault = match () {
                        () if *link >= layer.len() as u32 => LinkFault::OutOfRange,
                        () if !in_graph.contains(to as usize) => LinkFault::WrongNode,
                        () if *link == slot || layer.links(slot)[..i].contains(link) => LinkFault::Doubled,
                        () => continue,
                    };
                    broken.push(BrokenLink { layer: number, from, to, fault });
                }
            }
        }
        if broken.is_empty() {
            for layer in 0..self.layers() {
                let missing = self.unreachable(layer, &in_graph).into_iter();
                broken.extend(missing.map(|node| BrokenLink {
                    layer,
                    from: node,
                    to: node,
                    fault: LinkFault::Unreachable,
                }));
            }
        }
        broken
    }

    /// Whether a node has the vector that a node of another index has, of the same metric, dimension and precision. If this index has codes, it
    /// has those of the vector.
    pub fn has_vector_of(&self, node: u32, other: &VectorIndex, of: u32) -> bool {
        let row = self.space.probe(node);
        let mut wanted_codes = vec![];
        let (wanted, step) = match row {
            Probe::Codes(codes) => {
                wanted_codes.resize(codes.len(), 0);
                other.space.codes(of, &mut wanted_codes);
                (Probe::Codes(&wanted_codes), f64::from(factors(codes).0))
            }
            _ => (other.space.probe(of), 0.0),
        };
        let is_divided = self.options.metric == Metric::Cosine;
        // Elements that were divided by the length of the vector are rounded, and may become the next code.
        let is_near = |(a, b): (&f64, &f64)| {
            a == b
                || (a.is_nan() && b.is_nan())
                || (is_divided && (a - b).abs() <= LENGTH_ROUNDING * (a.abs() + step) + step)
        };
        elements(row).iter().zip(&elements(wanted)).all(is_near)
    }

    /// The nodes that belong into the graph.
    fn in_graph(&self) -> FixedBitSet {
        let mut nodes = FixedBitSet::with_capacity(self.len());
        if self.has_graph() {
            let finite = |node: &usize| self.space.extent(*node as u32) == super::space::Extent::Finite;
            nodes.extend((0..self.len()).filter(finite));
            self.twins.members.iter().for_each(|member| nodes.set(*member as usize, false));
        }
        nodes
    }

    /// The nodes of a layer that no way leads to from those of the layer above.
    fn unreachable(&self, layer: usize, in_graph: &FixedBitSet) -> Vec<u32> {
        let layer_of = &self.graph.layers[layer];
        let reached = layer_of.reachable(self.graph.starts(layer));
        let missing = (0..layer_of.len() as u32).filter(|slot| !reached.contains(*slot as usize));
        missing.map(|slot| layer_of.node(slot)).filter(|node| in_graph.contains(*node as usize)).collect()
    }
}

/// The elements of a row, or what its codes stand for.
fn elements(row: Probe<'_>) -> Vec<f64> {
    match row {
        Probe::F32(row) => row.iter().copied().map(f64::from).collect(),
        Probe::F64(row) => row.to_vec(),
        Probe::Codes(row) => {
            let (codes, scale) = (&row[..row.len() - FACTOR_BYTES], f64::from(factors(row).0));
            codes.iter().map(|code| scale * f64::from(code.cast_signed())).collect()
        }
    }
}
