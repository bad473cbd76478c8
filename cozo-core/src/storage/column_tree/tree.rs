//! A relation's rows as one column tree. The engine uses it, and so do relations local to a transaction.
//!
//! A [`Tree`] is a root node, its [`RelationShape`], and an [`Identity`] that changes with the contents. Changes go down by
//! `apply`; this file only changes the number of levels. `grow` adds levels above the root and its new right siblings, and
//! `shrink` removes levels with one child.
//!
//! A row's *rank* is its number in key order. Inner nodes have the row counts of their children, so a rank and its row are
//! found in one descent each: `rank_range` leads from a key prefix to ranks, `key_at` from a rank to a key. Counts, partitions
//! and cuts need no scan.
//!
//! ```text
//!  KeyRange { prefix: [7], lower: [20], upper: none }
//!      ranks:  start of (7, 20)  ..  end of (7)          row_count_within = end - start
//!      scan:   Finger::at_rank(start), then leaf by leaf for end - start rows
//! ```
//!
//! Invariant: a clone shares all nodes, and a change copies each shared node that it changes. So a clone is a snapshot.

use std::ops::Range;
use std::sync::Arc;

use super::apply::apply;
use super::as_of::{AsOfScan, HistoryLookup, VersionLookup, contains_as_of};
use super::changes::{Changes, Rows};
use super::columns::{LeafColumns, equal_range};
use super::cursor::{ScanCursor, Seeker, TreeLookupCursor};
use super::finger::Finger;
use super::leaf::Leaf;
use super::leaf_column::LeafColumn;
use super::limits::MAX_CHILDREN;
use super::node::{Child, Inner, Node, Sibling};
use super::prefetch::PrefetchWalks;
use super::search::pieces;
use super::shared::Shared;
use crate::storage::changes::{ChangeKind, ChangedRows};
use crate::storage::content_version::{ContentVersion, Identity};
use crate::storage::cursor::{BatchCursor, LookupCursor, probe_count};
use crate::storage::error::StorageError;
use crate::storage::key::{Key, Probe, ProbeKeys, row_of};
use crate::storage::range::{AsOf, End, KeyRange};
use crate::storage::shape::RelationShape;
use crate::value::{Batch, Column, DataValue};

/// Rows sorted by key. A clone is a cheap snapshot: neither sees the other's changes.
#[derive(Clone, Debug)]
pub struct Tree {
    shape: RelationShape,
    pub(super) root: Shared<Node>,
    identity: Identity,
}

impl Tree {
    /// A tree without rows.
    pub fn new(shape: RelationShape) -> Self {
        Tree { shape, root: Shared::new(Node::Leaf(Leaf::empty(shape.arity))), identity: Identity::default() }
    }

    /// The number of columns of the rows.
    pub fn shape(&self) -> RelationShape {
        self.shape
    }

    /// The number of rows.
    pub fn row_count(&self) -> u64 {
        match &*self.root {
            Node::Leaf(leaf) => leaf.len as u64,
            Node::Inner(inner) => inner.rows,
        }
    }

    /// The first key column of the last row, if that is an integer.
    pub fn greatest_int_key(&self) -> Option<i64> {
        let mut node = &*self.root;
        while let Node::Inner(inner) = node {
            node = &inner.children[inner.children.len() - 1].node;
        }
        let leaf = node.leaf();
        match &leaf.columns[0] {
            LeafColumn::Int(column) => column.get(leaf.len.checked_sub(1)?),
            _ => None,
        }
    }

    /// The number of nodes above each leaf.
    pub(super) fn height(&self) -> usize {
        let (mut height, mut node) = (0, &*self.root);
        while let Node::Inner(inner) = node {
            (height, node) = (height + 1, &inner.children[0].node);
        }
        height
    }

    /// The version of the contents, which changes with every change.
    pub fn contents(&self) -> ContentVersion {
        self.identity.id()
    }

    pub(in crate::storage) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Adds a walk to the leaf of the row with this key.
    pub(in crate::storage) fn add_walk<'t, 'k>(&'t self, key: &'k [DataValue], walks: &mut PrefetchWalks<'t, 'k>) {
        walks.push(&self.root, row_of(key));
    }

    /// The number of rows of a range.
    pub fn row_count_within(&self, range: &KeyRange) -> u64 {
        let ranks = self.ranks(range);
        ranks.end.saturating_sub(ranks.start)
    }

    /// The number of rows that begin with these values.
    pub fn count(&self, prefix: &[DataValue]) -> u64 {
        let ranks = self.rank_range(prefix.iter());
        ranks.end - ranks.start
    }

    /// The approximate size of the tree, including shared nodes.
    pub fn memory_bytes(&self) -> usize {
        memory_of(&self.root)
    }

    /// Puts rows, sorted by key, each key once. They replace rows with the same keys.
    pub fn put(&mut self, rows: &Batch) {
        self.change(ChangeKind::Put, Rows::Many(&rows.columns), rows.len);
    }

