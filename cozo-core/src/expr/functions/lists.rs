//! Lists. Json arrays are no lists, except for `get` and `maybe_get`, which also look into Json.

use super::arguments::{Outcome, check_length, fail, int, list, positive, unexpected};
use super::{Family, Function, json, kernels};
use crate::expr::FunctionError;
use crate::value::DataValue;

pub(super) const FAMILY: Family = Family { title: "Lists", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "append",
        &["list", "x"],
        "The list with one more element at its end.",
        &[("append([1, 2], 3)", "[1, 2, 3]"), ("append('a', 'b')", "")],
        |args| Ok(DataValue::List([list("append", args, 0)?, &args[1..]].concat())),
    ),
    Function::new(
        "chunks",
        &["list", "length"],
        "The list cut into lists of a length; the last may be shorter.",
        &[("chunks([1, 2, 3], 2)", "[[1, 2], [3]]"), ("chunks([1], 0)", "")],
        |args| Ok(list_of_lists(list("chunks", args, 0)?.chunks(positive("chunks", args, 1)?))),
    ),
    Function::new(
        "chunks_exact",
        &["list", "length"],
        "The list cut into lists of a length, without the rest.",
        &[("chunks_exact([1, 2, 3], 2)", "[[1, 2]]"), ("chunks_exact([1], -1)", "")],
        |args| Ok(list_of_lists(list("chunks_exact", args, 0)?.chunks_exact(positive("chunks_exact", args, 1)?))),
    ),
    Function::new(
        "first",
        &["list"],
        "The first element of a list; null if it is empty.",
        &[("first([7, 8])", "7"), ("first([])", "null"), ("first('abc')", "")],
        |args| Ok(list("first", args, 0)?.first().cloned().unwrap_or_default()),
    )
    .with_kernel(|operands, len| {
        kernels::by_reference::map_values(operands, len, |value| {
            Some(value.get_slice()?.first().cloned().unwrap_or_default())
        })
    }),
    Function::new(
        "get",
        &["list", "index", "default?"],
        "An element of a List, counted from 0 or, if negative, from the end; or a part of a Json value, by a key, a \
         position or a List of these. What is not there is an error, or the third argument.",
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
        "The integers from 0 to an end, from a start to an end, or so with a step between them; the end is not \
         included. A negative step counts down.",
        &[
            ("int_range(3)", "[0, 1, 2]"),
            ("int_range(2, 5)", "[2, 3, 4]"),
            ("int_range(5, 0, -2)", "[5, 3, 1]"),
            ("int_range(5, 0, 0)", ""),
        ],
        int_range,
    ),
    Function::new(
        "last",
        &["list"],
        "The last element of a list; null if it is empty.",
        &[("last([7, 8])", "8"), ("last([])", "null"), ("last(null)", "")],
        |args| Ok(list("last", args, 0)?.last().cloned().unwrap_or_default()),
    )
    .with_kernel(|operands, len| {
        kernels::by_reference::map_values(operands, len, |value| {
            Some(value.get_slice()?.last().cloned().unwrap_or_default())
        })
    }),
    Function::new(
        "list",
        &["x..."],
        "A list of the arguments, also written `[x, ...]`.",
        &[("list(1, 'a')", "[1, 'a']")],
        |args| Ok(DataValue::List(args.to_vec())),
    ),
    Function::new(
        "maybe_get",
        &["list", "index"],
        "As `get`, with null for all that is not there.",
        &[("[10, 20] -> 1", "20"), ("{'a': {'b': 3}} -> 'a' -> 'b'", "3"), ("null -> 0", "null")],
        |args| Ok(element(&args[0], &args[1]).unwrap_or_default()),
    )
    .with_kernel(kernels::by_reference::maybe_get),
    Function::new(
        "prepend",
        &["list", "x"],
        "The list with one more element at its start.",
        &[("prepend([2, 3], 1)", "[1, 2, 3]"), ("prepend(1, [2])", "")],
        |args| Ok(DataValue::List([&args[1..], list("prepend", args, 0)?].concat())),
    ),
    Function::new(
        "reverse",
        &["list"],
        "The list with its elements in opposite order.",
        &[("reverse([1, 2, 3])", "[3, 2, 1]"), ("reverse('abc')", "")],
        |args| Ok(DataValue::List(list("reverse", args, 0)?.iter().rev().cloned().collect())),
    ),
    Function::new(
        "slice",
        &["list", "start", "end"],
        "The elements of a list from one position up to but without another, both counted from 0 or, if negative, from \
         the end. The start must be a position of the list, and the end not lie beyond the list.",
        &[("slice([1, 2, 3, 4], 1, 3)", "[2, 3]"), ("slice([1, 2, 3], -2, -1)", "[2]"), ("slice([1, 2], 2, 2)", "")],
        slice,
    ),
    Function::new(
        "sorted",
        &["list"],
        "The list in ascending order; values of different types are ordered by type.",
        &[("sorted([3, 1, 2])", "[1, 2, 3]"), ("sorted(['a', 1, null])", "[null, 1, 'a']"), ("sorted('cab')", "")],
        |args| {
            let mut items = list("sorted", args, 0)?.to_vec();
            items.sort();
            Ok(DataValue::List(items))
        },
    ),
    Function::new(
        "windows",
        &["list", "length"],
        "All runs of neighbouring elements of a length; none if the list is shorter.",
        &[("windows([1, 2, 3], 2)", "[[1, 2], [2, 3]]"), ("windows([1], 2)", "[]"), ("windows([1], 0)", "")],
        windows,
    ),
];

fn list_of_lists<'a>(parts: impl Iterator<Item = &'a [DataValue]>) -> DataValue {
    DataValue::List(parts.map(|part| DataValue::List(part.to_vec())).collect())
}

/// The position that an index stands for, which may lie outside of the list.
fn position(length: usize, index: i64) -> i64 {
    if index < 0 { index.saturating_add(length as i64) } else { index }
}

/// The part of a List or Json value that a key or an index names.
pub(super) fn element(container: &DataValue, key: &DataValue) -> Option<DataValue> {
    match container {
        DataValue::List(items) => {
            let position = position(items.len(), key.get_int()?);
            items.get(usize::try_from(position).ok()?).cloned()
        }
        DataValue::Json(json) => json::part(&json.0, key).map(json::plain),
        _ => None,
    }
}

fn get(args: &[DataValue]) -> Outcome {
    match (element(&args[0], &args[1]), args.get(2)) {
        (Some(element), _) => Ok(element),
        (None, Some(default)) => Ok(default.clone()),
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
    // All but the value after the last lie between start and end, and so within 64 bits.
    let values = std::iter::successors(Some(start), |value| Some(value.wrapping_add(step)));
    Ok(DataValue::List(values.take(length).map(DataValue::from).collect()))
}

fn slice(args: &[DataValue]) -> Outcome {
    let items = list("slice", args, 0)?;
    let [start, end] = [1, 2].map(|i| int("slice", args, i).map(|index| position(items.len(), index)));
    let (start, end) = (usize::try_from(start?), usize::try_from(end?));
    match (start, end) {
        (Ok(start), Ok(end)) if start < items.len() && end <= items.len() && start <= end => {
            Ok(DataValue::List(items[start..end].to_vec()))
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
    Ok(list_of_lists(items.windows(length)))
}
