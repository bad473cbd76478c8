//! When an input is complete.
//!
//! A line that begins with a space opens an input of several lines, and so does an open bracket, string or comment.
//! An empty line ends any input.

/// Whether Enter after this text runs it.
pub fn is_complete(text: &str) -> bool {
    let opens = text.starts_with([' ', '\t']) || is_open(text);
    let ended_by_empty_line = text.rsplit_once('\n').is_none_or(|(_, last)| last.trim().is_empty());
    text.trim().is_empty() || !opens || (text.contains('\n') && ended_by_empty_line)
}

/// Whether a bracket, a string or a comment is open at the end.
fn is_open(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let len = match next {
            '(' | '[' | '{' => {
                depth += 1;
                1
            }
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                1
            }
            _ => match span(rest, next) {
                Some(len) => len,
                None => return true,
            },
        };
        rest = &rest[len..];
    }
    depth > 0
}

/// The length of the string, comment or other character at the start; none if it does not end.
fn span(rest: &str, next: char) -> Option<usize> {
    match next {
        '"' | '\'' => string(rest, next),
        '#' => Some(rest.find('\n').unwrap_or(rest.len())),
        '/' if rest.starts_with("/*") => rest.find("*/").map(|end| end + 2),
        '_' => raw_string(rest),
        _ => Some(next.len_utf8()),
    }
}

fn string(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
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
fn raw_string(rest: &str) -> Option<usize> {
    let underscores = rest.len() - rest.trim_start_matches('_').len();
    if !rest[underscores..].starts_with('"') {
        return Some(underscores);
    }
    let closing = format!("\"{}", "_".repeat(underscores));
    let start = underscores + 1;
    rest[start..].find(&closing).map(|end| start + end + closing.len())
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
