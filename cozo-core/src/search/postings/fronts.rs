//! What the best documents of a block can score at most, for any scoring.
//!
//! ```text
//! length |        x   x                a document with fewer occurrences and no less length than another
//!        |    x     x    (4, 11)       cannot score more: the front is the documents that remain
//!        |  x    (2, 7)
//!        | (1, 3)
//!        +------------------ occurrences
//!
//! bytes    count | occurrences, length | differences of both to those of the pair before | ...
//! ```
//!
//! A front with many documents is made shorter: two neighbours become one that is at least as good as both.

use super::thresholds::FRONT_PAIRS;
use super::varint::{read_varint, write_varint};

/// The pairs of a frequency and a length that no other pair is as good as. Both ascend.
#[derive(Clone, Debug, Default)]
pub(super) struct Front {
    pairs: Vec<(u32, u32)>,
}

impl Front {
    /// Adds a document.
    pub fn add(&mut self, frequency: u32, length: u32) {
        let at = self.pairs.partition_point(|pair| pair.0 < frequency);
        if self.pairs.get(at).is_some_and(|pair| pair.1 <= length) {
            return;
        }
        let end = at + usize::from(self.pairs.get(at).is_some_and(|pair| pair.0 == frequency));
        let start = self.pairs[..at].partition_point(|pair| pair.1 < length);
        self.pairs.splice(start..end, [(frequency, length)]);
    }

    /// Adds all of another.
    pub fn add_all(&mut self, other: &Front) {
        other.pairs.iter().for_each(|(frequency, length)| self.add(*frequency, *length));
    }

    /// Appends the front, with so few pairs as are kept.
    pub fn write(&mut self, bytes: &mut Vec<u8>) {
        while self.pairs.len() > FRONT_PAIRS {
            // The neighbours whose lengths differ least, as a share of them.
            let step = |at: &usize| f64::from(self.pairs[at + 1].1 + 1) / f64::from(self.pairs[*at].1 + 1);
            let all = 0..self.pairs.len() - 1;
            let at = all.min_by(|a, b| step(a).total_cmp(&step(b))).unwrap_or(0);
            self.pairs[at].0 = self.pairs[at + 1].0;
            self.pairs.remove(at + 1);
        }
        bytes.push(self.pairs.len() as u8);
        let mut before = (0, 0);
        for pair in &self.pairs {
            write_varint(pair.0 - before.0, bytes);
            write_varint(pair.1 - before.1, bytes);
            before = *pair;
        }
    }
}

/// Reads a front, and moves past it.
pub(super) fn read_front<'a, 'b>(bytes: &'a mut &'b [u8]) -> impl Iterator<Item = (u32, u32)> + use<'a, 'b> {
    let mut left = 0;
    if let Some((count, rest)) = bytes.split_first() {
        (left, *bytes) = (*count, rest);
    }
    let mut pair = (0u32, 0u32);
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        pair = (pair.0.wrapping_add(read_varint(bytes)), pair.1.wrapping_add(read_varint(bytes)));
        Some(pair)
    })
}