    /// Removes the rows with these keys, sorted, each once; missing ones are ignored.
    pub fn remove(&mut self, keys: &Batch) {
        self.change(ChangeKind::Remove, Rows::Many(&keys.columns), keys.len);
    }

    /// Puts or removes rows; see [`Tree::put`] and [`Tree::remove`].
    pub fn apply(&mut self, kind: ChangeKind, rows: &ChangedRows) -> Result<(), StorageError> {
        match rows {
            ChangedRows::One(row) => self.change(kind, Rows::One(row_of(row)), 1),
            ChangedRows::Many(rows) => self.change(kind, Rows::Many(&rows.columns), rows.len),
            ChangedRows::Source(_) => {
                for rows in rows.batches() {
                    let rows = rows?;
                    self.change(kind, Rows::Many(&rows.columns), rows.len);
                }
            }
        }
        Ok(())
    }

    /// [`Tree::apply`]; large values may be moved out of the rows instead of copied, if the rows have no other holder.
    pub fn take(&mut self, kind: ChangeKind, rows: &mut ChangedRows) -> Result<(), StorageError> {
        if let ChangedRows::Many(shared) = rows
            && let Some(rows) = Arc::get_mut(shared)
        {
            self.change(kind, Rows::Given(&mut rows.columns), rows.len);
            return Ok(());
        }
        self.apply(kind, rows)
    }

    fn change(&mut self, kind: ChangeKind, rows: Rows<'_>, len: usize) {
        if len == 0 {
            return;
        }
        self.identity = Identity::default();
        let mut changes = Changes { kind, rows, keys: self.shape.keys };
        let siblings = apply(&mut self.root, &mut changes, 0..len);
        match kind {
            ChangeKind::Put if !siblings.is_empty() => self.grow(siblings),
            ChangeKind::Put => {}
            ChangeKind::Remove => self.shrink(),
        }
    }

    /// Adds levels above the root and its new right siblings, until there is one root again.
    fn grow(&mut self, siblings: Vec<Sibling>) {
        let separator = self.root.first_key(self.shape.keys);
        let mut level = vec![Sibling { separator, child: Child::new(self.root.clone()) }];
        level.extend(siblings);
        while level.len() > 1 {
            let cuts = pieces(level.len(), MAX_CHILDREN, true);
            let mut items = level.into_iter();
            let above = cuts.into_iter().map(|cut| {
                let items: Vec<Sibling> = items.by_ref().take(cut.len()).collect();
                let separator = items[0].separator.clone();
                Sibling { separator, child: Child::new(Shared::new(Node::Inner(Inner::of(items)))) }
            });
            level = above.collect();
        }
        self.root = level.pop().expect("one root is left").child.node;
    }

    /// Removes levels whose node has at most one child.
    fn shrink(&mut self) {
        while let Node::Inner(inner) = &*self.root {
            self.root = match &inner.children[..] {
                [] => Shared::new(Node::Leaf(Leaf::empty(self.shape.arity))),
                [only] => only.node.clone(),
                _ => return,
            };
        }
    }

