//! Searches: which way one takes, the comparison of all allowed nodes, and what is returned.
//!
//! ```text
//! query ── form of the rows ── way ─┬─ exact: all allowed nodes ─────────────┐
//!                                   └─ a walk: ef nodes, or it fails: exact ─┴─ twins ── exact distances ── radius ── k hits
//! ```

use fixedbitset::FixedBitSet;

use super::filtered::FilteredWalk;
use super::index::VectorIndex;
use super::order::{distance_of, key, node_of, ordered};
use super::rows::VectorRef;
use super::scratch::Scratch;
use super::space::{Extent, Probe, SpaceRows};
use super::thresholds::{ELEMENTS_PER_STEP, REREAD_ELEMENTS, REREAD_MIN_NODES, REREAD_PER_HIT, ROWS_PER_CHECK};
use super::walk::{descend, nearest_many};
use super::ways::{SearchCosts, SearchWay};
use crate::budget::{Stop, step};

/// What is searched.
#[derive(Clone, Copy)]
pub struct VectorQuery<'a> {
    /// The vector to which near ones are searched. One of another length than those of the index finds nothing.
    pub vector: VectorRef<'a>,
    /// The number of hits.
    pub k: usize,
    /// The number of candidates that a walk keeps, at least `k`: more find nearer ones, and take longer.
    pub ef: usize,
    /// The greatest distance of a hit.
    pub radius: Option<f64>,
    /// The nodes that may be returned; all without it.
    pub allowed: Option<AllowedNodes<'a>>,
    /// Where the vectors are of which the index has codes alone. Without it, distances are those of the codes.
    pub originals: Option<&'a dyn Originals>,
}

/// Nodes that may be returned.
#[derive(Clone, Copy)]
pub struct AllowedNodes<'a> {
    /// The nodes. It may be shorter or longer than the index.
    pub set: &'a FixedBitSet,
    /// The number of nodes of the index in the set.
    pub count: usize,
}

