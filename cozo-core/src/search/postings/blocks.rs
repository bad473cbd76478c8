//! The documents of all words, in blocks of up to 128.
//!
//! ```text
//! head            its size in bytes, front of the block; in the first of several blocks also the front of the word
//! full block      bits of documents, bits of frequencies, differences of documents packed, frequencies less one packed
//! last block      difference, frequency, difference, frequency, ...          as numbers of 7 bits a byte
//! ```
//!
//! Where the occurrences of a block are, is told by its [places](super::places).
//!
//! A block knows its last document, so that others are skipped unread, and by its [front](super::fronts) what its best document can score at most.

use bitpacking::{BitPacker, BitPacker4x};

use super::fronts::{Front, read_front};
use super::places::write_positions;
use super::thresholds::BLOCK_DOCS;
use super::varint::{read_varint, write_varint};

/// Blocks of all words, one word after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Blocks {
    /// The first block of each word, and the number of all blocks.
    pub first: Vec<u32>,
    /// The number of documents of each word.
    pub docs: Vec<u32>,
    /// The last document of each block.
    pub last_doc: Vec<u32>,
    /// Where the data of each block begins.
    pub data_start: Vec<u64>,
    /// Where the places of each block begin.
    pub places_start: Vec<u64>,
    pub data: Vec<u8>,
    /// The places of all occurrences, block after block.
    pub places: Vec<u8>,
}

/// The documents of a word, to be written.
#[derive(Default)]
pub(super) struct WordPostings<'a> {
    /// The documents, ascending.
    pub docs: Vec<Posting<'a>>,
    /// The positions of all documents, in any order of documents.
    pub positions: Vec<u32>,
}

/// A document of a word.
#[derive(Clone, Copy)]
pub(super) struct Posting<'a> {
    pub doc: u32,
    pub frequency: u32,
    /// Where its positions begin among those of the word.
    pub first: usize,
    /// Where its occurrences begin and end in the text.
    pub offsets: &'a [u8],
}

impl WordPostings<'_> {
    pub fn clear(&mut self) {
        self.docs.clear();
        self.positions.clear();
    }
}

impl Blocks {
    pub fn memory_bytes(&self) -> usize {
        let small = self.first.len() + self.docs.len() + self.last_doc.len();
        let large = self.data_start.len() + self.places_start.len();
        small * size_of::<u32>() + large * size_of::<u64>() + self.data.len() + self.places.len()
    }

    /// Appends the documents of the next word. `lengths` has the lengths of all documents.
    pub fn push_word(&mut self, word: &WordPostings<'_>, lengths: &[u32]) {
        if self.first.is_empty() {
            self.first.push(0);
        }
        let (mut before, mut fronts) = (0, vec![]);
        for block in word.docs.chunks(BLOCK_DOCS) {
            fronts.push(front_of(block, lengths));
        }
        let of_word = (fronts.len() > 1).then(|| {
            let mut all = Front::default();
            fronts.iter().for_each(|front| all.add_all(front));
            all
        });
        for (at, (block, front)) in word.docs.chunks(BLOCK_DOCS).zip(&mut fronts).enumerate() {
            self.data_start.push(self.data.len() as u64);
            self.places_start.push(self.places.len() as u64);
            self.write_head(front, of_word.as_ref().filter(|_| at == 0));
            let (mut docs, mut frequencies) = ([0; BLOCK_DOCS], [0; BLOCK_DOCS]);
            for (at, posting) in block.iter().enumerate() {
                (docs[at], frequencies[at]) = (posting.doc, posting.frequency);
            }
            if block.len() == BLOCK_DOCS {
                self.write_full(before, &docs, &frequencies);
            } else {
                self.write_rest(before, &docs[..block.len()], &frequencies[..block.len()]);
            }
            before = docs[block.len() - 1];
            self.last_doc.push(before);
            let positions_of = |posting: &Posting<'_>| &word.positions[posting.first..][..posting.frequency as usize];
            write_positions(block.iter().map(positions_of), &mut self.places);
            block.iter().for_each(|posting| self.places.extend_from_slice(posting.offsets));
        }
        self.docs.push(word.docs.len() as u32);
        self.first.push(self.last_doc.len() as u32);
    }

