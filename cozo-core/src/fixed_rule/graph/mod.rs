//! Graphs: edges between numbered nodes, and adjacency in compressed rows.
//!
//! [`Input::edges`] numbers the nodes of a relation of edges in ascending order of their values. [`Edges::graph`] builds the
//! adjacency. Algorithms work on numbers, and convert them to values at the end: `nodes.values().take(&found)`. The numbers
//! follow from the values alone. So the treatment of ties by an algorithm does not depend on the order of the rows.
//!
//! | module | what |
//! |---|---|
//! | `nodes` | the values of nodes by number, and the number of a value |
//! | `dense_ids` | numbering integers from a small range, by a bit set |
//! | `hashed` | numbering any values, by hash tables |
//! | `adjacency` | compressed sparse rows, and their transformations |
//! | `edge_list` | lists of edges, and building adjacency of them in parallel |
//! | `graph_cache` | graphs of stored relations, cached from one query to the next |
//! | `stored_graph` | the graph of a stored relation for the algorithms of crate `petgraph` (feature `petgraph`) |

mod adjacency;
mod dense_ids;
mod edge_list;
mod graph_cache;
mod hashed;
mod nodes;
#[cfg(feature = "petgraph")]
mod stored_graph;
#[cfg(test)]
mod tests;

pub use adjacency::{Direction, Graph};
pub use graph_cache::{GraphCache, Origin};
pub use nodes::{NO_NODE, Nodes};
#[cfg(feature = "petgraph")]
pub use stored_graph::{EdgeReference, EdgeReferences, Neighbors, NodeEdges, StoredGraph};

use std::sync::{Arc, OnceLock};

use edge_list::{Listed, Sources, starts_of_sorted};
use graph_cache::Made;
use rayon::prelude::*;

use super::{FixedRuleError, Input, Poison};
use crate::threads;
use crate::value::{Column, Primitive};

/// The number of values processed between two checks of the poison.
const VALUES_PER_CHECK: usize = 1 << 16;

/// The approximate memory for each edge while a graph is built: both ends, the weight, the adjacency, and the values of nodes.
const BYTES_PER_EDGE: usize = 40;

/// The memory of both ends of an edge between integers.
const BYTES_OF_ENDS: usize = 8;

/// The memory of an edge in an adjacency.
const BYTES_IN_ADJACENCY: usize = 4;

/// Runs work of many short parallel steps on a thread of the pool. Then the other threads need not be woken for each step, nor this
/// one parked. A long sequential part should not run there, since it keeps the thread from the work of other queries.
pub fn among_threads<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::join(work, || ()).0
}

/// The valid weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// Any finite number.
    Finite,
    /// Finite numbers of at least 0.
    NonNegative,
}

/// Edges between numbered nodes.
#[derive(Debug)]
pub struct Edges {
    /// The nodes.
    pub nodes: Nodes,
    /// The number of edges.
    len: usize,
    /// See [`Edges::from`]; none for cached edges, which derive it.
    from: Option<Arc<Vec<u32>>>,
    /// See [`Edges::to`].
    to: OnceLock<Arc<Vec<u32>>>,
    /// The weight of each edge, if weights were requested and the relation has them. Otherwise each is 1.
    pub weights: Option<Arc<Vec<f64>>>,
    /// The derived data of cached edges, which are sorted.
    made: Option<Arc<Made>>,
    /// Whether adjacencies are made without copies of the edges, which takes longer.
    is_sparing: bool,
}

