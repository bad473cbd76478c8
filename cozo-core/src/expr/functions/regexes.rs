//! Regular expressions in the dialect of the `regex` crate: no look-around and no back-references, so that a search
//! takes time linear in the text.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use regex::Regex;

use super::arguments::{fail, string, unexpected};
use super::{Family, Function, kernels};
use crate::expr::FunctionError;
use crate::value::{DataValue, SmallStr};

pub(super) const FAMILY: Family = Family { title: "Regular expressions", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "regex_extract",
        &["text", "regex"],
        "All matches of a pattern in a string, as a list.",
        &[("regex_extract('a1b22', '[0-9]+')", "['1', '22']"), ("regex_extract('abc', '[0-9]')", "[]")],
        |args| {
            let (text, regex) = text_and_regex("regex_extract", args)?;
            Ok(DataValue::List(regex.find_iter(text).map(|found| found.as_str().into()).collect()))
        },
    ),
    Function::new(
        "regex_extract_first",
        &["text", "regex"],
        "The first match of a pattern in a string; null if there is none.",
        &[("regex_extract_first('a1b22', '[0-9]+')", "'1'"), ("regex_extract_first('abc', '[0-9]')", "null")],
        |args| {
            let (text, regex) = text_and_regex("regex_extract_first", args)?;
            Ok(regex.find(text).map_or(DataValue::Null, |found| found.as_str().into()))
        },
    ),
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
            Ok(regex.replace(text, string("regex_replace", args, 2)?).into_owned().into())
        },
    ),
    Function::new(
        "regex_replace_all",
        &["text", "regex", "replacement"],
        "The string with all matches of a pattern replaced; `$1` or `${name}` stand for groups, `$$` for a dollar.",
        &[("regex_replace_all('a1b22', '[0-9]+', '#')", "'a#b#'")],
        |args| {
            let (text, regex) = text_and_regex("regex_replace_all", args)?;
            Ok(regex.replace_all(text, string("regex_replace_all", args, 2)?).into_owned().into())
        },
    ),
];

/// How many patterns a thread keeps compiled; a query rarely has more than a few.
const KEPT_PATTERNS: usize = 128;

thread_local! {
    /// Compiled patterns by their text. A copy for each thread needs no lock, neither here nor inside the expressions.
    static COMPILED: RefCell<HashMap<SmallStr, Rc<Regex>>> = RefCell::default();
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
    COMPILED.with_borrow_mut(|compiled| {
        if let Some(regex) = compiled.get(pattern) {
            return Ok(regex.clone());
        }
        let regex =
            Regex::new(pattern).or_else(|error| fail(function, format!("not a regular expression: {error}")))?;
        let regex = Rc::new(regex);
        if compiled.len() >= KEPT_PATTERNS {
            compiled.clear();
        }
        compiled.insert(pattern.into(), regex.clone());
        Ok(regex)
    })
}
