//! Regular expressions in the dialect of the `regex` crate: no look-around and no back-references, so that a search
//! takes time linear in the text.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use regex::{Captures, Regex, RegexBuilder};

use super::arguments::{Outcome, fail, string, unexpected};
use super::lists::push;
use super::strings::text_of;
use super::{Family, Function, kernels};
use crate::budget::{Stop, make_room, step, temporary};
use crate::expr::FunctionError;
use crate::value::{DataValue, SmallStr, TextBuilder, allocated};

pub(super) const FAMILY: Family = Family { title: "Regular expressions", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "regex_extract",
        &["text", "regex"],
        "All matches of a pattern in a string, as a list.",
        &[("regex_extract('a1b22', '[0-9]+')", "['1', '22']"), ("regex_extract('abc', '[0-9]')", "[]")],
        |args| {
            let (text, regex) = text_and_regex("regex_extract", args)?;
            extract(text, &regex)
        },
    )
    .making_much(),
    Function::new(
        "regex_extract_first",
        &["text", "regex"],
        "The first match of a pattern in a string; null if there is none.",
        &[("regex_extract_first('a1b22', '[0-9]+')", "'1'"), ("regex_extract_first('abc', '[0-9]')", "null")],
        |args| {
            let (text, regex) = text_and_regex("regex_extract_first", args)?;
            Ok(regex.find(text).map(|found| text_of(found.as_str())).transpose()?.unwrap_or_default())
        },
    ),
    Function::new(
        "regex_groups",
        &["text", "regex"],
        "The texts of the groups of a pattern in its first match, as a list; null if there is no match. A group that did \
         not match is null; `regex_extract_first` gives the whole match.",
        &[
            ("regex_groups('on 2024-05-01', '([0-9]+)-([0-9]+)')", "['2024', '05']"),
            ("regex_groups('b', '(a)|(b)')", "[null, 'b']"),
            ("regex_groups('abc', '([0-9])')", "null"),
            ("regex_groups('a', '(')", ""),
        ],
        |args| {
            let (text, regex) = text_and_regex("regex_groups", args)?;
            Ok(regex.captures(text).map(|captures| groups(&captures)).transpose()?.unwrap_or_default())
        },
    )
    .making_much(),
    Function::new(
        "regex_groups_all",
        &["text", "regex"],
        "The lists of `regex_groups` for all matches of a pattern, as a list.",
        &[
            ("regex_groups_all('a=1, b=2', '([a-z])=([0-9])')", "[['a', '1'], ['b', '2']]"),
            ("regex_groups_all('abc', '([0-9])')", "[]"),
        ],
        |args| {
            let (text, regex) = text_and_regex("regex_groups_all", args)?;
            let mut found = vec![];
            for captures in regex.captures_iter(text) {
                search(text)?;
                push(&mut found, groups(&captures)?)?;
            }
            Ok(DataValue::List(found))
        },
    )
    .making_much(),
    Function::new(
        "regex_matches",
        &["text", "regex"],
        "Whether a pattern matches anywhere in a string.",
        &[
            ("regex_matches('hello42', 'l+o[0-9]')", "true"),
            ("regex_matches('hello', '^ell')", "false"),
            ("regex_matches('a', '[')", ""),
        ],
        |args| {
            let (text, regex) = text_and_regex("regex_matches", args)?;
            Ok(regex.is_match(text).into())
        },
    )
    .with_kernel(kernels::strings::regex_matches),
    Function::new(
        "regex_replace",
        &["text", "regex", "replacement"],
        "The string with the first match of a pattern replaced; `$1` or `${name}` stand for groups, `$$` for a dollar.",
        &[
            ("regex_replace('john smith', '(\\\\w+) (\\\\w+)', '$2 $1')", "'smith john'"),
            ("regex_replace('aaa', 'a', 'b')", "'baa'"),
        ],
        |args| {
            let (text, regex) = text_and_regex("regex_replace", args)?;
            replace(text, &regex, string("regex_replace", args, 2)?, 1)
        },
    )
    .making_much(),
    Function::new(
        "regex_replace_all",
        &["text", "regex", "replacement"],
        "The string with all matches of a pattern replaced; `$1` or `${name}` stand for groups, `$$` for a dollar.",
        &[("regex_replace_all('a1b22', '[0-9]+', '#')", "'a#b#'")],
        |args| {
            let (text, regex) = text_and_regex("regex_replace_all", args)?;
            replace(text, &regex, string("regex_replace_all", args, 2)?, usize::MAX)
        },
    )
    .making_much(),
];

/// A search reads the rest of the text: this many bytes of it count as a step.
const BYTES_PER_STEP: usize = 1024;

/// The least cost of a search, in steps.
const STEPS_PER_SEARCH: usize = 32;

/// Charges the budget for one search of a text.
fn search(text: &str) -> Result<(), Stop> {
    step(STEPS_PER_SEARCH + text.len() / BYTES_PER_STEP)
}

fn extract(text: &str, regex: &Regex) -> Outcome {
    let mut found = vec![];
    for part in regex.find_iter(text) {
        search(text)?;
        push(&mut found, text_of(part.as_str())?)?;
    }
    Ok(DataValue::List(found))
}

/// The texts of the groups of a match.
fn groups(captures: &Captures<'_>) -> Result<DataValue, Stop> {
    // The whole match counts as a group.
    let length = captures.len() - 1;
    make_room(allocated(length * size_of::<DataValue>()))?;
    let mut texts = Vec::with_capacity(length);
    for group in captures.iter().skip(1) {
        texts.push(group.map(|group| text_of(group.as_str())).transpose()?.unwrap_or_default());
    }
    Ok(DataValue::List(texts))
}

