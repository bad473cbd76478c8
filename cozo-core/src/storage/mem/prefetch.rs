//! Rows brought near at once, before they are read or changed one after another.
//!
//! The way to a row that was not read before leads through memory that is nowhere near, and each step waits for the one before: a
//! node, its separators, the place of the child, the child. Several walks that take each step together wait about as long as one.

use std::hint::black_box;

use smallvec::SmallVec;

use super::finger::Aim;
use super::key::ProbeKeys;
use super::node::{Child, Node};

/// So many walks are taken together: what they bring near is still there when the last of the rows is read or changed.
pub(super) const MAX_WALKS: usize = 16;

/// Fewer wait for little less than one after another, and each way is gone twice.
pub(super) const MIN_WALKS: usize = 8;

/// PrefetchWalks to rows, of one tree or of several.
#[derive(Default)]
pub(super) struct PrefetchWalks<'t, 'k>(SmallVec<[Walk<'t, 'k>; MAX_WALKS]>);

/// A walk to a leaf.
pub(super) struct Walk<'t, 'k> {
    /// The whole key, or its first columns.
    pub key: ProbeKeys<'k>,
    /// How far it has come.
    pub aim: Aim<'t>,
}

impl<'t, 'k> PrefetchWalks<'t, 'k> {
    /// Adds the walk to the row with this whole key, or to the leaf where the rows begin that begin with it.
    pub fn push(&mut self, root: &'t Node, key: ProbeKeys<'k>) {
        self.0.push(Walk { key, aim: Aim::at_root(root) });
    }

    /// Goes to the leaves of whole keys, unless that takes longer by itself.
    pub fn prefetch(self) {
        if self.0.len() >= MIN_WALKS {
            self.into_leaves();
        }
    }

    /// Goes to the leaves, and brings near what a search in them goes through.
    pub fn into_leaves(mut self) -> SmallVec<[Walk<'t, 'k>; MAX_WALKS]> {
        loop {
            self.together(|walk| walk.aim.node().prefetch());
            self.together(|walk| walk.aim.node().prefetch_keys(walk.key.len()));
            let children: SmallVec<[Option<&'t Child>; MAX_WALKS]> =
                self.0.iter_mut().map(|walk| walk.aim.choose(&walk.key)).collect();
            if children.iter().all(Option::is_none) {
                return self.0;
            }
            black_box(children.iter().flatten().map(|child| child.size).fold(0, usize::wrapping_add));
            for (walk, child) in self.0.iter_mut().zip(children) {
                walk.aim.go_on(child);
            }
        }
    }

    /// Reads something for each: plain loads do not wait for each other.
    fn together(&self, read: impl Fn(&Walk) -> usize) {
        black_box(self.0.iter().map(read).fold(0, usize::wrapping_add));
    }
}
