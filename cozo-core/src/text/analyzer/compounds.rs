//! Compound words, divided by a dictionary: `dampfschiff` becomes `dampf` and `schiff`.

use std::fmt::{self, Debug, Formatter};

use aho_corasick::AhoCorasick;

use super::stemming::MAX_WORD;

/// A dictionary of parts.
#[derive(Clone)]
pub struct Compounds {
    parts: AhoCorasick,
    count: usize,
}

impl Debug for Compounds {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Compounds of {} parts", self.count)
    }
}

impl Compounds {
    /// A dictionary of words. Fails if it is too large for an automaton.
    pub(super) fn new(words: &[&str]) -> Result<Compounds, String> {
        let words = words.iter().filter(|word| !word.is_empty());
        let parts = AhoCorasick::new(words).map_err(|error| error.to_string())?;
        Ok(Compounds { count: parts.patterns_len(), parts })
    }

    /// Adds the bounds of the parts of a word that is a concatenation of words of the dictionary. The first part is as long as can
    /// be such that the rest can be divided, and so are those that follow.
    pub(super) fn divide(&self, word: &str, bounds: &mut Vec<(usize, usize)>) {
        if word.len() > MAX_WORD {
            return;
        }
        let mut matches: Vec<(usize, usize)> =
            self.parts.find_overlapping_iter(word).map(|part| (part.start(), part.end())).collect();
        let covers_ends =
            |(start, end): (bool, bool), part: &(usize, usize)| (start || part.0 == 0, end || part.1 == word.len());
        if matches.iter().fold((false, false), covers_ends) != (true, true) {
            return;
        }
        // From the end of the word on: the end of the part that begins at a place, if the rest can be divided.
        matches.sort_unstable_by(|a, b| b.cmp(a));
        let mut part_from = vec![None; word.len()];
        for (start, end) in matches {
            let rest_can = end == word.len() || part_from[end].is_some();
            if rest_can && part_from[start].is_none() {
                part_from[start] = Some(end);
            }
        }
        let mut at = 0;
        while let Some(end) = part_from.get(at).copied().flatten() {
            bounds.push((at, end));
            at = end;
        }
    }
}
