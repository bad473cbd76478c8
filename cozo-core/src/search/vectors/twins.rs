//! Equal vectors.
//!
//! No walk can tell equal vectors apart, and many of them would have links to one another alone. So one node, the head, stands for
//! all of them in the graph. The others, its members, come in with it when a search finds it.
//!
//! ```text
//! vectors   a  b  a  c  a  b        heads    [0, 1]
//! node      0  1  2  3  4  5        starts   [0, 2, 3]
//! graph     0  1     3              members  [2, 4, 5]
//! ```

use std::hash::Hasher;

use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use rustc_hash::FxHasher;

use super::space::{Probe, Space};

/// The nodes that other nodes stand for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Twins {
    /// The nodes that stand for others, in ascending order.
    pub heads: Vec<u32>,
    /// Where the members of each head begin, and the end.
    pub starts: Vec<u32>,
    /// The members of all heads, in ascending order for each head.
    pub members: Vec<u32>,
}

impl Twins {
    /// The equal vectors among nodes. Of equal ones a preferred node is the head, or else the first.
    pub fn find(space: &Space, nodes: &[u32], preferred: &FixedBitSet) -> Twins {
        let mut hashed: Vec<(u64, bool, u32)> = nodes
            .par_iter()
            .map(|node| (hash_of_row(space.probe(*node)), !preferred.contains(*node as usize), *node))
            .collect();
        hashed.par_sort_unstable();
        let mut families: Vec<(u32, u32)> = vec![];
        for run in hashed.chunk_by(|a, b| a.0 == b.0) {
            let mut heads: Vec<u32> = vec![];
            for (_, _, node) in run {
                match heads.iter().find(|head| is_equal(space.probe(**head), space.probe(*node))) {
                    Some(head) => families.push((*head, *node)),
                    None => heads.push(*node),
                }
            }
        }
        families.sort_unstable();
        Twins::from_pairs(&families)
    }

    fn from_pairs(pairs: &[(u32, u32)]) -> Twins {
        let mut twins = Twins { starts: vec![0], ..Twins::default() };
        for family in pairs.chunk_by(|a, b| a.0 == b.0) {
            twins.heads.push(family[0].0);
            twins.members.extend(family.iter().map(|(_, member)| *member));
            twins.starts.push(twins.members.len() as u32);
        }
        twins
    }

    /// The nodes with the same vector as a head, without it.
    pub fn members(&self, head: u32) -> &[u32] {
        if self.heads.is_empty() {
            return &[];
        }
        match self.heads.binary_search(&head) {
            Ok(i) => &self.members[self.starts[i] as usize..self.starts[i + 1] as usize],
            Err(_) => &[],
        }
    }

    /// The memory, in bytes.
    pub fn memory_bytes(&self) -> usize {
        (self.heads.capacity() + self.starts.capacity() + self.members.capacity()) * size_of::<u32>()
    }
}

fn hash_of_row(row: Probe<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    match row {
        Probe::F32(row) => row.iter().for_each(|x| hasher.write_u32(x.to_bits())),
        Probe::F64(row) => row.iter().for_each(|x| hasher.write_u64(x.to_bits())),
        Probe::Codes(row) => hasher.write(row),
    }
    hasher.finish()
}

fn is_equal(a: Probe<'_>, b: Probe<'_>) -> bool {
    match (a, b) {
        (Probe::F32(a), Probe::F32(b)) => a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()),
        (Probe::F64(a), Probe::F64(b)) => a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()),
        (Probe::Codes(a), Probe::Codes(b)) => a == b,
        _ => false,
    }
}