    /// The rows of a range in key order.
    pub fn scan(&self, range: &KeyRange, columns: &[usize]) -> ScanCursor<'_> {
        ScanCursor::new(&self.root, self.ranks(range), columns)
    }

    /// The rows that begin with the prefixes; see [`Snapshot::lookup`](crate::storage::Snapshot::lookup).
    pub fn lookup<'a>(&'a self, prefixes: &'a [Column], columns: &[usize]) -> TreeLookupCursor<'a> {
        TreeLookupCursor::new(&self.root, prefixes, columns)
    }

    /// Writes values of the row with this key into `places`; see [`Snapshot::get`](crate::storage::Snapshot::get).
    pub fn get(&self, key: &[DataValue], outputs: &[(usize, usize)], places: &mut [DataValue]) -> bool {
        let probe = row_of(key);
        let mut node = &*self.root;
        while let Node::Inner(inner) = node {
            node = &inner.children[inner.child_of(&probe, 0)].node;
        }
        let leaf = node.leaf();
        let found = leaf.find(&probe, false);
        if found.is_empty() {
            return false;
        }
        leaf.prefetch_row_now(found.start);
        for (column, place) in outputs {
            leaf.columns[*column].get_into(found.start, &mut places[*place]);
        }
        true
    }

    /// For each prefix, whether any row begins with it; see [`Snapshot::contains`](crate::storage::Snapshot::contains).
    pub fn contains(&self, prefixes: &[Column], as_of: Option<AsOf>) -> Vec<bool> {
        if let Some(as_of) = as_of {
            return contains_as_of(&self.root, prefixes, as_of);
        }
        let mut seeker = Seeker::new(&self.root, prefixes, None, &[]);
        (0..probe_count(prefixes)).map(|row| seeker.seek(row)).collect()
    }

    /// Cuts a range into at most `parts` of equal size.
    pub fn partition(&self, range: &KeyRange, parts: usize) -> Vec<KeyRange> {
        let (ranks, rows) = (self.ranks(range), self.row_count_within(range));
        let parts = if range.prefix.len() < self.shape.keys { rows.clamp(1, parts.max(1) as u64) } else { 1 };
        let bound = |part: u64| self.key_at(ranks.start + rows * part / parts).split_off(range.prefix.len());
        let mut lower = range.lower.clone();
        let cut = |part: u64| {
            let upper = if part == parts { range.upper.clone() } else { Some(bound(part)) };
            let lower = std::mem::replace(&mut lower, upper.clone());
            KeyRange { prefix: range.prefix.clone(), lower, upper }
        };
        (1..=parts).map(cut).collect()
    }

    /// Cuts off rows at an end of a range; see [`Snapshot::split_at_rank`](crate::storage::Snapshot::split_at_rank).
    pub fn split_at_rank(&self, range: &KeyRange, rows: u64, end: End) -> (KeyRange, Option<KeyRange>) {
        let ranks = self.ranks(range);
        if ranks.end.saturating_sub(ranks.start) <= rows {
            return (range.clone(), None);
        }
        let rank = match end {
            End::First => ranks.start + rows,
            End::Last => ranks.end - rows,
        };
        let bound = self.key_at(rank).split_off(range.prefix.len());
        let before = KeyRange { upper: Some(bound.clone()), ..range.clone() };
        let after = KeyRange { lower: Some(bound), ..range.clone() };
        match end {
            End::First => (before, Some(after)),
            End::Last => (after, Some(before)),
        }
    }

    /// The key of the row with this rank, which exists.
    fn key_at(&self, rank: u64) -> Vec<DataValue> {
        let (finger, row) = Finger::at_rank(&self.root, rank);
        finger.leaf.key(row, self.shape.keys)
    }

    /// The ranks of the rows in a range; empty if its bounds cross.
    fn ranks(&self, range: &KeyRange) -> Range<u64> {
        let bound = |bound: &Option<Vec<DataValue>>| {
            bound.as_ref().map(|bound| self.rank_range(range.prefix.iter().chain(bound)).start)
        };
        let whole = || self.rank_range(range.prefix.iter());
        let start = bound(&range.lower).unwrap_or_else(|| whole().start);
        start..bound(&range.upper).unwrap_or_else(|| whole().end)
    }

    /// The ranks of the rows that begin with these values.
    fn rank_range<'a>(&self, values: impl Iterator<Item = &'a DataValue>) -> Range<u64> {
        let probe: ProbeKeys = values.take(self.shape.keys).map(Key::of).collect();
        if probe.is_empty() {
            0..self.row_count()
        } else {
            rank::<false>(&self.root, &probe)..rank::<true>(&self.root, &probe)
        }
    }
}

/// The number of rows before those that begin with the probe; with `END`, before and among them.
fn rank<const END: bool>(mut node: &Node, probe: Probe) -> u64 {
    let side = |found: Range<usize>| if END { found.end } else { found.start };
    let mut before = 0;
    loop {
        match node {
            Node::Leaf(leaf) => return before + side(leaf.equal_range(0, probe)) as u64,
            Node::Inner(inner) => {
                let child = match END {
                    true => equal_range(&inner.separators, 1..inner.children.len(), probe).end - 1,
                    false => inner.child_of(probe, 0),
                };
                before += inner.children[..child].iter().map(|child| child.rows).sum::<u64>();
                node = &inner.children[child].node;
            }
        }
    }
}

fn memory_of(node: &Node) -> usize {
    let columns = |columns: &LeafColumns| columns.iter().map(LeafColumn::heap_bytes).sum::<usize>();
    let header = size_of::<Node>() + 2 * size_of::<usize>();
    match node {
        Node::Leaf(leaf) => header + columns(&leaf.columns),
        Node::Inner(inner) => {
            let children: usize = inner.children.iter().map(|child| memory_of(&child.node)).sum();
            header + columns(&inner.separators) + inner.children.capacity() * size_of::<Child>() + children
        }
    }
}

/// The cursors as trait objects.
impl Tree {
    /// See [`Snapshot::scan`](crate::storage::Snapshot::scan).
    pub(in crate::storage) fn boxed_scan<'a>(
        &'a self,
        range: &KeyRange,
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Box<dyn BatchCursor + 'a> {
        match as_of {
            None => Box::new(self.scan(range, columns)),
            Some(as_of) => Box::new(AsOfScan::new(&self.root, self.ranks(range), columns, as_of)),
        }
    }

    /// See [`Snapshot::lookup`](crate::storage::Snapshot::lookup). As of a time, a prefix of all key columns but the Validity
    /// takes one seek.
    pub(in crate::storage) fn boxed_lookup<'a>(
        &'a self,
        prefixes: &'a [Column],
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Box<dyn LookupCursor + 'a> {
        match as_of {
            None => Box::new(self.lookup(prefixes, columns)),
            Some(as_of) if prefixes.len() == as_of.column => {
                Box::new(VersionLookup::new(&self.root, prefixes, columns, as_of))
            }
            Some(as_of) => Box::new(HistoryLookup::new(&self.root, prefixes, columns, as_of)),
        }
    }
}
