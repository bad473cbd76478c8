//! Json values: making, taking apart, changing and merging them.
//!
//! Functions that change Json copy it first, and what they make is within the depth that a value may have. What is taken out of Json is
//! a plain value if it is a scalar, else Json (`element_of_json`). Keys of objects are strings; other keys are converted as by
//! `to_string`. `merge` is what `concat` does with Json.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::arguments::{Outcome, fail, list, quote, string, unexpected};
use super::strings::text_of;
use super::{Family, Function, convert};
use crate::budget::{self, MAX_DEPTH, Stop, make_room};
use crate::expr::FunctionError;
use crate::value::{
    DataValue, JsonData, ParsedJson, allocated, check_json_depth, copy_json, element_of_json, field_bytes, json_bytes,
    json_text, json_to_value, json_value_within, object_bytes, parse_json,
};

pub(super) const FAMILY: Family = Family { title: "Json", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "dump_json",
        &["json"],
        "The compact text of a Json value, with the keys of objects sorted.",
        &[("dump_json({'b': 1, 'a': [true]})", "'{\"a\":[true],\"b\":1}'"), ("dump_json(1)", "")],
        |args| match &args[0] {
            DataValue::Json(json) => Ok(json_text(&json.0)?.into()),
            _ => Err(unexpected("dump_json", args, 0, "Json")),
        },
    ),
    Function::new(
        "json",
        &["x"],
        "Any value as Json. Bytes and a Uuid become an array of numbers, and so does a vector; NaN and the infinities \
         become null.",
        &[("json(1) -> []", "1"), ("is_json(json([1, 2]))", "true"), ("json(json('a'))", "json('a')")],
        |args| Ok(json_to_value(&args[0])?),
    )
    .making_much(),
    Function::new(
        "json_entries",
        &["json"],
        "A list of `[key, value]` for each key of a Json object, sorted by key. Each becomes a row with \
         `pair in json_entries(j), k = pair -> 0, v = pair -> 1`.",
        &[
            ("json_entries({'b': [1], 'a': 2})", "[['a', 2], ['b', json([1])]]"),
            ("json_entries({})", "[]"),
            ("json_entries([1])", ""),
        ],
        |args| {
            object("json_entries", args, |key, value| {
                check_json_depth(value, 2)?;
                make_room(allocated(2 * size_of::<DataValue>()))?;
                Ok(DataValue::List(vec![text_of(key)?, element_of_json(value)?]))
            })
        },
    ),
    Function::new(
        "json_keys",
        &["json"],
        "The keys of a Json object, sorted.",
        &[("json_keys({'b': 1, 'a': 2})", "['a', 'b']"), ("json_keys(json([1]))", "")],
        |args| object("json_keys", args, |key, _| text_of(key)),
    ),
    Function::new(
        "json_object",
        &["key_value..."],
        "A Json object of keys and values in turn, also written `{key: value, ...}`. Keys are converted as by `to_string`, values as by \
         `json`; of equal keys the last wins.",
        &[("json_object('a', 1, 'b', [2])", "{'a': 1, 'b': [2]}"), ("json_object('a')", "")],
        json_object,
    )
    .making_much(),
    Function::new(
        "json_to_scalar",
        &["x"],
        "A Json null, Boolean, number or string as a plain value; anything else as it is.",
        &[("json_to_scalar(json('x'))", "'x'"), ("json_to_scalar({'a': 1})", "{'a': 1}")],
        |args| match &args[0] {
            DataValue::Json(JsonData(value)) => Ok(element_of_json(value)?),
            other => Ok(other.copy()?),
        },
    ),
    Function::new(
        "json_values",
        &["json"],
        "The values of a Json object, sorted by key.",
        &[("json_values({'b': 1, 'a': 'x'})", "['x', 1]"), ("json_values(1)", "")],
        |args| object("json_values", args, |_, value| element_of_json(value)),
    ),
    Function::new(
        "parse_json",
        &["text"],
        "The Json value that a text describes.",
        &[("parse_json('{\"a\": [1, null]}')", "{'a': [1, null]}"), ("parse_json('{bad')", "")],
        |args| match parse_json(string("parse_json", args, 0)?)? {
            ParsedJson::Value(value) => Ok(DataValue::Json(JsonData(value))),
            ParsedJson::Wrong(error) => fail("parse_json", format!("not JSON: {error}")),
        },
    )
    .making_much(),
    Function::new(
        "remove_json_path",
        &["json", "path"],
        "A Json value without the part at a path, a List of keys and positions. A missing key changes nothing; a position \
         beyond an array is an error.",
        &[
            ("remove_json_path({'a': {'b': 1, 'c': 2}}, ['a', 'b'])", "{'a': {'c': 2}}"),
            ("remove_json_path(json([1]), [3])", ""),
        ],
        remove_json_path,
    ),
    Function::new(
        "set_json_path",
        &["json", "path", "value"],
        "A Json value in which the part at a path, a List of keys and positions, is set to a value. Missing keys are added, \
         and arrays are extended with nulls.",
        &[
            ("set_json_path({'a': {'b': 1}}, ['a', 'b'], 'new')", "{'a': {'b': 'new'}}"),
            ("set_json_path({}, ['x', 'y'], 1)", "{'x': {'y': 1}}"),
            ("set_json_path({'a': 1}, 'a', 2)", ""),
        ],
        set_json_path,
    )
    .making_much(),
];

