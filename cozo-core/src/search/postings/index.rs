//! The index itself: its words, the documents of each, and the words of each document.

use std::ops::Range;

use super::blocks::Blocks;
use super::cursor::Cursor;
use super::places::offsets;
use super::varint::read_varint;
use super::words::Words;

/// An index over the words of documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Postings {
    /// The number of tokens of each document.
    pub(super) lengths: Vec<u32>,
    pub(super) total_length: u64,
    pub(super) words: Words,
    pub(super) blocks: Blocks,
    /// The words of each document.
    pub(super) forward: Forward,
}

/// The words of each document, ascending, as differences.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Forward {
    /// Where the words of each document begin, and where the last end.
    pub(super) starts: Vec<u64>,
    pub(super) bytes: Vec<u8>,
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
    pub(super) fn cursor(&self, word: u32) -> Cursor<'_> {
        Cursor::new(&self.blocks, word)
    }

    /// The words that begin with a text.
    pub(super) fn words_with_prefix(&self, prefix: &str) -> Range<u32> {
        self.words.with_prefix(prefix)
    }

    /// The words of a document, ascending.
    pub(super) fn words_of(&self, doc: u32) -> impl Iterator<Item = u32> + '_ {
        let at = |doc: usize| self.forward.starts.get(doc).map_or(0, |start| *start as usize);
        let bytes = self.forward.bytes.get(at(doc as usize)..at(doc as usize + 1)).unwrap_or_default();
        let (mut rest, mut word) = (bytes, 0u32);
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            word = word.wrapping_add(read_varint(&mut rest));
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
