//! A finger: a leaf and the path to it. Look-ups and scans move it forward without starting at the root.
//!
//! ```text
//!  path = [(root, 1), (inner, 2)]          root ── child 1 ──> inner ── child 2 ──> leaf
//!
//!  next_leaf:     pop the levels whose last child is reached, step one child to the right, descend to the left
//!  seek_forward:  the same leaf if it has rows at or after the probe; otherwise pop until a child after the
//!                 present one can have them, then descend
//! ```
//!
//! A [`Finger`] refers to a leaf whose memory has been read. An [`Aim`] is a descent that stops before it reads the memory of
//! the next node, so that several descents can overlap their cache misses (see [`prefetch`](super::prefetch)).
//!
//! A probe may be a whole key or its first columns. Both types find the leaf where the probe's rows *begin*. The rows may
//! continue in the following leaves, which the caller visits with [`Finger::next_leaf`].
//!
//! Invariants:
//! - The path has one entry for each inner node above the leaf; a tree of one leaf has an empty path.
//! - A found range that is empty is the position where the rows would be.
//! - `seek_forward` requires that the probe comes after all rows before `row`; moving back needs a new [`Finger::seek`].

use std::ops::Range;

use smallvec::SmallVec;

use super::leaf::Leaf;
use super::node::{Child, Inner, Node};
use crate::storage::key::Probe;

type Path<'a> = SmallVec<[(&'a Inner, usize); 4]>;

/// A leaf, and the path to it.
pub(super) struct Finger<'a> {
    /// The inner nodes from the root down, each with the index of the child on the path.
    path: Path<'a>,
    pub leaf: &'a Leaf,
}

impl Clone for Finger<'_> {
    #[inline]
    fn clone(&self) -> Self {
        Finger { path: Path::from_slice(&self.path), leaf: self.leaf }
    }
}

impl<'a> Finger<'a> {
    /// The leaf that has the row with this rank, and the row's index in it.
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

    /// The rows that begin with the probe, in the leaf where they begin. If they reach the end of the leaf, they may continue in
    /// the next one.
    #[inline]
    pub fn seek(root: &'a Node, probe: Probe) -> (Self, Range<usize>) {
        let mut path = SmallVec::new();
        let leaf = descend(root, probe, &mut path).leaf();
        let mut finger = Finger { path, leaf };
        let found = finger.rows_of(probe);
        (finger, found)
    }

    /// [`Finger::seek`] from this leaf, for a probe that comes after all rows before `row`.
    #[inline]
    pub fn seek_forward(&mut self, row: usize, probe: Probe) -> Range<usize> {
        let found = self.leaf.equal_range(row, probe);
        if found.start < self.leaf.len || self.path.is_empty() {
            return found;
        }
        self.leaf = aim_forward(&mut self.path, probe).leaf();
        self.rows_of(probe)
    }

    /// The rows of the probe in this leaf, or in the next if all rows of this one come before them.
    #[inline]
    fn rows_of(&mut self, probe: Probe) -> Range<usize> {
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

/// A position on the descent to the leaf where a probe's rows begin. Moving to a node does not read the node's memory.
pub(super) struct Aim<'a> {
    path: Path<'a>,
    node: &'a Node,
}

impl<'a> Aim<'a> {
    /// The beginning of a descent.
    pub fn at_root(root: &'a Node) -> Self {
        Aim { path: Path::new(), node: root }
    }

    /// The node reached.
    #[inline]
    pub fn node(&self) -> &'a Node {
        self.node
    }

    /// Chooses the child for the probe, without reading the child's memory; none at a leaf.
    #[inline]
    pub fn choose(&mut self, probe: Probe) -> Option<&'a Child> {
        let Node::Inner(inner) = self.node else { return None };
        let child = inner.child_of(probe, 0);
        self.path.push((inner, child));
        Some(&inner.children[child])
    }

    /// Moves to the chosen child, if there is one.
    #[inline]
    pub fn go_on(&mut self, child: Option<&'a Child>) {
        self.node = child.map_or(self.node, |child| &child.node);
    }

    /// Whether the node is this leaf.
    pub fn is_at(&self, leaf: &Leaf) -> bool {
        matches!(self.node, Node::Leaf(own) if std::ptr::eq(own, leaf))
    }

    /// [`Finger::seek`] for the probe of this descent, which has reached its leaf.
    #[inline]
    pub fn seek(self, probe: Probe) -> (Finger<'a>, Range<usize>) {
        let mut finger = Finger { leaf: self.node.leaf(), path: self.path };
        let found = finger.rows_of(probe);
        (finger, found)
    }
}

/// Moves a path forward to the leaf for a probe that comes after the rows before it. The path is not empty.
#[inline]
fn aim_forward<'a>(path: &mut Path<'a>, probe: Probe) -> &'a Node {
    let (mut inner, mut child);
    loop {
        (inner, child) = path.pop().expect("the loop ends at the root");
        child = inner.child_of(probe, child);
        if path.is_empty() || child + 1 < inner.children.len() {
            break;
        }
    }
    path.push((inner, child));
    descend(&inner.children[child].node, probe, path)
}

/// Descends to the leaf for the probe.
#[inline]
fn descend<'a>(mut node: &'a Node, probe: Probe, path: &mut Path<'a>) -> &'a Node {
    while let Node::Inner(inner) = node {
        let child = inner.child_of(probe, 0);
        path.push((inner, child));
        node = &inner.children[child].node;
    }
    node
}
