//! Stems of words, by the Snowball stemmers.

use std::hash::BuildHasher;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxBuildHasher;

use crate::value::SmallStr;

/// The languages that can be stemmed.
pub(super) const LANGUAGES: [(&str, Algorithm); 18] = [
    ("arabic", Algorithm::Arabic),
    ("danish", Algorithm::Danish),
    ("dutch", Algorithm::Dutch),
    ("english", Algorithm::English),
    ("finnish", Algorithm::Finnish),
    ("french", Algorithm::French),
    ("german", Algorithm::German),
    ("greek", Algorithm::Greek),
    ("hungarian", Algorithm::Hungarian),
    ("italian", Algorithm::Italian),
    ("norwegian", Algorithm::Norwegian),
    ("portuguese", Algorithm::Portuguese),
    ("romanian", Algorithm::Romanian),
    ("russian", Algorithm::Russian),
    ("spanish", Algorithm::Spanish),
    ("swedish", Algorithm::Swedish),
    ("tamil", Algorithm::Tamil),
    ("turkish", Algorithm::Turkish),
];

/// No word is longer than this many bytes. What is longer stays as it is: some stemmers take time by the square of the length.
pub(super) const MAX_WORD: usize = 1000;

/// Words up to this many bytes are remembered with their stems. They need no allocation.
const MAX_REMEMBERED: usize = 24;

/// The number of words that are remembered. Few words make most of any text.
const MAX_STEMS: usize = 1 << 14;

/// Stems of words in one language that have come before. English texts are stemmed three times as fast with them.
///
/// A word has one slot, by its hash, and the latest word stays in it.
#[derive(Debug, Default)]
pub(super) struct Stems {
    algorithm: Option<Algorithm>,
    slots: Vec<(SmallStr, SmallStr)>,
}

impl Stems {
    /// Forgets the stems of another language.
    pub(super) fn begin(&mut self, algorithm: Algorithm) {
        if self.algorithm.replace(algorithm) != Some(algorithm) {
            self.slots.clear();
            // The empty word has itself as its stem.
            self.slots.resize(MAX_STEMS, Default::default());
        }
    }

    /// Adds the stem of a word to a text.
    pub(super) fn write(&mut self, word: &str, stemmer: &Stemmer, text: &mut String) {
        if word.len() > MAX_WORD {
            return text.push_str(word);
        }
        if word.len() > MAX_REMEMBERED {
            return text.push_str(&stemmer.stem(word));
        }
        let slot = FxBuildHasher.hash_one(word) as usize % MAX_STEMS;
        let (known, stem) = &mut self.slots[slot];
        if known != word {
            *known = SmallStr::from(word);
            *stem = SmallStr::from(stemmer.stem(word));
        }
        text.push_str(stem);
    }
}
