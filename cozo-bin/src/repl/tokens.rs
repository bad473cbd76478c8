//! The tokens of an input, for colors, completion, and to see where it ends.

use std::ops::Range;

/// What a piece of text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A string; `ends` is false if its end is missing.
    String { ends: bool },
    /// A comment; `ends` is false if its end is missing.
    Comment { ends: bool },
    /// A number.
    Number,
    /// `$name`.
    Parameter,
    /// A word that begins with `:`, `::` or `%`.
    Command,
    /// A name.
    Name,
    /// An opening bracket.
    Open,
    /// A closing bracket.
    Close,
    /// Space.
    Space,
    /// Anything else, a character at a time.
    Sign,
}

/// A token with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub place: Range<usize>,
}

impl Token {
    /// Whether it is space or a comment.
    pub fn is_blank(&self) -> bool {
        matches!(self.kind, Kind::Space | Kind::Comment { .. })
    }
}

/// All tokens, without gaps.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut all = vec![];
    let mut start = 0;
    while start < text.len() {
        let (kind, len) = first(&text[start..]);
        all.push(Token { kind, place: start..start + len });
        start += len;
    }
    all
}

/// The kind and the length of the first token of a text that is not empty.
fn first(text: &str) -> (Kind, usize) {
    let next = text.chars().next().unwrap_or(' ');
    let ended = |end: Option<usize>| (end.is_some(), end.unwrap_or(text.len()));
    match next {
        '"' | '\'' => {
            let (ends, len) = ended(string(text, next));
            (Kind::String { ends }, len)
        }
        '#' => (Kind::Comment { ends: true }, text.find('\n').unwrap_or(text.len())),
        '/' if text.starts_with("/*") => {
            let (ends, len) = ended(text.find("*/").map(|end| end + 2));
            (Kind::Comment { ends }, len)
        }
        '_' if is_raw_string(text) => {
            let (ends, len) = ended(raw_string(text));
            (Kind::String { ends }, len)
        }
        '(' | '[' | '{' => (Kind::Open, 1),
        ')' | ']' | '}' => (Kind::Close, 1),
        '$' => (Kind::Parameter, 1 + word(&text[1..])),
        ':' | '%' if is_command(text) => {
            let signs = text.len() - text.trim_start_matches(next).len();
            (Kind::Command, signs + word(&text[signs..]))
        }
        _ if next.is_ascii_digit() => (Kind::Number, number(text)),
        _ if is_word(next) => (Kind::Name, word(text)),
        _ if next.is_whitespace() => (Kind::Space, text.len() - text.trim_start().len()),
        _ => (Kind::Sign, next.len_utf8()),
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The length of a name, which may have dots within.
fn word(text: &str) -> usize {
    let end = text.find(|c: char| !is_word(c) && c != '.').unwrap_or(text.len());
    text[..end].trim_end_matches('.').len()
}

fn number(text: &str) -> usize {
    let exponent = |at: usize| text[..at].ends_with(['e', 'E']);
    let is_part = |(at, c): (usize, char)| is_word(c) || c == '.' || (matches!(c, '+' | '-') && exponent(at));
    text.char_indices().find(|part| !is_part(*part)).map_or(text.len(), |(at, _)| at)
}

/// `:limit`, `::relations`, `%if`; neither `:=` nor the `:` between a column and its type, which a space follows.
fn is_command(text: &str) -> bool {
    let name = text.trim_start_matches([':', '%']);
    name.starts_with(|c: char| c.is_alphabetic()) && text.len() - name.len() <= 2
}

fn string(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// `_"..."_` with any number of underscores; underscores alone belong to a name.
fn is_raw_string(text: &str) -> bool {
    text.trim_start_matches('_').starts_with('"')
}

fn raw_string(text: &str) -> Option<usize> {
    let underscores = text.len() - text.trim_start_matches('_').len();
    let closing = format!("\"{}", "_".repeat(underscores));
    let start = underscores + 1;
    text[start..].find(&closing).map(|end| start + end + closing.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        let all = tokens(text);
        let pieces = all.iter().map(|token| (token.kind, &text[token.place.clone()]));
        pieces.filter(|(kind, _)| *kind != Kind::Space).collect()
    }

    #[test]
    fn pieces_are_told_apart() {
        let expected = [
            (Kind::Sign, "?"),
            (Kind::Open, "["),
            (Kind::Name, "a_1"),
            (Kind::Close, "]"),
            (Kind::Sign, ":"),
            (Kind::Sign, "="),
            (Kind::Parameter, "$p"),
            (Kind::Number, "1.5e-3"),
            (Kind::String { ends: true }, "'é\\''"),
            (Kind::Command, ":limit"),
            (Kind::Number, "10"),
            (Kind::Comment { ends: true }, "# x [ '"),
        ];
        assert_eq!(kinds("?[a_1] := $p 1.5e-3 'é\\'' :limit 10 # x [ '"), expected);
        assert_eq!(kinds("::columns %if"), [(Kind::Command, "::columns"), (Kind::Command, "%if")]);
    }

    #[test]
    fn missing_ends_are_noticed() {
        assert_eq!(kinds("'a").last(), Some(&(Kind::String { ends: false }, "'a")));
        assert_eq!(kinds("/* a").last(), Some(&(Kind::Comment { ends: false }, "/* a")));
        assert_eq!(kinds("__\"a\"_").last(), Some(&(Kind::String { ends: false }, "__\"a\"_")));
        assert_eq!(kinds("__\"a\"__").last(), Some(&(Kind::String { ends: true }, "__\"a\"__")));
    }

    #[test]
    fn any_text_has_tokens() {
        for text in ["$", "é…½", "_", "1e", "%%", ":::x", "a.b.", "\"\\"] {
            let all = tokens(text);
            assert_eq!(all.iter().map(|token| &text[token.place.clone()]).collect::<String>(), text);
        }
    }
}
