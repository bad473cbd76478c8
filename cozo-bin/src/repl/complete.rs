//! What the word before the cursor may become.
//!
//! The sign before the word tells its kind: `*` and `~` relations, `::` system operations, `:` options, `%` commands, `<~` fixed
//! rules. Within the braces of a relation there are its columns, and behind the bar of a search its parameters; after an operation
//! such as `:put` or `::columns`, relations.
//! Anywhere else a word is a function or an aggregation.

use cozo::expr::{aggregations, functions};
use cozo::parse::{CONTROL_WORDS, MUTATIONS, OPTIONS, Word};
use cozo::session::{SEARCH_PARAMETERS, SYSTEM_OPS};

use super::meta;
use super::tokens::{Kind, Token, tokens};
use crate::connection::Connection;

/// The place where the word before the cursor begins, and what it may become.
pub fn complete(connection: &Connection, before_cursor: &str) -> (usize, Vec<String>) {
    let mut all = tokens(before_cursor);
    let is_word = |token: &Token| matches!(token.kind, Kind::Name | Kind::Command);
    let start = match all.last() {
        Some(last) if is_word(last) => all.pop().map_or(0, |word| word.place.start),
        Some(last) if matches!(last.kind, Kind::String { ends: false } | Kind::Comment { .. }) => {
            return (before_cursor.len(), vec![]);
        }
        _ => before_cursor.len(),
    };
    let signs = before_cursor[..start].trim_end_matches([':', '%']).len();
    let (before, word) = (&before_cursor[..start], &before_cursor[start..]);
    if signs < start || word.starts_with([':', '%']) {
        // The colon of `*relation:index` and of `column: Type` follows a name; that of an option does not.
        let candidates = starting_with(&before_cursor[signs..], signed());
        return (signs, candidates);
    }
    let kind = expected(before, &all);
    let candidates = match kind {
        Expected::Relation => connection.names("::relations"),
        Expected::ColumnOf(relation) => connection.names(&format!("::columns {relation}")),
        Expected::SearchParameter => SEARCH_PARAMETERS.iter().map(|parameter| parameter.name.to_string()).collect(),
        Expected::FixedRule => connection.fixed_rules(),
        Expected::Callable if word.is_empty() => vec![],
        // With the bracket that follows them.
        Expected::Callable => callables().map(|name| format!("{name}(")).collect(),
    };
    (start, starting_with(word, candidates))
}

/// What may stand at a place.
enum Expected<'a> {
    Relation,
    ColumnOf(&'a str),
    SearchParameter,
    FixedRule,
    Callable,
}

fn expected<'a>(before: &'a str, all: &[Token]) -> Expected<'a> {
    if before.ends_with(['*', '~']) && !before.ends_with("<~") {
        return Expected::Relation;
    }
    if before.trim_end().ends_with("<~") {
        return Expected::FixedRule;
    }
    let last = all.iter().rev().find(|token| token.kind != Kind::Space);
    match last.map(|token| (token.kind, &before[token.place.clone()])) {
        Some((Kind::Command, command)) if takes_relation(command) => return Expected::Relation,
        Some((Kind::Open, "{") | (Kind::Sign, "," | "|")) => {}
        // After `=>` come the columns that are not keys.
        Some((Kind::Sign, ">")) if before.trim_end().ends_with("=>") => {}
        _ => return Expected::Callable,
    }
    let Some(brace) = open_brace(before, all) else { return Expected::Callable };
    match relation_before(before, &all[..brace]) {
        Some((_, Braces::OfSearch)) if all[brace..].iter().any(|token| &before[token.place.clone()] == "|") => {
            Expected::SearchParameter
        }
        Some((relation, _)) => Expected::ColumnOf(relation),
        None => Expected::Callable,
    }
}

/// The innermost bracket that is open, if it is a brace.
fn open_brace(text: &str, all: &[Token]) -> Option<usize> {
    let mut closed = 0;
    for (position, token) in all.iter().enumerate().rev() {
        match token.kind {
            Kind::Close => closed += 1,
            Kind::Open if closed > 0 => closed -= 1,
            Kind::Open => return (&text[token.place.clone()] == "{").then_some(position),
            _ => {}
        }
    }
    None
}

/// What the braces behind a relation belong to.
enum Braces {
    OfRelation,
    OfSearch,
}

