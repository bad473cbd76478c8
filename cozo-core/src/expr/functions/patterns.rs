//! The patterns of SQL: `%` stands for any text, `_` for any character, and `\` before a character for that character.
//!
//! A [`LikePattern`] is cut at its `%`. The first part must begin the text and the last one end it; those between them are searched
//! from left to right, each as early as possible, since a later place could only leave less room for the others.

use std::borrow::Cow;

use memchr::memmem;

use super::arguments::{Outcome, fail, string};
use super::{Family, Function, kernels};
use crate::budget::{BYTES_PER_STEP, Stop, make_room, step, temporary};
use crate::expr::FunctionError;
use crate::value::DataValue;

pub(super) const FAMILY: Family = Family { title: "Patterns of SQL", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "ilike",
        &["text", "pattern"],
        "As `like`, but ignores upper and lower case.",
        &[("ilike('Straße', 'STRA_E')", "true"), ("ilike('ΟΔΟΣ', 'οδ%')", "true"), ("ilike('a', 'b')", "false")],
        |args| like("ilike", args, true),
    )
    .with_kernel(|operands, len| kernels::strings::like(operands, len, "ilike", true)),
    Function::new(
        "like",
        &["text", "pattern"],
        "Whether a pattern matches the whole string. In it `%` stands for any text, `_` for any one character, and `\\` before a \
         character for that character; in quotes write `\\\\`. `regex_matches` knows more.",
        &[
            ("like('Anna', 'An%')", "true"),
            ("like('Anna', 'an%')", "false"),
            ("like('Anna', '_n%a')", "true"),
            ("like('50%', '50\\\\%')", "true"),
            ("like('a', 'a\\\\')", ""),
        ],
        |args| like("like", args, false),
    )
    .with_kernel(|operands, len| kernels::strings::like(operands, len, "like", false)),
];

/// The bytes that a character of a pattern takes.
const CHARACTER_BYTES: usize = 2 * size_of::<Option<char>>();

/// A pattern, compiled.
pub(super) struct LikePattern {
    /// What stands between the `%`.
    parts: Vec<LikePart>,
    /// Whether case does not count.
    folds: bool,
}

/// A part of a pattern without `%`.
enum LikePart {
    /// This text.
    Text(String),
    /// These characters, `None` for any.
    Characters(Vec<Option<char>>),
}

impl LikePattern {
    /// Compiles the pattern of a function.
    pub fn new(function: &str, pattern: &str, folds: bool) -> Result<Self, FunctionError> {
        make_room(pattern.len().saturating_mul(CHARACTER_BYTES))?;
        let (mut parts, mut part) = (vec![], vec![]);
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            match character {
                '%' => parts.push(LikePart::new(std::mem::take(&mut part))),
                '_' => part.push(None),
                '\\' => match characters.next() {
                    Some(escaped) => part.push(Some(escaped)),
                    None => return fail(function, "the pattern ends with \\, which stands before a character"),
                },
                other => part.push(Some(other)),
            }
        }
        parts.push(LikePart::new(part));
        if folds {
            parts.iter_mut().for_each(LikePart::fold);
        }
        Ok(LikePattern { parts, folds })
    }

    /// Whether it matches a whole text.
    pub fn matches(&self, text: &str) -> Result<bool, Stop> {
        step(text.len() / BYTES_PER_STEP + 1)?;
        let text = if self.folds { folded(text)? } else { Cow::Borrowed(text) };
        let [first, between @ .., last] = &self.parts[..] else {
            return Ok(self.parts[0].begins(&text) == Some(text.len()));
        };
        let Some(start) = first.begins(&text) else { return Ok(false) };
        let mut rest = &text[start..];
        for part in between {
            match part.found_until(rest)? {
                Some(end) => rest = &rest[end..],
                None => return Ok(false),
            }
        }
        Ok(last.ends(rest))
    }
}

impl LikePart {
    fn new(characters: Vec<Option<char>>) -> LikePart {
        match characters.iter().copied().collect() {
            Some(text) => LikePart::Text(text),
            None => LikePart::Characters(characters),
        }
    }

