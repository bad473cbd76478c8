//! The words of an index, sorted.

use std::ops::Range;

/// Sorted words, numbered from 0 on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Words {
    /// All words, one after the other.
    pub texts: String,
    /// Where each ends in `texts`.
    pub ends: Vec<u64>,
}

impl Words {
    /// The number of words.
    pub fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Appends a word after all others.
    pub fn push(&mut self, word: &str) {
        self.texts.push_str(word);
        self.ends.push(self.texts.len() as u64);
    }

    /// A word by its number.
    pub fn get(&self, word: u32) -> &str {
        let word = word as usize;
        let start = if word == 0 { 0 } else { self.ends[word - 1] as usize };
        &self.texts[start..self.ends[word] as usize]
    }

    /// The number of a word.
    pub fn find(&self, text: &str) -> Option<u32> {
        let at = self.partition_point(|word| word < text);
        (at < self.len() && self.get(at) == text).then_some(at)
    }

    /// The words that begin with a text.
    pub fn with_prefix(&self, prefix: &str) -> Range<u32> {
        let start = self.partition_point(|word| word < prefix);
        let end = self.partition_point(|word| word < prefix || word.starts_with(prefix));
        start..end
    }

    fn partition_point(&self, holds: impl Fn(&str) -> bool) -> u32 {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from + (to - from) / 2;
            if holds(self.get(middle)) { from = middle + 1 } else { to = middle }
        }
        from
    }

    pub fn memory_bytes(&self) -> usize {
        self.texts.len() + self.ends.len() * size_of::<u64>()
    }
}
