//! Taking strings apart and putting them together.
//!
//! Positions and lengths count characters, as in `strings`. A result may be much larger than the arguments, so all of them are
//! built within the budget of the script, and none has more than a gigabyte.

use super::arguments::{Outcome, check_text, count, list, string, unexpected};
use super::convert;
use super::lists::push;
use super::strings::{characters, text_of};
use super::{Family, Function, kernels};
use crate::budget::{BYTES_PER_STEP, Stop, step};
use crate::value::{DataValue, TextBuilder};

pub(super) const FAMILY: Family = Family { title: "Parts of strings", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "index_of",
        &["x", "part"],
        "The position where a string first contains another, counted in characters from 0, or where a list first has a \
         value, by identity as in `is_in`; null if there is none.",
        &[
            ("index_of('naïve', 'v')", "3"),
            ("index_of('abc', 'z')", "null"),
            ("index_of([5, 7, 7], 7)", "1"),
            ("index_of('abc', 1)", ""),
        ],
        index_of,
    ),
    Function::new(
        "join",
        &["list", "separator"],
        "The elements of a list as one string, with a separator between them. Elements other than strings are converted as \
         by `to_string`; nulls are left out.",
        &[
            ("join(['a', 'b', 'c'], ', ')", "'a, b, c'"),
            ("join([1, null, 2.5], '-')", "'1-2.5'"),
            ("join([], ',')", "''"),
            ("join('ab', ',')", ""),
        ],
        join,
    )
    .making_much(),
    Function::new(
        "pad_end",
        &["text", "length", "fill?"],
        "The string filled up at its end to a length, with blanks or another text. A longer string stays as it is.",
        &[
            ("pad_end('ab', 4)", "'ab  '"),
            ("pad_end('1.', 5, '50')", "'1.505'"),
            ("pad_end('abc', 2)", "'abc'"),
            ("pad_end('a', -1)", ""),
        ],
        |args| pad("pad_end", args, false),
    )
    .making_much(),
    Function::new(
        "pad_start",
        &["text", "length", "fill?"],
        "The string filled up at its start to a length, with blanks or another text. A longer string stays as it is.",
        &[("pad_start('7', 3, '0')", "'007'"), ("pad_start('é', 3)", "'  é'"), ("pad_start(7, 3, '0')", "")],
        |args| pad("pad_start", args, true),
    )
    .making_much(),
    Function::new(
        "repeat",
        &["text", "n"],
        "The string repeated a number of times.",
        &[("repeat('ab', 3)", "'ababab'"), ("repeat('ab', 0)", "''"), ("repeat('ab', -1)", "")],
        repeat,
    )
    .making_much(),
    Function::new(
        "replace",
        &["text", "from", "to"],
        "The string with each occurrence of a text replaced by another text. `regex_replace_all` does the same for a \
         pattern.",
        &[("replace('a.b.c', '.', '::')", "'a::b::c'"), ("replace('abc', 'z', '')", "'abc'"), ("replace('abc', '', '-')", "")],
        |args| {
            let [text, from, to] = [0, 1, 2].map(|i| string("replace", args, i));
            let (text, from, to) = (text?, from?, to?);
            match from {
                "" => Err(unexpected("replace", args, 1, "a String that is not empty")),
                _ => Ok(replaced(text, from, to)?.into()),
            }
        },
    )
    .making_much()
    .with_kernel(kernels::strings::replace),
    Function::new(
        "split",
        &["text", "separator"],
        "The parts of a string between the occurrences of a separator, as a list. An empty separator gives the characters.",
        &[
            ("split('a,b,,c', ',')", "['a', 'b', '', 'c']"),
            ("split('abc', ', ')", "['abc']"),
            ("split('abc', '')", "['a', 'b', 'c']"),
            ("split(['a'], ',')", ""),
        ],
        split,
    )
    .making_much(),
];

fn index_of(args: &[DataValue]) -> Outcome {
    let found = match &args[0] {
        DataValue::Str(text) => {
            let part = string("index_of", args, 1)?;
            step(text.len() / BYTES_PER_STEP)?;
            text.find(part).map(|at| text[..at].chars().count())
        }
        DataValue::List(_) | DataValue::Json(_) => list("index_of", args, 0)?.iter().position(|item| *item == args[1]),
        _ => return Err(unexpected("index_of", args, 0, "a String, List or Json array")),
    };
    Ok(found.map_or(DataValue::Null, |position| (position as i64).into()))
}

