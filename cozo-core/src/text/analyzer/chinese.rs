//! The tokenizer `Cangjie`: words of Chinese texts by the dictionary and the model of jieba.

use std::sync::LazyLock;

use jieba_rs::Jieba;

use super::arguments::Arguments;
use super::error::AnalyzerError;
use super::tokens::Tokens;

/// The dictionary. It is large, and takes a moment to load, so it waits for the first analyzer that needs it.
static JIEBA: LazyLock<Jieba> = LazyLock::new(Jieba::new);

const KINDS: [(&str, Kind); 4] =
    [("default", Kind::Default), ("all", Kind::All), ("search", Kind::Search), ("unicode", Kind::Unicode)];

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// The most likely words.
    Default,
    /// All words of the dictionary, overlapping ones too.
    All,
    /// The most likely words, and the words within long ones.
    Search,
    /// Characters.
    Unicode,
}

/// The parameters of the tokenizer.
#[derive(Clone, Copy, Debug)]
pub struct Segmentation {
    kind: Kind,
    /// Whether words that are not in the dictionary are found by the hidden Markov model.
    hmm: bool,
}

impl Segmentation {
    pub(super) fn new(args: &Arguments<'_>) -> Result<Segmentation, AnalyzerError> {
        let name = args.word(0, "kind", Some("default"))?;
        let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == name) else {
            return Err(args.unknown_word("kind", name, &KINDS.map(|(known, _)| known)));
        };
        Ok(Segmentation { kind: *kind, hmm: args.flag(1, "hmm")? })
    }

    /// White space and punctuation are words to jieba. They are no tokens here: a query with a blank would ask for the blank.
    pub(super) fn apply(&self, text: &str, tokens: &mut Tokens) {
        let words = match self.kind {
            Kind::Default => JIEBA.cut(text, self.hmm),
            Kind::All => JIEBA.cut_all(text),
            Kind::Search => JIEBA.cut_for_search(text, self.hmm),
            Kind::Unicode => {
                let characters = text.char_indices().filter(|(_, character)| character.is_alphanumeric());
                return characters.for_each(|(from, character)| tokens.push(from, from + character.len_utf8()));
            }
        };
        for word in words.iter().filter(|word| word.word.contains(char::is_alphanumeric)) {
            tokens.push(word.byte_start, word.byte_end);
        }
    }
}
