//! When an input is complete.
//!
//! An input goes on after Enter where
//!
//! * it begins with a space,
//! * a bracket, a string or a comment is open,
//! * it begins with `{` or a word such as `%if`: it is a script of statements, and others may follow,
//! * there is nothing but comments yet.
//!
//! An empty line ends any input.

use cozo::parse::CONTROL_WORDS;

use super::tokens::{Kind, Token, tokens};

/// Whether Enter after this text runs it.
pub fn is_complete(text: &str) -> bool {
    let opens = text.starts_with([' ', '\t']) || is_open(text) || expects_statements(text);
    let ended_by_empty_line = text.rsplit_once('\n').is_none_or(|(_, last)| last.trim().is_empty());
    text.trim().is_empty() || !opens || (text.contains('\n') && ended_by_empty_line)
}

/// Whether there is nothing to run.
pub fn says_nothing(text: &str) -> bool {
    first_word(text).is_none() && !is_open(text)
}

/// Whether statements may follow those that are there, or the first has not come yet.
fn expects_statements(text: &str) -> bool {
    match first_word(text) {
        Some(word) => word == "{" || CONTROL_WORDS.iter().any(|control| control.name == word),
        None => true,
    }
}

/// The first token that is no space and no comment.
fn first_word(text: &str) -> Option<&str> {
    let is_blank = |token: &Token| matches!(token.kind, Kind::Space | Kind::Comment { .. });
    tokens(text).into_iter().find(|token| !is_blank(token)).map(|token| &text[token.place])
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
        for text in ["", "?[a] := a = 1", "::relations", "%set a 1", "?[a] := a = '(' # [", "?[a] := a = _\"[\"_"] {
            assert!(is_complete(text), "{text}");
        }
    }

    #[test]
    fn open_ends_ask_for_more() {
        for text in
            [" ?[a] := a = 1", "?[a,", "?[a] := a = '", "/* a", "{ ?[a] := a = 1", " r[a] := a = 1\n?[a] := r[a]"]
        {
            assert!(!is_complete(text), "{text}");
        }
    }

    #[test]
    fn statements_go_on_until_an_empty_line() {
        for text in ["{ ?[a] := a = 1 }", "{}\n{}", "%if r %then {} %end", "%return r", "# {\n{}", "# only a remark"] {
            assert!(!is_complete(text) && is_complete(&format!("{text}\n")), "{text}");
        }
        for text in ["%run f", "%set n {", "%nonsense", "# a remark\n?[a] := a = 1"] {
            assert_eq!(is_complete(text), !text.ends_with('{'), "{text}");
        }
    }

    #[test]
    fn remarks_alone_say_nothing() {
        assert!(["", "# a", "/* a */ # b\n"].into_iter().all(says_nothing));
        assert!(!["1", "# a\n{", "/* a"].into_iter().any(says_nothing));
    }

    #[test]
    fn an_empty_line_ends_any_input() {
        assert!(is_complete(" ?[a] := a = 1\n"));
        assert!(is_complete("?[a,\n"));
        assert!(is_complete("?[a,\nb] := a = 1, b = 2"));
    }
}
