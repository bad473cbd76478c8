//! The leaves of a query: words, beginnings of words, phrases, words that stand close together.
//!
//! In one index a word is read where it lies. Everything else is listed before the search: the documents, and how often each has it.

use std::ops::Range;

use super::Postings;
use super::cursor::Cursor;
use super::places::places;
use super::search::PostingsPart;
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
    Listed { docs: Vec<u32>, counts: Vec<u32>, at: usize },
}

/// The documents of an index that are there.
pub(super) struct Live<'p> {
    part: PostingsPart<'p>,
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
    fn count(&self, word: u32) -> u64 {
        let mut cursor = self.part.postings.cursor(word);
        let gone = self.part.deletions.map_or(0, |deletions| deletions.of_word(word));
        let mut count = cursor.docs_of_word() - gone;
        for doc in &self.shadowed {
            cursor.seek(*doc);
            count -= u32::from(cursor.doc() == Some(*doc));
        }
        count.into()
    }

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
                let members = terms.iter().map(|(_, term)| term);
                self.together(members, |positions| {
                    let holds = |position: &u32| {
                        terms.iter().zip(positions).all(|((offset, _), of_term)| {
                            of_term.binary_search(&position.wrapping_add(*offset as u32)).is_ok()
                        })
                    };
                    let offset = terms[0].0 as u32;
                    positions[0].iter().map(|position| position.wrapping_sub(offset)).filter(holds).count()
                })
            }
            Leaf::Near(within, terms) => self.together(terms.iter(), |positions| {
                let mut starts: Vec<u32> = positions.iter().flatten().copied().collect();
                starts.sort_unstable();
                starts.dedup();
                let is_near = |start: &u32, of_term: &Vec<u32>| {
                    let next = of_term.partition_point(|position| position < start);
                    of_term.get(next).is_some_and(|position| position - start <= within)
                };
                starts.iter().filter(|start| positions.iter().all(|of_term| is_near(start, of_term))).count()
            }),
        }
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
        Ok((LeafDocs::Listed { docs, counts, at: 0 }, pairs))
    }

    /// The documents that have all of some terms, if `count` of their positions is not 0.
    fn together<'q>(
        &self,
        terms: impl Iterator<Item = &'q QueryTerm>,
        count: impl Fn(&[Vec<u32>]) -> usize,
    ) -> Result<(LeafDocs<'p>, u64), Stop> {
        let postings = self.part.postings;
        let mut members: Vec<Vec<Cursor<'p>>> = vec![];
        for term in terms {
            let words = match term.prefix {
                true => postings.words_with_prefix(&term.text),
                false => postings.words.find(&term.text).map_or(0..0, |word| word..word + 1),
            };
            members.push(words.map(|word| postings.cursor(word)).collect());
        }
        let docs_of =
            |cursors: &Vec<Cursor<'_>>| cursors.iter().map(|cursor| u64::from(cursor.docs_of_word())).sum::<u64>();
        let rarest = (0..members.len()).min_by_key(|member| docs_of(&members[*member])).unwrap_or(0);
        let candidates = docs(members.get(rarest).map_or(&[], Vec::as_slice))?;
        let (mut found, mut counts) = (vec![], vec![]);
        for doc in candidates.into_iter().filter(|doc| self.contains(*doc)) {
            budget::step(members.len())?;
            let mut positions = vec![];
            for cursors in &mut members {
                let of_member = positions_at(cursors, doc);
                if of_member.is_empty() {
                    break;
                }
                positions.push(of_member);
            }
            if positions.len() == members.len() {
                let count = count(&positions);
                if count > 0 {
                    found.push(doc);
                    counts.push(count as u32);
                }
            }
        }
        let n = found.len() as u64;
        Ok((LeafDocs::Listed { docs: found, counts, at: 0 }, n))
    }
}

/// The documents of some words, ascending.
fn docs(cursors: &[Cursor<'_>]) -> Result<Vec<u32>, Stop> {
    let mut docs = vec![];
    for cursor in cursors {
        let mut cursor = cursor.clone();
        make_room(cursor.docs_of_word() as usize * size_of::<u32>())?;
        budget::step(cursor.docs_of_word() as usize / 8 + 1)?;
        while let Some(doc) = cursor.doc() {
            docs.push(doc);
            cursor.advance();
        }
    }
    docs.sort_unstable();
    docs.dedup();
    Ok(docs)
}

/// The positions of some words in a document, ascending. The documents asked for ascend.
fn positions_at(cursors: &mut [Cursor<'_>], doc: u32) -> Vec<u32> {
    let mut positions = vec![];
    for cursor in cursors {
        cursor.seek(doc);
        if cursor.doc() == Some(doc) {
            positions.extend(places(&mut cursor.place_bytes(), cursor.frequency()).map(|place| place.position));
        }
    }
    positions.sort_unstable();
    positions.dedup();
    positions
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

    /// The greatest frequency in any document, and the least length of any.
    pub fn bounds(&self) -> (u32, u32) {
        match self {
            LeafDocs::None => (0, 0),
            LeafDocs::Word(cursor) => cursor.bounds(),
            LeafDocs::Listed { counts, .. } => (counts.iter().copied().max().unwrap_or(0), 0),
        }
    }

    /// The same for a range of documents that begins here or later; its end comes first.
    pub fn bounds_from(&self, doc: u32) -> Option<(u32, u32, u32)> {
        match self {
            LeafDocs::None => None,
            LeafDocs::Word(cursor) => cursor.bounds_from(doc),
            LeafDocs::Listed { docs, counts, at } => {
                let next = *at + docs[*at..].partition_point(|known| *known < doc);
                docs.get(next).map(|doc| (*doc, counts[next], 0))
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
