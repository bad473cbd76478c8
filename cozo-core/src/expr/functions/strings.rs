//! Strings, by Unicode scalar values.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::arguments::{Outcome, fail, int, list, string, unexpected};
use super::{Family, Function, json, kernels};
use crate::expr::FunctionError;
use crate::value::{DataValue, JsonData, SmallStr};

pub(super) const FAMILY: Family = Family { title: "Strings", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "chars",
        &["text"],
        "The characters of a string as a list of strings.",
        &[("chars('aé')", "['a', 'é']"), ("chars(12)", "")],
        |args| Ok(DataValue::List(string("chars", args, 0)?.chars().map(character).collect())),
    ),
    Function::new(
        "concat",
        &["x", "more..."],
        "Strings, Lists or Json values joined. Json objects are merged, key by key and all the way down, and \
         Json arrays joined; of other Json values the last wins.",
        &[
            ("'ab' ++ 'c'", "'abc'"),
            ("[1] ++ [2]", "[1, 2]"),
            ("{'a': 1} ++ {'b': 2}", "{'a': 1, 'b': 2}"),
            ("'a' ++ 1", ""),
        ],
        concat,
    )
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
            let strings = list("from_substrings", args, 0)?.iter().map(DataValue::get_str);
            let joined = strings.collect::<Option<SmallStr>>();
            joined.map(DataValue::Str).ok_or_else(|| unexpected("from_substrings", args, 0, "a List of Strings"))
        },
    ),
    Function::new(
        "length",
        &["x"],
        "The number of characters of a String, of elements of a List or a vector, or of bytes of Bytes.",
        &[("length('héé')", "3"), ("length([1, 2])", "2"), ("length(null)", "")],
        length,
    )
    .with_kernel(kernels::strings::length),
    Function::new("lowercase", &["text"], "The string in lower case.", &[("lowercase('ÀB')", "'àb'")], |args| {
        Ok(string("lowercase", args, 0)?.to_lowercase().into())
    })
    .with_kernel(|operands, len| kernels::strings::map_texts(operands, len, |text| Cow::Owned(text.to_lowercase()))),
    Function::new(
        "slice_string",
        &["text", "start", "end"],
        "The characters of a string from one position, counted from 0, up to but without another. Positions beyond the \
         end stand for the end.",
        &[
            ("slice_string('abcdef', 1, 4)", "'bcd'"),
            ("slice_string('abc', 1, 9)", "'bc'"),
            ("slice_string('a', -1, 1)", ""),
        ],
        slice_string,
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
        "Traditional Chinese as simplified; values that are no strings are returned as they are.",
        &[("t2s('漢字')", "'汉字'"), ("t2s(1)", "1")],
        |args| Ok(args[0].get_str().map_or_else(|| args[0].clone(), |text| fast2s::convert(text).into())),
    ),
    Function::new(
        "trim",
        &["text"],
        "The string without white space at either end.",
        &[("trim(' a ')", "'a'")],
        |args| Ok(string("trim", args, 0)?.trim().into()),
    )
    .with_kernel(|operands, len| kernels::strings::map_texts(operands, len, |text| Cow::Borrowed(text.trim()))),
    Function::new(
        "trim_end",
        &["text"],
        "The string without white space at its end.",
        &[("trim_end(' a ')", "' a'")],
        |args| Ok(string("trim_end", args, 0)?.trim_end().into()),
    )
    .with_kernel(|operands, len| kernels::strings::map_texts(operands, len, |text| Cow::Borrowed(text.trim_end()))),
    Function::new(
        "trim_start",
        &["text"],
        "The string without white space at its start.",
        &[("trim_start(' a ')", "'a '")],
        |args| Ok(string("trim_start", args, 0)?.trim_start().into()),
    )
    .with_kernel(|operands, len| kernels::strings::map_texts(operands, len, |text| Cow::Borrowed(text.trim_start()))),
    Function::new(
        "unicode_normalize",
        &["text", "form"],
        "The string in a Unicode normal form: 'nfc', 'nfd', 'nfkc' or 'nfkd'.",
        &[("length(unicode_normalize('é', 'nfd'))", "2"), ("unicode_normalize('a', 'nfx')", "")],
        unicode_normalize,
    ),
    Function::new(
        "uppercase",
        &["text"],
        "The string in upper case.",
        &[("uppercase('straße')", "'STRASSE'")],
        |args| Ok(string("uppercase", args, 0)?.to_uppercase().into()),
    )
    .with_kernel(|operands, len| kernels::strings::map_texts(operands, len, |text| Cow::Owned(text.to_uppercase()))),
];

fn character(character: char) -> DataValue {
    DataValue::Str(SmallStr::from(&*character.encode_utf8(&mut [0; 4])))
}

/// The first argument decides what is joined.
fn concat(args: &[DataValue]) -> Outcome {
    let all = 0..args.len();
    match &args[0] {
        DataValue::Str(_) => Ok(DataValue::Str(all.map(|i| string("concat", args, i)).collect::<Result<_, _>>()?)),
        DataValue::List(_) => {
            let lists = all.map(|i| list("concat", args, i)).collect::<Result<Vec<_>, _>>()?;
            Ok(DataValue::List(lists.concat()))
        }
        DataValue::Json(JsonData(first)) => {
            let mut merged = first.clone();
            for i in 1..args.len() {
                match &args[i] {
                    DataValue::Json(JsonData(value)) => json::merge(&mut merged, value.clone(), 0)?,
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
        _ => None,
    }
}

fn length(args: &[DataValue]) -> Outcome {
    match length_of(&args[0]) {
        Some(length) => Ok((length as i64).into()),
        None => Err(unexpected("length", args, 0, "a String, List, Bytes or vector")),
    }
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
    Ok(DataValue::Str(text.chars().skip(from).take(to - from).collect()))
}

fn unicode_normalize(args: &[DataValue]) -> Outcome {
    let text = string("unicode_normalize", args, 0)?;
    let normalized: SmallStr = match string("unicode_normalize", args, 1)? {
        "nfc" => text.nfc().collect(),
        "nfd" => text.nfd().collect(),
        "nfkc" => text.nfkc().collect(),
        "nfkd" => text.nfkd().collect(),
        _ => return Err(unexpected("unicode_normalize", args, 1, "'nfc', 'nfd', 'nfkc' or 'nfkd'")),
    };
    Ok(normalized.into())
}
