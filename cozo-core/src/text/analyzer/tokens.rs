//! Tokens of a text, in buffers that serve for one text after the other.

use super::stemming::Stems;
use crate::budget::{self, Stop};

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    /// What the filters have made of it: what an index stores.
    pub text: &'t str,
    /// Where it begins in the text, in bytes.
    pub from: usize,
    /// Where it ends in the text, in bytes.
    pub to: usize,
    /// Its number among the tokens of the tokenizer, so that a dropped token leaves a gap.
    pub position: usize,
}

/// The tokens of a text. A value that is used again takes no new memory for most texts.
#[derive(Debug, Default)]
pub struct Tokens {
    /// Holds what `PlacedToken::start` and `PlacedToken::end` point to. The text itself at first.
    texts: String,
    entries: Vec<PlacedToken>,
    /// The places of characters, for tokenizers that count them.
    pub(super) places: Vec<usize>,
    /// What filters write to before it takes the place of `texts` and `entries`.
    spare_texts: String,
    spare_entries: Vec<PlacedToken>,
    /// Stems of words that have come before.
    pub(super) stems: Stems,
}

#[derive(Clone, Copy, Debug)]
struct PlacedToken {
    start: usize,
    end: usize,
    from: usize,
    to: usize,
    position: usize,
}

impl Tokens {
    /// The tokens. Positions ascend.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Token<'_>> + ExactSizeIterator {
        self.entries.iter().map(|entry| self.token(entry))
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn token(&self, entry: &PlacedToken) -> Token<'_> {
        let PlacedToken { start, end, from, to, position } = *entry;
        Token { text: &self.texts[start..end], from, to, position }
    }

    /// Forgets all tokens. Those of `text` can be pushed.
    pub(super) fn begin(&mut self, text: &str) {
        self.entries.clear();
        self.texts.clear();
        self.texts.push_str(text);
    }

    /// Adds a token of the text at the next position.
    #[inline]
    pub(super) fn push(&mut self, from: usize, to: usize) {
        self.push_at(from, to, self.entries.len());
    }

    /// Adds a token of the text.
    #[inline]
    pub(super) fn push_at(&mut self, from: usize, to: usize, position: usize) {
        self.entries.push(PlacedToken { start: from, end: to, from, to, position });
    }

    /// Makes room for more tokens.
    pub(super) fn reserve(&mut self, count: usize) -> Result<(), Stop> {
        budget::make_room(count.saturating_mul(size_of::<PlacedToken>()))?;
        self.entries.reserve(count);
        Ok(())
    }

    /// Counts the memory of the tokens that there are.
    pub(super) fn charge(&self) -> Result<(), Stop> {
        budget::make_room(self.entries.len() * size_of::<PlacedToken>())
    }

    /// The memory for all texts together if all tokens were written anew.
    fn texts_len(&self) -> usize {
        self.entries.iter().map(|entry| entry.end - entry.start).sum()
    }

    /// Whether all texts are ASCII.
    pub(super) fn are_ascii(&self) -> bool {
        self.texts.is_ascii()
    }

    /// Makes all texts lower-case, if they are ASCII.
    pub(super) fn make_ascii_lowercase(&mut self) {
        self.texts.make_ascii_lowercase();
    }

    /// Drops the tokens that are not to be kept.
    pub(super) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        let texts = &self.texts;
        self.entries.retain(|entry| keep(&texts[entry.start..entry.end]));
    }

    /// Changes the text of each token: `write` adds the new one to the buffer.
    pub(super) fn change(&mut self, mut write: impl FnMut(&str, &mut String, &mut Stems)) -> Result<(), Stop> {
        budget::make_room(self.texts_len())?;
        self.spare_texts.clear();
        for entry in &mut self.entries {
            let start = self.spare_texts.len();
            write(&self.texts[entry.start..entry.end], &mut self.spare_texts, &mut self.stems);
            (entry.start, entry.end) = (start, self.spare_texts.len());
        }
        std::mem::swap(&mut self.texts, &mut self.spare_texts);
        Ok(())
    }

    /// Divides tokens: `divide` adds the bounds of the parts, or nothing to keep the token whole. Parts have the place of the whole.
    pub(super) fn divide(&mut self, mut divide: impl FnMut(&str, &mut Vec<(usize, usize)>)) -> Result<(), Stop> {
        let mut parts = vec![];
        self.spare_entries.clear();
        for entry in &self.entries {
            parts.clear();
            divide(&self.texts[entry.start..entry.end], &mut parts);
            budget::make_room((parts.len() + 1) * size_of::<PlacedToken>())?;
            let part = |(from, to)| PlacedToken { start: entry.start + from, end: entry.start + to, ..*entry };
            match parts.is_empty() {
                true => self.spare_entries.push(*entry),
                false => self.spare_entries.extend(parts.iter().copied().map(part)),
            }
        }
        std::mem::swap(&mut self.entries, &mut self.spare_entries);
        Ok(())
    }

    /// Takes over the last token of others.
    pub(super) fn take_last_of(&mut self, others: &mut Tokens) {
        self.begin("");
        if let Some(entry) = others.entries.pop() {
            self.append_entry(others, &entry);
        }
    }

    /// Adds tokens of the same text.
    pub(super) fn append(&mut self, others: &Tokens) {
        others.entries.iter().for_each(|entry| self.append_entry(others, entry));
    }

    fn append_entry(&mut self, others: &Tokens, entry: &PlacedToken) {
        let start = self.texts.len();
        self.texts.push_str(&others.texts[entry.start..entry.end]);
        self.entries.push(PlacedToken { start, end: self.texts.len(), ..*entry });
    }
}
