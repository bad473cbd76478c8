//! Json values: making, taking apart, changing and merging them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::arguments::{Outcome, fail, list, quote, string, unexpected};
use super::{Family, Function, convert};
use crate::expr::FunctionError;
use crate::value::{DataValue, JsonData, json_to_value, json_value_of, scalar_of_json};

pub(super) const FAMILY: Family = Family { title: "Json", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "dump_json",
        &["json"],
        "The compact text of a Json value, with the keys of objects sorted.",
        &[("dump_json({'b': 1, 'a': [true]})", "'{\"a\":[true],\"b\":1}'"), ("dump_json(1)", "")],
        |args| match &args[0] {
            DataValue::Json(json) => Ok(json.text().into()),
            _ => Err(unexpected("dump_json", args, 0, "Json")),
        },
    ),
    Function::new(
        "json",
        &["x"],
        "Any value as Json. Bytes and a Uuid become an array of numbers, and so does a vector; NaN and the infinities \
         become null.",
        &[("json(1) -> []", "1"), ("is_json(json([1, 2]))", "true"), ("json(json('a'))", "json('a')")],
        |args| Ok(json_to_value(&args[0])),
    ),
    Function::new(
        "json_object",
        &["key_value..."],
        "A Json object of keys and values in turn, also written `{key: value, ...}`. Keys are converted as by `to_string`, values as by \
         `json`; of equal keys the last wins.",
        &[("json_object('a', 1, 'b', [2])", "{'a': 1, 'b': [2]}"), ("json_object('a')", "")],
        json_object,
    ),
    Function::new(
        "json_to_scalar",
        &["x"],
        "A Json null, Boolean, number or string as a plain value; anything else as it is.",
        &[("json_to_scalar(json('x'))", "'x'"), ("json_to_scalar({'a': 1})", "{'a': 1}")],
        |args| Ok(if let DataValue::Json(JsonData(value)) = &args[0] { plain(value) } else { args[0].clone() }),
    ),
    Function::new(
        "parse_json",
        &["text"],
        "The Json value that a text describes.",
        &[("parse_json('{\"a\": [1, null]}')", "{'a': [1, null]}"), ("parse_json('{bad')", "")],
        |args| match serde_json::from_str(string("parse_json", args, 0)?) {
            Ok(value) => Ok(DataValue::Json(JsonData(value))),
            Err(error) => fail("parse_json", format!("not JSON: {error}")),
        },
    ),
    Function::new(
        "remove_json_path",
        &["json", "path"],
        "A Json value without the part that a path, a List of keys and positions, leads to. A missing key changes \
         nothing, a position beyond an array is an error.",
        &[
            ("remove_json_path({'a': {'b': 1, 'c': 2}}, ['a', 'b'])", "{'a': {'c': 2}}"),
            ("remove_json_path(json([1]), [3])", ""),
        ],
        remove_json_path,
    ),
    Function::new(
        "set_json_path",
        &["json", "path", "value"],
        "A Json value with the part that a path, a List of keys and positions, leads to set to a value. Missing keys \
         are made, and arrays lengthened with nulls.",
        &[
            ("set_json_path({'a': {'b': 1}}, ['a', 'b'], 'new')", "{'a': {'b': 'new'}}"),
            ("set_json_path({}, ['x', 'y'], 1)", "{'x': {'y': 1}}"),
            ("set_json_path({'a': 1}, 'a', 2)", ""),
        ],
        set_json_path,
    ),
];

/// The longest path, and the deepest nesting that `concat` merges: keeps recursion far from the end of the stack.
const MAX_DEPTH: usize = 256;

/// The highest position that `set_json_path` lengthens an array for.
const MAX_POSITION: usize = 1_000_000;

/// A scalar as a plain value; arrays and objects stay Json.
pub(super) fn plain(value: &Value) -> DataValue {
    scalar_of_json(value.clone())
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
        Value::Object(object) => object.get(&*key_of(key)),
        Value::Array(items) => items.get(usize::try_from(key.get_int()?).ok()?),
        _ => None,
    }
}

/// The value as a key of an object.
fn key_of(value: &DataValue) -> Cow<'_, str> {
    match value {
        DataValue::Str(text) => Cow::Borrowed(text),
        other => Cow::Owned(convert::text_of(other)),
    }
}

fn json_object(args: &[DataValue]) -> Outcome {
    let (pairs, rest) = args.as_chunks();
    if !rest.is_empty() {
        return fail("json_object", format!("needs keys and values in turn, found {} arguments", args.len()));
    }
    let pairs = pairs.iter().map(|[key, value]| (key_of(key).into_owned(), json_value_of(value)));
    Ok(DataValue::Json(pairs.collect()))
}

/// The first argument as Json.
fn json_argument(args: &[DataValue]) -> Value {
    match &args[0] {
        DataValue::Json(JsonData(value)) => value.clone(),
        other => json_value_of(other),
    }
}

/// The second argument as a path.
fn path_argument<'a>(function: &str, args: &'a [DataValue]) -> Result<&'a [DataValue], FunctionError> {
    match list(function, args, 1)? {
        path if path.len() > MAX_DEPTH => fail(function, format!("the path is longer than {MAX_DEPTH} elements")),
        path => Ok(path),
    }
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
    let path = path_argument(NAME, args)?;
    let mut root = json_argument(args);
    let mut place = &mut root;
    for (i, key) in path.iter().enumerate() {
        place = match place {
            Value::Object(object) => {
                let made = || if i + 1 < path.len() { Value::Object(Map::new()) } else { Value::Null };
                object.entry(key_of(key)).or_insert_with(made)
            }
            Value::Array(items) => {
                let position = position(NAME, key)?;
                if position >= items.len() {
                    if position > MAX_POSITION {
                        return fail(NAME, format!("position {position} would make the array too long"));
                    }
                    items.resize(position + 1, Value::Null);
                }
                &mut items[position]
            }
            _ => return no_way(NAME, key),
        };
    }
    *place = json_value_of(&args[2]);
    Ok(DataValue::Json(JsonData(root)))
}

fn remove_json_path(args: &[DataValue]) -> Outcome {
    const NAME: &str = "remove_json_path";
    let Some((last, parents)) = path_argument(NAME, args)?.split_last() else {
        return fail(NAME, "the path is empty");
    };
    let mut root = json_argument(args);
    let mut place = Some(&mut root);
    for (key, is_last) in parents.iter().map(|key| (key, false)).chain([(last, true)]) {
        place = match place {
            Some(Value::Object(object)) if is_last => {
                object.remove(&*key_of(key));
                None
            }
            Some(Value::Object(object)) => object.get_mut(&*key_of(key)),
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

/// Merges a value into another: objects key by key, arrays end to end; otherwise the newcomer wins.
pub(super) fn merge(target: &mut Value, newcomer: Value, depth: usize) -> Result<(), FunctionError> {
    if depth > MAX_DEPTH {
        return fail("concat", format!("the objects are nested more than {MAX_DEPTH} levels deep"));
    }
    match (target, newcomer) {
        (Value::Object(target), Value::Object(newcomer)) => {
            for (key, value) in newcomer {
                match target.get_mut(&key) {
                    Some(present) => merge(present, value, depth + 1)?,
                    None => {
                        target.insert(key, value);
                    }
                }
            }
        }
        (Value::Array(target), Value::Array(newcomer)) => target.extend(newcomer),
        (target, newcomer) => *target = newcomer,
    }
    Ok(())
}
