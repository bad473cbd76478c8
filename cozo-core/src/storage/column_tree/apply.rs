//! Applies sorted changes to a subtree. Each affected node is changed once.
//!
//! At an inner node with separators `_, 10, 80`, rows `5, 6, 90` become rows `5, 6` for child 0 and `90` for child 2.

use std::ops::Range;

use smallvec::SmallVec;

use super::changes::Changes;
use super::node::{Inner, Node, Sibling};
use super::search::run_end;
use super::shared::Shared;
use crate::storage::changes::ChangeKind;

/// Applies a range of changes, which is not empty, to a subtree. Returns the right siblings that split off. The subtree may become
/// empty.
pub(super) fn apply(node: &mut Shared<Node>, changes: &mut Changes, range: Range<usize>) -> Vec<Sibling> {
    match (Node::make_mut(node), changes.kind) {
        (Node::Leaf(leaf), ChangeKind::Put) => leaf.put(changes, range).into_iter().map(Sibling::from).collect(),
        (Node::Leaf(leaf), ChangeKind::Remove) => {
            leaf.remove(changes, range);
            vec![]
        }
        (Node::Inner(inner), _) => inner.apply(changes, range),
    }
}

impl Inner {
    fn apply(&mut self, changes: &mut Changes, range: Range<usize>) -> Vec<Sibling> {
        let mut appended = false;
        if range.len() == 1 {
            let index = changes.with_key(range.start, |key| self.child_of(key, 0));
            appended = self.apply_to_child(index, changes, range);
        } else {
            // Right to left, so that new siblings do not shift the children that are still to be changed.
            for (index, part) in self.distribute(changes, range).into_iter().rev() {
                appended |= self.apply_to_child(index, changes, part);
            }
        }
        if changes.kind == ChangeKind::Remove {
            self.join_small_children();
        }
        self.split(appended)
    }

    /// Applies changes to a child, and inserts the siblings that split off. Returns whether they come after all other children.
    fn apply_to_child(&mut self, index: usize, changes: &mut Changes, range: Range<usize>) -> bool {
        let last = self.children.len() - 1;
        let child = &mut self.children[index];
        let before = child.rows;
        let siblings = apply(&mut child.node, changes, range);
        child.measure();
        self.rows += child.rows + siblings.iter().map(|sibling| sibling.child.rows).sum::<u64>();
        self.rows -= before;
        if siblings.is_empty() {
            return false;
        }
        self.insert_siblings(index + 1, siblings);
        index == last
    }

    /// The children, and the range of changes for each.
    fn distribute(&self, changes: &Changes, range: Range<usize>) -> SmallVec<[(usize, Range<usize>); 4]> {
        let mut parts = SmallVec::new();
        let (mut next, mut child) = (range.start, 0);
        while next < range.end {
            child = changes.with_key(next, |key| self.child_of(key, child));
            let here = |row: usize| changes.with_key(row, |key| self.child_of(key, child)) == child;
            let end = end_of_part(next + 1..range.end, here);
            parts.push((child, next..end));
            next = end;
        }
        parts
    }
}

/// The first row of the range that is not for the same child. Often it is the first row of all, or there is none.
fn end_of_part(range: Range<usize>, here: impl Fn(usize) -> bool) -> usize {
    if !range.is_empty() && here(range.end - 1) {
        return range.end;
    }
    run_end(range, here)
}
