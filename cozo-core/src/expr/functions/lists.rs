//! Lists, and Json arrays as lists.
//!
//! Wherever a List is read, a Json array stands for the List of its elements, here and in the other families: its scalars are plain
//! values, and its arrays and objects stay Json, as `get` gives them. **What comes out is a List**, and `json` makes it Json again.
//! Only what is about Json itself keeps Json: `concat` of Json first, and the functions of the family Json.

use serde_json::Value;

use super::arguments::{Outcome, check_length, fail, int, list, owned_list, positive, unexpected};
use super::{Family, Function, json, kernels};
use crate::budget::{Stop, make_room};
use crate::expr::FunctionError;
use crate::value::sort::sort_values;
use crate::value::{DataValue, JsonData, allocated, check_depth, copy_all, element_of_json, extend_with_copies};

pub(super) const FAMILY: Family = Family { title: "Lists", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "append",
        &["list", "x"],
        "The list with one more element at its end.",
        &[
            ("append([1, 2], 3)", "[1, 2, 3]"),
            ("append(get({'tags': ['a']}, 'tags'), 'b')", "['a', 'b']"),
            ("append('a', 'b')", ""),
        ],
        |args| {
            let items = list("append", args, 0)?;
            check_depth(&args[1], 1)?;
            Ok(DataValue::List(joined(&[&items, &args[1..]])?))
        },
    )
    .joining(),
    Function::new(
        "chunks",
        &["list", "length"],
        "The list cut into lists of the given length; the last may be shorter.",
        &[("chunks([1, 2, 3], 2)", "[[1, 2], [3]]"), ("chunks([1], 0)", "")],
        |args| list_of_lists(list("chunks", args, 0)?.chunks(positive("chunks", args, 1)?)),
    ),
    Function::new(
        "chunks_exact",
        &["list", "length"],
        "The list cut into lists of the given length; a shorter rest is left out.",
        &[("chunks_exact([1, 2, 3], 2)", "[[1, 2]]"), ("chunks_exact([1], -1)", "")],
        |args| list_of_lists(list("chunks_exact", args, 0)?.chunks_exact(positive("chunks_exact", args, 1)?)),
    ),
    Function::new(
        "enumerate",
        &["list"],
        "A list of `[index, element]` for each element of a list, the index from 0. Each becomes a row with \
         `pair in enumerate(list), i = pair -> 0, x = pair -> 1`.",
        &[("enumerate(['a', 'b'])", "[[0, 'a'], [1, 'b']]"), ("enumerate([])", "[]"), ("enumerate('ab')", "")],
        enumerate,
    ),
    Function::new(
        "first",
        &["list"],
        "The first element of a list; null if it is empty.",
        &[("first([7, 8])", "7"), ("first(json([7, 8]))", "7"), ("first([])", "null"), ("first('abc')", "")],
        |args| end("first", args, |_| 0),
    )
    .with_kernel(|operands, len| kernels::by_reference::map_values(operands, len, |value| end_of(value, |_| 0))),
    Function::new(
        "get",
        &["list", "index", "default?"],
        "An element of a List, counted from 0 or, if negative, from the end; or a part of a Json value, by a key, a \
         position or a List of these. If there is no such part, the result is the third argument; without one, it is an \
         error.",
        &[
            ("get([10, 20], -1)", "20"),
            ("get({'a': [5]}, ['a', 0])", "5"),
            ("get([1], 5, 'none')", "'none'"),
            ("get([1], 1)", ""),
        ],
        get,
    )
    .with_kernel(kernels::by_reference::get),
    Function::new(
        "int_range",
        &["start?", "end", "step?"],
        "The integers from a start, or from 0, to an end, which is not included. A third argument is the step between them; \
         a negative step counts down.",
        &[
            ("int_range(3)", "[0, 1, 2]"),
            ("int_range(2, 5)", "[2, 3, 4]"),
            ("int_range(5, 0, -2)", "[5, 3, 1]"),
            ("int_range(5, 0, 0)", ""),
        ],
        int_range,
    )
    .making_much(),
    Function::new(
        "last",
        &["list"],
        "The last element of a list; null if it is empty.",
        &[("last([7, 8])", "8"), ("last([])", "null"), ("last(null)", "")],
        |args| end("last", args, |length| length.wrapping_sub(1)),
    )
    .with_kernel(|operands, len| {
        kernels::by_reference::map_values(operands, len, |value| end_of(value, |length| length.wrapping_sub(1)))
    }),
    Function::new(
        "list",
        &["x..."],
        "A list of the arguments, also written `[x, ...]`.",
        &[("list(1, 'a')", "[1, 'a']")],
        |args| {
            args.iter().try_for_each(|arg| check_depth(arg, 1))?;
            Ok(DataValue::List(copy_all(args)?))
        },
    )
    .joining(),
    Function::new(
        "maybe_get",
        &["list", "index"],
        "As `get`, but null if there is no such part.",
        &[("[10, 20] -> 1", "20"), ("{'a': {'b': 3}} -> 'a' -> 'b'", "3"), ("null -> 0", "null")],
        |args| Ok(element(&args[0], &args[1])?.unwrap_or_default()),
    )
    .with_kernel(kernels::by_reference::maybe_get),
    Function::new(
        "prepend",
        &["list", "x"],
        "The list with one more element at its start.",
        &[("prepend([2, 3], 1)", "[1, 2, 3]"), ("prepend(1, [2])", "")],
        |args| {
            let items = list("prepend", args, 0)?;
            check_depth(&args[1], 1)?;
            Ok(DataValue::List(joined(&[&args[1..], &items])?))
        },
    )
    .joining(),
    Function::new(
        "reverse",
        &["list"],
        "The list with its elements in opposite order.",
        &[("reverse([1, 2, 3])", "[3, 2, 1]"), ("reverse('abc')", "")],
        |args| {
            let mut items = owned_list("reverse", args, 0)?;
            items.reverse();
            Ok(DataValue::List(items))
        },
    ),
    Function::new(
        "slice",
        &["list", "start", "end"],
        "The elements of a list from a start position up to, but not including, an end position, both counted from 0 or, if \
         negative, from the end. The start must be a position of the list, and the end must not lie beyond the list.",
        &[("slice([1, 2, 3, 4], 1, 3)", "[2, 3]"), ("slice([1, 2, 3], -2, -1)", "[2]"), ("slice([1, 2], 2, 2)", "")],
        slice,
    ),
    Function::new(
        "sorted",
        &["list"],
        "The list in ascending order; values of different types are ordered by type.",
        &[
            ("sorted([3, 1, 2])", "[1, 2, 3]"),
            ("sorted(json([3, 1, 2]))", "[1, 2, 3]"),
            ("sorted(['a', 1, null])", "[null, 1, 'a']"),
            ("sorted('cab')", ""),
        ],
        |args| Ok(DataValue::List(sort_values(owned_list("sorted", args, 0)?)?)),
    )
    .making_much(),
    Function::new(
        "windows",
        &["list", "length"],
        "All runs of neighbouring elements with the given length; none if the list is shorter.",
        &[("windows([1, 2, 3], 2)", "[[1, 2], [2, 3]]"), ("windows([1], 2)", "[]"), ("windows([1], 0)", "")],
        windows,
    )
    .making_much(),
];