    fn write_head(&mut self, front: &mut Front, of_word: Option<&Front>) {
        let at = self.data.len();
        self.data.push(0);
        front.write(&mut self.data);
        if let Some(front) = of_word {
            front.clone().write(&mut self.data);
        }
        self.data[at] = (self.data.len() - at - 1) as u8;
    }

    fn write_full(&mut self, before: u32, docs: &[u32; BLOCK_DOCS], frequencies: &[u32; BLOCK_DOCS]) {
        let less_one = frequencies.map(|frequency| frequency - 1);
        let packer = BitPacker4x::new();
        let bits = [packer.num_bits_sorted(before, docs), packer.num_bits(&less_one)];
        self.data.extend_from_slice(&bits);
        let mut packed = [0; BLOCK_DOCS * size_of::<u32>()];
        let bytes = packer.compress_sorted(before, docs, &mut packed, bits[0]);
        self.data.extend_from_slice(&packed[..bytes]);
        let bytes = packer.compress(&less_one, &mut packed, bits[1]);
        self.data.extend_from_slice(&packed[..bytes]);
    }

    fn write_rest(&mut self, before: u32, docs: &[u32], frequencies: &[u32]) {
        let mut last = before;
        for (doc, frequency) in docs.iter().zip(frequencies) {
            write_varint(doc - last, &mut self.data);
            write_varint(*frequency, &mut self.data);
            last = *doc;
        }
    }

    /// The head of a block, and what follows it.
    #[inline]
    fn head(&self, block: usize) -> Option<(&[u8], &[u8])> {
        let (size, rest) = self.data.get(self.data_start[block] as usize..)?.split_first()?;
        rest.split_at_checked(usize::from(*size))
    }

    /// The front of a block.
    pub fn front(&self, block: usize) -> &[u8] {
        self.head(block).unwrap_or_default().0
    }

    /// The front of a word.
    pub fn front_of_word(&self, word: u32) -> &[u8] {
        let blocks = self.first[word as usize] as usize..self.first[word as usize + 1] as usize;
        let mut front = self.front(blocks.start);
        if blocks.len() > 1 {
            read_front(&mut front).for_each(drop);
        }
        front
    }

    /// The documents and frequencies of a block; returns how many there are. `before` is the last document of the block before it
    /// of the same word.
    pub fn read(
        &self,
        block: usize,
        count: usize,
        before: u32,
        docs: &mut [u32; BLOCK_DOCS],
        frequencies: &mut [u32; BLOCK_DOCS],
    ) -> Option<()> {
        let (_, mut data) = self.head(block)?;
        if count < BLOCK_DOCS {
            let mut doc = before;
            for i in 0..count {
                doc = doc.checked_add(read_varint(&mut data))?;
                (docs[i], frequencies[i]) = (doc, read_varint(&mut data));
            }
            return Some(());
        }
        let ([doc_bits, frequency_bits], rest) = data.split_first_chunk::<2>()?;
        let sizes = [doc_bits, frequency_bits].map(|bits| usize::from(*bits) * BLOCK_DOCS / 8);
        if *doc_bits > 32 || *frequency_bits > 32 || rest.len() < sizes[0] + sizes[1] {
            return None;
        }
        let packer = BitPacker4x::new();
        packer.decompress_sorted(before, &rest[..sizes[0]], docs, *doc_bits);
        packer.decompress(&rest[sizes[0]..sizes[0] + sizes[1]], frequencies, *frequency_bits);
        frequencies.iter_mut().for_each(|frequency| *frequency = frequency.wrapping_add(1));
        Some(())
    }

    /// The bytes of the places of a block.
    pub fn places_of(&self, block: usize) -> &[u8] {
        let end = self.places_start.get(block + 1).map_or(self.places.len(), |end| *end as usize);
        self.places.get(self.places_start[block] as usize..end).unwrap_or_default()
    }

    /// The number of documents of a block of a word.
    pub fn count(&self, word: u32, block: usize) -> usize {
        let before = (block - self.first[word as usize] as usize) * BLOCK_DOCS;
        (self.docs[word as usize] as usize - before).min(BLOCK_DOCS)
    }
}

/// The front of a block.
fn front_of(block: &[Posting<'_>], lengths: &[u32]) -> Front {
    let mut front = Front::default();
    block.iter().for_each(|posting| front.add(posting.frequency, lengths[posting.doc as usize]));
    front
}
