//! A first walk over the text: comments become blanks, and nesting is bounded before anything recurses.
//!
//! In goes the script; out comes a text of the same length that the grammar reads, in which every byte stands where it
//! stood. `[[1]] # two` becomes `[[1]]      `. The walk is a loop with a stack of open brackets, so that neither a
//! megabyte of `[` nor of `/*` costs more than its length.

use std::borrow::Cow;

use super::error::ParseError;
use super::position::describe_position;
use crate::diag::SourceSpan;

/// How deep brackets, `%if` and `%loop` may be nested together. The parser recurses once a level.
pub(super) const MAX_BRACKETS: usize = 128;

/// What the walk has found.
pub(super) struct Scanned<'s> {
    /// The script without its comments.
    pub text: Cow<'s, str>,
    /// The first bracket that is not matched: for the help of the error that will follow.
    pub unmatched: Option<Unmatched>,
}

/// A bracket without its partner.
#[derive(Clone, Copy)]
pub(super) struct Unmatched {
    /// The bracket.
    pub bracket: u8,
    /// Where it stands.
    pub offset: usize,
}

/// Walks over a script.
pub(super) fn prescan(source: &str) -> Result<Scanned<'_>, ParseError> {
    let mut scanner =
        Scanner { source, bytes: source.as_bytes(), at: 0, open: vec![], unmatched: None, comments: vec![] };
    while scanner.at < scanner.bytes.len() {
        scanner.token()?;
    }
    let never_closed = scanner.open.iter().find(|open| open.bracket != BLOCK);
    let unmatched = scanner.unmatched.or(never_closed.copied());
    Ok(Scanned { text: blank_out(source, &scanner.comments), unmatched })
}

/// Stands on the stack for `%if` and `%loop`.
const BLOCK: u8 = b'%';

struct Scanner<'s> {
    source: &'s str,
    bytes: &'s [u8],
    at: usize,
    open: Vec<Unmatched>,
    unmatched: Option<Unmatched>,
    /// Start and end of each comment.
    comments: Vec<(usize, usize)>,
}

