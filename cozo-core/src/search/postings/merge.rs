//! Merging indexes, without reading texts again.

use super::blocks::{Posting, WordPostings};
use super::index::{Forward, Postings};
use crate::budget::{self, Stop, make_room};

impl Postings {
    /// The index over the documents of several indexes, `total` in all. Each comes with the new number of each of its documents, which
    /// ascend; documents without one are dropped.
    pub fn merge(parts: &[(&Postings, &[Option<u32>])], total: u32) -> Result<Postings, Stop> {
        let size: usize = parts.iter().map(|(part, _)| part.memory_bytes()).sum();
        make_room(size)?;
        let mut merged = Postings { lengths: vec![0; total as usize], ..Postings::default() };
        for (part, numbers) in parts {
            for (doc, number) in numbers.iter().enumerate().filter_map(|(doc, number)| Some((doc, (*number)?))) {
                merged.lengths[number as usize] = part.lengths[doc];
            }
        }
        merged.total_length = merged.lengths.iter().map(|length| u64::from(*length)).sum();
        let mut all: Vec<(&str, usize, u32)> = vec![];
        for (at, (part, _)) in parts.iter().enumerate() {
            all.extend((0..part.words.len()).map(|word| (part.words.get(word), at, word)));
        }
        all.sort_unstable();
        let mut words: Vec<Vec<Option<u32>>> =
            parts.iter().map(|(part, _)| vec![None; part.words.len() as usize]).collect();
        let mut postings = WordPostings::default();
        for of_word in all.chunk_by(|a, b| a.0 == b.0) {
            postings.clear();
            for (_, at, word) in of_word {
                parts[*at].0.append(*word, parts[*at].1, &mut postings);
            }
            budget::step(postings.docs.len() + 1)?;
            if postings.docs.is_empty() {
                continue;
            }
            postings.docs.sort_by_key(|posting| posting.doc);
            let number = merged.words.len();
            merged.words.push(of_word[0].0);
            of_word.iter().for_each(|(_, at, word)| words[*at][*word as usize] = Some(number));
            merged.blocks.push_word(&postings, &merged.lengths);
        }
        merged.forward = forward(parts, &words, total)?;
        Ok(merged)
    }

    /// Appends the documents of a word by their new numbers.
    fn append<'p>(&'p self, word: u32, numbers: &[Option<u32>], postings: &mut WordPostings<'p>) {
        let mut cursor = self.cursor(word);
        while let Some(doc) = cursor.doc() {
            if let Some(Some(number)) = numbers.get(doc as usize) {
                let (frequency, first) = (cursor.frequency(), postings.positions.len());
                cursor.read_positions(&mut postings.positions);
                let offsets = cursor.offset_bytes();
                postings.docs.push(Posting { doc: *number, frequency, first, offsets });
            }
            cursor.advance();
        }
    }
}

/// The words of each document by their new numbers. The words of one index stay in their order.
fn forward(parts: &[(&Postings, &[Option<u32>])], words: &[Vec<Option<u32>>], total: u32) -> Result<Forward, Stop> {
    let mut sources: Vec<Option<(usize, u32)>> = vec![None; total as usize];
    for (at, (_, numbers)) in parts.iter().enumerate() {
        for (doc, number) in numbers.iter().enumerate().filter_map(|(doc, number)| Some((doc, (*number)?))) {
            sources[number as usize] = Some((at, doc as u32));
        }
    }
    let mut forward = Forward { starts: vec![0], bytes: vec![] };
    let mut of_doc: Vec<u32> = vec![];
    for source in sources {
        budget::step(1)?;
        of_doc.clear();
        if let Some((at, doc)) = source {
            of_doc.extend(parts[at].0.words_of(doc).filter_map(|word| words[at].get(word as usize).copied().flatten()));
        }
        forward.push(&of_doc);
    }
    Ok(forward)
}
