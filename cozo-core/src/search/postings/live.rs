//! An index in a search, and which of its documents count.

use fixedbitset::FixedBitSet;

use super::deletions::Deletions;
use super::index::Postings;

/// An index to search.
#[derive(Clone, Copy)]
pub struct PostingsPart<'a> {
    pub postings: &'a Postings,
    /// Documents that do not count.
    pub deletions: Option<&'a Deletions>,
    /// Further documents that do not count, ascending.
    pub shadowed: &'a [u32],
    /// The documents that may be found; all without it. The others count in statistics.
    pub allowed: Option<&'a FixedBitSet>,
}

/// The documents of an index that are there.
pub(super) struct Live<'p> {
    pub part: PostingsPart<'p>,
    shadowed: Vec<u32>,
}

impl<'p> Live<'p> {
    pub fn new(part: PostingsPart<'p>) -> Self {
        let is_new = |doc: &u32| {
            *doc < part.postings.docs() && !part.deletions.is_some_and(|deletions| deletions.contains(*doc))
        };
        let shadowed = part.shadowed.iter().copied().filter(is_new).collect();
        Live { part, shadowed }
    }

    pub fn postings(&self) -> &'p Postings {
        self.part.postings
    }

    /// Whether a document is there.
    pub fn contains(&self, doc: u32) -> bool {
        !self.part.deletions.is_some_and(|deletions| deletions.contains(doc))
            && self.shadowed.binary_search(&doc).is_err()
    }

    /// Whether a document is there and may be found.
    pub fn may_be_found(&self, doc: u32) -> bool {
        self.part.allowed.is_none_or(|allowed| allowed.contains(doc as usize)) && self.contains(doc)
    }

    /// The number of documents and of their tokens.
    pub fn totals(&self) -> (u64, u64) {
        let postings = self.part.postings;
        let (gone, length) = self.part.deletions.map_or((0, 0), |deletions| (deletions.len() as u64, deletions.length));
        let shadowed: u64 = self.shadowed.iter().map(|doc| u64::from(postings.length(*doc))).sum();
        (u64::from(postings.docs()) - gone - self.shadowed.len() as u64, postings.total_length() - length - shadowed)
    }

    /// How many documents have a word.
    pub fn count(&self, word: u32) -> u64 {
        let mut cursor = self.part.postings.cursor(word);
        let gone = self.part.deletions.map_or(0, |deletions| deletions.of_word(word));
        let mut count = cursor.docs_of_word() - gone;
        for doc in &self.shadowed {
            cursor.seek(*doc);
            count -= u32::from(cursor.doc() == Some(*doc));
        }
        count.into()
    }
}