impl Scanner<'_> {
    fn token(&mut self) -> Result<(), ParseError> {
        match self.bytes[self.at] {
            b'#' => self.line_comment(),
            b'/' if self.bytes[self.at..].starts_with(b"/*") => self.block_comment()?,
            quote @ (b'"' | b'\'') => self.string(quote)?,
            bracket @ (b'[' | b'(' | b'{') => self.open(bracket, 1)?,
            bracket @ (b']' | b')' | b'}') => self.close(bracket),
            b'%' => self.percent()?,
            byte if is_word(byte) => self.word()?,
            _ => self.at += 1,
        }
        Ok(())
    }

    fn line_comment(&mut self) {
        let start = self.at;
        let rest = &self.bytes[start..];
        self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        self.comments.push((start, self.at));
    }

    fn block_comment(&mut self) -> Result<(), ParseError> {
        let start = self.at;
        let mut depth = 0usize;
        loop {
            match &self.bytes[self.at..] {
                [b'/', b'*', ..] => depth += 1,
                [b'*', b'/', ..] => depth -= 1,
                [_, ..] => {
                    self.at += 1;
                    continue;
                }
                [] => return Err(self.never_closed("comment", start, "*/")),
            }
            self.at += 2;
            if depth == 0 {
                self.comments.push((start, self.at));
                return Ok(());
            }
        }
    }

    fn string(&mut self, quote: u8) -> Result<(), ParseError> {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at) {
            self.at += if *byte == b'\\' { 2 } else { 1 };
            if *byte == quote {
                return Ok(());
            }
        }
        Err(self.never_closed("string", start, if quote == b'"' { "\"" } else { "'" }))
    }

    /// A name, a number, or the underscores that begin a raw string.
    fn word(&mut self) -> Result<(), ParseError> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| is_word(*byte)) {
            self.at += 1;
        }
        let word = &self.bytes[start..self.at];
        if self.bytes.get(self.at) == Some(&b'"') && word.iter().all(|byte| *byte == b'_') {
            self.raw_string(start, word.len())?;
        }
        Ok(())
    }

    fn raw_string(&mut self, start: usize, underscores: usize) -> Result<(), ParseError> {
        self.at += 1;
        // Counting the underscores after each quote keeps this linear, however many of them begin the string.
        while self.at < self.bytes.len() {
            let quote = self.bytes[self.at] == b'"';
            self.at += 1;
            if quote {
                let tail = self.bytes[self.at..].iter().take(underscores).take_while(|byte| **byte == b'_').count();
                self.at += tail;
                if tail == underscores {
                    return Ok(());
                }
            }
        }
        Err(self.never_closed("raw string", start, "a quote and as many underscores as before it"))
    }

    /// `%if` and `%loop` open a level that `%end` closes. Inside brackets the sign is that of the remainder.
    fn percent(&mut self) -> Result<(), ParseError> {
        let start = self.at;
        self.at += 1;
        let rest = &self.bytes[self.at..];
        let word = &rest[..rest.iter().take(8).take_while(|byte| is_word(**byte)).count()];
        if self.open.last().is_none_or(|open| open.bracket == BLOCK) {
            match word {
                b"if" | b"if_not" | b"loop" => {
                    self.at = start;
                    self.open(BLOCK, 1 + word.len())?;
                }
                b"end" => {
                    self.open.pop();
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn open(&mut self, bracket: u8, len: usize) -> Result<(), ParseError> {
        if self.open.len() == MAX_BRACKETS {
            let what = "levels of brackets and blocks";
            return Err(ParseError::NestingTooDeep { what, limit: MAX_BRACKETS, span: SourceSpan(self.at, len) });
        }
        self.open.push(Unmatched { bracket, offset: self.at });
        self.at += len;
        Ok(())
    }

    fn close(&mut self, bracket: u8) {
        let partner = self.open.last().map(|open| closing(open.bracket));
        if partner == Some(bracket) {
            self.open.pop();
        } else if self.unmatched.is_none() {
            let closer = Unmatched { bracket, offset: self.at };
            // `(1, 2]`: it is the round one that misses its partner, unless nothing at all is open.
            self.unmatched = Some(self.open.last().copied().filter(|open| open.bracket != BLOCK).unwrap_or(closer));
        }
        self.at += 1;
    }

    fn never_closed(&self, what: &str, start: usize, closer: &str) -> ParseError {
        let message = format!("the {what} that begins at {} is never closed", describe_position(self.source, start));
        let help = if closer.len() > 2 { format!("end it with {closer}") } else { format!("end it with `{closer}`") };
        ParseError::syntax(message, start, "begins here", help)
    }
}

/// Bytes of names and numbers; bytes beyond ASCII are taken for letters.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// The bracket that closes another.
pub(super) fn closing(bracket: u8) -> u8 {
    match bracket {
        b'[' => b']',
        b'(' => b')',
        b'{' => b'}',
        other => other,
    }
}

/// The text with blanks for comments; line ends may go too, for positions are taken from the script itself.
fn blank_out<'s>(source: &'s str, comments: &[(usize, usize)]) -> Cow<'s, str> {
    if comments.is_empty() {
        return Cow::Borrowed(source);
    }
    let mut text = String::with_capacity(source.len());
    let mut done = 0;
    for (start, end) in comments {
        text.push_str(&source[done..*start]);
        text.extend(std::iter::repeat_n(' ', end - start));
        done = *end;
    }
    text.push_str(&source[done..]);
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_blanks_of_the_same_length() {
        for (source, text) in [
            ("a # b\nc", "a    \nc"),
            ("a /* é /* x */ */ b", "a                  b"),
            ("'#' \"/*\" _\"#\"_", "'#' \"/*\" _\"#\"_"),
            ("'a\\'#' # x", "'a\\'#'    "),
            ("__\"#\"_#\"__#", "__\"#\"_#\"__ "),
        ] {
            let scanned = prescan(source).unwrap_or_else(|error| panic!("{source}: {error}"));
            assert_eq!(scanned.text, text);
            assert_eq!(scanned.text.len(), source.len());
        }
    }

    #[test]
    fn what_is_never_closed_is_an_error() {
        for source in ["/*", "/* /* */", "\"a", "'a\\'", "_\"a\"", "__\"a\"_", "\"a\\"] {
            assert!(matches!(prescan(source), Err(ParseError::Syntax { .. })), "{source}");
        }
    }

    #[test]
    fn the_unmatched_bracket_is_named() {
        for (source, expected) in
            [("[[1]", Some((b'[', 0))), ("(1, 2]", Some((b'(', 0))), ("1)", Some((b')', 1))), ("[(1)]{}", None)]
        {
            let unmatched = prescan(source).unwrap_or_else(|error| panic!("{source}: {error}")).unmatched;
            assert_eq!(unmatched.map(|it| (it.bracket, it.offset)), expected, "{source}");
        }
    }
}
