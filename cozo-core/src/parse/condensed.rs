//! A script as the grammar reads it: shorter than as written, with every offset mapped back to the script.
//!
//! Comments are left out, and so is what a loop has read already: long strings, and long runs of constants in lists. A list of a
//! million numbers is `[]` here, and one run of constants:
//!
//! ```text
//! ?[x] <- [[1], [2], ...] # all     script
//! ?[x] <- []                        text, the rows beside it
//! ```
//!
//! **An offset into the text is never shown to a user**: [`Condensed::place`] maps it to the script.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

use crate::value::{Batch, DataValue};

/// The text for the grammar, and what was left out of it.
#[derive(Debug)]
pub(super) struct Condensed<'s> {
    /// What the grammar reads.
    pub text: Cow<'s, str>,
    /// Where the text goes on at another place of the script, in ascending order.
    jumps: Vec<Jump>,
    /// What was left out of lists, in the order of the text.
    runs: Vec<Run>,
    /// Where the script goes on after the text.
    end: usize,
}

/// From an offset in the text on, the text stands at an offset in the script.
#[derive(Clone, Copy, Debug)]
struct Jump {
    text: usize,
    source: usize,
}

#[derive(Debug)]
struct Run {
    /// The offset in the text where it was.
    at: usize,
    /// `None` once the elements have been taken.
    elements: RefCell<Option<Elements>>,
}

/// Elements of a list that are not in the text.
#[derive(Debug)]
pub(super) enum Elements {
    /// Constants.
    Constants(Vec<DataValue>),
    /// All elements of a list: rows of constants, of one width.
    Rows(Batch),
    /// Elements that the grammar reads by themselves, as a list in brackets.
    Text(Box<Condensed<'static>>),
}

impl<'s> Condensed<'s> {
    /// The offset in the script of an offset in the text.
    pub fn place(&self, at: usize) -> usize {
        if at >= self.text.len() {
            return self.end;
        }
        place(&self.jumps, at)
    }

    /// Takes what was left out of this part of the text.
    pub fn take(&self, part: Range<usize>) -> impl Iterator<Item = Elements> + '_ {
        let from = self.runs.partition_point(|run| run.at < part.start);
        let runs = self.runs[from..].iter().take_while(move |run| run.at < part.end);
        runs.filter_map(|run| run.elements.take())
    }

    /// The offset in the script of the first thing that was left out of this part of the text and has not been taken.
    pub fn first_left(&self, part: Range<usize>) -> Option<usize> {
        let from = self.runs.partition_point(|run| run.at < part.start);
        let mut runs = self.runs[from..].iter().take_while(|run| run.at < part.end);
        runs.find(|run| run.elements.borrow().is_some()).map(|run| self.place(run.at))
    }

    /// Calls `visit` on the texts of elements that were left out before an offset in the text, until it returns a result.
    pub fn find_text<T>(&self, before: usize, mut visit: impl FnMut(&Condensed<'static>) -> Option<T>) -> Option<T> {
        let runs = self.runs.iter().take_while(|run| run.at < before);
        runs.into_iter().find_map(|run| match &*run.elements.borrow() {
            Some(Elements::Text(text)) => visit(text),
            _ => None,
        })
    }
}

/// Makes the text while the script is walked over.
pub(super) struct Condenser<'s> {
    source: &'s str,
    text: String,
    jumps: Vec<Jump>,
    runs: Vec<Run>,
    /// How far the script has been copied.
    copied: usize,
}

impl<'s> Condenser<'s> {
    /// A condenser that has copied nothing.
    pub fn new(source: &'s str) -> Self {
        Condenser { source, text: String::new(), jumps: vec![], runs: vec![], copied: 0 }
    }

    /// The offset in the text of an offset in the script behind all that was left out.
    pub fn offset(&self, at: usize) -> Option<usize> {
        at.checked_sub(self.copied).map(|beyond| self.text.len() + beyond)
    }

    /// Leaves a part of the script out, and puts a text in its place.
    pub fn replace(&mut self, part: Range<usize>, text: &str) {
        self.copy(part.start);
        self.text.push_str(text);
        self.go_on(part.end);
    }

    /// Leaves out a part of the script that has been read.
    pub fn leave_out(&mut self, part: Range<usize>, elements: Elements) {
        self.copy(part.start);
        self.runs.push(Run { at: self.text.len(), elements: RefCell::new(Some(elements)) });
        self.go_on(part.end);
    }

    /// Notes an offset in the script behind all that was left out.
    pub fn mark(&self, at: usize) -> Mark {
        Mark { text: self.text.len() + (at - self.copied), jumps: self.jumps.len(), runs: self.runs.len() }
    }

    /// Moves the elements of a list, from a mark to an offset in the script, into a text of their own.
    pub fn split_off(&mut self, from: Mark, to: usize) {
        self.copy(to);
        let moved = |at: usize| at - from.text + 1;
        let first = Jump { text: moved(from.text), source: place(&self.jumps[..from.jumps], from.text) };
        let jumps = self.jumps.drain(from.jumps..).map(|jump| Jump { text: moved(jump.text), ..jump });
        let jumps = std::iter::once(first).chain(jumps).collect();
        let runs = self.runs.drain(from.runs..).map(|run| Run { at: moved(run.at), ..run }).collect();
        let text = Cow::Owned(format!("[{}]", &self.text[from.text..]));
        self.text.truncate(from.text);
        let elements = Elements::Text(Box::new(Condensed { text, jumps, runs, end: to }));
        self.runs.push(Run { at: self.text.len(), elements: RefCell::new(Some(elements)) });
        self.go_on(to);
    }

    /// The whole text.
    pub fn finish(mut self) -> Condensed<'s> {
        let end = self.source.len();
        if self.copied == 0 && self.jumps.is_empty() {
            return Condensed { text: Cow::Borrowed(self.source), jumps: vec![], runs: vec![], end };
        }
        self.copy(end);
        Condensed { text: Cow::Owned(self.text), jumps: self.jumps, runs: self.runs, end }
    }

    fn copy(&mut self, to: usize) {
        self.text.push_str(&self.source[self.copied..to]);
        self.copied = to;
    }

    fn go_on(&mut self, at: usize) {
        self.copied = at;
        self.jumps.push(Jump { text: self.text.len(), source: at });
    }
}

/// A place in the text, and how much had been left out by then.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    /// The offset in the text.
    pub text: usize,
    jumps: usize,
    runs: usize,
}

/// The offset in the script of an offset in the text.
fn place(jumps: &[Jump], at: usize) -> usize {
    match jumps.partition_point(|jump| jump.text <= at).checked_sub(1) {
        Some(last) => jumps[last].source + (at - jumps[last].text),
        None => at,
    }
}
