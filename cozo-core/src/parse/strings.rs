//! String literals: what the text between the quotes stands for.
//!
//! `"a\tb"` holds a tab, `_"a\tb"_` a backslash and a t; nothing is ever trimmed.

use super::error::ParseError;
use super::grammar::{Node, Rule, span_of};
use super::position::describe_position;
use crate::diag::SourceSpan;
use crate::value::SmallStr;

/// The value of a string literal of any kind.
pub(super) fn string_value(source: &str, node: &Node<'_>) -> Result<SmallStr, ParseError> {
    let text = node.as_str();
    if node.as_rule() == Rule::raw_string {
        let underscores = text.bytes().take_while(|byte| *byte == b'_').count();
        return Ok(SmallStr::from(&text[underscores + 1..text.len() - underscores - 1]));
    }
    let body = &text[1..text.len() - 1];
    if !body.contains('\\') {
        return Ok(SmallStr::from(body));
    }
    let quote = if node.as_rule() == Rule::double_string { '"' } else { '\'' };
    Unescaper { source, body, offset: span_of(node).0 + 1, quote, at: 0, value: String::new() }.run()
}

/// Reads escapes one after another.
struct Unescaper<'s> {
    source: &'s str,
    body: &'s str,
    /// Where the body begins in the script.
    offset: usize,
    quote: char,
    at: usize,
    value: String,
}

impl Unescaper<'_> {
    fn run(mut self) -> Result<SmallStr, ParseError> {
        while let Some(plain) = self.body[self.at..].find('\\') {
            self.value.push_str(&self.body[self.at..self.at + plain]);
            self.at += plain;
            self.escape()?;
        }
        self.value.push_str(&self.body[self.at..]);
        Ok(self.value.into())
    }

    /// One escape; `at` stands on its backslash.
    fn escape(&mut self) -> Result<(), ParseError> {
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
            _ => return Err(self.unknown_escape(escaped)),
        };
        self.at += 1 + escaped.len_utf8();
        self.value.push(character);
        Ok(())
    }

    /// `\uXXXX`, or two of them that form a surrogate pair.
    fn unicode(&mut self) -> Result<(), ParseError> {
        let first = self.code_unit(self.at).ok_or_else(|| self.bad_code())?;
        let second = (0xd800..0xdc00).contains(&first).then(|| self.code_unit(self.at + 6)).flatten();
        let units = [first, second.unwrap_or_default()];
        let used = if second.is_some() { 2 } else { 1 };
        let character = char::decode_utf16(units[..used].iter().copied()).next().and_then(Result::ok);
        let character = character.ok_or_else(|| ParseError::LoneSurrogate {
            escape: self.body[self.at..self.at + 6].to_string(),
            span: SourceSpan(self.offset + self.at, 6),
        })?;
        self.at += 6 * character.len_utf16();
        self.value.push(character);
        Ok(())
    }

    /// The number in `\uXXXX` at a place of the body.
    fn code_unit(&self, at: usize) -> Option<u16> {
        let digits = self.body.get(at..at + 6)?.strip_prefix("\\u")?;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
    }

    fn bad_code(&self) -> ParseError {
        self.error("a `\\u` escape needs four hexadecimal digits".to_string(), "like `\\u00e9`".to_string())
    }

    fn unknown_escape(&self, escaped: char) -> ParseError {
        let quote = self.quote;
        let help = format!(
            "the escapes are `\\\\`, `\\/`, `\\{quote}`, `\\b`, `\\f`, `\\n`, `\\r`, `\\t` and `\\uXXXX`; a raw string \
             `_\"...\"_` has none"
        );
        self.error(format!("unknown escape `\\{escaped}` in a string"), help)
    }

    fn error(&self, what: String, help: String) -> ParseError {
        let offset = self.offset + self.at;
        let message = format!("{what}, at {}", describe_position(self.source, offset));
        ParseError::syntax(message, offset, "this escape", help)
    }
}
