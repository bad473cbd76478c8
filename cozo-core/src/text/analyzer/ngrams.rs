//! The tokenizer `NGram`: all runs of so many characters.

use super::arguments::Arguments;
use super::error::AnalyzerError;
use super::tokens::Tokens;
use crate::budget::{self, Stop};

/// The parameters of the tokenizer.
#[derive(Clone, Copy, Debug)]
pub struct NGrams {
    min: usize,
    max: usize,
    prefix_only: bool,
}

impl NGrams {
    pub(super) fn new(args: &Arguments<'_>) -> Result<NGrams, AnalyzerError> {
        let min = args.count(0, "min", 1, Some(1))?;
        let max = args.count(1, "max", min, Some(min))?;
        Ok(NGrams { min, max, prefix_only: args.flag(2, "prefix_only")? })
    }

    /// The number of n-grams of a text, which may be a large multiple of its length.
    fn count(&self, characters: usize) -> usize {
        let longest = self.max.min(characters);
        let Some(lengths) = (longest + 1).checked_sub(self.min) else { return 0 };
        let (first, last) = (characters + 1 - self.min, characters + 1 - longest);
        match self.prefix_only {
            true => lengths,
            false => usize::try_from((first + last) as u128 * lengths as u128 / 2).unwrap_or(usize::MAX),
        }
    }

    pub(super) fn apply(&self, text: &str, tokens: &mut Tokens) -> Result<(), Stop> {
        budget::make_room((text.len() + 1).saturating_mul(size_of::<usize>()))?;
        let mut places = std::mem::take(&mut tokens.places);
        places.clear();
        places.extend(text.char_indices().map(|(place, _)| place));
        let characters = places.len();
        places.push(text.len());
        tokens.reserve(self.count(characters))?;
        let starts = if self.prefix_only { 1 } else { characters };
        for start in 0..starts.min(characters) {
            for end in (start.saturating_add(self.min))..=(start.saturating_add(self.max)).min(characters) {
                tokens.push_at(places[start], places[end], 0);
            }
        }
        tokens.places = places;
        Ok(())
    }
}
