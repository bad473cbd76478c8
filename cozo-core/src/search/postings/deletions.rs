//! Documents that no longer count.

use fixedbitset::FixedBitSet;

use super::bytes::{PostingsError, SectionWriter, Sections};
use super::index::Postings;

/// Documents of an index that no longer count, with what its statistics lose by them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deletions {
    pub(super) docs: FixedBitSet,
    count: usize,
    /// The words of these documents, ascending, and how many of the documents have each.
    words: Vec<u32>,
    counts: Vec<u32>,
    /// The number of tokens of these documents.
    pub(super) length: u64,
}

impl Postings {
    /// The deletions after further documents, which ascend, are deleted.
    pub fn delete(&self, docs: &[u32], before: Option<&Deletions>) -> Deletions {
        let mut all = before.cloned().unwrap_or_default();
        all.docs.grow(self.docs() as usize);
        let mut words: Vec<u32> = vec![];
        for doc in docs.iter().copied().filter(|doc| *doc < self.docs()) {
            if !all.docs.put(doc as usize) {
                all.count += 1;
                all.length += u64::from(self.length(doc));
                words.extend(self.words_of(doc));
            }
        }
        words.sort_unstable();
        let (mut merged, mut counts) = (vec![], vec![]);
        let mut known = all.words.iter().copied().zip(all.counts.iter().copied()).peekable();
        for same in words.chunk_by(|a, b| a == b) {
            while let Some((word, count)) = known.next_if(|(word, _)| *word < same[0]) {
                merged.push(word);
                counts.push(count);
            }
            let had = known.next_if(|(word, _)| *word == same[0]).map_or(0, |(_, count)| count);
            merged.push(same[0]);
            counts.push(had + same.len() as u32);
        }
        for (word, count) in known {
            merged.push(word);
            counts.push(count);
        }
        (all.words, all.counts) = (merged, counts);
        all
    }
}

impl Deletions {
    /// Whether a document is deleted.
    pub fn contains(&self, doc: u32) -> bool {
        self.docs.contains(doc as usize)
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The documents, ascending.
    pub fn docs(&self) -> impl Iterator<Item = u32> + '_ {
        self.docs.ones().map(|doc| doc as u32)
    }

    /// How many of the documents have a word.
    pub(super) fn of_word(&self, word: u32) -> u32 {
        self.words.binary_search(&word).map_or(0, |at| self.counts[at])
    }

    /// About how much memory they take.
    pub fn memory_bytes(&self) -> usize {
        self.docs.len() / 8 + (self.words.len() + self.counts.len()) * size_of::<u32>()
    }

    /// The deletions as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let docs: Vec<u32> = self.docs().collect();
        let mut writer = SectionWriter::new(DELETIONS);
        writer.numbers(&[self.docs.len() as u64, self.length]);
        writer.small(&docs);
        writer.small(&self.words);
        writer.small(&self.counts);
        writer.finish()
    }

    /// Deletions of bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Deletions, PostingsError> {
        let mut sections = Sections::new(bytes, DELETIONS)?;
        let [capacity, length] = sections.numbers()?[..] else { return Err(PostingsError("wrong sizes")) };
        let (docs, words, counts) = (sections.small()?, sections.small()?, sections.small()?);
        let ascends = docs.is_sorted() && words.is_sorted() && words.len() == counts.len();
        if !ascends || capacity > u64::from(u32::MAX) || docs.last().is_some_and(|doc| u64::from(*doc) >= capacity) {
            return Err(PostingsError("documents are out of order"));
        }
        let mut set = FixedBitSet::with_capacity(capacity as usize);
        docs.iter().for_each(|doc| set.insert(*doc as usize));
        Ok(Deletions { count: set.count_ones(..), docs: set, words, counts, length })
    }
}

/// The mark of the bytes of deletions.
const DELETIONS: &[u8; 4] = b"CZD1";
