//! The leaf directory: an index of a tree by the integer in the first key column. It does not copy rows.
//!
//! Rows are numbered in key order over the whole tree. The directory has the first row number of each key, and the first row
//! number of each leaf with the path to the leaf. Building it reads the first column of each leaf only. A
//! [`DirectoryReader`] then reads the rows of a key from their leaves without a search.
//!
//! ```text
//!  row          0  1  2  3  4  5  6  7  8
//!  first key    0  0  2  2  2  3  3  5  5
//!  leaf         ------0------  -----1----
//!
//!  starts       key:   0  1  2  3  4  5           the rows of key k are starts[k] .. starts[k + 1]
//!               row:   0  2  2  5  7  7  9
//!  leaves       LeafPlace { first: 0, path: 0 }, LeafPlace { first: 5, path: 1 }, { first: MAX, .. }
//!  blocks       the leaf of every BLOCK_ROWSth row: where leaf_of begins to count
//!  path         CHILD_BITS bits for each level: which child of each node from the root down
//! ```
//!
//! Invariants:
//! - A directory belongs to one state of a tree, by [`ContentVersion`]. [`DirectoryReader::new`] refuses any other.
//! - There is one only for first keys that are integers from 0 to a limit, in a tree of more than one leaf, with fewer than
//!   2^32 rows and a path of at most 32 bits.
//! - Row numbers are found in two steps, key to row and row to leaf, since a key may have rows in many leaves.

use std::iter::zip;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use smallvec::SmallVec;

use super::leaf::Leaf;
use super::limits::MAX_CHILDREN;
use super::loads::load;
use super::node::{Inner, Node};
use super::tree::Tree;
use crate::storage::content_version::ContentVersion;
use crate::threads;
use crate::value::{Column, KeyStarts};

/// The number of bits of a child's index in its node.
const CHILD_BITS: u32 = MAX_CHILDREN.ilog2();
const _: () = assert!(MAX_CHILDREN.is_power_of_two(), "a child's number fits its bits");

/// The distance in rows between two entries of `blocks`.
const BLOCK_ROWS: u32 = 256;

/// The number of ranges that are read together, so that their cache misses overlap.
const GROUP: usize = 16;

/// The rows of each first key, and the leaf of each row. Rows are numbered in key order.
#[derive(Debug)]
pub struct LeafDirectory {
    /// The contents of its tree.
    contents: ContentVersion,
    starts: KeyStarts,
    /// Each leaf, and a sentinel after the last.
    leaves: Vec<LeafPlace>,
    /// The leaf of every [`BLOCK_ROWS`]th row.
    blocks: Vec<u32>,
}

/// The first row of a leaf, and the path to the leaf.
#[derive(Clone, Copy, Debug)]
struct LeafPlace {
    /// The number of its first row.
    first: u32,
    /// The index of the child of each node from the root down, [`CHILD_BITS`] for each.
    path: u32,
}

/// A node above leaves, and the path to it.
type Above<'a> = (&'a Inner, u32);

impl LeafDirectory {
    /// The directory of a tree, built by several threads. None if a first key is not an integer from 0 to below `most_keys`, or if
    /// the tree is a single leaf or too large for 32 bits. `go_on` is called from time to time and may abort the work.
    pub fn of<E: Send>(
        tree: &Tree,
        most_keys: u64,
        go_on: impl Fn() -> Result<(), E> + Sync,
    ) -> Result<Option<Self>, E> {
        let height = tree.height();
        if height == 0 || height as u32 * CHILD_BITS > u32::BITS || u32::try_from(tree.row_count()).is_err() {
            return Ok(None);
        }
        let mut above = vec![];
        list_above_leaves(&tree.root, height, 0, &mut above);
        let parts = parts_of(&above, most_keys, &go_on)?;
        let Some(parts) = parts.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let Some(LeafPart { starts, mut leaves }) = joined(parts) else { return Ok(None) };
        let ends = leaves.iter().skip(1).map(|leaf| leaf.first).chain([starts.rows()]);
        let mut blocks = Vec::with_capacity(starts.rows().div_ceil(BLOCK_ROWS) as usize);
        for (number, end) in (0..).zip(ends) {
            blocks.resize(end.div_ceil(BLOCK_ROWS) as usize, number);
        }
        leaves.push(LeafPlace { first: u32::MAX, path: 0 });
        leaves.shrink_to_fit();
        Ok(Some(LeafDirectory { contents: tree.contents(), starts, leaves, blocks }))
    }

