//! A tree of maxima over a list of integers: it finds the integers of a range that are not below a bound.
//!
//! ```text
//! level 1            9                   7            the greatest of each FAN_OUT integers below
//! level 0    3 9 1 ... 2 4       0 7 ... 1 5
//! ```
//!
//! With intervals sorted by their starts and the tree over their ends, the intervals around a point are those in the range of starts
//! up to the point whose ends are not below it: an augmented interval tree (Cormen et al., "Introduction to Algorithms"), stored in
//! arrays. A search visits about [`FAN_OUT`] integers for each level and each integer found, whatever the length of the range.

use std::ops::Range;

/// The number of integers, as a power of two, of which a level above has the greatest.
const FAN_OUT_BITS: usize = 4;
const FAN_OUT: usize = 1 << FAN_OUT_BITS;

/// A list of integers with its maxima.
#[derive(Debug)]
pub struct MaxTree {
    levels: Vec<Vec<i64>>,
}

impl MaxTree {
    /// A tree over a list.
    pub fn new(values: Vec<i64>) -> Self {
        let mut levels = vec![values];
        while let Some(last) = levels.last().filter(|last| last.len() > FAN_OUT) {
            levels.push(last.chunks(FAN_OUT).map(|chunk| chunk.iter().copied().max().unwrap_or(i64::MIN)).collect());
        }
        MaxTree { levels }
    }

    /// The bytes that it takes.
    pub fn memory_bytes(&self) -> usize {
        self.levels.iter().map(|level| level.len() * size_of::<i64>()).sum()
    }

    /// Appends the positions of a range, in ascending order, whose integers are at least `least`.
    pub fn find(&self, range: Range<usize>, least: i64, found: &mut Vec<u32>) {
        if range.is_empty() {
            return;
        }
        let mut level = 0;
        while (range.len() >> (level * FAN_OUT_BITS)) >= FAN_OUT && level + 1 < self.levels.len() {
            level += 1;
        }
        self.descend(level, self.nodes(level, &range), &range, least, found);
    }

    /// The nodes of a level that have integers of a range.
    fn nodes(&self, level: usize, range: &Range<usize>) -> Range<usize> {
        let shift = level * FAN_OUT_BITS;
        range.start >> shift..((range.end - 1) >> shift) + 1
    }

    fn descend(&self, level: usize, nodes: Range<usize>, range: &Range<usize>, least: i64, found: &mut Vec<u32>) {
        let greatest = &self.levels[level];
        for node in nodes {
            if greatest[node] < least {
                continue;
            }
            if level == 0 {
                found.push(node as u32);
                continue;
            }
            let within = self.nodes(level - 1, range);
            let first = within.start.max(node << FAN_OUT_BITS);
            let end = within.end.min((node + 1) << FAN_OUT_BITS);
            self.descend(level - 1, first..end, range, least, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_is_what_a_scan_finds() {
        for len in [0, 1, 15, 16, 17, 255, 256, 257, 5000] {
            // A sequence that repeats nothing for long.
            let values: Vec<i64> = (0..len).map(|at: i64| (at * 7919 + at * at * 31) % 101).collect();
            let tree = MaxTree::new(values.clone());
            let len = values.len();
            for (start, end) in [(0, len), (0, len / 2), (len / 3, len), (len / 3, len / 2), (len / 2, len / 2)] {
                for least in [0, 50, 97, 100, 101] {
                    let mut found = vec![];
                    tree.find(start..end, least, &mut found);
                    let scanned = (start..end).filter(|at| values[*at] >= least).map(|at| at as u32);
                    assert_eq!(found, scanned.collect::<Vec<_>>(), "{start}..{end} of {len}, from {least}");
                }
            }
        }
    }
}
