//! Making an index of documents.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::blocks::{Posting, WordPostings};
use super::index::{Forward, Postings};
use super::places::{TokenPlace, write_offsets};
use super::varint::{read_varint, write_varint};
use crate::budget::{self, Stop, make_room};
use crate::text::Tokens;
use crate::value::SmallStr;

/// Indexes documents one after the other.
#[derive(Default)]
pub struct PostingsBuilder {
    /// The first document.
    first: u32,
    lengths: Vec<u32>,
    numbers: FxHashMap<SmallStr, u32>,
    words: Vec<WordBuilder>,
    /// The words of each document in the order in which they occur, and where each document ends.
    forward: Vec<u32>,
    forward_ends: Vec<usize>,
}

/// The documents of a word so far.
#[derive(Default)]
struct WordBuilder {
    /// The last document, how often it has the word, and where the last occurrence is.
    doc: u32,
    frequency: u32,
    last: TokenPlace,
    /// The document before it.
    doc_before: u32,
    /// For each document before the last: the difference to the one before, the frequency, and the bytes of its offsets.
    docs: Vec<u8>,
    /// The positions of all occurrences, as differences within a document.
    positions: Vec<u8>,
    offsets: Vec<u8>,
    /// Where the offsets of the last document begin.
    offsets_start: usize,
}

impl WordBuilder {
    /// Writes the last document.
    fn settle(&mut self) {
        if self.frequency > 0 {
            write_varint(self.doc - self.doc_before, &mut self.docs);
            write_varint(self.frequency, &mut self.docs);
            write_varint((self.offsets.len() - self.offsets_start) as u32, &mut self.docs);
            (self.doc_before, self.offsets_start) = (self.doc, self.offsets.len());
        }
    }

    /// Appends the documents, in order.
    fn append<'w>(&'w self, postings: &mut WordPostings<'w>) {
        let (mut docs, mut positions, mut offsets) = (&*self.docs, &*self.positions, &*self.offsets);
        let mut doc = 0;
        while !docs.is_empty() {
            doc += read_varint(&mut docs);
            let frequency = read_varint(&mut docs);
            let (of_doc, rest) = offsets.split_at(read_varint(&mut docs) as usize);
            offsets = rest;
            let first = postings.positions.len();
            let mut position = 0;
            for _ in 0..frequency {
                position += read_varint(&mut positions);
                postings.positions.push(position);
            }
            postings.docs.push(Posting { doc, frequency, first, offsets: of_doc });
        }
    }
}

impl PostingsBuilder {
    /// A builder without documents.
    pub fn new() -> Self {
        PostingsBuilder::default()
    }

    /// Adds a document. Documents ascend without gaps from the first one on.
    pub fn add(&mut self, doc: u32, tokens: &Tokens) -> Result<(), Stop> {
        if self.lengths.is_empty() {
            self.first = doc;
        }
        debug_assert_eq!(doc, self.first + self.lengths.len() as u32, "documents have no gaps");
        budget::step(tokens.len() / 8 + 1)?;
        for token in tokens.iter() {
            let number = match self.numbers.get(token.text) {
                Some(number) => *number,
                None => self.number_of(token.text)?,
            };
            let word = &mut self.words[number as usize];
            if word.frequency == 0 || word.doc != doc {
                word.settle();
                (word.doc, word.frequency, word.last) = (doc, 0, TokenPlace::default());
                self.forward.push(number);
            }
            let place = TokenPlace { position: token.position as u32, from: token.from as u32, to: token.to as u32 };
            write_varint(place.position.saturating_sub(word.last.position), &mut word.positions);
            write_offsets(word.last.from, place, &mut word.offsets);
            (word.last, word.frequency) = (place, word.frequency + 1);
        }
        self.lengths.push(tokens.len() as u32);
        self.forward_ends.push(self.forward.len());
        Ok(())
    }

    /// The number of a new word.
    #[cold]
    fn number_of(&mut self, text: &str) -> Result<u32, Stop> {
        make_room(text.len() + size_of::<WordBuilder>())?;
        let next = self.words.len() as u32;
        match self.numbers.entry(SmallStr::from(text)) {
            Entry::Occupied(entry) => Ok(*entry.get()),
            Entry::Vacant(entry) => {
                entry.insert(next);
                self.words.push(WordBuilder::default());
                Ok(next)
            }
        }
    }

    /// The index.
    pub fn finish(self) -> Result<Postings, Stop> {
        PostingsBuilder::join(vec![self])
    }

    /// The index of the documents of all builders: each continues after the one before it.
    pub fn join(mut parts: Vec<PostingsBuilder>) -> Result<Postings, Stop> {
        parts.retain(|part| !part.lengths.is_empty());
        parts.iter_mut().flat_map(|part| &mut part.words).for_each(WordBuilder::settle);
        let mut postings = Postings { lengths: vec![], ..Postings::default() };
        parts.iter().for_each(|part| postings.lengths.extend_from_slice(&part.lengths));
        postings.total_length = postings.lengths.iter().map(|length| u64::from(*length)).sum();
        let mut all: Vec<(&SmallStr, usize, u32)> = parts
            .iter()
            .enumerate()
            .flat_map(|(at, part)| part.numbers.iter().map(move |(word, number)| (word, at, *number)))
            .collect();
        all.sort_unstable();
        let mut sorted: Vec<Vec<u32>> = parts.iter().map(|part| vec![0; part.words.len()]).collect();
        let mut of_all = WordPostings::default();
        for of_word in all.chunk_by(|a, b| a.0 == b.0) {
            budget::step(of_word.len())?;
            of_all.clear();
            let word = postings.words.len();
            postings.words.push(of_word[0].0);
            of_word.iter().for_each(|(_, part, number)| sorted[*part][*number as usize] = word);
            of_word.iter().for_each(|(_, part, number)| parts[*part].words[*number as usize].append(&mut of_all));
            postings.blocks.push_word(&of_all, &postings.lengths);
        }
        postings.forward = forward(&parts, &sorted);
        Ok(postings)
    }
}

/// The words of each document by their sorted numbers.
fn forward(parts: &[PostingsBuilder], sorted: &[Vec<u32>]) -> Forward {
    let mut forward = Forward { starts: vec![0], bytes: vec![] };
    let mut words: Vec<u32> = vec![];
    for (part, numbers) in parts.iter().zip(sorted) {
        let mut start = 0;
        for end in &part.forward_ends {
            words.clear();
            words.extend(part.forward[start..*end].iter().map(|number| numbers[*number as usize]));
            words.sort_unstable();
            start = *end;
            forward.push(&words);
        }
    }
    forward
}

impl Forward {
    /// Appends the words of a document, which ascend.
    pub(super) fn push(&mut self, words: &[u32]) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        let mut before = 0;
        for word in words {
            write_varint(word - before, &mut self.bytes);
            before = *word;
        }
        self.starts.push(self.bytes.len() as u64);
    }
}