/// The elements of lists one after the other.
pub(super) fn joined(lists: &[&[DataValue]]) -> Result<Vec<DataValue>, Stop> {
    let length = lists.iter().map(|list| list.len()).sum::<usize>();
    make_room(allocated(length * size_of::<DataValue>()))?;
    let mut items = Vec::with_capacity(length);
    for list in lists {
        extend_with_copies(&mut items, list)?;
    }
    Ok(items)
}

/// A list of copies of lists, each within the depth that a value may have.
fn list_of_lists<'a>(parts: impl ExactSizeIterator<Item = &'a [DataValue]>) -> Outcome {
    make_room(allocated(parts.len() * size_of::<DataValue>()))?;
    let mut lists = Vec::with_capacity(parts.len());
    for part in parts {
        part.iter().try_for_each(|item| check_depth(item, 2))?;
        lists.push(DataValue::List(copy_all(part)?));
    }
    Ok(DataValue::List(lists))
}

/// Appends to a list, for which room is made as it grows.
pub(super) fn push(items: &mut Vec<DataValue>, item: DataValue) -> Result<(), Stop> {
    if items.len() == items.capacity() {
        let more = items.len().max(4);
        make_room(allocated(more * size_of::<DataValue>()))?;
        items.reserve_exact(more);
    }
    items.push(item);
    Ok(())
}

/// The element of a list at the position that `place` gives for its length; null beyond the list.
fn end(function: &str, args: &[DataValue], place: fn(usize) -> usize) -> Outcome {
    end_of(&args[0], place).unwrap_or_else(|| Err(unexpected(function, args, 0, "a List or a Json array")))
}

/// [`end`] of a value that is a list.
fn end_of(value: &DataValue, place: fn(usize) -> usize) -> Option<Outcome> {
    let found = match value {
        DataValue::List(items) => items.get(place(items.len())).map(DataValue::copy),
        DataValue::Json(JsonData(Value::Array(items))) => items.get(place(items.len())).map(element_of_json),
        _ => return None,
    };
    Some(found.transpose().map(Option::unwrap_or_default).map_err(FunctionError::from))
}

