//! Which of the nearest slots a slot links to.
//!
//! A candidate that is nearer to a link already chosen than to the slot itself is reached over that link, so the slot needs no link
//! of its own to it (algorithm 4 of the paper). What is left leads into all directions.

use super::super::graph::Layer;
use super::super::order::{node_of, order_of, ordered};
use super::super::space::Space;

/// Chooses at most `limit` of sorted candidates. With `keep_pruned` the nearest of those not chosen fill the rest.
pub(super) fn select(space: &Space, layer: &Layer, candidates: &[u64], limit: usize, keep_pruned: bool) -> Vec<u64> {
    if candidates.len() <= limit {
        return candidates.to_vec();
    }
    let (mut chosen, mut pruned) = (Vec::with_capacity(limit), vec![]);
    for candidate in candidates {
        if chosen.len() >= limit {
            return chosen;
        }
        let from = space.probe(layer.node(node_of(*candidate)));
        let is_nearer = |link: &u64| ordered(space.distance(from, layer.node(node_of(*link)))) < order_of(*candidate);
        if !chosen.iter().any(is_nearer) {
            chosen.push(*candidate);
        } else if keep_pruned {
            pruned.push(*candidate);
        }
    }
    let rest = limit - chosen.len();
    chosen.extend(pruned.into_iter().take(rest));
    chosen.sort_unstable();
    chosen
}
