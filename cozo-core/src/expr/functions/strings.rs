//! Strings, by Unicode scalar values.
//!
//! Each entry of `FUNCTIONS` has the body of a function on values, and perhaps a kernel over columns of strings
//! (`kernels/strings.rs`). The helpers below make room in the budget before they allocate, since a result may be larger than its
//! arguments, and look at the clock once for each `PIECE` of a long text.
//!
//! Characters are scalar values, not bytes or grapheme clusters. Upper and lower case follow Unicode; a text is converted in
//! pieces, cut only where the result does not depend on the neighbours.

use std::borrow::Cow;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use super::arguments::{Outcome, fail, int, list, string, unexpected};
use super::lists::joined;
use super::{Family, Function, json, kernels};
use crate::budget::{BYTES_PER_STEP, Stop, make_room, step};
use crate::expr::FunctionError;
use crate::text::SnippetStyle;
use crate::value::{DataValue, JsonData, SmallStr, TextBuilder, allocated, copy_json, json_bytes};

pub(super) const FAMILY: Family = Family { title: "Strings", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "chars",
        &["text"],
        "The characters of a string as a list of strings.",
        &[("chars('aé')", "['a', 'é']"), ("chars(12)", "")],
        |args| Ok(DataValue::List(characters(string("chars", args, 0)?)?)),
    )
    .making_much(),
    Function::new(
        "concat",
        &["x", "more..."],
        "Joins Strings, Lists or Json values; the first argument decides which of these. Json objects are merged key by \
         key, at all levels, and Json arrays are joined; of other Json values the last wins.",
        &[
            ("'ab' ++ 'c'", "'abc'"),
            ("[1] ++ [2]", "[1, 2]"),
            ("[1] ++ json([2])", "[1, 2]"),
            ("{'a': 1, 'b': {'c': 2}} ++ {'b': {'d': 3}}", "{'a': 1, 'b': {'c': 2, 'd': 3}}"),
            ("'a' ++ 1", ""),
        ],
        concat,
    )
    .joining()
    .with_kernel(kernels::strings::concat),
    Function::new(
        "ends_with",
        &["x", "end"],
        "Whether a String ends with another, or Bytes with other Bytes.",
        &[("ends_with('foobar', 'bar')", "true"), ("ends_with(1, 'a')", "")],
        |args| affix("ends_with", args, <[u8]>::ends_with),
    )
    .with_kernel(|operands, len| kernels::strings::test_texts(operands, len, <[u8]>::ends_with)),
    Function::new(
        "from_substrings",
        &["list"],
        "The strings of a list joined.",
        &[("from_substrings(['ab', 'c'])", "'abc'"), ("from_substrings([1])", "")],
        |args| {
            let items = list("from_substrings", args, 0)?;
            let strings = items.iter().map(DataValue::get_str).collect::<Option<Vec<_>>>();
            let strings = strings.ok_or_else(|| unexpected("from_substrings", args, 0, "a List of Strings"))?;
            Ok(joined_texts(strings)?)
        },
    ),
    Function::new(
        "length",
        &["x"],
        "The number of characters of a String, of elements of a List, a Json array or a vector, of keys of a Json object, or of \
         bytes of Bytes.",
        &[
            ("length('héé')", "3"),
            ("length([1, 2])", "2"),
            ("length({'a': 1, 'b': [2, 3]})", "2"),
            ("length(null)", ""),
        ],
        length,
    )
    .with_kernel(kernels::strings::length),
    Function::new("lowercase", &["text"], "The string in lower case.", &[("lowercase('ÀB')", "'àb'")], |args| {
        Ok(lowercase(string("lowercase", args, 0)?)?.into())
    })
    .with_kernel(|operands, len| kernels::strings::map_texts(operands, len, |text| Ok(Cow::Owned(lowercase(text)?)))),
    Function::new(
        "slice_string",
        &["text", "start", "end"],
        "The characters of a string from a start position up to, but not including, an end position, both counted from 0. \
         Positions beyond the end of the string mean its end.",
        &[
            ("slice_string('abcdef', 1, 4)", "'bcd'"),
            ("slice_string('abc', 1, 9)", "'bc'"),
            ("slice_string('a', -1, 1)", ""),
        ],
        slice_string,
    ),
    Function::new(
        "snippet",
        &["text", "spans", "characters?", "before?", "after?"],
        "The part of a text that best shows what a search found in it, of 160 characters or another length. `spans` has the \
         beginning and the end of each place, in bytes, as `bind_spans` gives them. Each place is put between `before` and \
         `after`, by default `<b>` and `</b>`.",
        &[
            ("snippet('red apples and green pears', [[4, 10]], 16)", "'red <b>apples</b> and…'"),
            ("snippet('an apple', [[3, 8]], 20, '[', ']')", "'an [apple]'"),
            ("snippet('an apple', [3])", ""),
        ],
        snippet,
    ),
    Function::new(
        "starts_with",
        &["x", "start"],
        "Whether a String starts with another, or Bytes with other Bytes.",
        &[("starts_with('foobar', 'foo')", "true"), ("starts_with('a', 1)", "")],
        |args| affix("starts_with", args, <[u8]>::starts_with),
    )
    .with_kernel(|operands, len| kernels::strings::test_texts(operands, len, <[u8]>::starts_with)),
    Function::new(
        "str_includes",
        &["text", "part"],
        "Whether a string contains another.",
        &[
            ("str_includes('haystack', 'st')", "true"),
            ("str_includes('abc', '')", "true"),
            ("str_includes(null, 'a')", ""),
        ],
        |args| Ok(string("str_includes", args, 0)?.contains(string("str_includes", args, 1)?).into()),
    )
    .with_kernel(kernels::strings::str_includes),
    Function::new(
        "t2s",
        &["text"],
        "Converts traditional Chinese to simplified Chinese; values other than strings are returned as they are.",
        &[("t2s('漢字')", "'汉字'"), ("t2s(1)", "1")],
        |args| match args[0].get_str() {
            Some(text) => {
                make_room(text.len())?;
                Ok(fast2s::convert(text).into())
            }
            None => Ok(args[0].copy()?),
        },
    ),
    Function::new(
        "trim",
        &["text"],
        "The string without white space at either end.",
        &[("trim(' a ')", "'a'")],
        |args| Ok(text_of(string("trim", args, 0)?.trim())?),
    )
    .with_kernel(|operands, len| kernels::strings::map_texts(operands, len, |text| Ok(Cow::Borrowed(text.trim())))),
    Function::new(
        "trim_end",
        &["text"],
        "The string without white space at its end.",
        &[("trim_end(' a ')", "' a'")],
        |args| Ok(text_of(string("trim_end", args, 0)?.trim_end())?),
    )
    .with_kernel(|operands, len| kernels::strings::map_texts(operands, len, |text| Ok(Cow::Borrowed(text.trim_end())))),
    Function::new(
        "trim_start",
        &["text"],
        "The string without white space at its start.",
        &[("trim_start(' a ')", "'a '")],
        |args| Ok(text_of(string("trim_start", args, 0)?.trim_start())?),
    )
    .with_kernel(|operands, len| {
        kernels::strings::map_texts(operands, len, |text| Ok(Cow::Borrowed(text.trim_start())))
    }),
    Function::new(
        "unicode_normalize",
        &["text", "form"],
        "The string in a Unicode normal form: 'nfc', 'nfd', 'nfkc' or 'nfkd'.",
        &[("length(unicode_normalize('é', 'nfd'))", "2"), ("unicode_normalize('a', 'nfx')", "")],
        unicode_normalize,
    )
    .making_much(),
    Function::new(
        "uppercase",
        &["text"],
        "The string in upper case.",
        &[("uppercase('straße')", "'STRASSE'")],
        |args| Ok(uppercase(string("uppercase", args, 0)?)?.into()),
    )
    .with_kernel(|operands, len| kernels::strings::map_texts(operands, len, |text| Ok(Cow::Owned(uppercase(text)?)))),
];

