//! Disjoint sets of nodes, which several threads may unite at the same time without locks.
//!
//! The root of a set is its smallest node, so the outcome does not depend on the order of unions. Finding a root halves the path to
//! it (Tarjan and van Leeuwen 1984; Jayanti and Tarjan 2016 for several threads).

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Sets of nodes. Initially each node is a set.
pub struct DisjointSets {
    parents: Vec<AtomicU32>,
}

impl DisjointSets {
    /// Sets of single nodes.
    pub fn new(nodes: usize) -> Self {
        DisjointSets { parents: (0..nodes as u32).map(AtomicU32::new).collect() }
    }

    /// The smallest node of a node's set. While other threads unite sets, it may be an earlier root.
    #[inline]
    pub fn root(&self, mut node: u32) -> u32 {
        loop {
            let parent = self.parents[node as usize].load(Relaxed);
            if parent == node {
                return node;
            }
            let above = self.parents[parent as usize].load(Relaxed);
            if above != parent {
                // If another thread has changed it in the meantime, that has shortened the path too.
                let _ = self.parents[node as usize].compare_exchange(parent, above, Relaxed, Relaxed);
            }
            node = above;
        }
    }

    /// Unites two sets. Returns whether they were different.
    #[inline]
    pub fn unite(&self, a: u32, b: u32) -> bool {
        let (mut a, mut b) = (a, b);
        loop {
            (a, b) = (self.root(a), self.root(b));
            if a == b {
                return false;
            }
            let (low, high) = (a.min(b), a.max(b));
            // This fails if `high` is no longer a root.
            if self.parents[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok() {
                return true;
            }
        }
    }

    /// The number of each node's set: from 0, in the order of their smallest nodes.
    pub fn numbers(&self) -> Vec<i64> {
        let mut numbers: Vec<i64> = Vec::with_capacity(self.parents.len());
        let mut count = 0;
        for node in 0..self.parents.len() as u32 {
            let root = self.root(node);
            let number = if root == node { count } else { numbers[root as usize] };
            count += i64::from(root == node);
            numbers.push(number);
        }
        numbers
    }
}
