//! Conditions and values in terms of the columns of one table.

use super::super::catalog::add;
use super::Table;
use super::text::lower_constants;
use crate::repl::tokens::{Kind, Token, tokens};

/// Operators that have no counterpart of the same form.
const NOT_EASY: [&str; 6] = ["like", "ilike", "between", "exists", "in", "any"];

/// A condition or a value.
pub struct Condition {
    /// As it is written here.
    pub text: String,
    /// The columns in it.
    pub names: Vec<String>,
}

impl Condition {
    /// Of a text; nothing if it is not easy.
    pub fn of(text: &str, table: &Table) -> Option<Self> {
        let spaced = lower_constants(text.trim()).replace("<>", "!=");
        let all = tokens(&spaced);
        let word = |token: &Token| spaced[token.place.clone()].to_lowercase();
        let is_word = |token: &Token, wanted: &str| token.kind == Kind::Name && word(token) == wanted;
        // Commas bind looser than `||`, as AND does not.
        let is_alternative = all.iter().any(|token| is_word(token, "or"));
        let (mut written, mut names) = (String::new(), vec![]);
        let mut depth = 0;
        for (index, token) in all.iter().enumerate() {
            let piece = &spaced[token.place.clone()];
            let next = all.get(index + 1).map_or("", |next| &spaced[next.place.clone()]);
            let before = written.chars().next_back().unwrap_or(' ');
            depth = match token.kind {
                Kind::Open => depth + 1,
                Kind::Close => depth - 1,
                _ => depth,
            };
            match (token.kind, piece.to_lowercase().as_str()) {
                (Kind::Name, "and") if !is_alternative && depth == 0 => {
                    written.truncate(written.trim_end().len());
                    written.push(',');
                }
                (Kind::Name, "and") => written.push_str("&&"),
                (Kind::Name, "or") => written.push_str("||"),
                (Kind::Name, "is") => {
                    written.push_str(if is_negated(&all[index + 1..], &spaced) { "!=" } else { "==" })
                }
                (Kind::Name, "not") if written.trim_end().ends_with("!=") => written.truncate(written.trim_end().len()),
                // It binds looser than what follows, and `!` tighter.
                (Kind::Name, "not") => match all[index + 1..].iter().find(|token| !token.is_blank()) {
                    Some(next) if next.kind == Kind::Open => written.push('!'),
                    _ => return None,
                },
                (Kind::Name, other) if NOT_EASY.contains(&other) => return None,
                (Kind::Name, "null" | "true" | "false") => written.push_str(piece),
                (Kind::Name, _) if next == "(" => written.push_str(&piece.to_lowercase()),
                (Kind::Name, _) => {
                    let column = table.column(piece)?;
                    add(&mut names, &column);
                    written.push_str(&column);
                }
                (Kind::Sign, "=") if !matches!(before, '<' | '>' | '!' | '=') && next != "=" => written.push_str("=="),
                _ => written.push_str(piece),
            }
        }
        Some(Condition { text: written.trim().to_string(), names })
    }

    /// The text in which columns that are about to change have their old values.
    pub fn with_old(&self, is_old: &impl Fn(&str) -> bool) -> String {
        let renamed = |token: Token| match &self.text[token.place.clone()] {
            piece if token.kind == Kind::Name && is_old(piece) => format!("old_{piece}"),
            piece => piece.to_string(),
        };
        tokens(&self.text).into_iter().map(renamed).collect()
    }
}

/// Whether NOT is the next word.
fn is_negated(rest: &[Token], text: &str) -> bool {
    let next = rest.iter().find(|token| !token.is_blank());
    next.is_some_and(|next| text[next.place.clone()].eq_ignore_ascii_case("not"))
}
