//! Rows brought near at once, before they are changed one after another.
//!
//! The way to a row that was not read before leads through memory that is nowhere near, and each step waits for the one before: a
//! node, its separators, the place of the child, the child. Several walks that take each step together wait about as long as one.

use std::hint::black_box;

use smallvec::SmallVec;

use super::Tree;
use super::key::ProbeKeys;
use super::node::{Child, Node};

/// So many walks are taken together: what they bring near is still there when the last of the rows is changed.
pub(super) const MAX_WALKS: usize = 16;

/// Fewer wait for little less than one after another, and each way is gone twice.
pub(super) const MIN_WALKS: usize = 8;

/// Walks to rows, of one tree or of several.
#[derive(Default)]
pub(super) struct Walks<'a>(SmallVec<[Walk<'a>; MAX_WALKS]>);

struct Walk<'a> {
    /// The whole key.
    key: ProbeKeys<'a>,
    /// How far it has come.
    node: &'a Node,
}

impl<'a> Walks<'a> {
    /// Adds the walk to the row with this key.
    pub fn push(&mut self, tree: &'a Tree, key: ProbeKeys<'a>) {
        self.0.push(Walk { key, node: &tree.root });
    }

    /// Goes to the leaves, and brings near what a search in them goes through.
    pub fn bring_near(mut self) {
        if self.0.len() < MIN_WALKS {
            return;
        }
        loop {
            self.together(|walk| walk.node.touch());
            self.together(|walk| walk.node.touch_keys(walk.key.len()));
            let children: SmallVec<[Option<&Child>; MAX_WALKS]> = self.0.iter().map(Walk::child).collect();
            if children.iter().all(Option::is_none) {
                return;
            }
            black_box(children.iter().flatten().map(|child| child.size).fold(0, usize::wrapping_add));
            for (walk, child) in self.0.iter_mut().zip(children) {
                walk.node = child.map_or(walk.node, |child| &child.node);
            }
        }
    }

    /// Reads something for each: plain loads do not wait for each other.
    fn together(&self, read: impl Fn(&Walk) -> usize) {
        black_box(self.0.iter().map(read).fold(0, usize::wrapping_add));
    }
}

impl<'a> Walk<'a> {
    /// The child that it goes on to, unless it is at its end.
    fn child(&self) -> Option<&'a Child> {
        match self.node {
            Node::Leaf(_) => None,
            Node::Inner(inner) => Some(&inner.children[inner.child_of(&self.key, 0)]),
        }
    }
}
