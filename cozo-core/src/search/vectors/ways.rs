//! The way of a search, by what each would cost.
//!
//! ```text
//! allowed nodes   few ─────────────────────────────────────────────> exact
//!                 all ─────────────────────────────────────────────> graph
//!                 some: one hop begins, and sees which share of     ┌> one hop goes on
//!                       the nodes around the query is allowed ──────┼> two hops
//!                                                                   └> exact
//! ```
//!
//! The share around the query decides, and not that of all nodes: where a filter and the query have to do with one another, the
//! share may be everything or nothing.

use super::thresholds::{
    BYTES_PER_SCAN_COST, BYTES_PER_WALK_COST, HOLE_SHARE, MAX_WALK_COST, SCAN_COST, TWO_HOPS_COST, TWO_HOPS_MIN_SHARE,
    TWO_HOPS_VISITS, VISITS, WALK_COST,
};

/// The way of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchWay {
    /// All allowed nodes are compared.
    Exact,
    /// A walk through the graph without a filter.
    Graph,
    /// A walk through all nodes that returns allowed ones.
    OneHop,
    /// A walk from allowed node to allowed node, over at most one other.
    TwoHops,
}

/// What searches cost in an index, in units of about a nanosecond.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchCosts {
    /// The cost of a node that is compared in sequence.
    scanned: f64,
    /// The cost of a node that a walk compares.
    visited: f64,
    /// The number of allowed nodes, and their share.
    allowed: f64,
    share: f64,
    /// The number of candidates.
    ef: f64,
}

impl SearchCosts {
    /// The costs among so many allowed nodes of all `nodes`.
    pub fn new(row_bytes: usize, nodes: usize, allowed: usize, ef: usize) -> Self {
        SearchCosts {
            scanned: SCAN_COST + row_bytes as f64 / BYTES_PER_SCAN_COST,
            visited: WALK_COST + row_bytes as f64 / BYTES_PER_WALK_COST,
            allowed: allowed as f64,
            share: allowed as f64 / nodes as f64,
            ef: ef as f64,
        }
    }

    fn exact(self) -> f64 {
        self.allowed * self.scanned
    }

    /// The cost of a walk where this share of the nodes is allowed.
    fn one_hop(self, share: f64) -> f64 {
        self.ef * VISITS * self.visited / share
    }

    /// The cost of a walk by two hops. Where fewer nodes are allowed than elsewhere, allowed ones surround a hole, and links from one
    /// to the next do not lead around it.
    fn two_hops(self, share: f64) -> f64 {
        match share >= TWO_HOPS_MIN_SHARE.max(self.share * HOLE_SHARE) {
            true => self.ef * (TWO_HOPS_COST + TWO_HOPS_VISITS * self.visited),
            false => f64::INFINITY,
        }
    }

    /// Whether to compare all allowed nodes costs no more than the shortest walk.
    pub fn is_scan_cheapest(self) -> bool {
        self.exact() <= self.one_hop(1.0)
    }

    /// The number of nodes after which a walk gives up.
    pub fn max_visits(self) -> usize {
        (self.exact() / self.visited * MAX_WALK_COST) as usize
    }

    /// The cheapest way where this share of the nodes around the query is allowed.
    pub fn way(self, share: f64) -> SearchWay {
        let (exact, one_hop, two_hops) = (self.exact(), self.one_hop(share), self.two_hops(share));
        match () {
            () if exact <= one_hop.min(two_hops) => SearchWay::Exact,
            () if one_hop <= two_hops => SearchWay::OneHop,
            () => SearchWay::TwoHops,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_decides() {
        let costs = |allowed| SearchCosts::new(1536, 1_000_000, allowed, 64);
        assert!(costs(1000).is_scan_cheapest() && !costs(3000).is_scan_cheapest());
        let table = [
            (1.0, 900_000, SearchWay::OneHop),
            (0.6, 600_000, SearchWay::OneHop),
            (0.1, 100_000, SearchWay::TwoHops),
            (0.1, 3000, SearchWay::Exact),
            (0.01, 10_000, SearchWay::Exact),
            (0.1, 900_000, SearchWay::OneHop),
            (0.0, 900_000, SearchWay::Exact),
        ];
        for (share, allowed, expected) in table {
            assert_eq!(costs(allowed).way(share), expected, "{share} {allowed}");
        }
    }

    #[test]
    fn a_walk_stops_when_a_scan_would_be_done() {
        let costs = SearchCosts::new(200, 100_000, 50_000, 64);
        assert!(costs.max_visits() > 64 * 12 && costs.max_visits() < 25_000);
    }
}
