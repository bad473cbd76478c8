//! Reading the documents of a word in order, with jumps over blocks.

use super::blocks::Blocks;
use super::fronts::read_front;
use super::places::{Positions, offset_bytes};
use super::scorer::Scorer;
use super::thresholds::{BLOCK_DOCS, STEPS};

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
    /// The block whose bound was asked for last, and the bound.
    bound: Option<(usize, f64)>,
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
        let mut cursor =
            Cursor { blocks, word, block, end, at: 0, count: 0, docs, frequencies, places: None, bound: None, read: 0 };
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
            self.block = self.block_with(self.block, doc);
            self.decode();
        }
        // Most often it is near.
        for _ in 0..STEPS {
            if self.at >= self.count || self.docs[self.at] >= doc {
                return;
            }
            self.at += 1;
        }
        self.at += self.docs[self.at..self.count].partition_point(|here| *here < doc);
    }

    /// The first block, from one on, with a document from this one on.
    fn block_with(&self, from: usize, doc: u32) -> usize {
        let rest = self.blocks.last_doc.get(from..self.end).unwrap_or_default();
        let mut step = 1;
        while step < rest.len() && rest[step] < doc {
            step *= 2;
        }
        let first = step / 2;
        let rest = rest.get(first..rest.len().min(step + 1)).unwrap_or_default();
        from + first + rest.partition_point(|last| *last < doc)
    }

    /// The first block, from this one on, that may have a document from this one on: its last document, and what its documents can
    /// score. It is not decoded. The documents asked for ascend.
    pub fn bound_from(&mut self, doc: u32, scorer: &Scorer, weight: f64) -> Option<(u32, f64)> {
        if self.bound.is_none_or(|(block, _)| block < self.block || self.blocks.last_doc[block] < doc) {
            let known = self.bound.map_or(self.block, |(block, _)| block.max(self.block));
            let block = self.block_with(known, doc);
            if block >= self.end {
                return None;
            }
            let mut front = self.blocks.front(block);
            self.bound = Some((block, scorer.bound(weight, read_front(&mut front))));
        }
        self.bound.map(|(block, bound)| (self.blocks.last_doc[block], bound))
    }

    /// What any document can score.
    pub fn bound(&self, scorer: &Scorer, weight: f64) -> f64 {
        let mut front = self.blocks.front_of_word(self.word);
        scorer.bound(weight, read_front(&mut front))
    }

    /// The documents from here to this one, with their frequencies, as far as they are in this block.
    pub fn until(&self, last: u32) -> (&[u32], &[u32]) {
        let docs = &self.docs[self.at.min(self.count)..self.count];
        let docs = &docs[..docs.partition_point(|doc| *doc <= last)];
        (docs, self.frequencies.get(self.at..self.at + docs.len()).unwrap_or_default())
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
