//! A first walk over the text of a script. It leaves out comments and long lists of constants, bounds the nesting before anything
//! recurses, and finds where a script can be cut.
//!
//! [`prescan`] takes the script and returns the [`Condensed`] text that the grammar reads. `[[1]] # two` becomes `[[1]]  `. The
//! [`Scanner`] is a loop with a stack of open brackets, so that a megabyte of `[` or of `/*` costs no more than its length.
//!
//! | in the script | in the text | beside it |
//! |---|---|---|
//! | a comment | blanks | |
//! | a long string | an empty string | its place in the script |
//! | constants of a list | nothing | [`Elements`], as values or as rows |
//! | other elements of a long list | nothing | [`Elements`], as a text of their own |
//!
//! The grammar takes many times as much memory as it reads text. It therefore never reads a long script at once: it reads part
//! after part, from cut to cut. A cut stands where only a rule or a block can begin.

use super::condensed::{Condensed, Condenser, Elements, Mark};
use super::constants::Constants;
use super::error::ParseError;
use super::position::describe_position;
use super::strings::{skip_raw_string, skip_string};
use crate::budget;
use crate::diag::SourceSpan;

/// How deep brackets, `%if` and `%loop` may be nested together. The parser recurses once a level.
pub(super) const MAX_BRACKETS: usize = 128;

/// The elements of a list become a text of their own at this length.
const MAX_LIST_TEXT: usize = 1 << 15;

/// The content of a string literal is left out of the text from this length on.
const LONG_STRING: usize = 1 << 10;

/// Steps of the budget are counted in this many tokens.
const TOKENS_PER_STEP: usize = 1 << 8;

/// What the walk has found.
pub(super) struct Scanned<'s> {
    /// The script for the grammar.
    pub condensed: Condensed<'s>,
    /// Where rules of a query or blocks of an imperative script begin, as offsets in the condensed text. Not all are found.
    pub cuts: Vec<usize>,
    /// The first unmatched bracket, for the help of the error that will follow.
    pub unmatched: Option<Unmatched>,
}

/// A bracket without its partner.
#[derive(Clone, Copy)]
pub(super) struct Unmatched {
    /// The bracket.
    pub bracket: u8,
    /// Where it stands.
    pub offset: usize,
}

/// Walks over a script.
pub(super) fn prescan(source: &str) -> Result<Scanned<'_>, ParseError> {
    let mut scanner = Scanner {
        source,
        bytes: source.as_bytes(),
        at: 0,
        open: vec![],
        unmatched: None,
        condenser: Condenser::new(source),
        constants: Constants::new(source),
        before: [Token::Sign(b';'); 2],
        head: None,
        cuts: vec![],
    };
    while scanner.at < scanner.bytes.len() {
        for _ in 0..TOKENS_PER_STEP {
            if scanner.at < scanner.bytes.len() {
                scanner.token()?;
            }
        }
        budget::step(TOKENS_PER_STEP)?;
    }
    let never_closed = scanner.open.iter().map(|open| open.unmatched).find(|open| open.bracket != BLOCK);
    let unmatched = scanner.unmatched.or(never_closed);
    Ok(Scanned { condensed: scanner.condenser.finish(), cuts: scanner.cuts, unmatched })
}

/// Stands on the stack for `%if` and `%loop`.
const BLOCK: u8 = b'%';

/// A bracket that is open.
struct Open {
    unmatched: Unmatched,
    /// For lists: where the elements begin that are not in a text of their own.
    list: Option<Mark>,
}

/// The kinds of tokens that the walk tells apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    /// A name, perhaps of a rule, and where it begins.
    Name(usize),
    /// `in`, `and`, `or` or `not`: a value follows.
    Connective,
    /// A literal, or another word.
    Value,
    /// A bracket or a sign.
    Sign(u8),
}

struct Scanner<'s> {
    source: &'s str,
    bytes: &'s [u8],
    at: usize,
    open: Vec<Open>,
    unmatched: Option<Unmatched>,
    condenser: Condenser<'s>,
    constants: Constants<'s>,
    /// The last two tokens, the last one first.
    before: [Token; 2],
    /// Where the head of a rule may have begun, in the condensed text.
    head: Option<usize>,
    cuts: Vec<usize>,
}

