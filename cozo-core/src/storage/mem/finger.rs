//! A finger: a leaf and the path to it, moved forward by look-ups and scans without starting at the root.

use std::ops::Range;

use smallvec::SmallVec;

use super::key::Probe;
use super::leaf::Leaf;
use super::node::{Child, Inner, Node};

type Path<'a> = SmallVec<[(&'a Inner, usize); 4]>;

/// A place in a tree.
pub(super) struct Finger<'a> {
    /// The inner nodes from the root down, each with the child that the path goes on to.
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
        let leaf = descend(root, probe, &mut path).leaf();
        let mut finger = Finger { path, leaf };
        let found = finger.settle(probe);
        (finger, found)
    }

    /// As [`Finger::seek`], where the probe comes after all rows before `row` of this leaf.
    #[inline]
    pub fn seek_forward(&mut self, row: usize, probe: Probe) -> Range<usize> {
        let found = self.leaf.equal_range(row, probe);
        if found.start < self.leaf.len || self.path.is_empty() {
            return found;
        }
        self.leaf = aim_forward(&mut self.path, probe).leaf();
        self.settle(probe)
    }

    /// The rows of the probe in this leaf, or in the next if all rows of this one come before them.
    #[inline]
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

/// The leaf where a probe's rows begin, found by the nodes above it alone, so that its memory was not waited for; or a node on the way.
pub(super) struct Aim<'a> {
    path: Path<'a>,
    node: &'a Node,
}

impl<'a> Aim<'a> {
    /// At the beginning of the way.
    pub fn at_root(root: &'a Node) -> Self {
        Aim { path: Path::new(), node: root }
    }

    /// Where it is.
    #[inline]
    pub fn node(&self) -> &'a Node {
        self.node
    }

    /// The child on the way to the probe's rows, whose memory is not waited for; nothing at a leaf.
    #[inline]
    pub fn choose(&mut self, probe: Probe) -> Option<&'a Child> {
        let Node::Inner(inner) = self.node else { return None };
        let child = inner.child_of(probe, 0);
        self.path.push((inner, child));
        Some(&inner.children[child])
    }

    /// Goes on to the child that was chosen, if one was.
    #[inline]
    pub fn go_on(&mut self, child: Option<&'a Child>) {
        self.node = child.map_or(self.node, |child| &child.node);
    }

    /// Whether it is at this leaf.
    pub fn is_at(&self, leaf: &Leaf) -> bool {
        matches!(self.node, Node::Leaf(own) if std::ptr::eq(own, leaf))
    }

    /// As [`Finger::seek`], of the probe that it was aimed for.
    #[inline]
    pub fn seek(self, probe: Probe) -> (Finger<'a>, Range<usize>) {
        let mut finger = Finger { leaf: self.node.leaf(), path: self.path };
        let found = finger.settle(probe);
        (finger, found)
    }
}

/// Moves a path, which is not empty, on to the leaf for a probe that comes after the rows before it.
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

/// Follows the probe down to a leaf.
#[inline]
fn descend<'a>(mut node: &'a Node, probe: Probe, path: &mut Path<'a>) -> &'a Node {
    while let Node::Inner(inner) = node {
        let child = inner.child_of(probe, 0);
        path.push((inner, child));
        node = &inner.children[child].node;
    }
    node
}
