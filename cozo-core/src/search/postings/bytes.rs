//! Indexes as bytes: a mark, and sections that begin with their sizes.
//!
//! What is read is checked: numbers that lead elsewhere are in range, and each block is decoded once. Damaged bytes give an error, or an index with other
//! contents, but no index on which a search could fail.

use super::blocks::Blocks;
use super::index::{Forward, Postings};
use super::places::Positions;
use super::thresholds::BLOCK_DOCS;
use super::words::Words;

/// Bytes that are not those of an index, or of a later version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these are not the bytes of an index of texts: {0}")]
pub struct PostingsError(pub &'static str);

/// The mark of the bytes of postings.
const POSTINGS: &[u8; 4] = b"CZP2";

/// Writes sections.
pub(super) struct SectionWriter(Vec<u8>);

impl SectionWriter {
    pub fn new(mark: &[u8; 4]) -> Self {
        SectionWriter(mark.to_vec())
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
    }

    pub fn small(&mut self, numbers: &[u32]) {
        self.0.extend_from_slice(&(4 * numbers.len() as u64).to_le_bytes());
        self.0.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }

    pub fn numbers(&mut self, numbers: &[u64]) {
        self.0.extend_from_slice(&(8 * numbers.len() as u64).to_le_bytes());
        self.0.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }

    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads sections.
pub(super) struct Sections<'b>(&'b [u8]);

impl<'b> Sections<'b> {
    pub fn new(bytes: &'b [u8], mark: &[u8; 4]) -> Result<Self, PostingsError> {
        bytes.strip_prefix(mark).map(Sections).ok_or(PostingsError("they begin with something else"))
    }

    pub fn bytes(&mut self) -> Result<&'b [u8], PostingsError> {
        const CUT: PostingsError = PostingsError("they are cut off");
        let (size, rest) = self.0.split_first_chunk::<8>().ok_or(CUT)?;
        let size = usize::try_from(u64::from_le_bytes(*size)).map_err(|_| CUT)?;
        let (section, rest) = rest.split_at_checked(size).ok_or(CUT)?;
        self.0 = rest;
        Ok(section)
    }

    pub fn small(&mut self) -> Result<Vec<u32>, PostingsError> {
        let (numbers, rest) = self.bytes()?.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(PostingsError("a section has an odd size"));
        }
        Ok(numbers.iter().map(|number| u32::from_le_bytes(*number)).collect())
    }

    pub fn numbers(&mut self) -> Result<Vec<u64>, PostingsError> {
        let (numbers, rest) = self.bytes()?.as_chunks::<8>();
        if !rest.is_empty() {
            return Err(PostingsError("a section has an odd size"));
        }
        Ok(numbers.iter().map(|number| u64::from_le_bytes(*number)).collect())
    }
}

impl Postings {
    /// The index as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = SectionWriter::new(POSTINGS);
        writer.small(&self.lengths);
        writer.bytes(self.words.texts.as_bytes());
        writer.numbers(&self.words.ends);
        let blocks = &self.blocks;
        for numbers in [&blocks.first, &blocks.docs, &blocks.last_doc] {
            writer.small(numbers);
        }
        writer.numbers(&blocks.data_start);
        writer.numbers(&blocks.places_start);
        writer.bytes(&blocks.data);
        writer.bytes(&blocks.places);
        writer.numbers(&self.forward.starts);
        writer.bytes(&self.forward.bytes);
        writer.finish()
    }

    /// An index of bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Postings, PostingsError> {
        let mut sections = Sections::new(bytes, POSTINGS)?;
        let lengths = sections.small()?;
        let texts = std::str::from_utf8(sections.bytes()?).map_err(|_| PostingsError("a word is no text"))?.to_string();
        let words = Words { texts, ends: sections.numbers()? };
        let blocks = Blocks {
            first: sections.small()?,
            docs: sections.small()?,
            last_doc: sections.small()?,
            data_start: sections.numbers()?,
            places_start: sections.numbers()?,
            data: sections.bytes()?.to_vec(),
            places: sections.bytes()?.to_vec(),
        };
        let forward = Forward { starts: sections.numbers()?, bytes: sections.bytes()?.to_vec() };
        let total_length = lengths.iter().map(|length| u64::from(*length)).sum();
        let postings = Postings { lengths, total_length, words, blocks, forward };
        postings.check()?;
        Ok(postings)
    }

    /// Whether what leads elsewhere is in range.
    fn check(&self) -> Result<(), PostingsError> {
        let (words, blocks) = (&self.words, &self.blocks);
        let ends_fit = words.ends.is_sorted()
            && words.ends.last().is_none_or(|end| *end == words.texts.len() as u64)
            && words.ends.iter().all(|end| words.texts.is_char_boundary(*end as usize));
        let count = blocks.last_doc.len();
        let sizes_fit = [blocks.data_start.len(), blocks.places_start.len()] == [count; 2]
            && blocks.docs.len() == words.ends.len()
            && blocks.first.len()
                == if words.ends.is_empty() { blocks.first.len().min(1) } else { words.ends.len() + 1 };
        if !ends_fit || !sizes_fit || self.lengths.len() > u32::MAX as usize {
            return Err(PostingsError("its parts do not fit together"));
        }
        let starts = &self.forward.starts;
        let forward_fits = starts.is_sorted()
            && starts.last().is_none_or(|end| *end <= self.forward.bytes.len() as u64)
            && (starts.is_empty() || starts.len() == self.lengths.len() + 1);
        if !forward_fits || (starts.is_empty() && !self.lengths.is_empty()) {
            return Err(PostingsError("the words of documents are damaged"));
        }
        (0..words.len()).try_for_each(|word| self.check_word(word))
    }

    /// Decodes the blocks of a word once.
    fn check_word(&self, word: u32) -> Result<(), PostingsError> {
        const DAMAGED: PostingsError = PostingsError("a block is damaged");
        let blocks = &self.blocks;
        let range = blocks.first[word as usize] as usize..blocks.first[word as usize + 1] as usize;
        let docs = blocks.docs[word as usize] as usize;
        if range.end > blocks.last_doc.len() || range.len() != docs.div_ceil(BLOCK_DOCS) || docs == 0 {
            return Err(DAMAGED);
        }
        let (mut of_block, mut frequencies) = ([0; BLOCK_DOCS], [0; BLOCK_DOCS]);
        let mut before = None;
        for block in range {
            let count = blocks.count(word, block);
            blocks.read(block, count, before.unwrap_or(0), &mut of_block, &mut frequencies).ok_or(DAMAGED)?;
            let mut last = before;
            for doc in &of_block[..count] {
                if last.is_some_and(|last| last >= *doc) {
                    return Err(DAMAGED);
                }
                last = Some(*doc);
            }
            if last.is_none_or(|last| last as usize >= self.lengths.len() || blocks.last_doc[block] != last) {
                return Err(DAMAGED);
            }
            let occurrences: u64 = frequencies[..count].iter().map(|frequency| u64::from(*frequency)).sum();
            let offsets = Positions::new(blocks.places_of(block)).and_then(|positions| positions.after(occurrences));
            // So the memory that occurrences take is bounded by that of their bytes.
            if offsets.is_none_or(|offsets| (offsets.len() as u64) < 2 * occurrences) {
                return Err(DAMAGED);
            }
            before = last;
        }
        Ok(())
    }
}
