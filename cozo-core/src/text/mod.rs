//! Full text and near duplicates, as far as they need neither rows nor storage.
//!
//! | module | what comes in | what goes out |
//! |---|---|---|
//! | `analyzer` | a text | its tokens: words as an index stores them, with their places |
//! | `query` | a text in the language of full-text search | a tree of terms |
//! | `shingles` | tokens | hashes of windows of tokens |
//! | `minhash` | hashes of shingles | signatures, keys of bands, estimates of similarity |
//! | `snippet` | a text and places in it | the part of the text that shows them best |
//!
//! The indices above this module store what goes out. They decide which rows have which texts, and how results are scored.

mod analyzer;
mod minhash;
mod query;
mod shingles;
mod snippet;

pub use analyzer::{
    Analyzer, AnalyzerError, FILTERS, Named, PartOfAnalyzer, TOKENIZERS, Token, TokenFilter, Tokenizer, Tokens,
};
pub use minhash::{LshError, LshParameters, MinHasher, Signature};
pub use query::{AnalyzeOptions, AnalyzedQuery, NearQuery, QueryPhrase, QueryTerm, TextQuery, TextQueryError};
pub use shingles::{Shingles, hash_of_bytes};
pub use snippet::{SnippetStyle, snippet};
