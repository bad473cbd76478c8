//! Graphs kept from one query to the next.
//!
//! What is kept of a stored relation holds for the rows that it had: when it is asked for, they must still be
//! [the same](crate::storage::ContentVersion). Graphs share their parts with what is kept, and copy what they change.

use std::sync::{Arc, OnceLock};

use super::adjacency::{sources, starts_of_sorted};
use super::{Direction, Edges, Graph, Weights};
use crate::schema::RelationId;
use crate::storage::ContentVersion;
use crate::sync::Mutex;

/// The rows that edges are made of, and what is read of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Origin {
    /// The relation.
    pub relation: RelationId,
    /// Its rows.
    pub contents: ContentVersion,
    /// Which weights were asked for.
    pub weights: Option<Weights>,
}

/// The graphs of a database that are kept.
pub struct GraphCache {
    budget_bytes: usize,
    /// What was used last comes last.
    kept: Mutex<Vec<(Origin, Edges)>>,
}

/// What was made of sorted edges.
#[derive(Debug)]
pub struct Made {
    /// Where the edges of each node begin, and where those of the last end.
    starts: Arc<Vec<usize>>,
    /// Where each edge starts, once somebody has asked.
    sources: OnceLock<Vec<u32>>,
    /// The adjacency by direction.
    graphs: [OnceLock<Graph>; 3],
}

impl GraphCache {
    /// None, and room for so many bytes.
    pub fn new(budget_bytes: usize) -> Self {
        GraphCache { budget_bytes, kept: Mutex::default() }
    }

    /// The edges of an origin, if they are kept.
    pub fn find(&self, origin: &Origin) -> Option<Edges> {
        let mut kept = self.kept.lock();
        let place = kept.iter().position(|(of, _)| of == origin)?;
        let found = kept.remove(place);
        let edges = found.1.sharing();
        kept.push(found);
        Some(edges)
    }

    /// Keeps edges, in place of what other contents of the same relation gave.
    pub fn keep(&self, origin: Origin, edges: Edges) -> Edges {
        if edges.memory_bytes() > self.budget_bytes {
            return edges;
        }
        let edges = edges.sorted().kept();
        let mut kept = self.kept.lock();
        kept.retain(|(of, _)| of.relation != origin.relation || of.contents == origin.contents && *of != origin);
        kept.push((origin, edges.sharing()));
        edges
    }

    /// Gives up what was used longest ago until the rest is within the budget, and what follows from the rest soon enough.
    pub fn keep_within_budget(&self) {
        let mut kept = self.kept.lock();
        kept.iter_mut().for_each(|(_, edges)| edges.give_up_ends());
        let mut total: usize = kept.iter().map(|(_, edges)| edges.memory_bytes()).sum();
        kept.retain(|(_, edges)| {
            let stays = total <= self.budget_bytes;
            if !stays {
                total -= edges.memory_bytes();
            }
            stays
        });
    }
}

impl Edges {
    /// The same edges, which share everything.
    fn sharing(&self) -> Self {
        let Edges { nodes, len, from, to, weights, made } = self;
        let (nodes, from, to) = (nodes.clone(), from.clone(), to.clone());
        Edges { nodes, len: *len, from, to, weights: weights.clone(), made: made.clone() }
    }

    /// These edges, which are sorted, to be kept: until somebody asks without where each starts, which takes as much as where each ends.
    fn kept(self) -> Self {
        let starts = starts_of_sorted(self.nodes.len(), self.from()).into();
        let made = Made { starts, sources: OnceLock::new(), graphs: Default::default() };
        Edges { from: None, made: Some(Arc::new(made)), ..self }
    }

    /// Forgets where each edge ends if an adjacency says so: that of the edges that leave, or, where nobody asked for that, that of those
    /// that arrive, from which it follows.
    fn give_up_ends(&mut self) {
        let Some(made) = &self.made else { return };
        let follows = self.weights.is_none() && made.get(Direction::In).is_some();
        if follows || made.get(Direction::Out).is_some() {
            self.to = OnceLock::new();
        }
    }
}

impl Made {
    /// Where the edges of each node begin, and where those of the last end.
    pub fn starts(&self) -> &Arc<Vec<usize>> {
        &self.starts
    }

    /// Where each edge starts.
    pub fn sources(&self) -> &[u32] {
        self.sources.get_or_init(|| sources(&self.starts, 0..self.starts[self.starts.len() - 1]))
    }

    /// Where each edge ends, once the edges have forgotten it.
    pub fn targets(&self) -> Arc<Vec<u32>> {
        let of_turned = || self.get(Direction::In).map(|turned| turned.turned(Direction::In));
        let out = self.get(Direction::Out).cloned().or_else(of_turned);
        out.expect("forgotten where an adjacency has it alone").shared_targets()
    }

    /// The adjacency in a direction, if it was made before.
    fn get(&self, direction: Direction) -> Option<&Graph> {
        self.graphs[direction as usize].get()
    }

    /// The adjacency in a direction, as it was made before or as it is made now. Two who make it at once both do: to wait
    /// for one another, threads that share work must not.
    pub fn graph(&self, direction: Direction, make: impl FnOnce() -> Graph) -> Graph {
        if let Some(graph) = self.get(direction) {
            return graph.clone();
        }
        let graph = make();
        // Where another was faster, its graph is the same.
        let _ = self.graphs[direction as usize].set(graph.clone());
        graph
    }

    /// About how many bytes there are.
    pub fn memory_bytes(&self) -> usize {
        let graphs: usize = self.graphs.iter().filter_map(OnceLock::get).map(Graph::memory_bytes).sum();
        8 * self.starts.len() + 4 * self.sources.get().map_or(0, Vec::len) + graphs
    }
}