/// The highest position that `set_json_path` lengthens an array for.
const MAX_POSITION: usize = 1_000_000;

/// A list of what `of` makes of each field of a Json object.
fn object(function: &str, args: &[DataValue], of: impl Fn(&str, &Value) -> Result<DataValue, Stop>) -> Outcome {
    let DataValue::Json(JsonData(Value::Object(fields))) = &args[0] else {
        return Err(unexpected(function, args, 0, "a Json object"));
    };
    make_room(allocated(fields.len() * size_of::<DataValue>()))?;
    let mut items = Vec::with_capacity(fields.len());
    for (key, value) in fields {
        budget::step(1)?;
        items.push(of(key, value)?);
    }
    Ok(DataValue::List(items))
}

/// A copy, for which room is made.
fn copied(value: &Value) -> Result<Value, Stop> {
    make_room(json_bytes(value))?;
    copy_json(value)
}

/// The part of a Json value at a key, a position or a path of these.
pub(super) fn part<'a>(value: &'a Value, key: &DataValue) -> Option<&'a Value> {
    match (value, key) {
        (Value::Object(object), DataValue::Str(key)) => object.get(&**key),
        (_, DataValue::List(path)) => path.iter().try_fold(value, step),
        (Value::Array(items), key) => items.get(usize::try_from(key.get_int()?).ok()?),
        _ => None,
    }
}

/// One step of a path; keys that are no strings are converted.
fn step<'a>(value: &'a Value, key: &DataValue) -> Option<&'a Value> {
    match value {
        Value::Object(object) => object.get(&*key_of(key).ok()?),
        Value::Array(items) => items.get(usize::try_from(key.get_int()?).ok()?),
        _ => None,
    }
}

/// The value as a key of an object.
fn key_of(value: &DataValue) -> Result<Cow<'_, str>, Stop> {
    Ok(match value {
        DataValue::Str(text) => Cow::Borrowed(text),
        other => Cow::Owned(convert::text_of(other)?),
    })
}

fn json_object(args: &[DataValue]) -> Outcome {
    let (pairs, rest) = args.as_chunks();
    if !rest.is_empty() {
        return fail("json_object", format!("needs keys and values in turn, found {} arguments", args.len()));
    }
    make_room(object_bytes(pairs.len()))?;
    let mut object = Map::new();
    for [key, value] in pairs {
        let key = key_of(key)?;
        make_room(key.len())?;
        object.insert(key.into_owned(), json_value_within(value, 1)?);
    }
    Ok(DataValue::Json(JsonData(Value::Object(object))))
}

