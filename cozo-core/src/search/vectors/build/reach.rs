//! Ways to all nodes of a layer.
//!
//! A slot that many nearer ones crowd out of every block of links has links, but none leads to it. Then a slot near it gets one: the
//! first with room that is found over links, or else the first at all, which loses its last link.
//!
//! ```text
//! reached    a -> b -> c
//!                 ^
//! not        u ---+        u leads to b, nothing leads to u: b, or c if b is full, gets a link to u
//! ```

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

use super::super::graph::{Layer, NONE};
use super::super::thresholds::{REPAIR_MAX_SLOTS, REPAIR_ROUNDS};

/// Makes slots reachable from some slots of the layer. A slot that loses a link is looked at again, in a few rounds.
pub(super) fn reach_all(layer: &mut Layer, starts: &[u32], slots: &[u32]) {
    for _ in 0..REPAIR_ROUNDS {
        let mut reached = layer.reachable(starts);
        let missing: Vec<u32> = slots.iter().copied().filter(|slot| !reached.contains(*slot as usize)).collect();
        if missing.is_empty() {
            return;
        }
        for slot in missing {
            if !reached.contains(slot as usize) {
                link_to(layer, slot, &reached, starts);
                layer.reach_further(slot, &mut reached);
            }
        }
    }
}

/// Gives a slot that was reached a link to one that was not.
fn link_to(layer: &mut Layer, slot: u32, reached: &FixedBitSet, starts: &[u32]) {
    let mut seen = FxHashSet::from_iter([slot]);
    let mut found = vec![slot];
    let (mut at, mut first) = (0, None);
    while let Some(next) = found.get(at).copied().filter(|_| at < REPAIR_MAX_SLOTS) {
        if reached.contains(next as usize) {
            if layer.links(next).len() < layer.width {
                return layer.set_link(next, layer.links(next).len(), slot);
            }
            first = first.or(Some(next));
        }
        found.extend(layer.links(next).iter().copied().filter(|slot| seen.insert(*slot)));
        at += 1;
    }
    if let Some(from) = first.or(starts.first().copied()) {
        let last = layer.block(from).iter().position(|link| *link == NONE).unwrap_or(layer.width - 1);
        layer.set_link(from, last, slot);
    }
}
