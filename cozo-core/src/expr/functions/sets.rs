//! Lists as sets, Json arrays among them: sorted, and without repetition by identity, so that 1 and 1.0 are two elements.

use super::arguments::{Outcome, list, owned_list};
use super::lists::joined;
use super::{Family, Function};
use crate::budget::{BYTES_PER_STEP, Stop, make_room, step};
use crate::expr::FunctionError;
use crate::value::DataValue;
use crate::value::sort::sort_values;

pub(super) const FAMILY: Family = Family { title: "Sets", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "difference",
        &["list", "minus", "more..."],
        "The elements of the first list that are in none of the others, sorted and without repetition.",
        &[
            ("difference([3, 1, 2], [1])", "[2, 3]"),
            ("difference(json([3, 1]), [1])", "[3]"),
            ("difference([1], 1)", ""),
        ],
        |args| keep("difference", args, |found| !found),
    )
    .making_much(),
    Function::new(
        "intersection",
        &["list", "more..."],
        "The elements that are in all lists, sorted and without repetition.",
        &[("intersection([1, 2, 3], [3, 2])", "[2, 3]"), ("intersection([1], 'a')", "")],
        |args| keep("intersection", args, |found| found),
    )
    .making_much(),
    Function::new(
        "union",
        &["list", "more..."],
        "The elements that are in any list, sorted and without repetition.",
        &[("union([3, 1], [2, 1])", "[1, 2, 3]"), ("union([1], 2)", "")],
        |args| {
            let lists = (0..args.len()).map(|i| list("union", args, i)).collect::<Result<Vec<_>, _>>()?;
            let lists: Vec<&[DataValue]> = lists.iter().map(|list| &**list).collect();
            Ok(DataValue::List(as_set(joined(&lists)?)?))
        },
    )
    .making_much(),
];

fn as_set(items: Vec<DataValue>) -> Result<Vec<DataValue>, Stop> {
    let mut items = sort_values(items)?;
    items.dedup();
    Ok(items)
}

/// The elements of the first list for which `wanted` holds with each other list; its argument is whether that list has the
/// element.
fn keep(function: &str, args: &[DataValue], wanted: fn(bool) -> bool) -> Outcome {
    let sorted = |i| -> Result<_, FunctionError> { Ok(as_set(owned_list(function, args, i)?)?) };
    let mut kept = sorted(0)?;
    for i in 1..args.len() {
        kept = keep_with(kept, &sorted(i)?, wanted)?;
    }
    Ok(DataValue::List(kept))
}

/// The elements of a sorted list for which `wanted` holds; its argument is whether another sorted list has the element.
fn keep_with(items: Vec<DataValue>, others: &[DataValue], wanted: fn(bool) -> bool) -> Result<Vec<DataValue>, Stop> {
    make_room(size_of_val(items.as_slice()))?;
    let mut kept = vec![];
    for item in items {
        step((others.len().checked_ilog2().unwrap_or(0) as usize + 1) * (item.held_bytes() / BYTES_PER_STEP + 1))?;
        if wanted(others.binary_search(&item).is_ok()) {
            kept.push(item);
        }
    }
    Ok(kept)
}
