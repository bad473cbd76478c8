//! When an input is complete.
//!
//! A line that begins with a space opens an input of several lines, and so does an open bracket, string or comment.
//! An empty line ends any input.

use super::tokens::{Kind, tokens};

/// Whether Enter after this text runs it.
pub fn is_complete(text: &str) -> bool {
    let opens = text.starts_with([' ', '\t']) || is_open(text);
    let ended_by_empty_line = text.rsplit_once('\n').is_none_or(|(_, last)| last.trim().is_empty());
    text.trim().is_empty() || !opens || (text.contains('\n') && ended_by_empty_line)
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
    fn an_empty_line_ends_any_input() {
        assert!(is_complete(" ?[a] := a = 1\n"));
        assert!(is_complete("?[a,\n"));
        assert!(is_complete("?[a,\nb] := a = 1, b = 2"));
    }
}
