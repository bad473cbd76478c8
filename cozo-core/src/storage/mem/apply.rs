//! Applies sorted changes to a subtree. Each affected node is changed once.
//!
//! At an inner node with separators `_, 10, 80`, rows `5, 6, 90` become rows `5, 6` for child 0 and `90` for child 2.

use std::borrow::Cow;
use std::ops::{Deref, Range};

use smallvec::SmallVec;

use super::key::{Probe, ProbeKeys, keys_at};
use super::node::{Inner, Node, Sibling};
use super::search::run_end;
use super::shared::Shared;
use crate::storage::ChangeKind;
use crate::value::{Column, DataValue};

/// Changed rows.
pub(super) struct Changes<'a> {
    pub kind: ChangeKind,
    /// All columns for puts, the key columns for removals.
    pub rows: Rows<'a>,
    /// The number of key columns.
    pub keys: usize,
}

/// The rows of [`Changes`].
pub(super) enum Rows<'a> {
    One(ProbeKeys<'a>),
    Many(&'a [Column]),
    /// Rows whose large values may be moved out, each once.
    Given(&'a mut [Column]),
}

/// Rows as columns, to encode as leaves.
pub(super) enum Columns<'a> {
    /// Values are copied.
    Kept(Cow<'a, [Column]>),
    /// Large values may be moved out, each once.
    Given(&'a mut [Column]),
}

impl Deref for Columns<'_> {
    type Target = [Column];

    fn deref(&self) -> &[Column] {
        match self {
            Columns::Kept(columns) => columns,
            Columns::Given(columns) => columns,
        }
    }
}

impl Columns<'_> {
    /// Appends a range of rows to columns.
    pub fn append_to(&mut self, range: Range<usize>, targets: &mut [Column]) {
        match self {
            Columns::Kept(columns) => {
                for (column, target) in columns.iter().zip(targets) {
                    target.append_range(column, range.clone());
                }
            }
            Columns::Given(columns) => {
                for (column, target) in columns.iter_mut().zip(targets) {
                    match column {
                        Column::Any(values) => move_values(&mut values[range.clone()], target),
                        column => target.append_range(column, range.clone()),
                    }
                }
            }
        }
    }
}

/// Moves values to the end of a column.
pub(super) fn move_values(values: &mut [DataValue], target: &mut Column) {
    if target.is_empty() {
        *target = Column::Any(Vec::with_capacity(values.len()));
    }
    let values = values.iter_mut().map(std::mem::take);
    match target {
        Column::Any(target) => target.extend(values),
        target => values.for_each(|value| target.push_owned(value)),
    }
}

impl Changes<'_> {
    /// Calls `then` with the key of a row.
    #[inline]
    pub fn with_key<T>(&self, row: usize, then: impl FnOnce(Probe) -> T) -> T {
        match &self.rows {
            Rows::One(values) => then(&values[..self.keys]),
            Rows::Many(columns) => then(&keys_at(&columns[..self.keys], row)),
            Rows::Given(columns) => then(&keys_at(&columns[..self.keys], row)),
        }
    }

    /// Calls `then` with all values of a row.
    #[inline]
    pub fn with_row<T>(&self, row: usize, then: impl FnOnce(Probe) -> T) -> T {
        match &self.rows {
            Rows::One(values) => then(values),
            Rows::Many(columns) => then(&keys_at(columns, row)),
            Rows::Given(columns) => then(&keys_at(columns, row)),
        }
    }

    /// The rows as columns.
    pub fn columns(&mut self) -> Columns<'_> {
        match &mut self.rows {
            Rows::One(values) => {
                Columns::Kept(values.iter().map(|value| Column::of(Cow::Owned(value.to_value()))).collect())
            }
            Rows::Many(columns) => Columns::Kept(Cow::Borrowed(columns)),
            Rows::Given(columns) => Columns::Given(columns),
        }
    }
}

/// Applies a range of changes, which is not empty, to a subtree. Returns the right siblings that split off. The subtree may become
/// empty.
pub(super) fn apply(node: &mut Shared<Node>, changes: &mut Changes, range: Range<usize>) -> Vec<Sibling> {
    match (Node::make_mut(node), changes.kind) {
        (Node::Leaf(leaf), ChangeKind::Put) => leaf.put(changes, range),
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
