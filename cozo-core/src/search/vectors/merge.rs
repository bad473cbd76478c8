//! One index of the nodes of several.
//!
//! ```text
//! part       node -> new number, or none if it is dropped
//! large  a   0 -> 0   1 -> none   2 -> 1        rows of all parts go to their new places
//! small  b   0 -> 2   1 -> 3                    the graph of a is kept: 1 is bridged, then 2 and 3 are inserted
//! ```
//!
//! The graph of the part with the most nodes is kept if it is large enough; otherwise a new graph is built.

use fixedbitset::FixedBitSet;

use super::build::{Kept, build, extend};
use super::graph::NONE;
use super::index::VectorIndex;
use super::options::Quantization;
use super::space::{Extent, Space};
use super::thresholds::{GRAPH_MIN_NODES, KEEP_MIN_REMAINING, KEEP_MIN_SHARE};
use crate::budget::{Stop, make_room};

/// A part of a merged index.
#[derive(Clone, Copy)]
pub struct MergePart<'a> {
    /// The index whose nodes it brings.
    pub index: &'a VectorIndex,
    /// The new number of each of its nodes, or none if the node is dropped.
    pub numbers: &'a [Option<u32>],
}

impl VectorIndex {
    /// The index of the nodes of several, at least one, with `total` nodes. All have the same metric, dimension and precision. The
    /// options are those of the first, and the parts' numbers are together each number below `total` once. Parts may keep vectors
    /// where the first keeps codes. The same parts give the same index. Fails if the thread's script must stop.
    ///
    /// # Panics
    /// If there is no part, or a number is not below `total`, or the parts cannot be compared.
    pub fn merge(parts: &[MergePart<'_>], total: usize) -> Result<VectorIndex, Stop> {
        let spaces: Vec<(&Space, &[Option<u32>])> =
            parts.iter().map(|part| (&part.index.space, part.numbers)).collect();
        let options = parts[0].index.options;
        make_room(total * parts[0].index.space.row_bytes())?;
        let space = Space::gather(&spaces, total, options.quantization == Quantization::Int8);
        let mut index = VectorIndex::without_graph(space, options);
        if total < GRAPH_MIN_NODES {
            return Ok(index);
        }
        match largest(parts, total) {
            Some(part) => index.keep_graph(part)?,
            None => {
                let heads = index.place(&FixedBitSet::new());
                index.graph = build(&index.space, options, &heads)?;
            }
        }
        Ok(index)
    }

    /// Takes over the graph of a part, and inserts all nodes that it has not.
    fn keep_graph(&mut self, part: MergePart<'_>) -> Result<(), Stop> {
        let moved = part.moved();
        let mut kept = FixedBitSet::with_capacity(self.len());
        moved.iter().filter(|node| **node != NONE).for_each(|node| kept.insert(*node as usize));
        let heads = self.place(&kept);
        let others: Vec<u32> = heads.iter().copied().filter(|node| !kept.contains(*node as usize)).collect();
        let old = Kept { graph: &part.index.graph, moved: &moved };
        self.graph = extend(&self.space, self.options, old, &others, &heads)?;
        Ok(())
    }
}

impl MergePart<'_> {
    /// The new number of each node in the graph, `NONE` for dropped ones. A dropped head hands its links on to its first member that
    /// remains: no walk can tell them apart.
    fn moved(&self) -> Vec<u32> {
        let index = self.index;
        let in_graph = |node: u32| index.space.extent(node) == Extent::Finite;
        let mut moved: Vec<u32> =
            (0..).zip(self.numbers).map(|(node, number)| number.filter(|_| in_graph(node)).unwrap_or(NONE)).collect();
        for (head, members) in index.twins() {
            let heir = members.iter().find_map(|member| self.numbers[*member as usize]);
            members.iter().for_each(|member| moved[*member as usize] = NONE);
            let place = &mut moved[head as usize];
            *place = if *place == NONE { heir.unwrap_or(NONE) } else { *place };
        }
        moved
    }

    /// The number of nodes that remain.
    fn remaining(&self) -> usize {
        self.numbers.iter().flatten().count()
    }
}

/// The part with the most nodes, if its graph is to be kept.
fn largest<'a>(parts: &[MergePart<'a>], total: usize) -> Option<MergePart<'a>> {
    let with_graph = parts.iter().filter(|part| part.index.has_graph());
    let part = *with_graph.max_by_key(|part| part.remaining())?;
    let remaining = part.remaining() as f64;
    let is_kept =
        remaining >= KEEP_MIN_REMAINING * part.index.len() as f64 && remaining >= KEEP_MIN_SHARE * total as f64;
    is_kept.then_some(part)
}
