//! Nodes of the tree: leaves of rows, and inner nodes of children with the separators between them.

use std::ops::Range;

use super::buffer::{Buffer, buffer};
use super::key::Probe;
use super::leaf::Leaf;
use super::leaf_column::{LeafColumn, LeafColumns};
use super::search::pieces;
use super::shared::Shared;
use crate::value::{Column, DataValue};

/// The most rows of a leaf.
pub const MAX_LEAF_ROWS: usize = 512;

/// The rows of a leaf that many were appended to. What stays free has room for rows that come in between later: the first of
/// them need not split the leaf, nor move four-byte columns, for which an allocator has blocks of 2048 bytes, not of 1920.
pub(super) const APPENDED_LEAF_ROWS: usize = 480;

/// About the most bytes of strings and mixtures of a leaf with more than one row: a put copies them all.
pub(super) const MAX_LEAF_BYTES: usize = 1 << 16;

/// The most children of an inner node. More make the tree lower, which spares cold reads; fewer make a copy of a node that a
/// snapshot holds cheaper, since it counts a reference to each child.
pub const MAX_CHILDREN: usize = 64;

/// A node.
#[derive(Debug)]
pub(super) enum Node {
    Leaf(Leaf),
    Inner(Inner),
}

/// A node above others.
#[derive(Debug)]
pub(super) struct Inner {
    /// Row `i` separates child `i - 1` from child `i`; one column for each key column.
    pub separators: LeafColumns,
    pub children: Buffer<Child>,
    /// The number of rows below.
    pub rows: u64,
}

/// A child with what its parent needs to know without looking at it.
#[derive(Clone, Debug)]
pub(super) struct Child {
    pub node: Shared<Node>,
    /// The number of rows below.
    pub rows: u64,
    /// The number of rows of a leaf, of children of an inner node.
    pub size: usize,
}

/// A new right neighbour of a node that was split, with the separator before it.
#[derive(Debug)]
pub(super) struct Sibling {
    pub separator: Vec<DataValue>,
    pub child: Child,
}

impl Child {
    pub fn new(node: Shared<Node>) -> Self {
        let mut child = Child { node, rows: 0, size: 0 };
        child.measure();
        child
    }

    /// Counts anew, after the node was changed.
    pub fn measure(&mut self) {
        (self.rows, self.size) = match &*self.node {
            Node::Leaf(leaf) => (leaf.len as u64, leaf.len),
            Node::Inner(inner) => (inner.rows, inner.children.len()),
        };
    }
}

impl Node {
    /// The node to change: itself if nobody else holds it, otherwise a copy put in its place.
    pub fn make_mut(node: &mut Shared<Node>) -> &mut Node {
        if Shared::holders(node) > 1 {
            *node = Shared::new(match &**node {
                Node::Leaf(leaf) => Node::Leaf(leaf.copy_with_room()),
                Node::Inner(inner) => Node::Inner(inner.copy()),
            });
        }
        Shared::get_mut(node).expect("a node just made is not shared")
    }

    /// This leaf.
    #[inline]
    pub fn leaf(&self) -> &Leaf {
        match self {
            Node::Leaf(leaf) => leaf,
            Node::Inner(_) => unreachable!("all leaves are equally far from the root"),
        }
    }

    /// Reads something of the node itself; what it gives means nothing.
    #[inline]
    pub fn prefetch(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.len,
            Node::Inner(inner) => inner.children.len(),
        }
    }

    /// Reads some of the memory that a search by the first key columns goes through; what it gives means nothing.
    #[inline]
    pub fn prefetch_keys(&self, keys: usize) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.prefetch(keys),
            Node::Inner(inner) => prefetch(&inner.separators, keys),
        }
    }

    /// The first key below.
    pub fn first_key(&self, keys: usize) -> Vec<DataValue> {
        match self {
            Node::Leaf(leaf) => leaf.key(0, keys),
            Node::Inner(inner) => inner.children[0].node.first_key(keys),
        }
    }
}

