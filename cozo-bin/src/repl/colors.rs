//! Colors for an input.

use super::complete::callables;
use super::tokens::{Kind, Token, tokens};

const COMMENT: &str = "2";
const STRING: &str = "32";
const NUMBER: &str = "36";
const PARAMETER: &str = "33";
const COMMAND: &str = "35";
const RELATION: &str = "34";
const FUNCTION: &str = "36";
const RULE: &str = "1";
const BRACKET: &str = "1;34";

/// The text with colors of terminals: as wide as before. Brackets that belong to the one at the cursor stand out.
pub fn highlight(text: &str, cursor: usize) -> String {
    let all = tokens(text);
    let pair = pair(text, &all, cursor);
    let mut colored = String::with_capacity(text.len() * 2);
    for (position, token) in all.iter().enumerate() {
        let piece = &text[token.place.clone()];
        let color = match pair {
            Some((open, close)) if position == open || position == close => Some(BRACKET),
            _ => color(text, &all, position),
        };
        match color {
            // Each line has colors of its own, for editors that draw lines.
            Some(color) => {
                let lines = piece.split('\n').map(|line| format!("\u{1b}[{color}m{line}\u{1b}[0m"));
                colored.push_str(&lines.collect::<Vec<_>>().join("\n"));
            }
            None => colored.push_str(piece),
        }
    }
    colored
}

fn color(text: &str, all: &[Token], position: usize) -> Option<&'static str> {
    let token = &all[position];
    let before = || position.checked_sub(1).map(|before| &text[all[before].place.clone()]);
    let after = || all.get(position + 1).map(|after| &text[after.place.clone()]);
    match token.kind {
        Kind::Comment { .. } => Some(COMMENT),
        Kind::String { .. } => Some(STRING),
        Kind::Number => Some(NUMBER),
        Kind::Parameter => Some(PARAMETER),
        // `*relation:index` and `~relation:index`.
        Kind::Command if before().is_some_and(|name| !name.trim().is_empty()) => Some(RELATION),
        Kind::Command => Some(COMMAND),
        Kind::Name if matches!(before(), Some("*" | "~")) => Some(RELATION),
        Kind::Name if after() == Some("(") && callables().any(|name| name == &text[token.place.clone()]) => {
            Some(FUNCTION)
        }
        Kind::Name if after() == Some("[") => Some(RULE),
        Kind::Sign if matches!(&text[token.place.clone()], "?" | "*" | "~") => Some(RULE),
        _ => None,
    }
}

/// The bracket at the cursor or before it, and the one that belongs to it.
fn pair(text: &str, all: &[Token], cursor: usize) -> Option<(usize, usize)> {
    let is_bracket = |token: &Token| matches!(token.kind, Kind::Open | Kind::Close);
    let at = all.iter().position(|token| is_bracket(token) && token.place.start == cursor);
    let at = at.or_else(|| all.iter().position(|token| is_bracket(token) && token.place.end == cursor))?;
    let mut open = vec![];
    for (position, token) in all.iter().enumerate() {
        match token.kind {
            Kind::Open => open.push(position),
            Kind::Close => {
                let opened = open.pop()?;
                if opened == at || position == at {
                    let fits = matches!(
                        (&text[all[opened].place.clone()], &text[token.place.clone()]),
                        ("(", ")") | ("[", "]") | ("{", "}")
                    );
                    return fits.then_some((opened, position));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(colored: &str) -> String {
        let mut text = String::new();
        let mut pieces = colored.split('\u{1b}');
        text.push_str(pieces.next().unwrap_or_default());
        pieces.for_each(|piece| text.push_str(piece.split_once('m').map_or("", |(_, rest)| rest)));
        text
    }

    #[test]
    fn colors_change_nothing_else() {
        let text = "?[count(x)] := *r:i{x: $p}, x > 1.5, # é\n y = '[\n' :limit 3 ) ]";
        for cursor in 0..=text.len() {
            assert_eq!(plain(&highlight(text, cursor)), text);
        }
    }

    #[test]
    fn names_are_colored_by_what_they_are() {
        let colored = highlight("?[length(a)] := r[a], *r:by{a}", 0);
        for piece in
            ["\u{1b}[36mlength\u{1b}[0m", "\u{1b}[1mr\u{1b}[0m[", "\u{1b}[34mr\u{1b}[0m", "\u{1b}[34m:by\u{1b}[0m"]
        {
            assert!(colored.contains(piece), "{piece:?} in {colored:?}");
        }
    }

    #[test]
    fn brackets_at_the_cursor_stand_out_together() {
        let bracket = |text: &str| format!("\u{1b}[1;34m{text}\u{1b}[0m");
        assert!(highlight("a(b[c])", 1).starts_with(&format!("a{}", bracket("("))));
        assert!(highlight("a(b[c])", 7).ends_with(&bracket(")")));
        assert!(!highlight("a('(' b]", 1).contains("1;34"));
    }
}