/// The relation whose braces begin here: `*name {`, `~name:index {`, `:put name {`.
fn relation_before<'a>(text: &'a str, all: &[Token]) -> Option<(&'a str, Braces)> {
    let mut back = all.iter().rev().filter(|token| token.kind != Kind::Space);
    let piece = |token: &Token| &text[token.place.clone()];
    let mut name = back.next()?;
    if name.kind == Kind::Command && piece(name).starts_with(':') {
        name = back.next()?;
    }
    let before = back.next()?;
    let is_relation =
        matches!(piece(before), "*" | "~") || (before.kind == Kind::Command && takes_relation(piece(before)));
    let braces = if piece(before) == "~" { Braces::OfSearch } else { Braces::OfRelation };
    (name.kind == Kind::Name && is_relation).then(|| (piece(name), braces))
}

/// Whether a relation follows the operation.
fn takes_relation(command: &str) -> bool {
    let usage = SYSTEM_OPS.iter().find(|(usage, _)| usage.split(' ').next() == Some(command));
    let mutation = MUTATIONS.iter().find(|word| word.spellings().any(|spelling| spelling == command));
    let arguments = mutation.map(|word| word.arguments).or(usage.map(|(usage, _)| *usage)).unwrap_or_default();
    command != ":create" && arguments.contains("REL")
}

fn starting_with(prefix: &str, candidates: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut fitting: Vec<String> = candidates.into_iter().filter(|candidate| candidate.starts_with(prefix)).collect();
    fitting.sort();
    fitting.dedup();
    fitting
}

/// The names of functions and aggregations.
pub fn callables() -> impl Iterator<Item = &'static str> {
    functions::names().chain(aggregations::AGGREGATIONS.iter().map(|aggregation| aggregation.name))
}

fn signed() -> impl Iterator<Item = String> {
    let operations = SYSTEM_OPS.iter().filter_map(|(usage, _)| usage.split(' ').next());
    let commands = meta::COMMANDS.iter().map(|command| command.name);
    let words = [OPTIONS, MUTATIONS, CONTROL_WORDS].into_iter().flatten().flat_map(Word::spellings);
    operations.chain(commands).chain(words).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cozo::DbInstance;

    fn completed(before_cursor: &str) -> (usize, Vec<String>) {
        let db = DbInstance::default();
        db.run_default(":create station {name: String => lines: Int, level}").expect("it creates");
        complete(&Connection::Local(db), before_cursor)
    }

    #[test]
    fn the_sign_tells_the_kind() {
        let table: [(&str, usize, &[&str]); 8] = [
            ("?[a] := *sta", 9, &["station"]),
            ("?[a] := ~", 9, &["station"]),
            ("::rel", 0, &["::relations"]),
            ("?[a] <- [] :lim", 11, &[":limit"]),
            ("%para", 0, &["%params"]),
            ("?[short", 2, &["shortest("]),
            ("?[a] := ", 8, &[]),
            ("?[a] := a = '*st", 16, &[]),
        ];
        for (text, start, candidates) in table {
            let candidates = candidates.iter().map(ToString::to_string).collect::<Vec<_>>();
            assert_eq!(completed(text), (start, candidates), "{text}");
        }
    }

    #[test]
    fn braces_have_columns() {
        for text in ["?[l] := *station{", "?[l] := *station {name: x, ", "?[name, level] <- [] :put station { "] {
            assert_eq!(completed(text).1, ["level", "lines", "name"], "{text}");
        }
        assert_eq!(completed("?[l] := *station{name, li"), (23, vec!["lines".to_string()]));
        assert_eq!(completed("?[l] <- [] :put station {name => le").1, ["level"]);
        assert_eq!(completed("?[l] := *station{name: sho").1, ["shortest("]);
        assert_eq!(completed("?[l] := ~station:near{name, le").1, ["level"]);
        assert_eq!(completed("?[l] := ~station:near{name | ra").1, ["radius"]);
        assert_eq!(completed("?[l] := ~station:near{name | query: q, bind_d").1, ["bind_distance"]);
        assert_eq!(completed("?[l] := *station{name}, l = [leng").1, ["length("]);
    }

    #[test]
    fn operations_take_relations_and_rules_have_names() {
        for text in ["?[a] <- [] :put st", "::columns st", "::remove st"] {
            assert_eq!(completed(text).1, ["station"], "{text}");
        }
        assert_eq!(completed("?[a, b] <~ PageR").1, ["PageRank"]);
    }
}
