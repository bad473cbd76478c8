//! A finger: a leaf and the path to it, moved forward by look-ups and scans without starting at the root.

use std::ops::Range;

use smallvec::SmallVec;

use super::key::Probe;
use super::leaf::Leaf;
use super::node::{Inner, Node};

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
        let leaf = descend(root, probe, &mut path, usize::MAX).leaf();
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
        let height = self.path.len();
        self.leaf = aim_forward(&mut self.path, height, probe).leaf();
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

/// The leaf where a probe's rows begin, found by the nodes above it alone, so that its memory was not waited for.
pub(super) struct Aim<'a> {
    path: Path<'a>,
    node: &'a Node,
}

impl<'a> Aim<'a> {
    /// At the leaf of a finger, which is not the only one of its tree.
    pub fn of(finger: &Finger<'a>) -> Option<Self> {
        let (inner, child) = finger.path.last()?;
        Some(Aim { path: Path::from_slice(&finger.path), node: &inner.children[*child].node })
    }

    /// For another probe, which comes after the rows before this leaf if it ascends.
    #[inline]
    pub fn next(&self, ascends: bool, probe: Probe) -> Self {
        let mut path = Path::from_slice(&self.path);
        if !ascends {
            path.truncate(1);
            path[0].1 = 0;
        }
        let node = aim_forward(&mut path, self.path.len(), probe);
        Aim { path, node }
    }

    /// Whether both are the same leaf.
    pub fn is_at(&self, other: &Self) -> bool {
        std::ptr::eq(self.node, other.node)
    }

    /// The leaf.
    pub fn leaf(&self) -> &'a Leaf {
        self.node.leaf()
    }

    /// As [`Finger::seek`], of the probe that it was aimed for.
    #[inline]
    pub fn seek(self, probe: Probe) -> (Finger<'a>, Range<usize>) {
        let mut finger = Finger { leaf: self.leaf(), path: self.path };
        let found = finger.settle(probe);
        (finger, found)
    }
}

/// Moves a path, which is not empty, on to the leaf for a probe that comes after the rows before it. `height` is the number of
/// nodes above a leaf.
#[inline]
fn aim_forward<'a>(path: &mut Path<'a>, height: usize, probe: Probe) -> &'a Node {
    let (mut inner, mut child);
    loop {
        (inner, child) = path.pop().expect("the loop ends at the root");
        child = inner.child_of(probe, child);
        if path.is_empty() || child + 1 < inner.children.len() {
            break;
        }
    }
    path.push((inner, child));
    descend(&inner.children[child].node, probe, path, height)
}

/// Follows the probe down, until the path is so long or ends at a leaf.
#[inline]
fn descend<'a>(mut node: &'a Node, probe: Probe, path: &mut Path<'a>, height: usize) -> &'a Node {
    while path.len() < height
        && let Node::Inner(inner) = node
    {
        let child = inner.child_of(probe, 0);
        path.push((inner, child));
        node = &inner.children[child].node;
    }
    node
}