/// The characters or bytes that are processed between two looks at the clock.
const PIECE: usize = 1 << 16;

/// The characters of a text, a string each.
pub(super) fn characters(text: &str) -> Result<Vec<DataValue>, Stop> {
    let length = text.chars().count();
    make_room(allocated(length * size_of::<DataValue>()))?;
    let (mut characters, mut left) = (Vec::with_capacity(length), text.chars());
    while !left.as_str().is_empty() {
        step(PIECE)?;
        characters.extend(left.by_ref().take(PIECE).map(character));
    }
    Ok(characters)
}

fn character(character: char) -> DataValue {
    DataValue::Str(SmallStr::from(&*character.encode_utf8(&mut [0; 4])))
}

/// A string, for which room is made.
pub(super) fn text_of(text: &str) -> Result<DataValue, Stop> {
    make_room(text.len())?;
    Ok(text.into())
}

fn joined_texts(texts: Vec<&str>) -> Result<DataValue, Stop> {
    let length = texts.iter().map(|text| text.len()).sum();
    make_room(length)?;
    let mut joined = SmallStr::with_capacity(length);
    for text in texts {
        step(text.len() / PIECE + 1)?;
        joined.push_str(text);
    }
    Ok(joined.into())
}

/// The text in lower case, made in pieces.
fn lowercase(text: &str) -> Result<String, Stop> {
    // A sigma at the end of a word has another form, so texts with it are cut between words only.
    let is_boundary: fn(&str, usize) -> bool = match text.contains('Σ') {
        true => |text, at| text.as_bytes()[at - 1] == b' ',
        false => str::is_char_boundary,
    };
    in_pieces(text, is_boundary, str::to_lowercase)
}