    /// The rows of each first key.
    pub fn starts(&self) -> &KeyStarts {
        &self.starts
    }

    /// The number of the leaf of a row.
    #[inline]
    fn leaf_of(&self, row: u32) -> usize {
        let after = |number: usize| self.leaves[number + 1].first <= row;
        let mut number = self.blocks[(row / BLOCK_ROWS) as usize] as usize;
        // Mostly it is the leaf of the block's first row or the next one. Which of the two is unpredictable, so the choice has
        // no branch.
        number += usize::from(after(number));
        while after(number) {
            number += 1;
        }
        number
    }

    /// The size in bytes.
    pub fn memory_bytes(&self) -> usize {
        let blocks = self.blocks.capacity() * size_of::<u32>();
        self.starts.memory_bytes() + self.leaves.capacity() * size_of::<LeafPlace>() + blocks
    }
}

/// Consecutive leaves, with their rows numbered from 0.
#[derive(Default)]
struct LeafPart {
    starts: KeyStarts,
    leaves: Vec<LeafPlace>,
}

impl LeafPart {
    /// The leaves below some nodes; none if a key is not such an integer.
    fn of<E>(above: &[Above<'_>], most_keys: u64, go_on: &impl Fn() -> Result<(), E>) -> Result<Option<Self>, E> {
        let mut part = LeafPart::default();
        for (inner, path) in above {
            go_on()?;
            let paths = (0..).map(|child| path << CHILD_BITS | child);
            for (children, path) in zip(inner.children.chunks(GROUP), paths.step_by(GROUP)) {
                // The leaves of a group are loaded together, so that their cache misses overlap.
                load(children.iter().map(|child| child.node.leaf().len));
                load(children.iter().map(|child| child.node.leaf().prefetch(1)));
                for (child, path) in zip(children, path..) {
                    if part.enter(child.node.leaf(), path, most_keys).is_none() {
                        return Ok(None);
                    }
                }
            }
        }
        Ok(Some(part))
    }

    fn enter(&mut self, leaf: &Leaf, path: u32, most_keys: u64) -> Option<()> {
        let first = self.starts.rows();
        self.starts.add(leaf.columns[0].int_runs()?, most_keys)?;
        self.leaves.push(LeafPlace { first, path });
        Some(())
    }
}

/// The parts below some nodes, one built by each thread. The threads are not from the pool of the queries: while a thread of the
/// pool waits for its parts, it may start a job that waits for this directory.
fn parts_of<E: Send>(
    above: &[Above<'_>],
    most_keys: u64,
    go_on: &(impl Fn() -> Result<(), E> + Sync),
) -> Result<Vec<Option<LeafPart>>, E> {
    let part = |above: &[Above<'_>]| LeafPart::of(above, most_keys, go_on);
    let (own, others) = above.split_at(above.len().div_ceil(threads::count()));
    thread::scope(|scope| {
        let others = others.chunks(own.len());
        let begun: Vec<_> =
            others.map(|above| (above, thread::Builder::new().spawn_scoped(scope, move || part(above)))).collect();
        let mut parts = vec![part(own)?];
        for (above, thread) in begun {
            // If the system cannot start a thread, this one does its part.
            parts.push(match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic))?,
                Err(_) => part(above)?,
            });
        }
        Ok(parts)
    })
}

/// The leaves of consecutive parts; none if they have too many rows.
fn joined(parts: Vec<LeafPart>) -> Option<LeafPart> {
    let mut parts = parts.into_iter();
    let mut all = parts.next().unwrap_or_default();
    for part in parts {
        let before = all.starts.rows();
        all.starts.append(&part.starts)?;
        all.leaves.extend(part.leaves.iter().map(|leaf| LeafPlace { first: before + leaf.first, path: leaf.path }));
    }
    all.starts.finish();
    Some(all)
}

