//! Reading the documents of a word in order, with jumps over blocks.

use super::blocks::Blocks;
use super::places::{Positions, offset_bytes};
use super::thresholds::BLOCK_DOCS;

/// A place among the documents of a word.
#[derive(Clone)]
pub(super) struct Cursor<'p> {
    blocks: &'p Blocks,
    word: u32,
    /// The block that is decoded, and the end of the blocks of the word.
    block: usize,
    end: usize,
    at: usize,
    count: usize,
    docs: [u32; BLOCK_DOCS],
    frequencies: [u32; BLOCK_DOCS],
    /// What is known of the places of the block.
    places: Option<BlockPlaces<'p>>,
    /// How many blocks were decoded.
    pub read: usize,
}

/// The places of the block that is decoded.
#[derive(Clone)]
struct BlockPlaces<'p> {
    positions: Positions<'p>,
    /// The document that was asked for last, by its place in the block, and the occurrences in the documents before it.
    at: usize,
    occurrences: u64,
    /// Offsets of occurrences, once they are asked for, from this occurrence on.
    offsets: Option<&'p [u8]>,
    offsets_from: u64,
}

impl<'p> Cursor<'p> {
    /// The first document of a word.
    pub fn new(blocks: &'p Blocks, word: u32) -> Self {
        let (block, end) = (blocks.first[word as usize] as usize, blocks.first[word as usize + 1] as usize);
        let (docs, frequencies) = ([0; BLOCK_DOCS], [0; BLOCK_DOCS]);
        let mut cursor = Cursor { blocks, word, block, end, at: 0, count: 0, docs, frequencies, places: None, read: 0 };
        cursor.decode();
        cursor
    }

    fn decode(&mut self) {
        (self.at, self.count, self.places) = (0, 0, None);
        if self.block >= self.end {
            return;
        }
        let is_first = self.block == self.blocks.first[self.word as usize] as usize;
        let before = if is_first { 0 } else { self.blocks.last_doc[self.block - 1] };
        let count = self.blocks.count(self.word, self.block);
        self.read += 1;
        if self.blocks.read(self.block, count, before, &mut self.docs, &mut self.frequencies).is_some() {
            self.count = count;
        }
    }

    /// The document; none at the end.
    #[inline]
    pub fn doc(&self) -> Option<u32> {
        (self.at < self.count).then(|| self.docs[self.at])
    }

    /// How often the word occurs in the document.
    #[inline]
    pub fn frequency(&self) -> u32 {
        self.frequencies[self.at]
    }

    /// Moves to the next document.
    #[inline]
    pub fn advance(&mut self) {
        self.at += 1;
        if self.at >= self.count && self.block < self.end {
            self.block += 1;
            self.decode();
        }
    }

    /// Moves to the first document from this one on.
    pub fn seek(&mut self, doc: u32) {
        if self.doc().is_none_or(|here| here >= doc) {
            return;
        }
        if self.blocks.last_doc[self.block] < doc {
            self.block = self.block_with(doc);
            self.decode();
        }
        while self.at < self.count && self.docs[self.at] < doc {
            self.at += 1;
        }
    }

    /// The first block, from this one on, with a document from this one on.
    fn block_with(&self, doc: u32) -> usize {
        let rest = &self.blocks.last_doc[self.block..self.end];
        let mut step = 1;
        while step < rest.len() && rest[step] < doc {
            step *= 2;
        }
        let from = step / 2;
        self.block + from + rest[from..rest.len().min(step + 1)].partition_point(|last| *last < doc)
    }

    /// The first block, from this one on, that may have a document from this one on: its last document, its greatest frequency and
    /// the least length of its documents. It is not decoded.
    pub fn bounds_from(&self, doc: u32) -> Option<(u32, u32, u32)> {
        let block = if self.block < self.end && self.blocks.last_doc[self.block] < doc {
            self.block_with(doc)
        } else {
            self.block
        };
        let in_range = block < self.end;
        in_range.then(|| (self.blocks.last_doc[block], self.blocks.max_frequency[block], self.blocks.min_length[block]))
    }

    /// The greatest frequency in any document, and the least length of any document.
    pub fn bounds(&self) -> (u32, u32) {
        let range = self.blocks.first[self.word as usize] as usize..self.end;
        let most = self.blocks.max_frequency[range.clone()].iter().copied().max().unwrap_or(0);
        (most, self.blocks.min_length[range].iter().copied().min().unwrap_or(0))
    }

    /// The number of documents of the word.
    pub fn docs_of_word(&self) -> u32 {
        self.blocks.docs[self.word as usize]
    }

    /// Appends the positions of the word in the document, in order.
    #[inline]
    pub fn read_positions(&mut self, into: &mut Vec<u32>) {
        let count = u64::from(self.frequency());
        let places = self.places();
        into.extend((places.occurrences..places.occurrences + count).map(|at| places.positions.get(at)));
    }

    /// The offsets of the word in the document, as bytes.
    pub fn offset_bytes(&mut self) -> &'p [u8] {
        let (block, count) = (self.count, self.frequency());
        self.places();
        let frequencies = &self.frequencies[..block];
        let Some(places) = &mut self.places else { return &[] };
        let first = || places.positions.after(occurrences(frequencies)).unwrap_or_default();
        let bytes = places.offsets.unwrap_or_else(first);
        let bytes = &bytes[offset_bytes(bytes, places.occurrences - places.offsets_from)..];
        (places.offsets, places.offsets_from) = (Some(bytes), places.occurrences);
        &bytes[..offset_bytes(bytes, count.into())]
    }

    /// The places of the block, at this document.
    #[inline]
    fn places(&mut self) -> &mut BlockPlaces<'p> {
        let (blocks, block) = (self.blocks, self.block);
        let places = self.places.get_or_insert_with(|| BlockPlaces {
            positions: Positions::new(blocks.places_of(block)).unwrap_or_default(),
            at: 0,
            occurrences: 0,
            offsets: None,
            offsets_from: 0,
        });
        places.occurrences += occurrences(&self.frequencies[places.at..self.at]);
        places.at = self.at;
        places
    }
}

/// The occurrences in documents.
#[inline]
fn occurrences(frequencies: &[u32]) -> u64 {
    frequencies.iter().map(|frequency| u64::from(*frequency)).sum()
}
