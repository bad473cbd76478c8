//! The margin of lines that continue an input: a prompt of their own.
//!
//! The line editor has a prompt for the first line only. So Enter in an input that is not finished inserts, behind the line break,
//! as many no-break spaces as the prompt has characters, which nobody types. They are drawn as [`CONTINUED`], and taken out of what
//! is run.

use std::borrow::Cow;

/// What is drawn before further lines of an input, as wide as the prompt.
pub const CONTINUED: &str = ".. ";

/// What stands in the text for it.
const MARGIN: &str = "\u{a0}\u{a0}\u{a0}";

const SPACE: char = '\u{a0}';

/// A line break, and the margin of the line behind it.
pub fn line_break() -> String {
    format!("\n{MARGIN}")
}

/// How many characters Backspace removes, if it joins a line with the one before.
pub fn to_join(before_cursor: &str) -> Option<u16> {
    before_cursor.ends_with(&line_break()).then(|| line_break().chars().fold(0, |characters, _| characters + 1))
}

/// The text without margins, whole ones and what is left of others.
pub fn without(text: &str) -> Cow<'_, str> {
    if !text.contains(SPACE) {
        return Cow::Borrowed(text);
    }
    let whole = text.replace(MARGIN, "");
    Cow::Owned(whole.split('\n').map(|line| line.trim_start_matches(SPACE)).collect::<Vec<_>>().join("\n"))
}

/// The text with margins as they are drawn.
pub fn drawn(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains(MARGIN) { Cow::Owned(text.replace(MARGIN, CONTINUED)) } else { text }
}

/// Whether there is something to draw.
pub fn is_in(text: &str) -> bool {
    text.contains(MARGIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_are_drawn_and_taken_out() {
        let text = format!("a{}  b{}", line_break(), line_break());
        assert_eq!(drawn(Cow::Borrowed(&text)), "a\n..   b\n.. ");
        assert_eq!(without(&text), "a\n  b\n");
        assert_eq!((to_join(&text), to_join("a\n")), (Some(4), None));
        assert_eq!(without("a\n\u{a0}b\u{a0}c"), "a\nb\u{a0}c", "half a margin is none, and other texts keep theirs");
    }
}
