//! When an input is complete.
//!
//! An input goes on after Enter where
//!
//! * it begins with a space,
//! * a bracket, a string or a comment is open,
//! * it begins with `{` or a word such as `%if`: it is a script of statements, and others may follow,
//! * it ends where the parser expects more, as after `:=` or a comma,
//! * it has rules, but none for `?` yet,
//! * there is nothing but comments yet.
//!
//! An empty line ends any input, and so does `;` at the end of a line, if the input does not begin with a space.

use std::borrow::Cow;

use cozo::parse::ast::{MutationOp, Query, QueryOption, Script};
use cozo::parse::{CONTROL_WORDS, ParseError, parse_script};

use super::meta::is_command;
use super::tokens::{Kind, Token, tokens};

/// The rule that gives the answer.
const ENTRY: &str = "?";

/// Whether Enter after this text runs it.
pub fn is_complete(text: &str) -> bool {
    if text.trim().is_empty() || ended_by_empty_line(text) {
        return true;
    }
    if text.starts_with([' ', '\t']) || is_open(text) {
        return false;
    }
    match first_word(text) {
        None => false,
        Some(word) if is_command(word) => true,
        Some(word) => match without_end(text) {
            Cow::Owned(ended) => begins_statements(word) || is_whole_script(&ended, true),
            Cow::Borrowed(text) => !begins_statements(word) && is_whole_script(text, false),
        },
    }
}

/// Whether there is nothing to run.
pub fn says_nothing(text: &str) -> bool {
    first_word(text).is_none() && !is_open(text)
}

/// The text without the `;` that ends it; as long as before.
pub fn without_end(text: &str) -> Cow<'_, str> {
    match last_token(text).filter(|last| last.kind == Kind::Sign && &text[last.place.clone()] == ";") {
        Some(end) => {
            let mut shorter = text.to_string();
            shorter.replace_range(end.place, " ");
            Cow::Owned(shorter)
        }
        None => Cow::Borrowed(text),
    }
}

/// What a script is for the inputs around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A query that writes nothing: options that follow continue it.
    Query,
    /// Options without a rule, such as `:limit 3` or `:put r {a}`, which continue a query.
    Options,
    /// A `:create` without rows, after which a query can still be continued.
    Create,
    /// Anything else.
    Other,
}

impl Role {
    /// The role of a script.
    pub fn of(script: &str) -> Self {
        match parse_script(script) {
            Ok(Script::Query(query)) => Role::of_query(&query),
            _ => Role::Other,
        }
    }

    fn of_query(query: &Query) -> Self {
        match (query.rules.is_empty(), mutation(query)) {
            (true, Some(MutationOp::Create | MutationOp::Replace)) => Role::Create,
            (true, _) if !query.options.is_empty() => Role::Options,
            (false, None) => Role::Query,
            _ => Role::Other,
        }
    }
}

/// What a query does to a stored relation, if the script is one that does.
pub fn mutation_of(script: &str) -> Option<MutationOp> {
    match parse_script(script) {
        Ok(Script::Query(query)) => mutation(&query),
        _ => None,
    }
}

fn mutation(query: &Query) -> Option<MutationOp> {
    query.options.iter().find_map(|option| match option {
        QueryOption::Mutation(mutation) => Some(mutation.op),
        _ => None,
    })
}

/// Whether a text can be run, or is so wrong that nothing which follows mends it. Where it `is_ended`, nothing is to follow, but
/// for rules: their `;` ends them, not the query.
fn is_whole_script(text: &str, is_ended: bool) -> bool {
    match parse_script(text) {
        Ok(Script::Query(query)) => {
            let has_entry = query.rules.iter().any(|rule| rule.head.name.name == ENTRY);
            // The grammar takes a comma at the end, after which people go on.
            query.rules.is_empty() || (has_entry && (is_ended || last_piece(text) != ","))
        }
        Ok(_) => true,
        Err(ParseError::Syntax { span, .. }) => is_ended || !is_blank(text.get(span.0..).unwrap_or_default()),
        Err(_) => true,
    }
}

fn ended_by_empty_line(text: &str) -> bool {
    text.rsplit_once('\n').is_some_and(|(_, last)| last.trim().is_empty())
}

