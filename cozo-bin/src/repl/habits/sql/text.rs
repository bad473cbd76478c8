//! The clauses of a statement, and lists in them.

use crate::repl::tokens::{Kind, Token, tokens};

/// Words that begin clauses with which a statement is not easy.
const NOT_EASY: [&str; 9] = ["join", "having", "union", "intersect", "except", "case", "over", "returning", "conflict"];

/// The statement without comments, `--` to the end of the line.
pub fn without_comments(statement: &str) -> String {
    let mut kept = String::with_capacity(statement.len());
    let mut quote = None;
    for line in statement.lines() {
        let starts = line.char_indices().find(|(at, letter)| {
            match (quote, letter) {
                (None, '\'' | '"') => quote = Some(*letter),
                (Some(open), letter) if open == *letter => quote = None,
                (None, '-') => return line[*at..].starts_with("--"),
                _ => {}
            }
            false
        });
        kept.push_str(&line[..starts.map_or(line.len(), |(at, _)| at)]);
        kept.push('\n');
    }
    kept.truncate(kept.trim_end().len());
    kept
}

/// The clauses of a statement, by the words that begin them.
pub struct Clauses<'a>(Vec<(&'static str, &'a str)>);

impl<'a> Clauses<'a> {
    /// Divides a statement at words outside of brackets. Nothing if it has other clauses, or a query within.
    pub fn of(statement: &'a str, words: &[&'static str]) -> Option<Self> {
        let all: Vec<Token> = tokens(statement).into_iter().filter(|token| !token.is_blank()).collect();
        let piece = |index: usize| all.get(index).map_or("", |token| &statement[token.place.clone()]);
        let mut starts = vec![];
        let mut depth = 0;
        for (index, token) in all.iter().enumerate() {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close => depth -= 1,
                Kind::Name if depth > 0 && piece(index).eq_ignore_ascii_case("select") => return None,
                Kind::Name if NOT_EASY.iter().any(|word| piece(index).eq_ignore_ascii_case(word)) => return None,
                Kind::Name if depth == 0 => {
                    let begins = |word: &&str| {
                        let (first, second) = word.split_once(' ').unwrap_or((word, ""));
                        piece(index).eq_ignore_ascii_case(first)
                            && (second.is_empty() || piece(index + 1).eq_ignore_ascii_case(second))
                    };
                    if let Some(word) = words.iter().find(|word| begins(word)) {
                        let last = index + word.matches(' ').count();
                        starts.push((*word, token.place.start, all[last].place.end));
                    }
                }
                _ => {}
            }
        }
        let ends = starts.iter().skip(1).map(|(_, start, _)| *start).chain([statement.len()]);
        let clauses = starts.iter().zip(ends).map(|((word, _, start), end)| (*word, statement[*start..end].trim()));
        Some(Clauses(clauses.collect()))
    }

    /// What a clause says.
    pub fn get(&self, word: &str) -> Option<&'a str> {
        self.0.iter().find(|(known, _)| *known == word).map(|(_, text)| *text)
    }
}

/// The pieces between commas that are in no brackets.
pub fn items(list: &str) -> Vec<String> {
    let (mut items, mut depth, mut start) = (vec![], 0, 0);
    for token in tokens(list) {
        match (token.kind, &list[token.place.clone()]) {
            (Kind::Open, _) => depth += 1,
            (Kind::Close, _) => depth -= 1,
            (Kind::Sign, ",") if depth == 0 => {
                items.push(list[start..token.place.start].trim().to_string());
                start = token.place.end;
            }
            _ => {}
        }
    }
    items.push(list[start..].trim().to_string());
    items
}

/// What is in the outer brackets of a text.
pub fn within_brackets(text: &str) -> Option<String> {
    let (start, end) = (text.find('(')?, text.rfind(')')?);
    text.get(start + 1..end).map(|inner| inner.trim().to_string())
}

/// The text with its constants in small letters.
pub fn lower_constants(text: &str) -> String {
    let lower = |token: Token| match &text[token.place.clone()] {
        piece if token.kind == Kind::Name && ["null", "true", "false"].contains(&piece.to_lowercase().as_str()) => {
            piece.to_lowercase()
        }
        piece => piece.to_string(),
    };
    tokens(text).into_iter().map(lower).collect()
}
