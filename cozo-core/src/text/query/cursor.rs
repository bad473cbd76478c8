//! Reads the pieces of a query: words, quoted texts, numbers, signs.

use unicode_normalization::char::is_combining_mark;

use super::error::TextQueryError;

/// A place in the text of a query.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'q> {
    pub(super) text: &'q str,
    pub(super) at: usize,
}

/// Vowel signs of Indian scripts, for example, are marks that belong to words.
fn is_in_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric() || is_combining_mark(character)
}

impl<'q> Cursor<'q> {
    pub(super) fn rest(&self) -> &'q str {
        &self.text[self.at..]
    }

    pub(super) fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// The next character after blanks. It is not read yet.
    pub(super) fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.rest().chars().next()
    }

    /// The bounds of the next character.
    pub(super) fn next_span(&self) -> (usize, usize) {
        (self.at, self.at + self.rest().chars().next().map_or(0, char::len_utf8))
    }

    /// Reads a sign if it is next.
    pub(super) fn takes(&mut self, sign: char) -> bool {
        let is_next = self.peek() == Some(sign);
        if is_next {
            self.at += sign.len_utf8();
        }
        is_next
    }

    /// The next word. It is not read yet, and empty if none is next.
    pub(super) fn peek_word(&mut self) -> &'q str {
        self.skip_blanks();
        let rest = self.rest();
        &rest[..rest.find(|character| !is_in_word(character)).unwrap_or(rest.len())]
    }

    /// Whether the next word is `NEAR` of a group.
    pub(super) fn is_near(&self) -> bool {
        let mut ahead = *self;
        ahead.takes_word("NEAR") && matches!(ahead.peek(), Some('(' | '/'))
    }

    /// Reads a word if it is next.
    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        let is_next = self.peek_word() == word;
        if is_next {
            self.at += word.len();
        }
        is_next
    }

    /// Reads digits, and a point with further digits if `decimal`.
    pub(super) fn number(&mut self, decimal: bool) -> &'q str {
        self.skip_blanks();
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let rest = self.rest();
        let mut len = digits(rest);
        if let Some(fraction) = rest[len..].strip_prefix('.').filter(|_| decimal) {
            let more = digits(fraction);
            len += if more > 0 { 1 + more } else { 0 };
        }
        self.at += len;
        &rest[..len]
    }

    /// Reads the quoted text that begins here.
    pub(super) fn quoted(&mut self, quote: char) -> Result<String, TextQueryError> {
        let start = self.at;
        let mut value = String::new();
        self.at += 1;
        loop {
            let rest = self.rest();
            let Some(end) = rest.find([quote, '\\']) else {
                let help = match quote {
                    '\'' => "close it, or put a word with an apostrophe in double quotes: \"don't\"".to_string(),
                    _ => format!("end it with {quote}; within it, a quote is written \\{quote}"),
                };
                let message = format!("a quote {quote} in the full-text query is not closed");
                return Err(TextQueryError::new(message, (start, start + 1), help));
            };
            value.push_str(&rest[..end]);
            self.at += end;
            if rest[end..].starts_with(quote) {
                self.at += 1;
                return Ok(value);
            }
            value.push(self.escaped(quote)?);
        }
    }

    /// Reads the escape that begins here: those of strings in scripts.
    fn escaped(&mut self, quote: char) -> Result<char, TextQueryError> {
        let escape = self.at;
        self.at += 1;
        let character = self.rest().chars().next().unwrap_or('\\');
        let end = (self.at + character.len_utf8()).min(self.text.len());
        let value = match character {
            '\\' | '/' => character,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode_escape(escape),
            _ if character == quote => character,
            _ => {
                let message = format!("unknown escape \\{character} in a quoted text of the full-text query");
                let help = format!("the escapes are \\\\ \\/ \\{quote} \\b \\f \\n \\r \\t and \\uXXXX");
                return Err(TextQueryError::new(message, (escape, end), help));
            }
        };
        self.at = end;
        Ok(value)
    }

    /// Reads `uXXXX`, or a surrogate pair of two such escapes.
    fn unicode_escape(&mut self, escape: usize) -> Result<char, TextQueryError> {
        let unit = |text: &str| {
            let digits = text.get(1..5).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
            u16::from_str_radix(digits, 16).ok().filter(|_| text.starts_with('u'))
        };
        let first = unit(self.rest());
        let second = first.and_then(|_| unit(self.text[self.at + 5..].strip_prefix('\\')?));
        let units = [first, second].into_iter().flatten();
        let Some(Ok(character)) = char::decode_utf16(units).next() else {
            let message = "a \\u escape in the full-text query is of no character";
            let end = self.at + 1;
            return Err(TextQueryError::new(message, (escape, end), "write four hexadecimal digits: \\u00e9"));
        };
        self.at += if character.len_utf16() == 2 { 11 } else { 5 };
        Ok(character)
    }
}
