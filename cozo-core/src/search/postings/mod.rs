//! An index over the words of texts: which documents have a word, how often, and where.
//!
//! Documents are numbers from 0 on. The [index](crate::index) above knows the rows that they stand for.
//!
//! ```text
//! words      apple  apples  pear ...                 sorted, so that a beginning is a range
//! blocks     of 128 documents of a word              last document, what its best documents can score
//! data       differences of documents, occurrences   packed bits
//! places     of each occurrence: number, from, to    the numbers are read for NEAR and phrases, the rest for spans
//! forward    the words of each document              read when documents are deleted
//! ```
//!
//! | type | what |
//! |---|---|
//! | [`PostingsBuilder`] | indexes documents; several of them on several threads |
//! | [`Postings`] | the index, which never changes; [merged](Postings::merge) with others, or made of bytes |
//! | [`Deletions`] | documents that no longer count, with what statistics lose by them |
//! | [`TextSearch`] | the best documents of several indexes for a query, with the statistics of all |
//!
//! Statistics are exact: what is deleted counts nowhere.

mod best;
mod blocks;
mod builder;
mod bytes;
mod cursor;
mod deletions;
mod fronts;
mod leaves;
mod merge;
mod nodes;
mod phrases;
mod places;
mod scorer;
mod search;
mod thresholds;
mod windows;
mod words;

#[cfg(test)]
mod tests;

pub use best::TextHit;
pub use builder::PostingsBuilder;
pub use bytes::PostingsError;
pub use deletions::Deletions;
pub use scorer::Scoring;
pub use search::{PostingsPart, TextSearch, TextWork};

use std::ops::Range;

use blocks::Blocks;
use cursor::Cursor;
use places::offsets;
use words::Words;

/// An index over the words of documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Postings {
    /// The number of tokens of each document.
    lengths: Vec<u32>,
    total_length: u64,
    words: Words,
    blocks: Blocks,
    /// The words of each document.
    forward: Forward,
}

/// The words of each document, ascending, as differences.
#[derive(Clone, Debug, Default, PartialEq)]
struct Forward {
    /// Where the words of each document begin, and where the last end.
    starts: Vec<u64>,
    bytes: Vec<u8>,
}

/// The occurrences of a word in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostingRow<'a> {
    /// The word.
    pub word: &'a str,
    /// The document.
    pub doc: u32,
    /// Where each occurrence begins in the text, in bytes.
    pub from: Vec<u32>,
    /// Where each ends.
    pub to: Vec<u32>,
    /// The number of each among the tokens of the tokenizer.
    pub positions: Vec<u32>,
    /// The number of tokens of the document.
    pub total_length: u32,
}

impl Postings {
    /// The number of documents.
    pub fn docs(&self) -> u32 {
        self.lengths.len() as u32
    }

    /// The number of tokens of all documents.
    pub fn total_length(&self) -> u64 {
        self.total_length
    }

    /// The number of tokens of a document.
    pub fn length(&self, doc: u32) -> u32 {
        self.lengths[doc as usize]
    }

    /// About how much memory it takes.
    pub fn memory_bytes(&self) -> usize {
        let forward = self.forward.starts.len() * size_of::<u64>() + self.forward.bytes.len();
        self.lengths.len() * size_of::<u32>() + self.words.memory_bytes() + self.blocks.memory_bytes() + forward
    }

    /// The documents of a word, in order.
    fn cursor(&self, word: u32) -> Cursor<'_> {
        Cursor::new(&self.blocks, word)
    }

    /// The words that begin with a text.
    fn words_with_prefix(&self, prefix: &str) -> Range<u32> {
        self.words.with_prefix(prefix)
    }

    /// The words of a document, ascending.
    fn words_of(&self, doc: u32) -> impl Iterator<Item = u32> + '_ {
        let at = |doc: usize| self.forward.starts.get(doc).map_or(0, |start| *start as usize);
        let bytes = self.forward.bytes.get(at(doc as usize)..at(doc as usize + 1)).unwrap_or_default();
        let (mut rest, mut word) = (bytes, 0u32);
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            word = word.wrapping_add(blocks::read_varint(&mut rest));
            Some(word)
        })
    }

    /// All occurrences, word by word, document by document.
    pub fn rows(&self) -> impl Iterator<Item = PostingRow<'_>> {
        (0..self.words.len()).flat_map(move |word| {
            let mut cursor = self.cursor(word);
            std::iter::from_fn(move || {
                let doc = cursor.doc()?;
                let (from, to) = offsets(cursor.offset_bytes()).unzip();
                let mut positions = vec![];
                cursor.read_positions(&mut positions);
                let row =
                    PostingRow { word: self.words.get(word), doc, from, to, positions, total_length: self.length(doc) };
                cursor.advance();
                Some(row)
            })
        })
    }
}