/// Reads some of the memory that a search by the first of these columns goes through; what it gives means nothing.
#[inline]
pub(super) fn prefetch(columns: &[LeafColumn], keys: usize) -> usize {
    columns.iter().take(keys).map(LeafColumn::prefetch).fold(0, usize::wrapping_add)
}

/// Within rows sorted by columns, the run of those that begin with the probe; empty, at the place where it would be, if
/// there are none.
#[inline]
pub(super) fn equal_range(columns: &[LeafColumn], mut range: Range<usize>, probe: Probe) -> Range<usize> {
    for (stored, key) in columns.iter().zip(probe) {
        range = stored.equal_range(range, *key);
        if range.is_empty() {
            break;
        }
    }
    range
}

impl Inner {
    /// A node above these, of which there is at least one.
    pub fn of(items: Vec<Sibling>) -> Self {
        let keys = items[0].separator.len();
        let separators = (0..keys).map(|key| {
            let column: Column = items.iter().map(|item| item.separator[key].clone()).collect();
            LeafColumn::encode(&column, 0..column.len())
        });
        Inner::new(separators.collect(), buffer(items.into_iter().map(|item| item.child)))
    }

    pub fn new(separators: LeafColumns, children: Buffer<Child>) -> Self {
        let rows = children.iter().map(|child| child.rows).sum();
        Inner { separators, children, rows }
    }

    fn copy(&self) -> Self {
        // Counting a reference waits for the child's memory, one child after another. Plain loads do not wait for each
        // other: they bring all of it near first.
        let warm: usize = self.children.iter().map(|child| Shared::holders(&child.node)).sum();
        std::hint::black_box(warm);
        Inner { separators: self.separators.clone(), children: self.children.clone(), rows: self.rows }
    }

    /// The child, from `first` on, where the rows that begin with the probe begin. A probe of a whole key is in that
    /// child or nowhere; rows of a shorter one may begin only in the child after it.
    #[inline]
    pub fn child_of(&self, probe: Probe, first: usize) -> usize {
        let found = equal_range(&self.separators, first + 1..self.children.len(), probe);
        match probe.len() == self.separators.len() && !found.is_empty() {
            true => found.start,
            false => found.start - 1,
        }
    }

    /// The child with the row of this number, and the row's number in it.
    pub fn child_of_rank(&self, mut rank: u64) -> (usize, u64) {
        let last = self.children.len() - 1;
        for (index, child) in self.children[..last].iter().enumerate() {
            if rank < child.rows {
                return (index, rank);
            }
            rank -= child.rows;
        }
        (last, rank)
    }

    /// The separator before a child.
    pub fn separator(&self, child: usize) -> Vec<DataValue> {
        self.separators.iter().map(|column| column.get(child)).collect()
    }

    /// Takes in new children before the one at `index`.
    pub fn insert_siblings(&mut self, index: usize, siblings: Vec<Sibling>) {
        let separators = self.separators.iter().enumerate().map(|(key, old)| {
            let mut column = Column::default();
            old.append_range(0..index, &mut column);
            siblings.iter().for_each(|sibling| column.push(&sibling.separator[key]));
            old.append_range(index..old.len(), &mut column);
            LeafColumn::encode(&column, 0..column.len())
        });
        self.separators = separators.collect();
        self.children.splice(index..index, siblings.into_iter().map(|sibling| sibling.child));
    }

    /// Keeps what one node may hold, and gives the rest as right siblings.
    pub fn split(&mut self, appended: bool) -> Vec<Sibling> {
        if self.children.len() <= MAX_CHILDREN {
            return vec![];
        }
        let mut nodes = pieces(self.children.len(), MAX_CHILDREN, appended).into_iter().map(|piece| {
            let separators = self.separators.iter().map(|column| column.slice(piece.clone())).collect();
            (self.separator(piece.start), Inner::new(separators, buffer(self.children[piece].iter().cloned())))
        });
        let (_, first) = nodes.next().expect("there is always a piece");
        let sibling = |(separator, inner)| Sibling { separator, child: Child::new(Shared::new(Node::Inner(inner))) };
        let siblings = nodes.map(sibling).collect();
        *self = first;
        siblings
    }
}
