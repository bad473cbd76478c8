//! Prefetching: descents to several leaves that take each step together, so that their cache misses overlap.
//!
//! A descent to a cold row waits for memory at each step: a node, its separators, the entry of the child, the child. Each
//! address follows from the step before, so one descent cannot overlap its own misses. Descents to different rows do not depend
//! on one another. [`PrefetchWalks`] takes each step for all of them before the next step, and so waits about as long as for one.
//!
//! ```text
//!              step 1       step 2                       step 3
//!  walk 0      node ──────> separators ──(search)──────> entry of the child ──> step 1 of the next level
//!  walk 1      node ──────> separators ──(search)──────> entry of the child ──> step 1 of the next level
//!  ...           all loads of one step are independent, so they wait at the same time
//! ```
//!
//! Invariant: walks change nothing, so a caller may skip them. Below [`MIN_WALKS`] they are skipped.

use smallvec::SmallVec;

use super::finger::Aim;
use super::loads::load;
use super::node::{Child, Node};
use crate::storage::key::ProbeKeys;

/// The number of walks taken together. The memory of this many leaves is still in the cache when the last row is read or changed.
pub(in crate::storage) const MAX_WALKS: usize = 16;

/// The smallest number of walks to whole keys. With fewer the shared waiting saves less than the second descent costs.
pub(in crate::storage) const MIN_WALKS: usize = 8;

/// Walks to rows of one tree or of several.
#[derive(Default)]
pub(in crate::storage) struct PrefetchWalks<'t, 'k>(SmallVec<[Walk<'t, 'k>; MAX_WALKS]>);

/// A walk to a leaf.
pub(super) struct Walk<'t, 'k> {
    /// The whole key, or its first columns.
    pub key: ProbeKeys<'k>,
    /// The position of the walk.
    pub aim: Aim<'t>,
}

impl<'t, 'k> PrefetchWalks<'t, 'k> {
    /// Adds the walk to the leaf with the first row that begins with this key.
    pub(super) fn push(&mut self, root: &'t Node, key: ProbeKeys<'k>) {
        self.0.push(Walk { key, aim: Aim::at_root(root) });
    }

    /// Prefetches the leaves, if there are enough walks for it to gain.
    pub fn prefetch(self) {
        if self.0.len() >= MIN_WALKS {
            self.into_leaves();
        }
    }

    /// Descends to the leaves, and prefetches the memory that a search in them reads.
    pub(super) fn into_leaves(mut self) -> SmallVec<[Walk<'t, 'k>; MAX_WALKS]> {
        loop {
            load(self.0.iter().map(|walk| walk.aim.node().prefetch()));
            load(self.0.iter().map(|walk| walk.aim.node().prefetch_keys(walk.key.len())));
            let children: SmallVec<[Option<&'t Child>; MAX_WALKS]> =
                self.0.iter_mut().map(|walk| walk.aim.choose(&walk.key)).collect();
            if children.iter().all(Option::is_none) {
                return self.0;
            }
            load(children.iter().flatten().map(|child| child.size));
            for (walk, child) in self.0.iter_mut().zip(children) {
                walk.aim.go_on(child);
            }
        }
    }
}
