//! String literals: where they end, and what the text between the quotes stands for.
//!
//! `"a\tb"` holds a tab, `_"a\tb"_` a backslash and a t; nothing is ever trimmed.

use super::error::ParseError;
use super::position::describe_position;
use crate::diag::SourceSpan;
use crate::value::SmallStr;

/// Where the string ends that begins at an offset, if it does.
pub(super) fn skip_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        at += if *byte == b'\\' { 2 } else { 1 };
        if *byte == bytes[start] {
            return Some(at);
        }
    }
    None
}

/// Where the raw string ends that begins with so many underscores at an offset, if it does.
pub(super) fn skip_raw_string(bytes: &[u8], start: usize, underscores: usize) -> Option<usize> {
    let mut at = start + underscores + 1;
    // Counting the underscores after each quote keeps this linear, however many of them begin the string.
    while let Some(byte) = bytes.get(at) {
        at += 1;
        if *byte == b'"' {
            let tail = bytes[at..].iter().take(underscores).take_while(|byte| **byte == b'_').count();
            at += tail;
            if tail == underscores {
                return Some(at);
            }
        }
    }
    None
}

/// The value of a string literal of any kind that stands at an offset of the script.
pub(super) fn string_value(source: &str, literal: SourceSpan) -> Result<SmallStr, ParseError> {
    let SourceSpan(start, len) = literal;
    let text = &source[start..start + len];
    text_of(text).map_err(|bad| bad.explained(source, start + 1, text))
}

/// What a string literal stands for.
pub(super) fn text_of(literal: &str) -> Result<SmallStr, BadEscape> {
    if literal.starts_with('_') {
        let underscores = literal.bytes().take_while(|byte| *byte == b'_').count();
        return Ok(SmallStr::from(&literal[underscores + 1..literal.len() - underscores - 1]));
    }
    let body = &literal[1..literal.len() - 1];
    if !body.contains('\\') {
        return Ok(SmallStr::from(body));
    }
    let quote = if literal.starts_with('"') { '"' } else { '\'' };
    Unescaper { body, quote, at: 0, value: String::new() }.run()
}

/// An escape without a meaning, by its offset in the body of the literal.
pub(super) enum BadEscape {
    /// The character after the backslash has no meaning.
    Unknown(usize, char),
    /// `\u` without four digits behind it.
    BadCode(usize),
    /// Half of a surrogate pair.
    LoneSurrogate(usize),
}

impl BadEscape {
    /// As an error; the body of the literal begins at an offset of the script.
    fn explained(self, source: &str, body: usize, literal: &str) -> ParseError {
        let error = |at: usize, what: String, help: String| {
            let message = format!("{what}, at {}", describe_position(source, body + at));
            ParseError::syntax(message, body + at, "this escape", help)
        };
        match self {
            BadEscape::Unknown(at, escaped) => {
                let quote = &literal[..1];
                let help = format!(
                    "the escapes are `\\\\`, `\\/`, `\\{quote}`, `\\b`, `\\f`, `\\n`, `\\r`, `\\t` and `\\uXXXX`; a raw \
                     string `_\"...\"_` has none"
                );
                error(at, format!("unknown escape `\\{escaped}` in a string"), help)
            }
            BadEscape::BadCode(at) => {
                let what = "a `\\u` escape needs four hexadecimal digits".to_string();
                error(at, what, "like `\\u00e9`".to_string())
            }
            BadEscape::LoneSurrogate(at) => {
                let span = SourceSpan(body + at, 6);
                ParseError::LoneSurrogate { escape: source[span.0..span.0 + span.1].to_string(), span }
            }
        }
    }
}

/// Reads escapes one after another.
struct Unescaper<'s> {
    body: &'s str,
    quote: char,
    at: usize,
    value: String,
}

impl Unescaper<'_> {
    fn run(mut self) -> Result<SmallStr, BadEscape> {
        while let Some(plain) = self.body[self.at..].find('\\') {
            self.value.push_str(&self.body[self.at..self.at + plain]);
            self.at += plain;
            self.escape()?;
        }
        self.value.push_str(&self.body[self.at..]);
        Ok(self.value.into())
    }

    /// One escape; `at` stands on its backslash.
    fn escape(&mut self) -> Result<(), BadEscape> {
        let escaped = self.body[self.at + 1..].chars().next().expect("the grammar puts a character after a backslash");
        let character = match escaped {
            '\\' | '/' => escaped,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode(),
            _ if escaped == self.quote => escaped,
            _ => return Err(BadEscape::Unknown(self.at, escaped)),
        };
        self.at += 1 + escaped.len_utf8();
        self.value.push(character);
        Ok(())
    }

    /// `\uXXXX`, or two of them that form a surrogate pair.
    fn unicode(&mut self) -> Result<(), BadEscape> {
        let first = self.code_unit(self.at).ok_or(BadEscape::BadCode(self.at))?;
        let second = (0xd800..0xdc00).contains(&first).then(|| self.code_unit(self.at + 6)).flatten();
        let units = [first, second.unwrap_or_default()];
        let used = if second.is_some() { 2 } else { 1 };
        let character = char::decode_utf16(units[..used].iter().copied()).next().and_then(Result::ok);
        let character = character.ok_or(BadEscape::LoneSurrogate(self.at))?;
        self.at += 6 * character.len_utf16();
        self.value.push(character);
        Ok(())
    }

    /// The number in `\uXXXX` at a place of the body.
    fn code_unit(&self, at: usize) -> Option<u16> {
        let digits = self.body.get(at..at + 6)?.strip_prefix("\\u")?;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
    }
}