/// The text in upper case, made in pieces.
fn uppercase(text: &str) -> Result<String, Stop> {
    in_pieces(text, str::is_char_boundary, str::to_uppercase)
}

/// Converts a text piece by piece, cut where `may_cut` allows. `convert` may give up to three times as many bytes.
fn in_pieces(text: &str, may_cut: impl Fn(&str, usize) -> bool, convert: fn(&str) -> String) -> Result<String, Stop> {
    if text.len() <= PIECE {
        make_room(text.len())?;
        return Ok(convert(text));
    }
    let (mut converted, mut start) = (TextBuilder::default(), 0);
    while start < text.len() {
        let cut = (start + PIECE..text.len()).find(|at| may_cut(text, *at)).unwrap_or(text.len());
        converted.push_str(&convert(&text[start..cut]))?;
        start = cut;
    }
    converted.finish()
}

/// The first argument decides what is joined.
fn concat(args: &[DataValue]) -> Outcome {
    let all = 0..args.len();
    match &args[0] {
        DataValue::Str(_) => {
            let texts = all.map(|i| string("concat", args, i)).collect::<Result<Vec<_>, _>>()?;
            Ok(joined_texts(texts)?)
        }
        DataValue::List(_) => {
            let lists = all.map(|i| list("concat", args, i)).collect::<Result<Vec<_>, _>>()?;
            let lists: Vec<&[DataValue]> = lists.iter().map(|list| &**list).collect();
            Ok(DataValue::List(joined(&lists)?))
        }
        DataValue::Json(JsonData(first)) => {
            make_room(json_bytes(first))?;
            let mut merged = copy_json(first)?;
            for i in 1..args.len() {
                match &args[i] {
                    DataValue::Json(JsonData(value)) => json::merge(&mut merged, value)?,
                    _ => return Err(unexpected("concat", args, i, "Json, as the first")),
                }
            }
            Ok(DataValue::Json(JsonData(merged)))
        }
        _ => Err(unexpected("concat", args, 0, "a String, List or Json")),
    }
}

/// Tests the start or the end; UTF-8 texts match exactly where their bytes do.
fn affix(function: &str, args: &[DataValue], test: fn(&[u8], &[u8]) -> bool) -> Outcome {
    match (&args[0], &args[1]) {
        (DataValue::Str(text), DataValue::Str(part)) => Ok(test(text.as_bytes(), part.as_bytes()).into()),
        (DataValue::Bytes(bytes), DataValue::Bytes(part)) => Ok(test(bytes, part).into()),
        (DataValue::Str(_), _) => Err(unexpected(function, args, 1, "a String")),
        (DataValue::Bytes(_), _) => Err(unexpected(function, args, 1, "Bytes")),
        _ => Err(unexpected(function, args, 0, "a String or Bytes")),
    }
}