/// The first argument as Json.
fn json_argument(args: &[DataValue]) -> Result<Value, Stop> {
    json_value_within(&args[0], 0)
}

/// A key of a path as a position in an array.
fn position(function: &str, key: &DataValue) -> Result<usize, FunctionError> {
    match key.get_int().map(usize::try_from) {
        Some(Ok(position)) => Ok(position),
        _ => fail(function, format!("an array has no position {}", quote(key))),
    }
}

fn no_way<T>(function: &str, key: &DataValue) -> Result<T, FunctionError> {
    fail(function, format!("the path leads to {} within a value that is neither object nor array", quote(key)))
}

fn set_json_path(args: &[DataValue]) -> Outcome {
    const NAME: &str = "set_json_path";
    let path = list(NAME, args, 1)?;
    if path.len() > MAX_DEPTH {
        return Err(Stop::TooDeep.into());
    }
    let mut root = json_argument(args)?;
    let mut place = &mut root;
    for (i, key) in path.iter().enumerate() {
        place = match place {
            Value::Object(object) => {
                let made = || if i + 1 < path.len() { Value::Object(Map::new()) } else { Value::Null };
                let key = key_of(key)?;
                make_room(key.len() + object_bytes(1))?;
                object.entry(key).or_insert_with(made)
            }
            Value::Array(items) => {
                let position = position(NAME, key)?;
                if position >= items.len() {
                    if position > MAX_POSITION {
                        return fail(NAME, format!("position {position} would make the array too long"));
                    }
                    let more = position + 1 - items.len();
                    make_room(more * size_of::<Value>())?;
                    items.reserve_exact(more);
                    items.resize(position + 1, Value::Null);
                }
                &mut items[position]
            }
            _ => return no_way(NAME, key),
        };
    }
    *place = json_value_within(&args[2], path.len())?;
    Ok(DataValue::Json(JsonData(root)))
}

fn remove_json_path(args: &[DataValue]) -> Outcome {
    const NAME: &str = "remove_json_path";
    let path = list(NAME, args, 1)?;
    let Some((last, parents)) = path.split_last() else {
        return fail(NAME, "the path is empty");
    };
    let mut root = json_argument(args)?;
    let mut place = Some(&mut root);
    for (key, is_last) in parents.iter().map(|key| (key, false)).chain([(last, true)]) {
        place = match place {
            Some(Value::Object(object)) if is_last => {
                object.remove(&*key_of(key)?);
                None
            }
            Some(Value::Object(object)) => object.get_mut(&*key_of(key)?),
            Some(Value::Array(items)) => {
                let position = position(NAME, key)?;
                if position >= items.len() {
                    return fail(NAME, format!("an array of {} elements has no position {position}", items.len()));
                }
                if is_last {
                    items.remove(position);
                    None
                } else {
                    Some(&mut items[position])
                }
            }
            Some(_) => return no_way(NAME, key),
            None => None,
        };
    }
    Ok(DataValue::Json(JsonData(root)))
}

/// Merges a copy of a value into another: objects key by key, arrays end to end; otherwise the newcomer wins.
pub(super) fn merge(target: &mut Value, newcomer: &Value) -> Result<(), Stop> {
    budget::step(1)?;
    match (target, newcomer) {
        (Value::Object(target), Value::Object(newcomer)) => {
            for (key, value) in newcomer {
                match target.get_mut(key) {
                    Some(present) => merge(present, value)?,
                    None => {
                        make_room(key.len() + field_bytes())?;
                        target.insert(key.clone(), copied(value)?);
                    }
                }
            }
        }
        (Value::Array(target), Value::Array(newcomer)) => {
            make_room((target.len() + newcomer.len()) * size_of::<Value>())?;
            target.reserve_exact(newcomer.len());
            for value in newcomer {
                target.push(copied(value)?);
            }
        }
        (target, newcomer) => *target = copied(newcomer)?,
    }
    Ok(())
}
