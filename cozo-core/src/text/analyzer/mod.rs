//! Analyzers: how a text becomes the tokens that an index stores and a query looks up.
//!
//! An [`Analyzer`] is a tokenizer, which divides the text, and filters, which change, drop or divide tokens in the order in which they
//! are listed. Both come by name with arguments, such as `NGram(2, 3)`. [`TOKENIZERS`] and [`FILTERS`] list what there is.
//!
//! ```
//! use cozo::text::{Analyzer, Tokens};
//!
//! let analyzer = Analyzer::new(("Simple", &[]), &[("Lowercase", &[]), ("Stopwords", &["en".into()])])?;
//! let mut tokens = Tokens::default();
//! analyzer.tokens("The House of Cards", &mut tokens)?;
//! let words: Vec<_> = tokens.iter().map(|token| (token.text, token.position)).collect();
//! assert_eq!(words, [("house", 1), ("cards", 3)]);
//! # Ok::<(), cozo::Error>(())
//! ```
//!
//! A filter works on all tokens of a text before the next filter begins, in buffers that [`Tokens`] keeps from text to text.

mod arguments;
#[cfg(feature = "text-chinese")]
mod chinese;
mod compounds;
mod error;
mod filter;
mod folding;
mod ngrams;
mod stemming;
mod stopwords;
mod tokenizer;
mod tokens;

#[cfg(test)]
mod tests;

pub use arguments::PartOfAnalyzer;
pub use error::AnalyzerError;
pub use filter::{FILTERS, TokenFilter};
pub use tokenizer::{TOKENIZERS, Tokenizer};
pub use tokens::{Token, Tokens};

use crate::budget::{self, Stop};
use crate::value::DataValue;

/// A tokenizer or filter as it is written: its name and its arguments. `Name` is `Name()`.
pub type Named<'a> = (&'a str, &'a [DataValue]);

/// A tokenizer with filters. It is used by many threads at once.
#[derive(Clone, Debug)]
pub struct Analyzer {
    tokenizer: Tokenizer,
    filters: Vec<TokenFilter>,
}

impl Analyzer {
    /// The analyzer of a tokenizer and of filters by their names. Fails if one is unknown or has wrong arguments.
    pub fn new(tokenizer: Named<'_>, filters: &[Named<'_>]) -> Result<Analyzer, AnalyzerError> {
        let filters = filters.iter().map(|named| arguments::make("token filter", FILTERS, *named));
        Ok(Analyzer {
            tokenizer: arguments::make("tokenizer", TOKENIZERS, tokenizer)?,
            filters: filters.collect::<Result<_, _>>()?,
        })
    }

    /// Replaces what `tokens` holds by the tokens of a text. Fails if the script that this thread works for must stop.
    pub fn tokens(&self, text: &str, tokens: &mut Tokens) -> Result<(), Stop> {
        let _until_the_end = budget::temporary();
        self.tokenize(text, tokens)?;
        self.filters.iter().try_for_each(|filter| filter.apply(tokens))
    }

    /// The same for a text that ends within a word: the last token is the beginning of one.
    ///
    /// That token is no word, so that no filter drops or divides it. `the*` finds `theatre` in an index without stop words.
    pub fn tokens_of_prefix(&self, text: &str, tokens: &mut Tokens) -> Result<(), Stop> {
        let _until_the_end = budget::temporary();
        self.tokenize(text, tokens)?;
        let mut start = Tokens::default();
        start.take_last_of(tokens);
        self.filters.iter().try_for_each(|filter| filter.apply(tokens))?;
        let changing = self.filters.iter().filter(|filter| filter.only_changes());
        changing.into_iter().try_for_each(|filter| filter.apply(&mut start))?;
        tokens.append(&start);
        Ok(())
    }

    fn tokenize(&self, text: &str, tokens: &mut Tokens) -> Result<(), Stop> {
        budget::make_room(text.len())?;
        tokens.begin(text);
        self.tokenizer.apply(text, tokens)
    }
}
