//! What the word before the cursor may become.
//!
//! The sign before the word tells its kind: `*` relations, `::` system operations, `:` options, `%` commands; without
//! a sign it is a function or an aggregation.

use std::collections::BTreeMap;

use cozo::expr::{aggregations, functions};
use cozo::parse::{CONTROL_WORDS, MUTATIONS, OPTIONS, Word};
use cozo::session::SYSTEM_OPS;
use cozo::{DataValue, DbInstance, ScriptMutability};

use super::meta;

/// The place where the word before the cursor begins, and what it may become.
pub fn complete(db: &DbInstance, before_cursor: &str) -> (usize, Vec<String>) {
    let is_word = |character: char| character.is_alphanumeric() || matches!(character, '_' | '.');
    let word_start = before_cursor.trim_end_matches(is_word).len();
    let signs = before_cursor[..word_start].trim_end_matches([':', '%', '*']).len();
    let sign = &before_cursor[signs..word_start];
    let word = &before_cursor[word_start..];
    match sign {
        "" if word.is_empty() => (word_start, vec![]),
        "" => (word_start, starting_with(word, callables())),
        "*" => (word_start, starting_with(word, relations(db))),
        _ => (signs, starting_with(&before_cursor[signs..], signed())),
    }
}

fn starting_with(prefix: &str, candidates: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut fitting: Vec<String> = candidates.into_iter().filter(|candidate| candidate.starts_with(prefix)).collect();
    fitting.sort();
    fitting.dedup();
    fitting
}

/// Functions and aggregations, with the bracket that follows them.
fn callables() -> impl Iterator<Item = String> {
    let aggregations = aggregations::AGGREGATIONS.iter().map(|aggregation| aggregation.name);
    functions::names().chain(aggregations).map(|name| format!("{name}("))
}

fn signed() -> impl Iterator<Item = String> {
    let operations = SYSTEM_OPS.iter().filter_map(|(usage, _)| usage.split(' ').next());
    let commands = meta::COMMANDS.iter().map(|command| command.name);
    let words = [OPTIONS, MUTATIONS, CONTROL_WORDS].into_iter().flatten().flat_map(Word::spellings);
    operations.chain(commands).chain(words).map(str::to_string)
}

fn relations(db: &DbInstance) -> Vec<String> {
    let listed = db.run_script("::relations", BTreeMap::new(), ScriptMutability::Immutable).unwrap_or_default();
    listed.rows.iter().filter_map(|row| row.first().and_then(DataValue::get_str).map(str::to_string)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sign_tells_the_kind() {
        let db = DbInstance::default();
        db.run_default(":create station {name}").expect("it creates");
        assert_eq!(complete(&db, "?[a] := *sta"), (9, vec!["station".to_string()]));
        assert_eq!(complete(&db, "::rel"), (0, vec!["::relations".to_string()]));
        assert_eq!(complete(&db, "?[a] <- [] :lim"), (11, vec![":limit".to_string()]));
        assert_eq!(complete(&db, "%para"), (0, vec!["%params".to_string()]));
        assert_eq!(complete(&db, "?[short"), (2, vec!["shortest(".to_string()]));
        assert_eq!(complete(&db, "?[a] := "), (8, vec![]));
    }
}