/// The text with so many matches replaced.
fn replace(text: &str, regex: &Regex, replacement: &str, limit: usize) -> Outcome {
    let parts = parts(replacement);
    let (mut replaced, mut end) = (TextBuilder::default(), 0);
    for captures in regex.captures_iter(text).take(limit) {
        search(text)?;
        let whole = captures.get_match();
        replaced.push_str(&text[end..whole.start()])?;
        for part in &parts {
            expand(part, &captures, &mut replaced)?;
        }
        end = whole.end();
    }
    replaced.push_str(&text[end..])?;
    Ok(replaced.finish()?.into())
}

/// A replacement cut into plain text and references to groups, each of which gives no more than the match.
fn parts(replacement: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (vec![], replacement);
    while let Some(dollar) = rest.find('$') {
        parts.push(&rest[..dollar]);
        let reference = &rest[dollar..];
        let is_of_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
        let length = match reference[1..].chars().next() {
            Some('$') => 2,
            Some('{') => reference.find('}').map_or(1, |end| end + 1),
            _ => 1 + reference[1..].find(|c| !is_of_name(c)).unwrap_or(reference.len() - 1),
        };
        let (reference, after) = reference.split_at(length);
        parts.push(reference);
        rest = after;
    }
    parts.push(rest);
    parts.retain(|part| !part.is_empty());
    parts
}

/// Appends the text of a part of a replacement.
fn expand(part: &str, captures: &Captures<'_>, text: &mut TextBuilder) -> Result<(), Stop> {
    if !part.starts_with('$') {
        return text.push_str(part);
    }
    make_room(captures.get_match().len())?;
    let mut expanded = String::new();
    captures.expand(part, &mut expanded);
    text.push_str(&expanded)
}

/// How many patterns a thread keeps compiled; a query rarely has more than a few.
const KEPT_PATTERNS: usize = 64;

/// Compiled patterns that take more than this are large: of those a thread keeps one.
const SMALL_PATTERN_BYTES: usize = 1 << 18;

/// The most that a compiled pattern may take.
const MAX_PATTERN_BYTES: usize = 10 << 20;

/// The most bytes that the text of a pattern may have: more would not fit into a compiled pattern.
const MAX_PATTERN_TEXT: usize = MAX_PATTERN_BYTES / 16;

/// The bytes that a byte of a pattern takes while the pattern is compiled.
const PARSED_BYTES: usize = 256;

/// The most bytes that a search with a pattern keeps for the next search.
const MAX_SEARCH_BYTES: usize = 1 << 20;

/// Compiled patterns by their text.
#[derive(Default)]
struct Patterns {
    small: HashMap<SmallStr, Rc<Regex>>,
    large: Option<(SmallStr, Rc<Regex>)>,
}

thread_local! {
    /// Each thread has its own copy, so neither the map nor the expressions need a lock.
    static COMPILED: RefCell<Patterns> = RefCell::default();
}

impl Patterns {
    fn get(&self, pattern: &str) -> Option<Rc<Regex>> {
        let large = || self.large.as_ref().filter(|(large, _)| large == pattern).map(|(_, regex)| regex);
        self.small.get(pattern).or_else(large).cloned()
    }

    fn compile(&mut self, function: &str, pattern: &str) -> Result<Rc<Regex>, FunctionError> {
        if pattern.len() > MAX_PATTERN_TEXT {
            return fail(
                function,
                format!("the regular expression has {} bytes: at most {MAX_PATTERN_TEXT} are allowed", pattern.len()),
            );
        }
        let parsing = temporary();
        make_room(pattern.len() * PARSED_BYTES)?;
        let compiled = self.compile_and_keep(function, pattern);
        drop(parsing);
        compiled
    }

    fn compile_and_keep(&mut self, function: &str, pattern: &str) -> Result<Rc<Regex>, FunctionError> {
        if let Ok(regex) = compile(pattern, SMALL_PATTERN_BYTES) {
            if self.small.len() >= KEPT_PATTERNS {
                self.small.clear();
            }
            self.small.insert(pattern.into(), regex.clone());
            return Ok(regex);
        }
        make_room(MAX_PATTERN_BYTES)?;
        self.large = None;
        let regex = compile(pattern, MAX_PATTERN_BYTES)
            .or_else(|error| fail(function, format!("not a regular expression: {error}")))?;
        self.large = Some((pattern.into(), regex.clone()));
        Ok(regex)
    }
}

fn compile(pattern: &str, most_bytes: usize) -> Result<Rc<Regex>, regex::Error> {
    let regex = RegexBuilder::new(pattern).size_limit(most_bytes).dfa_size_limit(MAX_SEARCH_BYTES).build();
    regex.map(Rc::new)
}

/// Argument 1 as a string and argument 2 as a pattern.
fn text_and_regex<'a>(function: &str, args: &'a [DataValue]) -> Result<(&'a str, Rc<Regex>), FunctionError> {
    let text = string(function, args, 0)?;
    match &args[1] {
        DataValue::Str(pattern) => Ok((text, compiled(function, pattern)?)),
        DataValue::Regex(regex) => Ok((text, compiled(function, regex.0.as_str())?)),
        _ => Err(unexpected(function, args, 1, "a String")),
    }
}

/// The pattern, compiled now or before.
pub(super) fn compiled(function: &str, pattern: &str) -> Result<Rc<Regex>, FunctionError> {
    COMPILED.with_borrow_mut(|patterns| match patterns.get(pattern) {
        Some(regex) => Ok(regex),
        None => patterns.compile(function, pattern),
    })
}