    fn fold(&mut self) {
        match self {
            LikePart::Text(text) => *text = text.chars().map(fold).collect(),
            LikePart::Characters(characters) => characters.iter_mut().flatten().for_each(|c| *c = fold(*c)),
        }
    }

    /// The bytes of it at the beginning of a text.
    fn begins(&self, text: &str) -> Option<usize> {
        match self {
            LikePart::Text(part) => text.starts_with(&**part).then_some(part.len()),
            LikePart::Characters(part) => {
                let mut rest = text.chars();
                let is_next =
                    |wanted: &Option<char>| rest.next().is_some_and(|c| wanted.is_none_or(|wanted| wanted == c));
                let all = part.iter().all(is_next);
                all.then(|| text.len() - rest.as_str().len())
            }
        }
    }

    /// Where its first occurrence in a text ends.
    fn found_until(&self, text: &str) -> Result<Option<usize>, Stop> {
        match self {
            LikePart::Text(part) => Ok(memmem::find(text.as_bytes(), part.as_bytes()).map(|at| at + part.len())),
            LikePart::Characters(part) => {
                for (at, _) in text.char_indices() {
                    step(part.len() / BYTES_PER_STEP + 1)?;
                    if let Some(length) = self.begins(&text[at..]) {
                        return Ok(Some(at + length));
                    }
                }
                Ok(None)
            }
        }
    }

    /// Whether it is at the end of a text.
    fn ends(&self, text: &str) -> bool {
        match self {
            LikePart::Text(part) => text.ends_with(&**part),
            LikePart::Characters(part) => {
                let start = text.char_indices().nth_back(part.len() - 1).map(|(at, _)| at);
                start.is_some_and(|start| self.begins(&text[start..]).is_some())
            }
        }
    }
}

/// The text with one case for all characters.
fn folded(text: &str) -> Result<Cow<'_, str>, Stop> {
    make_room(text.len())?;
    Ok(Cow::Owned(if text.is_ascii() { text.to_ascii_lowercase() } else { text.chars().map(fold).collect() }))
}

/// The lower case of the upper case, by which σ and ς are alike. Characters with a case of several characters stay as they are, so
/// that `_` still stands for one.
fn fold(character: char) -> char {
    fn single(mut characters: impl Iterator<Item = char>) -> Option<char> {
        characters.next().filter(|_| characters.next().is_none())
    }
    single(character.to_uppercase()).and_then(|upper| single(upper.to_lowercase())).unwrap_or(character)
}

fn like(function: &str, args: &[DataValue], folds: bool) -> Outcome {
    let _compiled = temporary();
    let (text, pattern) = (string(function, args, 0)?, string(function, args, 1)?);
    Ok(LikePattern::new(function, pattern, folds)?.matches(text)?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, character by character.
    fn is_like(text: &[char], pattern: &[char]) -> bool {
        match (pattern, text) {
            ([], _) => text.is_empty(),
            (['%', rest @ ..], _) => (0..=text.len()).any(|from| is_like(&text[from..], rest)),
            (['\\', wanted, rest @ ..], [found, after @ ..]) => wanted == found && is_like(after, rest),
            (['_', rest @ ..], [_, after @ ..]) => is_like(after, rest),
            ([wanted, rest @ ..], [found, after @ ..]) => wanted == found && is_like(after, rest),
            (_, []) => false,
        }
    }

    #[test]
    fn patterns_match_as_they_are_defined() {
        let texts = ["", "a", "é", "ab", "aba", "abab", "a%b", "bbaébab", "aab", "_"];
        let pieces = ["", "%", "_", "a", "b", "é", "ab", "\\%", "\\_"];
        for number in 0..pieces.len().pow(4) {
            let pattern: String =
                (0..4u32).map(|place| pieces[number / pieces.len().pow(place) % pieces.len()]).collect();
            let compiled = LikePattern::new("like", &pattern, false).expect("a pattern");
            for text in texts {
                let [characters, wanted] = [text, &*pattern].map(|text| text.chars().collect::<Vec<_>>());
                assert_eq!(compiled.matches(text), Ok(is_like(&characters, &wanted)), "{text} like {pattern}");
            }
        }
    }
}