impl Input<'_> {
    /// The input as edges: its first two columns, and the third as weights if they are requested.
    pub fn edges(&self, weights: Option<Weights>, poison: &Poison) -> Result<Edges, FixedRuleError> {
        self.edges_for(None, weights, poison)
    }

    /// [`Input::edges`] of which one adjacency is made, in this direction. If memory is short, they take no more than it needs.
    pub fn edges_for(
        &self,
        adjacency: Option<Direction>,
        weights: Option<Weights>,
        poison: &Poison,
    ) -> Result<Edges, FixedRuleError> {
        if self.arity < 2 {
            return Err(FixedRuleError::NotAnEdge { found: self.arity, span: self.span });
        }
        // Building graphs and most algorithms work in parallel.
        threads::ready();
        let allowed = weights.filter(|_| self.arity > 2);
        let read = || self.read_edges(adjacency, allowed, poison);
        let Some((kept, relation, contents)) = self.kept() else { return read() };
        let origin = Origin { relation, contents, weights: allowed };
        match kept.find(&origin) {
            Some(edges) => Ok(edges),
            None => Ok(kept.keep(origin, read()?)),
        }
    }

    fn read_edges(
        &self,
        adjacency: Option<Direction>,
        allowed: Option<Weights>,
        poison: &Poison,
    ) -> Result<Edges, FixedRuleError> {
        let (rows, usual) = (self.most_rows(), self.most_rows().saturating_mul(BYTES_PER_EDGE));
        // Weights take most of the memory, so that to spare the rest does not help.
        let least = adjacency.filter(|_| allowed.is_none() && !poison.has_room(usual)).map(|direction| {
            let copies = if direction == Direction::Both { 2 } else { 1 };
            rows.saturating_mul(BYTES_OF_ENDS + copies * BYTES_IN_ADJACENCY)
        });
        poison.make_room(least.unwrap_or(usual))?;
        let columns: &[usize] = if allowed.is_some() { &[0, 1, 2] } else { &[0, 1] };
        let weigh = |column: Option<&Column>| match (column, allowed) {
            (Some(column), Some(allowed)) => self.weights(column, allowed).map(Some),
            _ => Ok(None),
        };
        if let Some(near) = dense_ids::read(self, columns, poison)? {
            let weights = weigh(near.weights.as_ref())?;
            if let Some((nodes, from, to)) = among_threads(|| near.number(poison))? {
                return Ok(Edges { is_sparing: least.is_some(), ..Edges::new(nodes, from, to, weights) });
            }
        }
        poison.make_room(usual - least.unwrap_or(usual))?;
        let columns = self.columns(columns, poison)?;
        let weights = weigh(columns.get(2).map(|column| &**column))?;
        let numbered = hashed::number([&columns[0], &columns[1]], poison)?;
        let (nodes, [from, to]) = numbered.ok_or_else(|| self.too_many_nodes())?;
        Ok(Edges::new(nodes, from, to, weights))
    }

    /// The error for more nodes than numbers.
    pub fn too_many_nodes(&self) -> FixedRuleError {
        FixedRuleError::GraphTooLarge { what: "nodes", limit: u32::MAX.into(), span: self.span }
    }

    fn weights(&self, column: &Column, allowed: Weights) -> Result<Vec<f64>, FixedRuleError> {
        let fits = |weight: f64| weight.is_finite() && (allowed == Weights::Finite || weight >= 0.0);
        let weights: Vec<f64> = match column {
            Column::Float(Primitive { values, nulls: None }) => values.clone(),
            Column::Int(Primitive { values, nulls: None }) => values.iter().map(|int| *int as f64).collect(),
            // A value that is not a number becomes NaN, which is not valid.
            other => other.iter().map(|value| value.get_float().unwrap_or(f64::NAN)).collect(),
        };
        let Some(bad) = weights.iter().position(|weight| !fits(*weight)) else { return Ok(weights) };
        let expected = match allowed {
            Weights::Finite => "a finite number",
            Weights::NonNegative => "a finite number of at least 0",
        };
        Err(FixedRuleError::EdgeWeight { weight: column.get(bad).to_string(), expected, span: self.span })
    }
}

impl Edges {
    fn new(nodes: Nodes, from: Vec<u32>, to: Vec<u32>, weights: Option<Vec<f64>>) -> Self {
        let len = to.len();
        let (from, to) = (Some(from.into()), Arc::new(to).into());
        Edges { nodes, len, from, to, weights: weights.map(Into::into), made: None, is_sparing: false }
    }