/// The vectors that the nodes of an index have.
pub trait Originals {
    /// Hands over the vectors of nodes, in any order. Nodes left out are not found.
    fn read(&self, nodes: &[u32], take: &mut dyn FnMut(u32, VectorRef<'_>));
}

/// A node that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The node.
    pub node: u32,
    /// Its distance from the query. NaN comes last.
    pub distance: f64,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorHits {
    /// The hits by distance, then by node.
    pub hits: Vec<Hit>,
    /// The way of the search.
    pub way: SearchWay,
    /// The number of distances that it took.
    pub compared: usize,
}

impl VectorIndex {
    /// The allowed nodes nearest to a vector: `k` of them, or all if fewer are allowed. A walk may miss some of the nearest, and then
    /// finds others. Those beyond the radius are left out at the end. Fails if the thread's script must stop.
    pub fn search(&self, query: VectorQuery<'_>, scratch: &mut Scratch) -> Result<VectorHits, Stop> {
        let allowed = query.allowed.map_or(self.len(), |allowed| allowed.count.min(self.len()));
        let mut found = VectorHits { hits: vec![], way: SearchWay::Exact, compared: 0 };
        if query.k.min(allowed) == 0 || query.vector.dim() != self.dim() {
            return Ok(found);
        }
        let (prepared, extent) = self.space.query(query.vector);
        let ef = query.ef.max(query.k);
        let costs = SearchCosts::new(self.space.row_bytes(), self.len(), allowed, ef);
        if self.has_graph() && extent == Extent::Finite && !costs.is_scan_cheapest() {
            let filter = query.allowed.filter(|_| allowed < self.len());
            found.way = self.walk(filter, prepared.probe(), ef, costs, scratch, &mut found.compared);
            self.add_twins(filter, scratch);
            step(found.compared * self.dim() / ELEMENTS_PER_STEP)?;
            if scratch.list.len() < query.k.min(allowed) {
                found.way = SearchWay::Exact;
            }
        }
        if found.way == SearchWay::Exact {
            let limit = if matches!(self.space.rows, SpaceRows::F32(_)) { query.k } else { ef };
            found.compared += self.scan(prepared.probe(), query.allowed, limit, scratch)?;
        }
        found.hits = self.hits(&query, prepared.probe(), &scratch.list);
        Ok(found)
    }

    /// Walks through the graph. The heads that were found are in the list. Returns the way, which is `Exact` if the walk failed.
    pub(super) fn walk(
        &self,
        filter: Option<AllowedNodes<'_>>,
        from: Probe<'_>,
        ef: usize,
        costs: SearchCosts,
        scratch: &mut Scratch,
        compared: &mut usize,
    ) -> SearchWay {
        let (space, graph) = (&self.space, &self.graph);
        let entry = descend(space, graph, from, 0, scratch);
        let way = match filter {
            Some(AllowedNodes { set, .. }) => {
                let walk = FilteredWalk { space, graph, twins: &self.twins, allowed: set, ef, costs };
                walk.run(from, entry, scratch, compared)
            }
            None => {
                scratch.list.clear();
                scratch.list.push(key(space.distance(from, entry), entry));
                *compared = nearest_many(space, &graph.layers[0], from, ef, scratch);
                SearchWay::Graph
            }
        };
        self.add_infinite(from, |node| filter.is_none_or(|filter| filter.set.contains(node as usize)), scratch);
        way
    }

    /// Adds nodes without a place in the graph whose distance may be the smallest.
    fn add_infinite(&self, from: Probe<'_>, is_allowed: impl Fn(u32) -> bool, scratch: &mut Scratch) {
        if !self.infinite.is_empty() {
            let nodes = self.infinite.iter().filter(|node| is_allowed(**node));
            scratch.list.extend(nodes.map(|node| key(self.space.distance(from, *node), *node)));
            scratch.list.sort_unstable();
        }
    }

    /// Replaces each head in the list by the allowed nodes among itself and its members.
    pub(super) fn add_twins(&self, allowed: Option<AllowedNodes<'_>>, scratch: &mut Scratch) {
        if self.twins.heads.is_empty() {
            return;
        }
        let is_allowed = |node: u32| allowed.is_none_or(|allowed| allowed.set.contains(node as usize));
        let found = scratch.list.iter().flat_map(|head| {
            let members = self.twins.members(node_of(*head)).iter().copied();
            let family = std::iter::once(node_of(*head)).chain(members);
            family.filter(|node| is_allowed(*node)).map(|node| *head & !0xffff_ffff | u64::from(node) << 1)
        });
        scratch.list = found.collect();
        scratch.list.sort_unstable();
    }

    /// Compares all allowed nodes. The nearest, `limit` of them, are in the list. Returns the number of distances.
    fn scan(
        &self,
        from: Probe<'_>,
        allowed: Option<AllowedNodes<'_>>,
        limit: usize,
        scratch: &mut Scratch,
    ) -> Result<usize, Stop> {
        scratch.list.clear();
        let len = self.len() as u32;
        match allowed.filter(|allowed| allowed.count < self.len()) {
            None => self.scan_nodes(from, 0..len, limit, scratch),
            Some(allowed) => {
                let nodes = allowed.set.ones().map(|node| node as u32).take_while(|node| *node < len);
                self.scan_nodes(from, nodes, limit, scratch)
            }
        }
    }

    fn scan_nodes(
        &self,
        from: Probe<'_>,
        mut nodes: impl Iterator<Item = u32>,
        limit: usize,
        scratch: &mut Scratch,
    ) -> Result<usize, Stop> {
        let Scratch { list, fresh, distances, .. } = scratch;
        let (mut compared, mut bound) = (0, u32::MAX);
        loop {
            fresh.clear();
            fresh.extend(nodes.by_ref().take(ROWS_PER_CHECK));
            if fresh.is_empty() {
                break;
            }
            step(fresh.len() * self.dim() / ELEMENTS_PER_STEP)?;
            self.space.distances(from, fresh, distances);
            compared += fresh.len();
            for (node, distance) in fresh.iter().zip(distances.iter()) {
                if ordered(*distance) <= bound {
                    list.push(key(*distance, *node));
                }
            }
            // Cut from time to time, so that each key costs a constant number of comparisons.
            if list.len() >= 2 * limit + ROWS_PER_CHECK {
                let (_, last, _) = list.select_nth_unstable(limit - 1);
                bound = super::order::order_of(*last);
                list.truncate(limit);
            }
        }
        list.sort_unstable();
        list.truncate(limit);
        Ok(compared)
    }

    /// The hits among the candidates, which are sorted keys.
    pub(super) fn hits(&self, query: &VectorQuery<'_>, from: Probe<'_>, candidates: &[u64]) -> Vec<Hit> {
        let mut hits: Vec<Hit> = match (&self.space.rows, query.originals) {
            (SpaceRows::F64(_), _) => candidates
                .iter()
                .map(|key| Hit { node: node_of(*key), distance: self.space.exact(from, node_of(*key)) })
                .collect(),
            (SpaceRows::Codes(_), Some(originals)) => {
                let reread = (query.k * (REREAD_PER_HIT + REREAD_ELEMENTS / self.dim())).max(REREAD_MIN_NODES);
                let mut nodes: Vec<u32> = candidates.iter().take(reread).map(|key| node_of(*key)).collect();
                nodes.sort_unstable();
                let mut hits = Vec::with_capacity(nodes.len());
                originals.read(&nodes, &mut |node, vector| {
                    hits.push(Hit { node, distance: self.space.original(query.vector, vector) });
                });
                hits
            }
            _ => candidates
                .iter()
                .take(query.k)
                .map(|key| Hit { node: node_of(*key), distance: f64::from(distance_of(*key)) })
                .collect(),
        };
        let rank = |hit: &Hit| (hit.distance.is_nan(), hit.distance, hit.node);
        hits.sort_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(a.node.cmp(&b.node)));
        if let Some(radius) = query.radius {
            hits.retain(|hit| hit.distance <= radius);
        }
        hits.truncate(query.k);
        hits
    }
}
