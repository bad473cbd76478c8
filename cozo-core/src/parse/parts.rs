//! Runs the grammar over a script: at once if the script is short, part by part if it is long.
//!
//! A part ends where [`prescan`](super::prescan) found that a rule or a block begins. The tree of a part is dropped before the
//! next part is read, so that the memory for pest's trees does not grow with the script.

use std::ops::Range;

use pest::error::{Error, InputLocation};

use super::builder::Builder;
use super::condensed::Condensed;
use super::error::ParseError;
use super::grammar::{Node, Rule, next_part};
use super::hint::Unreadable;
use super::prescan::prescan;
use crate::budget;
use crate::diag::SourceSpan;

/// A part ends at the first cut behind this length. Between parts a script can be stopped.
const PART_BYTES: usize = 1 << 14;

/// A longer part is refused: the grammar cannot be stopped while it reads a part.
const MAX_PART_BYTES: usize = 1 << 22;

/// About how many bytes pest's tree takes for each byte of the text.
const TREE_BYTES: usize = 150;

/// About how many bytes the syntax tree takes for each byte of the text.
const SYNTAX_BYTES: usize = 20;

/// A script that has been walked over.
pub(super) struct Parts<'s> {
    condensed: Condensed<'s>,
    /// Where it may be cut.
    cuts: Vec<usize>,
    /// Builds the tree of all parts.
    pub builder: Builder<'s>,
}

impl<'s> Parts<'s> {
    /// Walks over a script.
    pub fn of(source: &'s str) -> Result<Self, ParseError> {
        let scanned = prescan(source)?;
        let builder = Builder::new(source, scanned.unmatched);
        Ok(Parts { condensed: scanned.condensed, cuts: scanned.cuts, builder })
    }

    /// The script without comments and long lists.
    pub fn text(&self) -> &str {
        &self.condensed.text
    }

    /// Reads the whole script as a rule.
    pub fn whole<T>(
        &self,
        rule: Rule,
        build: impl FnOnce(&Builder<'_>, Node<'_>) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        let end = self.text().len();
        self.part(rule, 0..end, end, build)
    }

    /// Reads each part as a rule. The rule must match any sequence of parts.
    pub fn each(
        &self,
        rule: Rule,
        mut build: impl FnMut(&Builder<'_>, Node<'_>) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        let borders = self.borders(rule);
        for (number, border) in borders.windows(2).enumerate() {
            let next_end = borders.get(number + 2).copied().unwrap_or(border[1]);
            self.part(rule, border[0]..border[1], next_end, &mut build)?;
        }
        Ok(())
    }

    /// Where parts begin and end.
    fn borders(&self, rule: Rule) -> Vec<usize> {
        let text = self.text().as_bytes();
        let is_border = |cut: &usize| (text[*cut] == b'{') == (rule == Rule::imperative_script);
        let mut borders = vec![0];
        for cut in self.cuts.iter().copied().filter(is_border) {
            if cut - borders[borders.len() - 1] >= PART_BYTES {
                borders.push(cut);
            }
        }
        borders.push(text.len());
        borders
    }

    fn part<T>(
        &self,
        rule: Rule,
        part: Range<usize>,
        next_end: usize,
        build: impl FnOnce(&Builder<'_>, Node<'_>) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        let tree = budget::temporary();
        let node = self.builder.read(rule, &self.condensed, part.clone(), next_end)?;
        let built = build(&self.builder, node)?;
        drop(tree);
        self.builder.keep_syntax()?;
        match self.condensed.first_left(part) {
            // The grammar has read brackets there that are not a list.
            Some(place) => {
                let help = "a list of values stands where a value can stand";
                Err(self.builder.misplaced("unexpected values", SourceSpan(place, 0), help))
            }
            None => Ok(built),
        }
    }
}

impl Builder<'_> {
    /// Reads a part of a text as a rule. If that fails, the part is read again together with the next one: what the message
    /// expects may be the end of one or the beginning of the other.
    pub fn read<'i>(
        &self,
        rule: Rule,
        text: &'i Condensed<'i>,
        part: Range<usize>,
        next_end: usize,
    ) -> Result<Node<'i>, ParseError> {
        if part.len() > MAX_PART_BYTES {
            let span = SourceSpan(text.place(part.start), 0);
            return Err(ParseError::TooLong { bytes: part.len(), limit: MAX_PART_BYTES, span });
        }
        budget::make_room(part.len() * TREE_BYTES)?;
        self.syntax_bytes.set(self.syntax_bytes.get() + part.len() * SYNTAX_BYTES);
        match Node::parse(rule, text, part.clone()) {
            Ok(mut nodes) => Ok(next_part(&mut nodes)),
            Err(error) => {
                let with_next = (next_end > part.end).then(|| Node::parse(rule, text, part.start..next_end));
                let error = with_next.and_then(Result::err).unwrap_or(error);
                Err(self.explained(&error, text, part.start))
            }
        }
    }

    /// Reads elements that were taken out of a list.
    pub fn read_elements<'i>(&self, elements: &'i Condensed<'i>) -> Result<Node<'i>, ParseError> {
        let end = elements.text.len();
        self.read(Rule::lone_expression, elements, 0..end, end)
    }

    /// The error in words. It is the first one of the script, which may be in elements that are not read yet.
    fn explained(&self, error: &Error<Rule>, text: &Condensed<'_>, begin: usize) -> ParseError {
        let (InputLocation::Pos(offset) | InputLocation::Span((offset, _))) = error.location;
        let at = begin + offset;
        text.find_text(at, |elements| self.error_in(elements)).unwrap_or_else(|| {
            let (source, unmatched, place) = (self.source, self.unmatched, text.place(at));
            Unreadable { source, unmatched, text: &text.text, at, place }.explain(error)
        })
    }

    fn error_in(&self, elements: &Condensed<'static>) -> Option<ParseError> {
        match self.read_elements(elements) {
            Err(error) => Some(error),
            Ok(_) => elements.find_text(usize::MAX, |inner| self.error_in(inner)),
        }
    }

    /// Charges the budget for the syntax tree built so far.
    pub fn keep_syntax(&self) -> Result<(), ParseError> {
        Ok(budget::make_room(self.syntax_bytes.take())?)
    }
}
