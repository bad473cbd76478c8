//! Which of the nearest slots a slot links to.
//!
//! A candidate that is nearer to a link already chosen than to the slot itself is reached over that link, so the slot needs no link
//! of its own to it (algorithm 4 of the paper). What is left leads into all directions.

use super::super::graph::Layer;
use super::super::order::{key, node_of, order_of, ordered};
use super::super::space::Space;

/// What was chosen among candidates.
#[derive(Default)]
pub(super) struct Selection {
    /// The keys of the links, sorted.
    pub chosen: Vec<u64>,
    /// The candidates that lie behind a link, each with the key of that link, and the distance between both.
    pub behind: Vec<(u64, u64, f32)>,
}

impl Selection {
    /// Chooses at most `limit` of sorted candidates.
    pub fn of(space: &Space, layer: &Layer, candidates: &[u64], limit: usize) -> Selection {
        if candidates.len() <= limit {
            return Selection { chosen: candidates.to_vec(), behind: vec![] };
        }
        let mut selection = Selection { chosen: Vec::with_capacity(limit), behind: vec![] };
        for candidate in candidates {
            if selection.chosen.len() >= limit {
                break;
            }
            let from = space.probe(layer.node(node_of(*candidate)));
            let nearer = selection.chosen.iter().find_map(|link| {
                let distance = space.distance(from, layer.node(node_of(*link)));
                (ordered(distance) < order_of(*candidate)).then_some((*candidate, *link, distance))
            });
            match nearer {
                Some(behind) => selection.behind.push(behind),
                None => selection.chosen.push(*candidate),
            }
        }
        selection
    }

    /// Fills up to `limit` links with the nearest candidates that were not chosen.
    pub fn fill(&mut self, limit: usize) {
        let rest = limit.saturating_sub(self.chosen.len());
        self.chosen.extend(self.behind.iter().take(rest).map(|(candidate, ..)| *candidate));
        self.chosen.sort_unstable();
    }

    /// The links between candidates and those in front of them, of which the marked ones do not know one another: for each the slot
    /// where it begins, and the key of the other.
    pub fn missing_links(&self, is_marked: impl Fn(u64) -> bool) -> impl Iterator<Item = (u32, u64)> {
        let strangers = self.behind.iter().filter(move |(a, b, _)| is_marked(*a) && is_marked(*b));
        strangers.flat_map(|(a, b, distance)| {
            let (a, b) = (node_of(*a), node_of(*b));
            [(a, key(*distance, b)), (b, key(*distance, a))]
        })
    }
}
