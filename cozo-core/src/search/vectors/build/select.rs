//! Which of the nearest slots a slot links to.
//!
//! A candidate that is nearer to a link already chosen than to the slot itself is reached over that link, so the slot needs no link
//! of its own to it (algorithm 4 of the paper). What is left leads into all directions.

use super::super::graph::Layer;
use super::super::order::{distance_of, node_of};
use super::super::space::Space;

/// Chooses at most `limit` of sorted candidates. With `keep_pruned` the nearest of those not chosen fill the rest.
pub(super) fn select(space: &Space, layer: &Layer, candidates: &[u64], limit: usize, keep_pruned: bool) -> Vec<u64> {
    if candidates.len() <= limit {
        return candidates.to_vec();
    }
    let mut chosen = Vec::with_capacity(limit);
    let rest = add_diverse(space, layer, candidates, limit, &mut chosen);
    if keep_pruned {
        let missing = limit - chosen.len();
        chosen.extend(rest.into_iter().take(missing));
        chosen.sort_unstable();
    }
    chosen
}

/// Adds sorted candidates to the chosen links, up to `limit`, that are not nearer to one of these. Returns the others that it looked
/// at.
pub(super) fn add_diverse(
    space: &Space,
    layer: &Layer,
    candidates: &[u64],
    limit: usize,
    chosen: &mut Vec<u64>,
) -> Vec<u64> {
    let mut nodes: Vec<u32> = chosen.iter().map(|key| layer.node(node_of(*key))).collect();
    let mut others = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        if chosen.len() >= limit {
            break;
        }
        let node = layer.node(node_of(*candidate));
        if space.is_any_nearer(space.probe(node), &nodes, distance_of(*candidate)) {
            others.push(*candidate);
        } else {
            chosen.push(*candidate);
            nodes.push(node);
        }
    }
    others
}
