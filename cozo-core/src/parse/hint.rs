//! Syntax errors in the user's words: what was found, what could stand there, and how to mend common mistakes.
//!
//! For `?[a] :- r[a]` the help is: a rule with a body is written `head := body`.

use crate::diag::nearest;
use pest::error::{Error, ErrorVariant};

use super::advice::advice;
use super::error::ParseError;
use super::expected::{expected, listed};
use super::grammar::Rule;
use super::habits;
use super::position::describe_position;
use super::prescan::{Unmatched, closing};
use super::vocabulary::{CONTROL_WORDS, MUTATIONS, OPTIONS, Word};

const SYSTEM_OPS: [&str; 21] = [
    "::relations",
    "::running",
    "::compact",
    "::fixed_rules",
    "::columns",
    "::indices",
    "::describe",
    "::remove",
    "::rename",
    "::index",
    "::reindex",
    "::replica",
    "::hnsw",
    "::fts",
    "::lsh",
    "::set_triggers",
    "::show_triggers",
    "::access_level",
    "::kill",
    "::explain",
    "::explain analyze",
];

/// A place that pest could not read.
pub(super) struct Unreadable<'a> {
    /// The script.
    pub source: &'a str,
    /// The first bracket of the script that is not matched.
    pub unmatched: Option<Unmatched>,
    /// What was read.
    pub text: &'a str,
    /// The offset in the text.
    pub at: usize,
    /// The offset in the script.
    pub place: usize,
}

impl Unreadable<'_> {
    /// The error for the user.
    pub fn explain(&self, error: &Error<Rule>) -> ParseError {
        let rules = match &error.variant {
            ErrorVariant::ParsingError { positives, .. } => positives.as_slice(),
            // Pest makes one such error of its own: when a thread has hardly any stack left.
            ErrorVariant::CustomError { .. } => return ParseError::out_of_stack(self.place),
        };
        let found = found(self.text, self.at);
        let expected = expected(rules);
        let wanted = if expected.is_empty() { String::new() } else { format!(": expected {}", listed(&expected)) };
        let message = format!("unexpected {found} at {}{wanted}", describe_position(self.source, self.place));
        let label = if self.place == self.source.len() { "the script ends here" } else { "not expected here" };
        ParseError::syntax(message, self.place, label, self.help(rules, &expected))
    }

    /// How to mend a common mistake, if this looks like one; otherwise what to write at this place.
    fn help(&self, rules: &[Rule], expected: &[&str]) -> String {
        let (before, rest) = self.text.split_at(self.at);
        let colon = rest.starts_with(':');
        let system = rest.starts_with("::");
        let percent = rest.starts_with('%');
        let begins = before.trim().is_empty().then(|| habits::statement(word_at(rest))).flatten();
        let other = colon.then(|| habits::option(&rest[..1 + word_at(&rest[1..]).len()])).flatten();
        begins
            .or(other)
            .or_else(|| confused_sign(before, rest, rules))
            .map(str::to_string)
            .or_else(|| system.then(|| misspelt(rest, "::", "a system operation", &SYSTEM_OPS)).flatten())
            .or_else(|| colon.then(|| misspelt(rest, ":", "an option", &spellings(&[OPTIONS, MUTATIONS]))).flatten())
            .or_else(|| percent.then(|| misspelt(rest, "%", "a control word", &spellings(&[CONTROL_WORDS]))).flatten())
            .or_else(|| self.unmatched.map(|unmatched| never_matched(self.source, unmatched)))
            .or_else(|| before.trim().is_empty().then(|| empty_script(rest)).flatten())
            .or_else(|| confused_name(before, rest, rules).map(str::to_string))
            .unwrap_or_else(|| advice(before, expected).to_string())
    }
}

/// The word, sign or end at a place.
fn found(text: &str, offset: usize) -> String {
    let rest = &text[offset..];
    let Some(first) = rest.chars().next() else {
        return "end of the script".to_string();
    };
    let len = match first {
        _ if is_name(first) => rest.find(|character| !is_name(character)).unwrap_or(rest.len()),
        ':' | '%' => {
            let sigils = rest.len() - rest.trim_start_matches(first).len();
            sigils + word_at(&rest[sigils..]).len()
        }
        _ => first.len_utf8(),
    };
    let word: String = rest[..len].chars().take(40).collect();
    format!("`{}`", word.escape_debug())
}

