//! A finger: a leaf and the path to it, moved forward by look-ups and scans without starting at the root.

use std::ops::Range;

use smallvec::SmallVec;

use super::key::Probe;
use super::leaf::Leaf;
use super::node::{Inner, Node};

type Path<'a> = SmallVec<[(&'a Inner, usize); 4]>;

/// A place in a tree.
#[derive(Clone)]
pub(super) struct Finger<'a> {
    /// The inner nodes from the root down, each with the child that the path goes on to.
    path: Path<'a>,
    pub leaf: &'a Leaf,
}

impl<'a> Finger<'a> {
    /// The leaf with the row of this number, and the row's number in it.
    pub fn at_rank(root: &'a Node, mut rank: u64) -> (Self, usize) {
        let mut path = SmallVec::new();
        let mut node = root;
        loop {
            match node {
                Node::Leaf(leaf) => return (Finger { path, leaf }, rank as usize),
                Node::Inner(inner) => {
                    let (child, rest) = inner.child_of_rank(rank);
                    path.push((inner, child));
                    (node, rank) = (&inner.children[child].node, rest);
                }
            }
        }
    }

    /// The rows that begin with the probe, of the leaf where they begin. As wherever a `Finger` gives rows, they may
    /// go on in the next leaf if they reach the end of this one.
    #[inline]
    pub fn seek(root: &'a Node, probe: Probe) -> (Self, Range<usize>) {
        let mut path = SmallVec::new();
        let leaf = descend(root, probe, &mut path);
        let mut finger = Finger { path, leaf };
        let found = finger.settle(probe);
        (finger, found)
    }

    /// As [`Finger::seek`], where the probe comes after all rows before `row` of this leaf.
    #[inline]
    pub fn seek_forward(&mut self, row: usize, probe: Probe) -> Range<usize> {
        let found = self.leaf.equal_range(row, probe);
        if found.start < self.leaf.len {
            return found;
        }
        while let Some((inner, child)) = self.path.pop() {
            let next = inner.child_of(probe, child);
            if next + 1 < inner.children.len() || self.path.is_empty() {
                self.path.push((inner, next));
                self.leaf = descend(&inner.children[next].node, probe, &mut self.path);
                return self.settle(probe);
            }
        }
        found
    }

    /// The rows of the probe in this leaf, or in the next if all rows of this one come before them.
    fn settle(&mut self, probe: Probe) -> Range<usize> {
        let found = self.leaf.equal_range(0, probe);
        if found.start < self.leaf.len || !self.next_leaf() {
            return found;
        }
        self.leaf.equal_range(0, probe)
    }

    /// Moves to the next leaf, if there is one.
    pub fn next_leaf(&mut self) -> bool {
        let Some(level) = self.path.iter().rposition(|(inner, child)| child + 1 < inner.children.len()) else {
            return false;
        };
        self.path.truncate(level + 1);
        let (inner, child) = &mut self.path[level];
        *child += 1;
        let mut node = &*inner.children[*child].node;
        loop {
            match node {
                Node::Leaf(leaf) => {
                    self.leaf = leaf;
                    return true;
                }
                Node::Inner(inner) => {
                    self.path.push((inner, 0));
                    node = &inner.children[0].node;
                }
            }
        }
    }
}

/// Follows the probe down to a leaf.
#[inline]
fn descend<'a>(mut node: &'a Node, probe: Probe, path: &mut Path<'a>) -> &'a Leaf {
    loop {
        match node {
            Node::Leaf(leaf) => return leaf,
            Node::Inner(inner) => {
                let child = inner.child_of(probe, 0);
                path.push((inner, child));
                node = &inner.children[child].node;
            }
        }
    }
}
