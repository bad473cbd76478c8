//! The leaves of a query: words, beginnings of words, phrases, words that stand close together.
//!
//! In one index a word is read where it lies. Everything else is listed before the search: the documents, and how often each has it.

use std::ops::Range;

use super::cursor::Cursor;
use super::live::Live;
use super::phrases::{Counted, near, phrase};
use super::scorer::Scorer;
use super::thresholds::BLOCK_DOCS;
use crate::budget::{self, Stop, make_room};
use crate::text::QueryTerm;

/// A leaf of a query.
#[derive(Clone, Copy)]
pub(super) enum Leaf<'q> {
    Word(&'q str),
    /// A beginning of words.
    Prefix(&'q str),
    /// Words at these distances from the first.
    Phrase(&'q [(usize, QueryTerm)]),
    /// Words no farther apart than this many positions.
    Near(u32, &'q [QueryTerm]),
}

/// The documents of a leaf in an index.
pub(super) enum LeafDocs<'p> {
    None,
    Word(Box<Cursor<'p>>),
    Listed {
        docs: Vec<u32>,
        counts: Vec<u32>,
        at: usize,
        /// The greatest count, and the least length of a document.
        best: (u32, u32),
    },
}

impl<'p> Live<'p> {
    /// The documents of a leaf, and the number that its weight depends on: of documents, or for a beginning of words of pairs of a word and
    /// a document.
    pub fn docs_of(&self, leaf: Leaf<'_>) -> Result<(LeafDocs<'p>, u64), Stop> {
        let postings = self.part.postings;
        match leaf {
            Leaf::Word(text) => Ok(match postings.words.find(text) {
                None => (LeafDocs::None, 0),
                Some(word) => (LeafDocs::Word(Box::new(postings.cursor(word))), self.count(word)),
            }),
            Leaf::Prefix(text) => self.with_prefix(postings.words_with_prefix(text)),
            Leaf::Phrase(terms) => {
                let found = phrase(postings, terms, |doc| self.contains(doc))?;
                let n = found.docs.len() as u64;
                Ok((self.listed(found), n))
            }
            Leaf::Near(within, terms) => {
                let found = near(postings, within, terms, |doc| self.contains(doc))?;
                let n = found.docs.len() as u64;
                Ok((self.listed(found), n))
            }
        }
    }

    /// A list as a leaf.
    fn listed(&self, Counted { docs, counts }: Counted) -> LeafDocs<'p> {
        let lengths = docs.iter().map(|doc| self.postings().length(*doc));
        let best = (counts.iter().copied().max().unwrap_or(0), lengths.min().unwrap_or(0));
        LeafDocs::Listed { docs, counts, at: 0, best }
    }

    /// The documents that have any of some words.
    fn with_prefix(&self, words: Range<u32>) -> Result<(LeafDocs<'p>, u64), Stop> {
        let mut entries: Vec<(u32, u32)> = vec![];
        for word in words {
            let mut cursor = self.part.postings.cursor(word);
            make_room(cursor.docs_of_word() as usize * size_of::<(u32, u32)>())?;
            budget::step(cursor.docs_of_word() as usize / 8 + 1)?;
            while let Some(doc) = cursor.doc() {
                if self.contains(doc) {
                    entries.push((doc, cursor.frequency()));
                }
                cursor.advance();
            }
        }
        entries.sort_unstable();
        let pairs = entries.len() as u64;
        let (mut docs, mut counts) = (vec![], vec![]);
        for of_doc in entries.chunk_by(|a, b| a.0 == b.0) {
            docs.push(of_doc[0].0);
            counts.push(of_doc.iter().fold(0u32, |sum, (_, count)| sum.saturating_add(*count)));
        }
        Ok((self.listed(Counted { docs, counts }), pairs))
    }
}

impl LeafDocs<'_> {
    /// The document; none at the end.
    #[inline]
    pub fn doc(&self) -> Option<u32> {
        match self {
            LeafDocs::None => None,
            LeafDocs::Word(cursor) => cursor.doc(),
            LeafDocs::Listed { docs, at, .. } => docs.get(*at).copied(),
        }
    }

    /// How often the document has it.
    #[inline]
    pub fn frequency(&self) -> u32 {
        match self {
            LeafDocs::None => 0,
            LeafDocs::Word(cursor) => cursor.frequency(),
            LeafDocs::Listed { counts, at, .. } => counts[*at],
        }
    }

    #[inline]
    pub fn advance(&mut self) {
        match self {
            LeafDocs::None => {}
            LeafDocs::Word(cursor) => cursor.advance(),
            LeafDocs::Listed { at, .. } => *at += 1,
        }
    }

    /// Moves to the first document from this one on.
    pub fn seek(&mut self, doc: u32) {
        match self {
            LeafDocs::None => {}
            LeafDocs::Word(cursor) => cursor.seek(doc),
            LeafDocs::Listed { docs, at, .. } => *at += docs[*at..].partition_point(|known| *known < doc),
        }
    }

    /// What any document can score.
    pub fn bound(&self, scorer: &Scorer, weight: f64) -> f64 {
        match self {
            LeafDocs::None => 0.0,
            LeafDocs::Word(cursor) => cursor.bound(scorer, weight),
            LeafDocs::Listed { best, .. } => scorer.bound(weight, [*best].into_iter()),
        }
    }

    /// The next documents from one on, as many as have a bound of their own: the last of them, and what they can score. The documents
    /// asked for ascend.
    pub fn bound_from(&mut self, doc: u32, scorer: &Scorer, weight: f64) -> Option<(u32, f64)> {
        match self {
            LeafDocs::None => None,
            LeafDocs::Word(cursor) => cursor.bound_from(doc, scorer, weight),
            LeafDocs::Listed { docs, at, best, .. } => {
                let rest = &docs[*at..];
                let rest = &rest[rest.partition_point(|known| *known < doc)..];
                let last = rest.get(BLOCK_DOCS - 1).or(rest.last())?;
                Some((*last, scorer.bound(weight, [*best].into_iter())))
            }
        }
    }

    /// The documents from here to this one, with their frequencies: at most a block.
    pub fn until(&self, last: u32) -> (&[u32], &[u32]) {
        match self {
            LeafDocs::None => (&[], &[]),
            LeafDocs::Word(cursor) => cursor.until(last),
            LeafDocs::Listed { docs, counts, at, .. } => {
                let end = docs.len().min(*at + BLOCK_DOCS);
                let end = *at + docs[*at..end].partition_point(|doc| *doc <= last);
                (&docs[*at..end], &counts[*at..end])
            }
        }
    }

    /// About how many documents there are.
    pub fn size(&self) -> u64 {
        match self {
            LeafDocs::None => 0,
            LeafDocs::Word(cursor) => cursor.docs_of_word().into(),
            LeafDocs::Listed { docs, .. } => docs.len() as u64,
        }
    }

    /// The blocks that were decoded.
    pub fn read(&self) -> usize {
        match self {
            LeafDocs::Word(cursor) => cursor.read,
            LeafDocs::None | LeafDocs::Listed { .. } => 0,
        }
    }
}
