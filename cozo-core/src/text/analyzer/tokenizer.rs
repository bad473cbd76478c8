//! The tokenizers: how a text is divided.

use unicode_segmentation::UnicodeSegmentation;

use super::arguments::{Arguments, PartOfAnalyzer};
#[cfg(feature = "text-chinese")]
use super::chinese::Segmentation;
use super::error::AnalyzerError;
use super::ngrams::NGrams;
use super::tokens::Tokens;
use crate::budget::Stop;

/// All tokenizers.
pub const TOKENIZERS: &[PartOfAnalyzer<Tokenizer>] = &[
    PartOfAnalyzer { names: &["Raw"], usage: "Raw", doc: "the whole text is one token", make: |_| Ok(Tokenizer::Raw) },
    PartOfAnalyzer {
        names: &["Simple"],
        usage: "Simple",
        doc: "runs of letters and digits of any script",
        make: |_| Ok(Tokenizer::Simple),
    },
    PartOfAnalyzer {
        names: &["Whitespace"],
        usage: "Whitespace",
        doc: "what stands between ASCII white space",
        make: |_| Ok(Tokenizer::Whitespace),
    },
    PartOfAnalyzer {
        names: &["NGram", "Ngram"],
        usage: "NGram(min = 1, max = min, prefix_only = false)",
        doc: "all runs of `min` to `max` characters, or those at the beginning of the text",
        make: |args| NGrams::new(args).map(Tokenizer::NGrams),
    },
    PartOfAnalyzer {
        names: &["Cangjie"],
        usage: "Cangjie(kind = 'default', hmm = false)",
        doc: "the words of Chinese texts; the kinds are 'default', 'all', 'search' and 'unicode'",
        make: cangjie,
    },
    PartOfAnalyzer {
        names: &["Unicode"],
        usage: "Unicode",
        doc: "words as Unicode defines them (UAX 29): `can't` and `3.14` are words",
        make: |_| Ok(Tokenizer::Unicode),
    },
];

#[cfg(feature = "text-chinese")]
fn cangjie(args: &Arguments<'_>) -> Result<Tokenizer, AnalyzerError> {
    Segmentation::new(args).map(Tokenizer::Cangjie)
}

#[cfg(not(feature = "text-chinese"))]
fn cangjie(_: &Arguments<'_>) -> Result<Tokenizer, AnalyzerError> {
    Err(AnalyzerError::NotInBuild { name: "Cangjie", feature: "text-chinese" })
}

/// Divides a text into tokens.
#[derive(Clone, Debug)]
pub enum Tokenizer {
    /// The whole text.
    Raw,
    /// Runs of alphanumeric characters.
    Simple,
    /// What stands between ASCII white space.
    Whitespace,
    /// Runs of so many characters.
    #[doc(hidden)]
    NGrams(NGrams),
    /// Words of Chinese.
    #[cfg(feature = "text-chinese")]
    #[doc(hidden)]
    Cangjie(Segmentation),
    /// Words by UAX 29.
    Unicode,
}

impl Tokenizer {
    pub(super) fn apply(&self, text: &str, tokens: &mut Tokens) -> Result<(), Stop> {
        match self {
            Tokenizer::Raw if text.is_empty() => {}
            Tokenizer::Raw => tokens.push(0, text.len()),
            Tokenizer::Simple => simple(text, tokens),
            Tokenizer::Whitespace => whitespace(text, tokens),
            Tokenizer::NGrams(ngrams) => return ngrams.apply(text, tokens),
            #[cfg(feature = "text-chinese")]
            Tokenizer::Cangjie(segmentation) => segmentation.apply(text, tokens),
            Tokenizer::Unicode => {
                text.unicode_word_indices().for_each(|(from, word)| tokens.push(from, from + word.len()));
            }
        }
        // Their number is bounded by the length of the text, so they are counted after they are made.
        tokens.charge()
    }
}

/// Most texts are ASCII for the most part, so characters are decoded only where a byte is not.
fn simple(text: &str, tokens: &mut Tokens) {
    let mut at = 0;
    loop {
        let from = run(text, at, |is_inside| !is_inside);
        if from == text.len() {
            return;
        }
        at = run(text, from, |is_inside| is_inside);
        tokens.push(from, at);
    }
}

/// The end of the run of characters from a place on that are letters or digits, or that are not.
#[inline(always)]
fn run(text: &str, mut at: usize, goes_on: impl Fn(bool) -> bool) -> usize {
    let bytes = text.as_bytes();
    while at < bytes.len() {
        if bytes[at].is_ascii() {
            if !goes_on(bytes[at].is_ascii_alphanumeric()) {
                break;
            }
            at += 1;
        } else {
            let character = text[at..].chars().next().expect("the text goes on");
            if !goes_on(character.is_alphanumeric()) {
                break;
            }
            at += character.len_utf8();
        }
    }
    at
}

/// White space of ASCII is a byte of its own in UTF-8, so bytes are enough.
fn whitespace(text: &str, tokens: &mut Tokens) {
    let mut from = 0;
    for part in text.as_bytes().split(u8::is_ascii_whitespace) {
        if !part.is_empty() {
            tokens.push(from, from + part.len());
        }
        from += part.len() + 1;
    }
}