fn enumerate(args: &[DataValue]) -> Outcome {
    let items = list("enumerate", args, 0)?;
    let pair_bytes = size_of::<DataValue>() + allocated(2 * size_of::<DataValue>());
    make_room(allocated(items.len() * pair_bytes))?;
    let mut pairs = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        check_depth(item, 2)?;
        pairs.push(DataValue::List(vec![(index as i64).into(), item.copy()?]));
    }
    Ok(DataValue::List(pairs))
}

/// The position that an index stands for, which may lie outside of the list.
fn position(length: usize, index: i64) -> i64 {
    if index < 0 { index.saturating_add(length as i64) } else { index }
}

/// The part of a List or Json value that a key or an index names.
pub(super) fn element(container: &DataValue, key: &DataValue) -> Result<Option<DataValue>, Stop> {
    match container {
        DataValue::List(items) => item(items, key).map(DataValue::copy).transpose(),
        DataValue::Json(json) => json::part(&json.0, key).map(element_of_json).transpose(),
        _ => Ok(None),
    }
}

/// The element of a list at an index.
fn item<'a>(items: &'a [DataValue], index: &DataValue) -> Option<&'a DataValue> {
    let position = position(items.len(), index.get_int()?);
    items.get(usize::try_from(position).ok()?)
}

fn get(args: &[DataValue]) -> Outcome {
    match (element(&args[0], &args[1])?, args.get(2)) {
        (Some(element), _) => Ok(element),
        (None, Some(default)) => Ok(default.copy()?),
        (None, None) => Err(missing_element(args)),
    }
}

/// Why there is no such element.
fn missing_element(args: &[DataValue]) -> FunctionError {
    match (&args[0], &args[1]) {
        (DataValue::List(items), key) if key.get_int().is_some() => {
            unexpected("get", args, 1, &format!("a position in a list of {} elements", items.len()))
        }
        (DataValue::List(_), _) => unexpected("get", args, 1, "an integer"),
        (DataValue::Json(_), _) => unexpected("get", args, 1, "a key, position or path of the Json value"),
        _ => unexpected("get", args, 0, "a List or Json"),
    }
}

fn int_range(args: &[DataValue]) -> Outcome {
    let int = |i| int("int_range", args, i);
    let (start, end, step) = match args.len() {
        1 => (0, int(0)?, 1),
        2 => (int(0)?, int(1)?, 1),
        _ => (int(0)?, int(1)?, int(2)?),
    };
    if step == 0 {
        return fail("int_range", "the step is 0");
    }
    let distance = if step > 0 { i128::from(end) - i128::from(start) } else { i128::from(start) - i128::from(end) };
    let length = u128::try_from(distance).unwrap_or(0).div_ceil(u128::from(step.unsigned_abs()));
    let length = check_length("int_range", length)?;
    make_room(allocated(length * size_of::<DataValue>()))?;
    let mut values = Vec::with_capacity(length);
    while values.len() < length {
        let piece = (length - values.len()).min(PIECE);
        crate::budget::step(piece)?;
        // All but the value after the last lie between start and end, and so within 64 bits.
        let first = start.wrapping_add((values.len() as i64).wrapping_mul(step));
        values.extend((0..piece as i64).map(|nth| DataValue::from(first.wrapping_add(nth.wrapping_mul(step)))));
    }
    Ok(DataValue::List(values))
}

/// The integers that are made between two looks at the clock.
const PIECE: usize = 4096;

fn slice(args: &[DataValue]) -> Outcome {
    let items = list("slice", args, 0)?;
    let [start, end] = [1, 2].map(|i| int("slice", args, i).map(|index| position(items.len(), index)));
    let (start, end) = (usize::try_from(start?), usize::try_from(end?));
    match (start, end) {
        (Ok(start), Ok(end)) if start < items.len() && end <= items.len() && start <= end => {
            Ok(DataValue::List(copy_all(&items[start..end])?))
        }
        (Ok(start), Ok(end)) if start > end => fail("slice", format!("the start {start} is after the end {end}")),
        (Ok(start), _) if start < items.len() => Err(unexpected(
            "slice",
            args,
            2,
            &format!("a position in a list of {} elements, or its length", items.len()),
        )),
        _ => Err(unexpected("slice", args, 1, &format!("a position in a list of {} elements", items.len()))),
    }
}

fn windows(args: &[DataValue]) -> Outcome {
    let (items, length) = (list("windows", args, 0)?, positive("windows", args, 1)?);
    let count = (items.len() + 1).saturating_sub(length);
    check_length("windows", count as u128 * length as u128)?;
    list_of_lists(items.windows(length))
}
