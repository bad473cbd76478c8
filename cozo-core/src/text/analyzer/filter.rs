//! The filters: what becomes of tokens.

use rust_stemmers::{Algorithm, Stemmer};

use super::arguments::{Arguments, PartOfAnalyzer};
use super::compounds::Compounds;
use super::error::AnalyzerError;
use super::folding;
use super::stemming::LANGUAGES;
use super::stopwords::StopWords;
use super::tokens::Tokens;
use crate::budget::Stop;

/// All filters.
pub const FILTERS: &[PartOfAnalyzer<TokenFilter>] = &[
    PartOfAnalyzer {
        names: &["Lowercase", "LowerCase"],
        usage: "Lowercase",
        doc: "makes letters of any script lower-case",
        make: |_| Ok(TokenFilter::Lowercase),
    },
    PartOfAnalyzer {
        names: &["AlphaNumOnly"],
        usage: "AlphaNumOnly",
        doc: "drops tokens with anything but ASCII letters and digits",
        make: |_| Ok(TokenFilter::AlphaNumOnly),
    },
    PartOfAnalyzer {
        names: &["AsciiFolding"],
        usage: "AsciiFolding",
        doc: "writes Latin letters with accents, and ligatures, as ASCII",
        make: |_| Ok(TokenFilter::AsciiFolding),
    },
    PartOfAnalyzer {
        names: &["RemoveLong"],
        usage: "RemoveLong(bytes)",
        doc: "keeps tokens with fewer bytes than this",
        make: |args| args.count(0, "bytes", 1, None).map(TokenFilter::RemoveLong),
    },
    PartOfAnalyzer {
        names: &["SplitCompoundWords"],
        usage: "SplitCompoundWords([word ...])",
        doc: "divides tokens that are made of words of the list, and of nothing else",
        make: compounds,
    },
    PartOfAnalyzer { names: &["Stemmer"], usage: "Stemmer(language)", doc: "leaves the stems of words", make: stemmer },
    PartOfAnalyzer {
        names: &["Stopwords"],
        usage: "Stopwords(language or [word ...])",
        doc: "drops the words of the list, or of the list for a language such as 'en'",
        make: |args| StopWords::new(args).map(TokenFilter::Stopwords),
    },
];

fn compounds(args: &Arguments<'_>) -> Result<TokenFilter, AnalyzerError> {
    let words = args.words(0, "words")?;
    Compounds::new(&words).map(TokenFilter::SplitCompoundWords).map_err(|problem| args.error(problem))
}

fn stemmer(args: &Arguments<'_>) -> Result<TokenFilter, AnalyzerError> {
    let language = args.word(0, "language", None)?;
    match LANGUAGES.iter().find(|(name, _)| language.eq_ignore_ascii_case(name)) {
        Some((_, algorithm)) => Ok(TokenFilter::Stemmer(*algorithm)),
        None => Err(args.unknown_word("stemmer for the language", language, &LANGUAGES.map(|(name, _)| name))),
    }
}

/// Changes, drops or divides tokens.
#[derive(Clone, Debug)]
pub enum TokenFilter {
    /// Makes them lower-case.
    Lowercase,
    /// Keeps those of ASCII letters and digits.
    AlphaNumOnly,
    /// Writes Latin letters as ASCII.
    AsciiFolding,
    /// Keeps those of fewer bytes.
    RemoveLong(usize),
    /// Divides compound words.
    #[doc(hidden)]
    SplitCompoundWords(Compounds),
    /// Leaves stems.
    #[doc(hidden)]
    Stemmer(Algorithm),
    /// Drops stop words.
    #[doc(hidden)]
    Stopwords(StopWords),
}

impl TokenFilter {
    pub(super) fn apply(&self, tokens: &mut Tokens) -> Result<(), Stop> {
        match self {
            TokenFilter::Lowercase if tokens.are_ascii() => tokens.make_ascii_lowercase(),
            TokenFilter::Lowercase => return tokens.change(|word, text, _| lowercase(word, text)),
            TokenFilter::AlphaNumOnly => tokens.retain(|word| word.bytes().all(|byte| byte.is_ascii_alphanumeric())),
            TokenFilter::AsciiFolding if tokens.are_ascii() => {}
            TokenFilter::AsciiFolding => return tokens.change(|word, text, _| folding::fold(word, text)),
            TokenFilter::RemoveLong(bytes) => tokens.retain(|word| word.len() < *bytes),
            TokenFilter::SplitCompoundWords(words) => return tokens.divide(|word, parts| words.divide(word, parts)),
            TokenFilter::Stemmer(algorithm) => {
                let stemmer = Stemmer::create(*algorithm);
                tokens.stems.begin(*algorithm);
                return tokens.change(|word, text, stems| stems.write(word, &stemmer, text));
            }
            TokenFilter::Stopwords(words) => tokens.retain(|word| !words.contains(word)),
        }
        Ok(())
    }

    /// Whether it changes tokens, and neither drops nor divides them.
    pub(super) fn only_changes(&self) -> bool {
        matches!(self, TokenFilter::Lowercase | TokenFilter::AsciiFolding | TokenFilter::Stemmer(_))
    }
}

/// Adds the lower-case form of a word to a text.
fn lowercase(word: &str, text: &mut String) {
    if word.is_ascii() {
        let start = text.len();
        text.push_str(word);
        text[start..].make_ascii_lowercase();
    } else if word.contains('Σ') {
        // The one letter of which the lower-case form depends on the place in the word.
        text.push_str(&word.to_lowercase());
    } else {
        text.extend(word.chars().flat_map(char::to_lowercase));
    }
}
