//! Stop words: lists by language, or one's own.

use std::sync::Arc;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::arguments::Arguments;
use super::error::AnalyzerError;
use crate::value::SmallStr;

/// A set of words that are dropped.
#[derive(Clone, Debug)]
pub struct StopWords {
    words: Arc<HashSet<SmallStr, FxBuildHasher>>,
    /// The length of the longest. Longer tokens need no look-up.
    longest: usize,
}

impl StopWords {
    pub(super) fn new(args: &Arguments<'_>) -> Result<StopWords, AnalyzerError> {
        let argument = "language or words";
        let words: HashSet<SmallStr, FxBuildHasher> = match args.list(0, argument)? {
            Some(words) => words.into_iter().map(SmallStr::from).collect(),
            None if args.is_word(0) => {
                let language = args.word(0, argument, None)?;
                let Some(words) = stop_words::lookup(language.to_ascii_lowercase()) else {
                    return Err(args.unknown_word(
                        "list of stop words for the language",
                        language,
                        stop_words::available_languages(),
                    ));
                };
                words.iter().map(|word| SmallStr::from(*word)).collect()
            }
            None => return Err(args.no_word_or_list(0, argument)),
        };
        let longest = words.iter().map(SmallStr::len).max().unwrap_or(0);
        Ok(StopWords { words: Arc::new(words), longest })
    }

    pub(super) fn contains(&self, word: &str) -> bool {
        word.len() <= self.longest && self.words.contains(word)
    }
}