/// Signs of other languages, or of this one in the wrong place.
fn confused_sign(before: &str, rest: &str, rules: &[Rule]) -> Option<&'static str> {
    let after_head = rules.contains(&Rule::kw_inline) || rules.contains(&Rule::inline_body);
    let in_expression = rules.contains(&Rule::op_add) || rules.contains(&Rule::expr);
    if after_head && (rest.starts_with(":-") || rest.starts_with('=')) {
        return Some("a rule with a body is written `head := body`");
    }
    if after_head && rest.starts_with("<=") {
        return Some("a rule with constant rows is written `head <- rows`");
    }
    if rest.starts_with('=') && in_expression {
        return Some("`=` only stands between a variable and an expression; to compare, write `==`");
    }
    if rest.starts_with('&') || rest.starts_with('|') {
        return Some("write `&&` and `||` between expressions, `and` and `or` between atoms");
    }
    if rest.starts_with("in ") && in_expression {
        return Some(
            "`in` stands between a variable and a list, as in `x in [1, 2]`; in an expression write `is_in(x, list)`",
        );
    }
    if rest.starts_with('*') && before.ends_with('*') {
        return Some("the power operator is `^`");
    }
    None
}

fn spellings(lists: &[&[Word]]) -> Vec<&'static str> {
    lists.iter().flat_map(|words| words.iter()).flat_map(Word::spellings).collect()
}

/// A word with a sigil that does not exist, or one that cannot stand here.
fn misspelt(rest: &str, sigil: &str, what: &str, known: &[&str]) -> Option<String> {
    let name = word_at(&rest[sigil.len()..]);
    let word = &rest[..sigil.len() + name.len()];
    if name.is_empty() {
        return None;
    }
    if known.contains(&word) {
        return (sigil == "::")
            .then(|| "a system operation stands alone in a script, or in braces of its own".to_string());
    }
    Some(match nearest(word, known) {
        Some(near) => format!("`{word}` is not {what}; did you mean `{near}`?"),
        None => {
            let all: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
            format!("`{word}` is not {what}; there are {}", all.join(", "))
        }
    })
}

fn empty_script(rest: &str) -> Option<String> {
    rest.is_empty().then(|| "the least query is one rule: `?[answer] <- [[42]]`".to_string())
}

fn never_matched(source: &str, unmatched: Unmatched) -> String {
    let bracket = unmatched.bracket as char;
    let place = describe_position(source, unmatched.offset);
    match closing(unmatched.bracket) {
        same if same == unmatched.bracket => format!("the `{bracket}` at {place} closes nothing"),
        closer => format!("the `{bracket}` at {place} is not closed by a `{}`", closer as char),
    }
}

fn confused_name(before: &str, rest: &str, rules: &[Rule]) -> Option<&'static str> {
    let next = rest.chars().next()?;
    if rest.starts_with("?[") && !rules.contains(&Rule::block) {
        return Some(
            "the entry rule `?` cannot be applied, and a rule may only begin after the one before is complete",
        );
    }
    if next == '.' && rest[1..].starts_with(|digit: char| digit.is_ascii_digit()) {
        return Some("a number needs a digit before its point: `0.5`");
    }
    let name_follows = |text: &str| text.trim_start_matches(|digit: char| digit.is_ascii_digit()).starts_with(is_name);
    if next.is_ascii_digit() && name_follows(rest) {
        return Some("names do not begin with digits, and numbers do not end in letters");
    }
    if next == '_' && before.trim_end().is_empty() {
        return Some("a rule's name does not begin with an underscore");
    }
    None
}

/// The name that a text begins with.
fn word_at(text: &str) -> &str {
    &text[..text.find(|character| !is_name(character)).unwrap_or(text.len())]
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found() {
        assert_eq!(nearest("Strng", &["Int", "String"]), Some("String"));
        assert_eq!(nearest(":limt", &spellings(&[OPTIONS, MUTATIONS])), Some(":limit"));
        assert_eq!(nearest(":group", &spellings(&[OPTIONS, MUTATIONS])), None);
    }

    #[test]
    fn words_of_help_are_those_of_the_grammar() {
        use pest::Parser;
        use pest::error::InputLocation;
        for option in spellings(&[OPTIONS, MUTATIONS]).into_iter().filter(|name| *name != ":returning") {
            let script = format!("{option} ");
            let error = super::super::grammar::CozoScriptParser::parse(Rule::query_script, &script).expect_err(option);
            assert!(matches!(error.location, InputLocation::Pos(at) if at == script.len()), "{option}");
        }
    }
}