fn join(args: &[DataValue]) -> Outcome {
    let (items, separator) = (list("join", args, 0)?, string("join", args, 1)?);
    let (mut joined, mut between) = (TextBuilder::default(), "");
    for item in items.iter().filter(|item| !item.is_null()) {
        joined.push_str(between)?;
        between = separator;
        match item {
            DataValue::Str(text) => joined.push_str(text)?,
            other => joined.push_str(&convert::text_of(other)?)?,
        }
    }
    Ok(joined.finish()?.into())
}

fn split(args: &[DataValue]) -> Outcome {
    let (text, separator) = (string("split", args, 0)?, string("split", args, 1)?);
    if separator.is_empty() {
        return Ok(DataValue::List(characters(text)?));
    }
    let mut parts = vec![];
    for part in text.split(separator) {
        step(part.len() / BYTES_PER_STEP + 1)?;
        push(&mut parts, text_of(part)?)?;
    }
    Ok(DataValue::List(parts))
}

/// The text with `to` for each `from`, which is not empty.
pub(super) fn replaced(text: &str, from: &str, to: &str) -> Result<String, Stop> {
    let (mut replaced, mut end) = (TextBuilder::default(), 0);
    for (at, found) in text.match_indices(from) {
        replaced.push_str(&text[end..at])?;
        replaced.push_str(to)?;
        end = at + found.len();
    }
    replaced.push_str(&text[end..])?;
    replaced.finish()
}

fn repeat(args: &[DataValue]) -> Outcome {
    let (text, times) = (string("repeat", args, 0)?, count("repeat", args, 1)?);
    let bytes = check_text("repeat", text.len().checked_mul(times))?;
    let mut repeated = TextBuilder::with_capacity(bytes)?;
    push_repeated(&mut repeated, text, times)?;
    Ok(repeated.finish()?.into())
}

/// Appends a text so many times.
fn push_repeated(builder: &mut TextBuilder, text: &str, times: usize) -> Result<(), Stop> {
    if text.is_empty() {
        return Ok(());
    }
    (0..times).try_for_each(|_| builder.push_str(text))
}

fn pad(function: &str, args: &[DataValue], at_start: bool) -> Outcome {
    let (text, length) = (string(function, args, 0)?, count(function, args, 1)?);
    let fill = if args.len() > 2 { string(function, args, 2)? } else { " " };
    let missing = length.saturating_sub(text.chars().count());
    let fill_length = fill.chars().count();
    if missing == 0 || fill_length == 0 {
        return Ok(text_of(text)?);
    }
    let (times, rest) = (missing / fill_length, missing % fill_length);
    let rest = fill.char_indices().nth(rest).map_or(fill, |(end, _)| &fill[..end]);
    let bytes = fill.len().checked_mul(times).and_then(|bytes| bytes.checked_add(rest.len() + text.len()));
    let mut padded = TextBuilder::with_capacity(check_text(function, bytes)?)?;
    if !at_start {
        padded.push_str(text)?;
    }
    push_repeated(&mut padded, fill, times)?;
    padded.push_str(rest)?;
    if at_start {
        padded.push_str(text)?;
    }
    Ok(padded.finish()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::FunctionError;

    #[test]
    fn padding_ends_in_the_middle_of_what_fills() {
        let padded = |at_start, length: i64| {
            pad("pad", &["ab".into(), length.into(), "é12".into()], at_start)
                .map_err(|error: FunctionError| error.to_string())
        };
        for (length, start, end) in
            [(2, "ab", "ab"), (3, "éab", "abé"), (5, "é12ab", "abé12"), (7, "é12é1ab", "abé12é1")]
        {
            assert_eq!(padded(true, length), Ok(start.into()));
            assert_eq!(padded(false, length), Ok(end.into()));
        }
        assert!(padded(true, i64::MAX).is_err_and(|error| error.contains("too long")));
    }
}
