//! Phrases, and words that stand close together.
//!
//! ```text
//! "red apple pie"    apple  3   8  19  31 ...       the rarest member leads
//!                    red    1   8  12  19 ...       the others jump to its documents, block by block
//!                    pie    8  20  31 ...
//!                           |
//!                           all have document 8: only now are positions read, the rarest first, and compared in a merge
//! ```
//!
//! A member is a word, or all words with a beginning. All documents are counted, since the weight depends on how many there are.

use super::cursor::Cursor;
use super::index::Postings;
use super::thresholds::DOCS_PER_CHECK;
use crate::budget::{self, Stop, make_room};
use crate::text::QueryTerm;

/// Documents, ascending, and how often each has something.
#[derive(Default)]
pub(super) struct Counted {
    pub docs: Vec<u32>,
    pub counts: Vec<u32>,
}

/// A word of a phrase, or all words that begin like it.
struct Member<'p> {
    words: Vec<Cursor<'p>>,
    /// The positions in the document that they were read for, ascending.
    positions: Vec<u32>,
}

impl<'p> Member<'p> {
    fn new(postings: &'p Postings, term: &QueryTerm) -> Self {
        let words = match term.prefix {
            true => postings.words_with_prefix(&term.text),
            false => postings.words.find(&term.text).map_or(0..0, |word| word..word + 1),
        };
        Member { words: words.map(|word| postings.cursor(word)).collect(), positions: vec![] }
    }

    fn size(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.docs_of_word())).sum()
    }

    /// Moves to the first document from this one on.
    #[inline]
    fn seek(&mut self, doc: u32) -> Option<u32> {
        let seek = |word: &mut Cursor<'_>| {
            word.seek(doc);
            word.doc()
        };
        self.words.iter_mut().filter_map(seek).min()
    }

    fn read_positions(&mut self, doc: u32) {
        self.positions.clear();
        for word in &mut self.words {
            if word.doc() == Some(doc) {
                word.read_positions(&mut self.positions);
            }
        }
        if self.words.len() > 1 {
            self.positions.sort_unstable();
        }
        self.positions.dedup();
    }
}

/// The documents that have terms at these distances from one another, of those that hold.
pub(super) fn phrase(
    postings: &Postings,
    terms: &[(usize, QueryTerm)],
    holds: impl Fn(u32) -> bool,
) -> Result<Counted, Stop> {
    let members = terms.iter().map(|(_, term)| Member::new(postings, term)).collect();
    let mut starts = vec![];
    together(members, holds, |all, doc| {
        let Some((lead, others)) = all.order.split_first() else { return 0 };
        all.members[*lead].read_positions(doc);
        starts.clone_from(&all.members[*lead].positions);
        for other in others {
            let member = &mut all.members[*other];
            member.read_positions(doc);
            keep_followed(&mut starts, terms[*other].0 as i64 - terms[*lead].0 as i64, &member.positions);
            if starts.is_empty() {
                break;
            }
        }
        starts.len()
    })
}

/// Keeps the positions that have another one at a distance. Both lists ascend.
fn keep_followed(starts: &mut Vec<u32>, distance: i64, positions: &[u32]) {
    let mut rest = positions.iter().map(|position| i64::from(*position)).peekable();
    starts.retain(|start| {
        let wanted = i64::from(*start) + distance;
        while rest.next_if(|position| *position < wanted).is_some() {}
        rest.peek() == Some(&wanted)
    });
}

/// The documents that have terms no farther apart than so many positions, of those that hold. What counts is the positions at which
/// such a place begins.
pub(super) fn near(
    postings: &Postings,
    within: u32,
    terms: &[QueryTerm],
    holds: impl Fn(u32) -> bool,
) -> Result<Counted, Stop> {
    let members = terms.iter().map(|term| Member::new(postings, term)).collect();
    let mut starts: Vec<u32> = vec![];
    together(members, holds, |all, doc| {
        starts.clear();
        for member in &mut all.members {
            member.read_positions(doc);
            starts.extend_from_slice(&member.positions);
        }
        starts.sort_unstable();
        starts.dedup();
        for member in &all.members {
            let mut rest = member.positions.as_slice();
            starts.retain(|start| {
                rest = &rest[rest.iter().take_while(|position| *position < start).count()..];
                rest.first().is_some_and(|position| position - start <= within)
            });
        }
        starts.len()
    })
}

/// The documents that have all members and hold, if `count` of a document is not 0.
fn together<'p>(
    members: Vec<Member<'p>>,
    holds: impl Fn(u32) -> bool,
    mut count: impl FnMut(&mut Together<'p>, u32) -> usize,
) -> Result<Counted, Stop> {
    let (mut all, mut found) = (Together::new(members), Counted::default());
    let mut next = all.agree(0)?;
    while let Some(doc) = next {
        if holds(doc) {
            let count = count(&mut all, doc);
            if count > 0 {
                if found.docs.len() == found.docs.capacity() {
                    make_room(found.docs.len().max(DOCS_PER_CHECK) * 2 * size_of::<u32>())?;
                }
                found.docs.push(doc);
                found.counts.push(count as u32);
            }
        }
        let Some(from) = doc.checked_add(1) else { break };
        next = all.agree(from)?;
    }
    Ok(found)
}

/// Members that go through their documents together.
struct Together<'p> {
    members: Vec<Member<'p>>,
    /// The members, the rarest first.
    order: Vec<usize>,
    /// The words that were moved since the budget was checked.
    steps: usize,
}

impl<'p> Together<'p> {
    fn new(members: Vec<Member<'p>>) -> Self {
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by_key(|member| members[*member].size());
        Together { members, order, steps: 0 }
    }

    /// The first document from one on that all members have; none at the end. They stand there.
    fn agree(&mut self, mut from: u32) -> Result<Option<u32>, Stop> {
        let Some((lead, others)) = self.order.split_first() else { return Ok(None) };
        'next: loop {
            self.steps += self.members[*lead].words.len();
            if self.steps >= DOCS_PER_CHECK {
                budget::step(std::mem::take(&mut self.steps))?;
            }
            let Some(doc) = self.members[*lead].seek(from) else { return Ok(None) };
            for other in others {
                self.steps += self.members[*other].words.len();
                match self.members[*other].seek(doc) {
                    None => return Ok(None),
                    Some(found) if found > doc => {
                        from = found;
                        continue 'next;
                    }
                    Some(_) => {}
                }
            }
            return Ok(Some(doc));
        }
    }
}