impl Scanner<'_> {
    fn token(&mut self) -> Result<(), ParseError> {
        let byte = self.bytes[self.at];
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {
                self.at += 1;
                return Ok(());
            }
            b'#' => return self.line_comment(),
            b'/' if self.bytes[self.at..].starts_with(b"/*") => return self.block_comment(),
            b'"' | b'\'' => self.string(byte)?,
            b'[' | b'(' | b'{' => self.open(byte, 1)?,
            b']' | b')' | b'}' => self.close(byte),
            b'%' => self.percent()?,
            _ if is_word(byte) => self.word()?,
            _ => {
                self.at += 1;
                self.note(Token::Sign(byte));
            }
        }
        if byte == b',' {
            self.next_element()?;
        }
        Ok(())
    }

    fn note(&mut self, token: Token) {
        self.before = [token, self.before[0]];
    }

    fn line_comment(&mut self) -> Result<(), ParseError> {
        let start = self.at;
        let rest = &self.bytes[start..];
        self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        self.condenser.replace(start..self.at, " ");
        Ok(())
    }

    fn block_comment(&mut self) -> Result<(), ParseError> {
        let start = self.at;
        let mut depth = 0usize;
        loop {
            match &self.bytes[self.at..] {
                [b'/', b'*', ..] => depth += 1,
                [b'*', b'/', ..] => depth -= 1,
                [_, ..] => {
                    self.at += 1;
                    continue;
                }
                [] => return Err(self.never_closed("comment", start, "*/")),
            }
            self.at += 2;
            if depth == 0 {
                self.condenser.replace(start..self.at, " ");
                return Ok(());
            }
        }
    }

    fn string(&mut self, quote: u8) -> Result<(), ParseError> {
        let start = self.at;
        let closer = if quote == b'"' { "\"" } else { "'" };
        self.at = skip_string(self.bytes, start).ok_or_else(|| self.never_closed("string", start, closer))?;
        self.literal(start + 1, self.at - 1);
        Ok(())
    }

    /// Records a literal between two offsets. The grammar does not see the content of a long one.
    fn literal(&mut self, start: usize, end: usize) {
        if end - start >= LONG_STRING {
            self.condenser.replace(start..end, "");
        }
        self.note(Token::Value);
    }

    /// A name, a number, or the underscores that begin a raw string.
    fn word(&mut self) -> Result<(), ParseError> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| is_word(*byte)) {
            self.at += 1;
        }
        let word = &self.bytes[start..self.at];
        if self.bytes.get(self.at) == Some(&b'"') && word.iter().all(|byte| *byte == b'_') {
            return self.raw_string(start, word.len());
        }
        self.note(match word {
            b"in" | b"and" | b"or" | b"not" => Token::Connective,
            b"null" | b"true" | b"false" => Token::Value,
            _ if word[0].is_ascii_digit() => Token::Value,
            _ => Token::Name(start),
        });
        Ok(())
    }

    fn raw_string(&mut self, start: usize, underscores: usize) -> Result<(), ParseError> {
        let closer = "a quote and as many underscores as before it";
        let end = skip_raw_string(self.bytes, start, underscores);
        self.at = end.ok_or_else(|| self.never_closed("raw string", start, closer))?;
        self.literal(start + underscores + 1, self.at - underscores - 1);
        Ok(())
    }

    /// `%if` and `%loop` open a level that `%end` closes. Inside brackets the sign is that of the remainder.
    fn percent(&mut self) -> Result<(), ParseError> {
        let start = self.at;
        self.at += 1;
        self.note(Token::Sign(BLOCK));
        let rest = &self.bytes[self.at..];
        let word = &rest[..rest.iter().take(8).take_while(|byte| is_word(**byte)).count()];
        if self.open.last().is_none_or(|open| open.unmatched.bracket == BLOCK) {
            match word {
                b"if" | b"if_not" | b"loop" => {
                    self.at = start;
                    self.open(BLOCK, 1 + word.len())?;
                }
                b"end" => {
                    self.open.pop();
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn open(&mut self, bracket: u8, len: usize) -> Result<(), ParseError> {
        if self.open.len() == MAX_BRACKETS {
            let what = "levels of brackets and blocks";
            return Err(ParseError::NestingTooDeep { what, limit: MAX_BRACKETS, span: SourceSpan(self.at, len) });
        }
        if self.open.is_empty() {
            self.find_cut(bracket);
        }
        let is_list = bracket == b'[' && self.value_follows();
        let unmatched = Unmatched { bracket, offset: self.at };
        self.at += len;
        let list = is_list.then(|| self.condenser.mark(self.at));
        let is_data = self.before == [Token::Sign(b'-'), Token::Sign(b'<')];
        self.open.push(Open { unmatched, list });
        self.note(Token::Sign(bracket));
        if is_list { self.begin_list(is_data) } else { Ok(()) }
    }

    /// Whether a value can stand here. Only then does `[` begin a list.
    fn value_follows(&self) -> bool {
        match self.before[0] {
            Token::Connective => true,
            Token::Name(_) | Token::Value => false,
            Token::Sign(sign) => !matches!(sign, b']' | b')' | b'}' | b'?' | b';'),
        }
    }

    fn begin_list(&mut self, is_data: bool) -> Result<(), ParseError> {
        let depth = self.open.len();
        let start = self.at;
        match if is_data { self.constants.rows(start, depth)? } else { None } {
            Some(rows) => self.leave_out(rows.elements, rows.end),
            None => self.skip_constants()?,
        }
        Ok(())
    }

    /// Reads the elements of a list from here on that are constants.
    fn skip_constants(&mut self) -> Result<(), ParseError> {
        if let Some(run) = self.constants.run(self.at, self.open.len())? {
            self.leave_out(run.elements, run.end);
        }
        Ok(())
    }

    fn leave_out(&mut self, elements: Elements, end: usize) {
        self.condenser.leave_out(self.at..end, elements);
        self.at = end;
    }

    /// Called after a comma: begins the next element, if a list is open.
    fn next_element(&mut self) -> Result<(), ParseError> {
        let Some(Open { list: Some(begin), .. }) = self.open.last() else { return Ok(()) };
        let begin = *begin;
        if self.condenser.mark(self.at).text - begin.text > MAX_LIST_TEXT {
            self.condenser.split_off(begin, self.at);
            let begin = self.condenser.mark(self.at);
            self.open.iter_mut().rev().take(1).for_each(|open| open.list = Some(begin));
        }
        self.skip_constants()
    }

    /// Finds whether the outermost bracket here belongs to a rule's head or a block, before which the script can be cut. No
    /// complete rule continues with a name and a bracket, and no block continues with another.
    fn find_cut(&mut self, bracket: u8) {
        self.head = None;
        let begin = match (bracket, self.before) {
            (b'[', [Token::Name(start), Token::Name(_) | Token::Value]) => start,
            (b'[', [Token::Name(start), Token::Sign(b']' | b')' | b'}' | b';')]) => start,
            (b'[', [Token::Sign(b'?'), _]) if self.bytes[self.at - 1] == b'?' => self.at - 1,
            (b'{', [Token::Sign(b'}'), _]) => {
                self.cuts.extend(self.condenser.offset(self.at));
                return;
            }
            _ => return,
        };
        self.head = self.condenser.offset(begin);
    }

    fn close(&mut self, bracket: u8) {
        let partner = self.open.last().map(|open| closing(open.unmatched.bracket));
        if partner == Some(bracket) {
            self.open.pop();
        } else if self.unmatched.is_none() {
            let closer = Unmatched { bracket, offset: self.at };
            // In `(1, 2]` the round bracket lacks its partner, unless no bracket is open.
            let open = self.open.last().map(|open| open.unmatched).filter(|open| open.bracket != BLOCK);
            self.unmatched = Some(open.unwrap_or(closer));
        }
        self.at += 1;
        self.note(Token::Sign(bracket));
        if self.open.is_empty()
            && let Some(head) = self.head.take()
        {
            let rest = self.bytes[self.at..].trim_ascii_start();
            let is_head = [&b":="[..], b"<-", b"<~"].iter().any(|sign| rest.starts_with(sign));
            self.cuts.extend(is_head.then_some(head));
        }
    }

    fn never_closed(&self, what: &str, start: usize, closer: &str) -> ParseError {
        let message = format!("the {what} that begins at {} is never closed", describe_position(self.source, start));
        let help = if closer.len() > 2 { format!("end it with {closer}") } else { format!("end it with `{closer}`") };
        ParseError::syntax(message, start, "begins here", help)
    }
}

/// Bytes of names and numbers; bytes beyond ASCII are taken for letters.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// The bracket that closes another.
pub(super) fn closing(bracket: u8) -> u8 {
    match bracket {
        b'[' => b']',
        b'(' => b')',
        b'{' => b'}',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_blanks() {
        for (source, text) in [
            ("a # b\nc", "a  \nc"),
            ("a /* é /* x */ */ b", "a   b"),
            ("'#' \"/*\" _\"#\"_", "'#' \"/*\" _\"#\"_"),
            ("'a\\'#' # x", "'a\\'#'  "),
            ("__\"#\"_#\"__#", "__\"#\"_#\"__ "),
        ] {
            let condensed = prescan(source).unwrap_or_else(|error| panic!("{source}: {error}")).condensed;
            assert_eq!(condensed.text, text);
            assert_eq!(condensed.place(condensed.text.len()), source.len());
            let last = condensed.text.rfind(['b', 'c']).unwrap_or_default();
            assert_eq!(source.as_bytes()[condensed.place(last)], text.as_bytes()[last], "{source}");
        }
    }

    #[test]
    fn long_lists_and_strings_are_left_out() {
        let numbers = vec!["7"; 100].join(", ");
        let text = "x".repeat(2000);
        for (source, expected) in [
            (format!("?[a] <- [{numbers}]"), "?[a] <- []"),
            (format!("x in[{numbers}, y, {numbers},] or r[{numbers}]"), &*format!("x in[ y,] or r[{numbers}]")),
            (format!("f('{text}', [[{numbers}, -'x'], {numbers}])"), "f('', [[ -'x'],])"),
            (format!("x = [{numbers} + 1, [{numbers}]"), "x = [ 7 + 1, []"),
        ] {
            let condensed = prescan(&source).unwrap_or_else(|error| panic!("{source}: {error}")).condensed;
            assert_eq!(condensed.text, expected);
            for (at, byte) in condensed.text.bytes().enumerate() {
                assert_eq!(source.as_bytes()[condensed.place(at)], byte, "{source} at {at}");
            }
        }
    }

    #[test]
    fn a_script_is_cut_where_rules_and_blocks_begin() {
        for (source, cuts) in [
            ("a[x] := b[x] c[x] <- [[1]] ?[x] := a[x], ?[y] := c[x]", &[0, 13, 27, 41][..]),
            ("a[x] := b[x], c[x] := d[x]", &[0]),
            ("?[x] := x in r[1]<-[1] not s[x] <- [] :put r {x} t[] <~ F()", &[0, 49]),
            ("{?[x] := r[x]} {a[x] := b[x] c[x] := d[x]} %if {} {} %end {}", &[15]),
        ] {
            let scanned = prescan(source).unwrap_or_else(|error| panic!("{source}: {error}"));
            assert_eq!(scanned.cuts, cuts, "{source}");
        }
    }

    #[test]
    fn what_is_never_closed_is_an_error() {
        for source in ["/*", "/* /* */", "\"a", "'a\\'", "_\"a\"", "__\"a\"_", "\"a\\"] {
            assert!(matches!(prescan(source), Err(ParseError::Syntax { .. })), "{source}");
        }
    }

    #[test]
    fn the_unmatched_bracket_is_named() {
        for (source, expected) in
            [("[[1]", Some((b'[', 0))), ("(1, 2]", Some((b'(', 0))), ("1)", Some((b')', 1))), ("[(1)]{}", None)]
        {
            let unmatched = prescan(source).unwrap_or_else(|error| panic!("{source}: {error}")).unmatched;
            assert_eq!(unmatched.map(|it| (it.bracket, it.offset)), expected, "{source}");
        }
    }
}
