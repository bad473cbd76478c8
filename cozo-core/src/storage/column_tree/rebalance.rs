//! Rebalancing after removals: small children are joined with their neighbours, and empty ones are dropped.
//!
//! Two neighbours are joined only when the result is at most half full. So a leaf that grows and shrinks by a row is not split
//! and joined again and again.

use super::changes::Columns;
use super::leaf::Leaf;
use super::leaf_column::LeafColumn;
use super::limits::{MAX_CHILDREN, MAX_LEAF_BYTES, MAX_LEAF_ROWS};
use super::node::{Child, Inner, Node};
use crate::value::{Column, DataValue};

impl Inner {
    /// Drops empty children and joins small neighbours. One child may be left, or none.
    pub fn join_small_children(&mut self) {
        for index in (0..self.children.len()).rev() {
            if self.children[index].rows == 0 {
                self.take_child(index);
            }
        }
        let mut index = 1;
        while index < self.children.len() {
            if fit_together(&self.children[index - 1], &self.children[index]) {
                let separator = self.separator(index);
                let right = self.take_child(index);
                self.children[index - 1].join(separator, &right.node);
            } else {
                index += 1;
            }
        }
    }

    fn take_child(&mut self, index: usize) -> Child {
        self.separators.iter_mut().for_each(|column| column.remove(index));
        self.children.remove(index)
    }

    /// Takes over the children of the right neighbour. `separator` is the parent's separator between the two; it replaces the
    /// neighbour's separator 0, which is not a bound.
    fn join(&mut self, separator: Vec<DataValue>, right: &Inner) {
        let separators =
            self.separators.iter().zip(&right.separators).zip(separator).map(|((left, right), between)| {
                LeafColumn::built(|column| {
                    left.append_range(0..left.len(), column);
                    column.push_owned(between);
                    right.append_range(1..right.len(), column);
                })
            });
        self.separators = separators.collect();
        self.children.extend_from_slice(&right.children);
        self.rows += right.rows;
        self.join_small_children(); // the two children at the seam have not been neighbours before
    }
}

pub(super) fn fit_together(left: &Child, right: &Child) -> bool {
    let size = left.size + right.size;
    match (&*left.node, &*right.node) {
        (Node::Leaf(a), Node::Leaf(b)) => size <= MAX_LEAF_ROWS / 2 && a.weight() + b.weight() <= MAX_LEAF_BYTES / 2,
        _ => size <= MAX_CHILDREN / 2,
    }
}

impl Child {
    fn join(&mut self, separator: Vec<DataValue>, right: &Node) {
        match (Node::make_mut(&mut self.node), right) {
            (Node::Leaf(left), Node::Leaf(right)) => left.join(right),
            (Node::Inner(left), Node::Inner(right)) => left.join(separator, right),
            _ => unreachable!("neighbours have the same height"),
        }
        self.measure();
    }
}

impl Leaf {
    fn join(&mut self, right: &Leaf) {
        let mut joined = vec![Column::default(); self.columns.len()];
        self.move_range(0..self.len, &mut joined);
        right.decode_range(0..right.len, &mut joined);
        *self = Leaf::encode(&mut Columns::Given(&mut joined), 0..self.len + right.len);
    }
}
