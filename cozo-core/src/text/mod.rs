//! Full text and near duplicates, as far as they need neither rows nor storage.
//!
//! | module | what comes in | what goes out |
//! |---|---|---|
//! | `analyzer` | a text | its tokens: words as an index stores them, with their places |
//!
//! The indices above this module store what goes out. They decide which rows have which texts, and how results are scored.

// The indices that use these items are written on another branch.
#![allow(dead_code, unused_imports)]

mod analyzer;

pub use analyzer::{
    Analyzer, AnalyzerError, FILTERS, Named, PartOfAnalyzer, TOKENIZERS, Token, TokenFilter, Tokenizer, Tokens,
};
