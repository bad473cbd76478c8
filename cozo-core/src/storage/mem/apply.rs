//! Applying sorted changes to a subtree: each node that they touch is changed once.
//!
//! Rows `5, 6, 90` at an inner node with separators `_, 10, 80` become rows `5, 6` for child 0 and `90` for child 2.

use std::ops::Range;

use smallvec::SmallVec;

use super::key::{ProbeKeys, keys_at};
use super::node::{Inner, Node, Sibling};
use super::search::run_end;
use super::shared::Shared;
use crate::storage::ChangeKind;
use crate::value::Column;

/// Changed rows.
#[derive(Clone, Copy)]
pub(super) struct Changes<'a> {
    pub kind: ChangeKind,
    /// All columns of rows to put, the key columns of rows to remove.
    pub columns: &'a [Column],
    /// The number of key columns.
    pub keys: usize,
}

impl<'a> Changes<'a> {
    fn key(&self, row: usize) -> ProbeKeys<'a> {
        keys_at(&self.columns[..self.keys], row)
    }
}

/// Applies a range of changes, not empty, to a subtree; gives what splits off to its right. The subtree may become empty.
pub(super) fn apply(node: &mut Shared<Node>, changes: &Changes, range: Range<usize>) -> Vec<Sibling> {
    match (Node::make_mut(node), changes.kind) {
        (Node::Leaf(leaf), ChangeKind::Put) => leaf.put(changes.columns, range, changes.keys),
        (Node::Leaf(leaf), ChangeKind::Remove) => {
            leaf.remove(&changes.columns[..changes.keys], range);
            vec![]
        }
        (Node::Inner(inner), _) => inner.apply(changes, range),
    }
}

impl Inner {
    fn apply(&mut self, changes: &Changes, range: Range<usize>) -> Vec<Sibling> {
        let last = self.children.len() - 1;
        let mut appended = false;
        // From right to left, so that new siblings do not move the children that are still to be changed.
        for (index, part) in self.distribute(changes, range).into_iter().rev() {
            let child = &mut self.children[index];
            let before = child.rows;
            let siblings = apply(&mut child.node, changes, part);
            child.measure();
            self.rows += child.rows + siblings.iter().map(|sibling| sibling.child.rows).sum::<u64>();
            self.rows -= before;
            if !siblings.is_empty() {
                appended |= index == last;
                self.insert_siblings(index + 1, siblings);
            }
        }
        if changes.kind == ChangeKind::Remove {
            self.join_small_children();
        }
        self.split(appended)
    }

    /// Which changes go to which child.
    fn distribute(&self, changes: &Changes, range: Range<usize>) -> SmallVec<[(usize, Range<usize>); 4]> {
        let mut parts = SmallVec::new();
        let (mut next, mut child) = (range.start, 0);
        while next < range.end {
            child = self.child_of(&changes.key(next), child);
            let here = |row: usize| self.child_of(&changes.key(row), child) == child;
            let end = end_of_part(next + 1..range.end, here);
            parts.push((child, next..end));
            next = end;
        }
        parts
    }
}

/// The first row of the range that is not for the same child: often the first of all, or there is none.
fn end_of_part(range: Range<usize>, here: impl Fn(usize) -> bool) -> usize {
    if !range.is_empty() && here(range.end - 1) {
        return range.end;
    }
    run_end(range, here)
}