/// Lists the nodes directly above the leaves, below a node that is `height` levels above the leaves.
fn list_above_leaves<'a>(node: &'a Node, height: usize, path: u32, above: &mut Vec<Above<'a>>) {
    let Node::Inner(inner) = node else { unreachable!("all leaves are equally far from the root") };
    if height == 1 {
        return above.push((inner, path));
    }
    for (child, number) in zip(&inner.children, 0..) {
        list_above_leaves(&child.node, height - 1, path << CHILD_BITS | number, above);
    }
}

/// Reads rows of a tree by their numbers.
pub struct DirectoryReader<'a> {
    tree: &'a Tree,
    height: usize,
    places: Arc<LeafDirectory>,
}

impl<'a> DirectoryReader<'a> {
    /// A reader of a tree; none if the directory belongs to other contents.
    pub fn new(tree: &'a Tree, places: Arc<LeafDirectory>) -> Option<Self> {
        (tree.contents() == places.contents).then(|| DirectoryReader { tree, height: tree.height(), places })
    }

    /// The rows of each first key.
    pub fn starts(&self) -> &KeyStarts {
        &self.places.starts
    }

    /// The leaf with this number.
    #[inline]
    fn leaf(&self, number: usize) -> &'a Leaf {
        let path = self.places.leaves[number].path;
        (0..self.height).rev().fold(&*self.tree.root, |node, level| child_on(path, node, level)).leaf()
    }

    /// A column of the rows in ranges. No range is empty, and together they have `len` rows.
    pub fn take(&self, column: usize, ranges: &[Range<u32>], len: usize) -> Column {
        let mut taken = Column::default();
        for ranges in ranges.chunks(GROUP) {
            // The descents of a group go level by level together, so that their cache misses overlap.
            let mut found: SmallVec<[LeafPosition<'a>; GROUP]> =
                ranges.iter().map(|range| self.find(range.start)).collect();
            for level in (0..self.height).rev() {
                found.iter_mut().for_each(|place| place.node = child_on(place.path, place.node, level));
            }
            load(found.iter().map(|place| place.node.leaf().columns[column].prefetch_row(place.row)));
            for (range, place) in zip(ranges, found) {
                self.append(column, range.len(), place, &mut taken);
                if taken.len() == range.len() {
                    // The first range determines the type of the column.
                    taken.try_reserve(len - range.len());
                }
            }
        }
        taken
    }

    /// The position of a row before the descent: its node is the root.
    #[inline]
    fn find(&self, row: u32) -> LeafPosition<'a> {
        let number = self.places.leaf_of(row);
        let LeafPlace { first, path } = self.places.leaves[number];
        LeafPosition { number, path, node: &self.tree.root, row: (row - first) as usize }
    }

    /// Appends `len` rows from a position on.
    #[inline]
    fn append(&self, column: usize, mut len: usize, place: LeafPosition<'a>, taken: &mut Column) {
        let (mut number, mut leaf, mut row) = (place.number, place.node.leaf(), place.row);
        loop {
            let here = len.min(leaf.len - row);
            leaf.columns[column].append_range(row..row + here, taken);
            len -= here;
            if len == 0 {
                return;
            }
            number += 1;
            (leaf, row) = (self.leaf(number), 0);
        }
    }
}

/// The position of a row in a leaf.
struct LeafPosition<'a> {
    /// The number of the leaf.
    number: usize,
    /// The path to the leaf.
    path: u32,
    /// The leaf, or a node on the path.
    node: &'a Node,
    row: usize,
}

/// The child of an inner node on the path to a leaf. `level` is the number of levels from the child to the leaves.
#[inline]
fn child_on(path: u32, node: &Node, level: usize) -> &Node {
    let Node::Inner(inner) = node else { unreachable!("all leaves are equally far from the root") };
    &inner.children[(path >> (level as u32 * CHILD_BITS)) as usize % MAX_CHILDREN].node
}