    /// The source of each edge.
    pub fn from(&self) -> &[u32] {
        match (&self.from, &self.made) {
            (Some(from), _) => from,
            (None, Some(made)) => made.sources(),
            (None, None) => unreachable!("edges that are not kept have both ends"),
        }
    }

    /// The target of each edge.
    pub fn to(&self) -> &[u32] {
        if self.to.get().is_none() {
            // Computed outside of the `OnceLock`, since threads that share the work must not wait for one another.
            let targets = self.graph(Direction::Out).shared_targets();
            let _ = self.to.set(targets);
        }
        self.to.get().expect("it was there or was just made")
    }

    /// The first edge of each node, and the end, for cached edges.
    pub fn starts(&self) -> Option<&[usize]> {
        self.made.as_ref().map(|made| made.starts().as_slice())
    }

    /// The approximate size, with all derived data.
    fn memory_bytes(&self) -> usize {
        let weights = self.weights.as_ref().map_or(0, |weights| weights.len());
        let made = self.made.as_ref().map_or(0, |made| made.memory_bytes());
        let ends = usize::from(self.from.is_some()) + usize::from(self.to.get().is_some());
        8 * (self.nodes.len() + weights) + 4 * ends * self.len() + made
    }

    /// The number of edges.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The edges in ascending order, by from, to and weight. Then sums and ties do not depend on the order of the rows. The edges of
    /// a stored relation are in that order already.
    pub fn sorted(self) -> Self {
        if self.made.is_some() {
            return self;
        }
        let ascend = |start: usize| {
            let edges = start..(start + VALUES_PER_CHECK + 1).min(self.len());
            let pairs = self.from()[edges.clone()].iter().zip(&self.to()[edges]);
            pairs.map(|(from, to)| u64::from(*from) << 32 | u64::from(*to)).is_sorted()
        };
        if (0..self.len()).into_par_iter().step_by(VALUES_PER_CHECK).all(ascend) {
            return self;
        }
        let mut graph = self.graph(Direction::Out);
        graph.sort_neighbors();
        let (from, to, weights) = graph.into_edges();
        Edges { is_sparing: self.is_sparing, ..Edges::new(self.nodes, from, to, weights) }
    }

    /// The adjacency: the edges of each node in a direction, in the order of the relation.
    pub fn graph(&self, direction: Direction) -> Graph {
        let nodes = self.nodes.len();
        let Some(made) = &self.made else {
            let weights = self.weights.as_ref().map(|weights| weights.as_slice());
            let listed = Listed { from: Sources::Each(self.from()), to: self.to(), weights };
            return match self.is_sparing {
                true => Graph::of_listed_one_by_one(nodes, &listed, direction),
                false => Graph::of_listed(nodes, &listed, direction),
            };
        };
        let make = || {
            let targets = self.to.get().cloned().unwrap_or_else(|| made.targets());
            let out = Graph::of_sorted(nodes, made.starts(), targets, self.weights.clone());
            if direction == Direction::Out { out } else { out.turned(direction) }
        };
        // Nodes without edges change the adjacency, which is then not cached.
        if self.nodes.all_have_edges() { made.graph(direction, make) } else { make() }
    }

    /// The nodes, and the adjacency of the sorted edges.
    pub fn into_graph(self, direction: Direction) -> (Nodes, Graph) {
        let edges = self.sorted();
        if direction != Direction::Out || edges.made.is_some() {
            let graph = edges.graph(direction);
            return (edges.nodes, graph);
        }
        let starts = starts_of_sorted(edges.nodes.len(), edges.from());
        let targets = edges.to.into_inner().expect("edges that are not kept have both ends");
        (edges.nodes, Graph::of_sorted(starts.len() - 1, &starts.into(), targets, edges.weights))
    }
}
