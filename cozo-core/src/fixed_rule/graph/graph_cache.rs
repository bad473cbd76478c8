//! The graph cache: graphs of stored relations, from one query to the next.
//!
//! An entry is valid for the contents that the relation had. Its [`Origin`] has their
//! [identity](crate::storage::ContentVersion), which changes with every change of rows. Graphs share their arrays with the cache,
//! and copy what they change.
//!
//! Cached edges are sorted, so most of their data can be derived: sources from `starts`, and targets from an adjacency. Derived
//! data is made on first use, and [`GraphCache::keep_within_budget`] drops data that another array repeats.

use std::sync::{Arc, OnceLock};

use super::edge_list::{sources, starts_of_sorted};
use super::{Direction, Edges, Graph, Weights};
use crate::schema::RelationId;
use crate::storage::{CachedValue, ContentCache, ContentVersion};

/// The key of cached edges: the rows that they are made of, and the weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Origin {
    /// The relation.
    pub relation: RelationId,
    /// The identity of its rows.
    pub contents: ContentVersion,
    /// The requested weights.
    pub weights: Option<Weights>,
}

/// The cached graphs of a database, by their weights.
pub struct GraphCache {
    edges: ContentCache<Option<Weights>, Edges>,
}

impl CachedValue for Edges {
    fn memory_bytes(&self) -> usize {
        Edges::memory_bytes(self)
    }
}

/// The derived data of cached edges.
#[derive(Debug)]
pub struct Made {
    /// The first edge of each node, and the end.
    starts: Arc<Vec<usize>>,
    /// The source of each edge, once it was requested.
    sources: OnceLock<Vec<u32>>,
    /// The adjacency by direction.
    graphs: [OnceLock<Graph>; 3],
}

impl GraphCache {
    /// An empty cache with a memory budget.
    pub fn new(budget_bytes: usize) -> Self {
        GraphCache { edges: ContentCache::new(budget_bytes) }
    }

    /// The edges of an origin, if they are cached.
    pub fn find(&self, origin: &Origin) -> Option<Edges> {
        self.edges.with((origin.relation, origin.contents), &origin.weights, |edges| edges.sharing())
    }

    /// Caches edges. They replace those of other contents of the same relation.
    pub fn keep(&self, origin: Origin, edges: Edges) -> Edges {
        if edges.memory_bytes() > self.edges.budget_bytes() {
            return edges;
        }
        let edges = edges.sorted().kept();
        self.edges.drop_others((origin.relation, origin.contents));
        self.edges.put((origin.relation, origin.contents), origin.weights, edges.sharing());
        edges
    }

    /// Drops data that can be derived quickly, and then the least recently used entries, until the rest is within the budget.
    pub fn keep_within_budget(&self) {
        self.edges.keep_within_budget(Edges::give_up_ends);
    }
}

impl Edges {
    /// The same edges, which share everything.
    fn sharing(&self) -> Self {
        let Edges { nodes, len, from, to, weights, made, is_sparing } = self;
        let (nodes, from, to) = (nodes.clone(), from.clone(), to.clone());
        Edges { nodes, len: *len, from, to, weights: weights.clone(), made: made.clone(), is_sparing: *is_sparing }
    }

    /// Converts sorted edges for the cache. They have no sources until these are requested, since sources take as much memory as
    /// targets and follow from `starts`.
    fn kept(self) -> Self {
        let starts = starts_of_sorted(self.nodes.len(), self.from()).into();
        let made = Made { starts, sources: OnceLock::new(), graphs: Default::default() };
        Edges { from: None, made: Some(Arc::new(made)), ..self }
    }

    /// Drops the targets if they can be derived from an adjacency: the out-adjacency has them, and for edges without weights they can be
    /// rebuilt from the in-adjacency.
    fn give_up_ends(&mut self) {
        let Some(made) = &self.made else { return };
        let follows = self.weights.is_none() && made.get(Direction::In).is_some();
        if follows || made.get(Direction::Out).is_some() {
            self.to = OnceLock::new();
        }
    }
}

impl Made {
    /// The first edge of each node, and the end.
    pub fn starts(&self) -> &Arc<Vec<usize>> {
        &self.starts
    }

    /// The source of each edge.
    pub fn sources(&self) -> &[u32] {
        self.sources.get_or_init(|| sources(&self.starts, 0..self.starts[self.starts.len() - 1]))
    }

    /// The target of each edge, after the edges have dropped them.
    pub fn targets(&self) -> Arc<Vec<u32>> {
        let of_turned = || self.get(Direction::In).map(|turned| turned.turned(Direction::In));
        let out = self.get(Direction::Out).cloned().or_else(of_turned);
        out.expect("forgotten where an adjacency has it alone").shared_targets()
    }

    /// The adjacency in a direction, if it exists.
    fn get(&self, direction: Direction) -> Option<&Graph> {
        self.graphs[direction as usize].get()
    }

    /// The adjacency in a direction, made by `make` if it does not exist. Two threads may make it at the same time, since threads that
    /// share work must not wait for one another.
    pub fn graph(&self, direction: Direction, make: impl FnOnce() -> Graph) -> Graph {
        if let Some(graph) = self.get(direction) {
            return graph.clone();
        }
        let graph = make();
        // If another thread was faster, its graph is the same.
        let _ = self.graphs[direction as usize].set(graph.clone());
        graph
    }

    /// The approximate size.
    pub fn memory_bytes(&self) -> usize {
        let graphs: usize = self.graphs.iter().filter_map(OnceLock::get).map(Graph::memory_bytes).sum();
        8 * self.starts.len() + 4 * self.sources.get().map_or(0, Vec::len) + graphs
    }
}
