//! Nodes of the tree: leaves of rows, and inner nodes of children with the separators between them.

use super::buffer::{Buffer, buffer};
use super::columns::{LeafColumns, equal_range, prefetch};
use super::leaf::{Leaf, SplitOff};
use super::leaf_column::LeafColumn;
use super::limits::MAX_CHILDREN;
use super::loads::load;
use super::search::pieces;
use super::shared::Shared;
use crate::storage::key::Probe;
use crate::value::DataValue;

/// A node.
#[derive(Debug)]
pub(super) enum Node {
    Leaf(Leaf),
    Inner(Inner),
}

/// An inner node.
#[derive(Debug)]
pub(super) struct Inner {
    /// Row `i` separates child `i - 1` from child `i`; one column for each key column.
    pub separators: LeafColumns,
    pub children: Buffer<Child>,
    /// The number of rows below.
    pub rows: u64,
}

/// A child, with the numbers that its parent needs without reading the child's memory.
#[derive(Clone, Debug)]
pub(super) struct Child {
    pub node: Shared<Node>,
    /// The number of rows below.
    pub rows: u64,
    /// The number of rows of a leaf, or of children of an inner node.
    pub size: usize,
}

/// A new right neighbour of a split node, with the separator before it.
#[derive(Debug)]
pub(super) struct Sibling {
    pub separator: Vec<DataValue>,
    pub child: Child,
}

impl From<SplitOff> for Sibling {
    fn from(SplitOff { separator, leaf }: SplitOff) -> Self {
        Sibling { separator, child: Child::new(Shared::new(Node::Leaf(leaf))) }
    }
}

impl Child {
    pub fn new(node: Shared<Node>) -> Self {
        let mut child = Child { node, rows: 0, size: 0 };
        child.measure();
        child
    }

    /// Updates the numbers after the node was changed.
    pub fn measure(&mut self) {
        (self.rows, self.size) = match &*self.node {
            Node::Leaf(leaf) => (leaf.len as u64, leaf.len),
            Node::Inner(inner) => (inner.rows, inner.children.len()),
        };
    }
}

impl Node {
    /// The node for a change: the node itself if it has one holder, otherwise a copy, which replaces it.
    pub fn make_mut(node: &mut Shared<Node>) -> &mut Node {
        if Shared::holders(node) > 1 {
            *node = Shared::new(match &**node {
                Node::Leaf(leaf) => Node::Leaf(leaf.copy_with_room()),
                Node::Inner(inner) => Node::Inner(inner.copy()),
            });
        }
        Shared::get_mut(node).expect("a node just made is not shared")
    }

    /// The node as a leaf.
    #[inline]
    pub fn leaf(&self) -> &Leaf {
        match self {
            Node::Leaf(leaf) => leaf,
            Node::Inner(_) => unreachable!("all leaves are equally far from the root"),
        }
    }

    /// Reads the node's own memory. The result has no meaning.
    #[inline]
    pub fn prefetch(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.len,
            Node::Inner(inner) => inner.children.len(),
        }
    }

    /// Reads some of the memory that a search by the first key columns reads. The result has no meaning.
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

impl Inner {
    /// A node above these children, of which there is at least one.
    pub fn of(items: Vec<Sibling>) -> Self {
        let keys = items[0].separator.len();
        let separators = (0..keys)
            .map(|key| LeafColumn::built(|column| items.iter().for_each(|item| column.push(&item.separator[key]))));
        Inner::new(separators.collect(), buffer(items.into_iter().map(|item| item.child)))
    }

    pub fn new(separators: LeafColumns, children: Buffer<Child>) -> Self {
        let rows = children.iter().map(|child| child.rows).sum();
        Inner { separators, children, rows }
    }

    fn copy(&self) -> Self {
        // Counting references waits for the children's memory one after another. Plain loads come first, since their cache misses
        // overlap.
        load(self.children.iter().map(|child| Shared::holders(&child.node)));
        Inner { separators: self.separators.clone(), children: self.children.clone(), rows: self.rows }
    }

    /// The child, from `first` on, in which the rows that begin with the probe start. The row of a whole key is in that child or
    /// in none. The rows of a shorter probe may start only in the child after it.
    #[inline]
    pub fn child_of(&self, probe: Probe, first: usize) -> usize {
        let found = equal_range(&self.separators, first + 1..self.children.len(), probe);
        match probe.len() == self.separators.len() && !found.is_empty() {
            true => found.start,
            false => found.start - 1,
        }
    }

    /// The child that has the row with this rank, and the row's rank in it.
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

    /// Inserts new children before the one at `index`.
    pub fn insert_siblings(&mut self, index: usize, siblings: Vec<Sibling>) {
        let separators = self.separators.iter().enumerate().map(|(key, old)| {
            LeafColumn::built(|column| {
                old.append_range(0..index, column);
                siblings.iter().for_each(|sibling| column.push(&sibling.separator[key]));
                old.append_range(index..old.len(), column);
            })
        });
        self.separators = separators.collect();
        self.children.splice(index..index, siblings.into_iter().map(|sibling| sibling.child));
    }

    /// Splits a node with too many children. Returns its new right siblings.
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