/// Whether statements follow the word.
fn begins_statements(word: &str) -> bool {
    word == "{" || CONTROL_WORDS.iter().any(|control| control.name == word)
}

/// The first token that is no space and no comment.
fn first_word(text: &str) -> Option<&str> {
    tokens(text).into_iter().find(|token| !token.is_blank()).map(|token| &text[token.place])
}

/// The last token that is no space and no comment.
fn last_token(text: &str) -> Option<Token> {
    tokens(text).into_iter().rev().find(|token| !token.is_blank())
}

/// Its text.
fn last_piece(text: &str) -> &str {
    last_token(text).map_or("", |token| &text[token.place])
}

/// Whether there are only spaces and comments.
fn is_blank(text: &str) -> bool {
    tokens(text).iter().all(Token::is_blank)
}

/// Whether a bracket, a string or a comment is open at the end.
fn is_open(text: &str) -> bool {
    let mut depth = 0_usize;
    for token in tokens(text) {
        match token.kind {
            Kind::String { ends: false } | Kind::Comment { ends: false } => return true,
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_by_themselves_are_complete() {
        for text in [
            "",
            "?[a] := a = 1",
            "::relations",
            "%set a 1",
            "?[a] := a = '(' # [",
            "?[a] := a = _\"[\"_",
            ":create r {a}",
            ":limit 3",
            "quit",
            "\\d",
            "SELECT a FROM r",
            "?[a] :- r[a]",
            "%run f",
            "%nonsense",
            "# a remark\n?[a] := a = 1",
        ] {
            assert!(is_complete(text), "{text}");
        }
    }

    #[test]
    fn what_is_unfinished_asks_for_more() {
        for text in [
            " ?[a] := a = 1",
            "?[a,",
            "?[a] := a = '",
            "/* a",
            "{ ?[a] := a = 1",
            " r[a] := a = 1\n?[a] := r[a]",
            "%set n {",
            "?[a] :=",
            "?[a] := # comes",
            "?[a] := r[a],",
            "?[a] := a = 1 +",
            "r[a] := a = 1",
            "r[a] := a = 1;",
            ":order",
            "::columns",
            "CREATE TABLE r (",
        ] {
            assert!(!is_complete(text), "{text}");
            assert!(is_complete(&format!("{text}\n")), "an empty line ends it: {text}");
        }
    }

    #[test]
    fn statements_go_on_until_an_empty_line_or_a_semicolon() {
        for text in ["{ ?[a] := a = 1 }", "{}\n{}", "%if r %then {} %end", "%return r", "# {\n{}", "# only a remark"] {
            assert!(!is_complete(text) && is_complete(&format!("{text}\n")), "{text}");
        }
        assert!(is_complete("{ ?[a] := a = 1 }; # done") && !is_complete("{ ?[a] := a = 1; "));
    }

    #[test]
    fn a_semicolon_ends_what_does_not_begin_with_a_space() {
        for text in ["?[a] := a = 1;", "r[a] := a = 1\n?[a] := r[a];", "?[a] :=;", "::relations ; # all"] {
            assert!(is_complete(text), "{text}");
        }
        assert!(!is_complete(" ?[a] := r[a];"));
        assert_eq!(without_end("::relations ; # all"), "::relations   # all");
        assert_eq!(without_end("?[a] := a = ';' #;"), "?[a] := a = ';' #;");
    }

    #[test]
    fn remarks_alone_say_nothing() {
        assert!(["", "# a", "/* a */ # b\n"].into_iter().all(says_nothing));
        assert!(!["1", "# a\n{", "/* a"].into_iter().any(says_nothing));
    }

    #[test]
    fn scripts_have_roles() {
        let role = |script| Role::of(script);
        assert_eq!([role("?[a] := a = 1"), role("?[a] := a = 1 :limit 3")], [Role::Query; 2]);
        assert_eq!([role(":limit 3"), role(":put r {a}")], [Role::Options; 2]);
        assert_eq!(role(":create r {a}"), Role::Create);
        assert_eq!([role("::relations"), role("?[a] <- [[1]] :put r {a}"), role("{}"), role("?[")], [Role::Other; 4]);
    }
}