/// The length of a value that has one.
pub(super) fn length_of(value: &DataValue) -> Option<usize> {
    match value {
        DataValue::Str(text) => Some(text.chars().count()),
        DataValue::List(items) => Some(items.len()),
        DataValue::Bytes(bytes) => Some(bytes.len()),
        DataValue::Vec(vector) => Some(vector.len()),
        DataValue::Json(JsonData(Value::Array(items))) => Some(items.len()),
        DataValue::Json(JsonData(Value::Object(fields))) => Some(fields.len()),
        _ => None,
    }
}

fn length(args: &[DataValue]) -> Outcome {
    match length_of(&args[0]) {
        Some(length) => Ok((length as i64).into()),
        None => Err(unexpected("length", args, 0, "a String, List, Json array or object, Bytes or vector")),
    }
}

fn snippet(args: &[DataValue]) -> Outcome {
    let text = string("snippet", args, 0)?;
    let bound = |value: &DataValue| value.get_int().and_then(|bound| usize::try_from(bound).ok());
    let span = |value: &DataValue| match value.get_slice() {
        Some([from, to]) => Some((bound(from)?, bound(to)?)),
        _ => None,
    };
    let spans: Option<Vec<(usize, usize)>> = list("snippet", args, 1)?.iter().map(span).collect();
    let spans = spans.ok_or_else(|| unexpected("snippet", args, 1, "a list of pairs of bytes"))?;
    let mut style = SnippetStyle::default();
    if args.len() > 2 {
        let length = usize::try_from(int("snippet", args, 2)?).ok();
        style.characters = length.ok_or_else(|| unexpected("snippet", args, 2, "an integer from 0"))?;
    }
    if args.len() > 3 {
        style.before = string("snippet", args, 3)?;
    }
    if args.len() > 4 {
        style.after = string("snippet", args, 4)?;
    }
    let marks = spans.len().saturating_mul(style.before.len() + style.after.len());
    make_room(text.len().min(style.characters.saturating_mul(4)).saturating_add(marks))?;
    step(text.len() / BYTES_PER_STEP + spans.len())?;
    Ok(crate::text::snippet(text, &spans, &style).into())
}

fn slice_string(args: &[DataValue]) -> Outcome {
    let text = string("slice_string", args, 0)?;
    let position = |i: usize| -> Result<usize, FunctionError> {
        let position = int("slice_string", args, i)?;
        usize::try_from(position).map_err(|_| unexpected("slice_string", args, i, "an integer from 0"))
    };
    let (from, to) = (position(1)?, position(2)?);
    if from > to {
        return fail("slice_string", format!("the start {from} is after the end {to}"));
    }
    let start = text.char_indices().nth(from).map_or(text.len(), |(start, _)| start);
    let rest = &text[start..];
    let end = rest.char_indices().nth(to - from).map_or(rest.len(), |(end, _)| end);
    Ok(text_of(&rest[..end])?)
}

fn unicode_normalize(args: &[DataValue]) -> Outcome {
    let text = string("unicode_normalize", args, 0)?;
    make_room(longest_run_of_marks(text)? * BYTES_PER_MARK)?;
    match string("unicode_normalize", args, 1)? {
        "nfc" => collect_text(text.nfc()),
        "nfd" => collect_text(text.nfd()),
        "nfkc" => collect_text(text.nfkc()),
        "nfkd" => collect_text(text.nfkd()),
        _ => Err(unexpected("unicode_normalize", args, 1, "'nfc', 'nfd', 'nfkc' or 'nfkd'")),
    }
}

/// The bytes that each mark takes while the marks of one character are sorted.
const BYTES_PER_MARK: usize = 2 * size_of::<(u8, char)>();

/// How many marks follow each other in a text at most.
fn longest_run_of_marks(text: &str) -> Result<usize, Stop> {
    let (mut longest, mut run) = (0, 0);
    for piece in text.as_bytes().chunks(PIECE) {
        step(piece.len())?;
        // A mark has two to four bytes, all of them with the highest bit, and so has every part of one.
        for byte in piece {
            run = if byte.is_ascii() { 0 } else { run + 1 };
            longest = longest.max(run);
        }
    }
    Ok(longest / 2)
}

fn collect_text(characters: impl Iterator<Item = char>) -> Outcome {
    let mut text = TextBuilder::default();
    for character in characters {
        text.push(character)?;
    }
    Ok(text.finish()?.into())
}
