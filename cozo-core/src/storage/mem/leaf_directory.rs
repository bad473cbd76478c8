//! Where the rows of a tree lie, by the integer that is their first key column.
//!
//! An index that copies nothing: to make it, the first column is looked at and no other, and it takes a few bytes for each key and leaf.
//! The rows of a key are then read out of their leaves without a search.

use std::iter::zip;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use smallvec::SmallVec;

use super::leaf::Leaf;
use super::node::{Inner, MAX_CHILDREN, Node};
use super::tree::Tree;
use crate::storage::ContentVersion;
use crate::threads;
use crate::value::{Column, KeyStarts};

/// How many bits tell the children of a node apart.
const CHILD_BITS: u32 = MAX_CHILDREN.ilog2();
const _: () = assert!(MAX_CHILDREN.is_power_of_two(), "a child's number fits its bits");

/// So many rows further on there is a leaf to begin with when the leaf of a row is looked for.
const BLOCK_ROWS: u32 = 256;

/// So many ranges are read together.
const GROUP: usize = 16;

/// Rows are numbered in the order of their keys: the rows of each first key, and the leaf of each row.
#[derive(Debug)]
pub struct LeafDirectory {
    /// The contents of the tree that it is of.
    contents: ContentVersion,
    starts: KeyStarts,
    /// Each leaf, and one after the last.
    leaves: Vec<LeafPlace>,
    /// The leaf of every [`BLOCK_ROWS`]th row.
    blocks: Vec<u32>,
}

/// A leaf.
#[derive(Clone, Copy, Debug)]
struct LeafPlace {
    /// The number of its first row.
    first: u32,
    /// The way to it: which child of each node from the root down, [`CHILD_BITS`] for each.
    path: u32,
}

/// A node above leaves, and the way to it.
type Above<'a> = (&'a Inner, u32);

impl LeafDirectory {
    /// Those of a tree, made by all threads. Nothing if the first keys are not integers from 0 to below `most_keys`, or the tree is as small
    /// as a leaf or too large for 32 bits. `go_on` is asked now and then.
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
        // Nobody can foretell whether it is the leaf of the block's first row or the next, but that it is one of them mostly.
        number += usize::from(after(number));
        while after(number) {
            number += 1;
        }
        number
    }

    /// The bytes that they take.
    pub fn memory_bytes(&self) -> usize {
        let blocks = self.blocks.capacity() * size_of::<u32>();
        self.starts.memory_bytes() + self.leaves.capacity() * size_of::<LeafPlace>() + blocks
    }
}

/// Some leaves, one after another, with their rows numbered from 0 on.
#[derive(Default)]
struct LeafPart {
    starts: KeyStarts,
    leaves: Vec<LeafPlace>,
}

impl LeafPart {
    /// The leaves below some nodes; nothing if their keys are not such integers.
    fn of<E>(above: &[Above<'_>], most_keys: u64, go_on: &impl Fn() -> Result<(), E>) -> Result<Option<Self>, E> {
        let mut part = LeafPart::default();
        for (inner, path) in above {
            go_on()?;
            let paths = (0..).map(|child| path << CHILD_BITS | child);
            for (children, path) in zip(inner.children.chunks(GROUP), paths.step_by(GROUP)) {
                // One leaf after the other would wait for each piece of its memory; plain loads do not wait for each other.
                let headers = children.iter().map(|child| child.node.leaf().len).fold(0, usize::wrapping_add);
                let keys = children.iter().map(|child| child.node.leaf().prefetch(1)).fold(0, usize::wrapping_add);
                std::hint::black_box((headers, keys));
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

/// Parts of what is below some nodes, one made by each thread. These are not threads that share the work of queries: while one of those
/// waits, it may begin what waits for this index.
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
            // Where the system has no thread left, this one has the time.
            parts.push(match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic))?,
                Err(_) => part(above)?,
            });
        }
        Ok(parts)
    })
}

/// All leaves of parts that follow one another; nothing if they have too many rows.
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

/// Lists the nodes above the leaves, below a node that is so many levels above those.
fn list_above_leaves<'a>(node: &'a Node, height: usize, path: u32, above: &mut Vec<Above<'a>>) {
    let Node::Inner(inner) = node else { unreachable!("all leaves are equally far from the root") };
    if height == 1 {
        return above.push((inner, path));
    }
    for (child, number) in zip(&inner.children, 0..) {
        list_above_leaves(&child.node, height - 1, path << CHILD_BITS | number, above);
    }
}

/// The rows of a tree at their places.
pub struct DirectoryReader<'a> {
    tree: &'a Tree,
    height: usize,
    places: Arc<LeafDirectory>,
}

impl<'a> DirectoryReader<'a> {
    /// The rows of a tree; nothing if the places are not of the contents that it has.
    pub fn new(tree: &'a Tree, places: Arc<LeafDirectory>) -> Option<Self> {
        (tree.contents() == places.contents).then(|| DirectoryReader { tree, height: tree.height(), places })
    }

    /// The rows of each first key.
    pub fn starts(&self) -> &KeyStarts {
        &self.places.starts
    }

    /// The leaf of this number.
    #[inline]
    fn leaf(&self, number: usize) -> &'a Leaf {
        let path = self.places.leaves[number].path;
        (0..self.height).rev().fold(&*self.tree.root, |node, level| child_on(path, node, level)).leaf()
    }

    /// A column of the rows of ranges, none of them empty, `len` together.
    pub fn take(&self, column: usize, ranges: &[Range<u32>], len: usize) -> Column {
        let mut taken = Column::default();
        for ranges in ranges.chunks(GROUP) {
            // One after the other would wait for each piece of memory on its way: they go together, a step at a time.
            let mut found: SmallVec<[LeafPosition<'a>; GROUP]> =
                ranges.iter().map(|range| self.find(range.start)).collect();
            for level in (0..self.height).rev() {
                found.iter_mut().for_each(|place| place.node = child_on(place.path, place.node, level));
            }
            let values = found.iter().map(|place| place.node.leaf().columns[column].prefetch_row(place.row));
            std::hint::black_box(values.fold(0, usize::wrapping_add));
            for (range, place) in zip(ranges, found) {
                self.append(column, range.len(), place, &mut taken);
                if taken.len() == range.len() {
                    // The first says of what type the column is.
                    taken.try_reserve(len - range.len());
                }
            }
        }
        taken
    }

    /// The place of a row, with the root in place of its leaf.
    #[inline]
    fn find(&self, row: u32) -> LeafPosition<'a> {
        let number = self.places.leaf_of(row);
        let LeafPlace { first, path } = self.places.leaves[number];
        LeafPosition { number, path, node: &self.tree.root, row: (row - first) as usize }
    }

    /// Appends so many rows from a place on.
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

/// A row in a leaf.
struct LeafPosition<'a> {
    /// The number of the leaf.
    number: usize,
    /// The way to it.
    path: u32,
    /// The leaf, or a node on the way.
    node: &'a Node,
    row: usize,
}

/// The child of an inner node on the way to a leaf; `level` is the number of levels from the child to the leaves.
#[inline]
fn child_on(path: u32, node: &Node, level: usize) -> &Node {
    let Node::Inner(inner) = node else { unreachable!("all leaves are equally far from the root") };
    &inner.children[(path >> (level as u32 * CHILD_BITS)) as usize % MAX_CHILDREN].node
}
