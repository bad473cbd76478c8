//! Lists as sets: sorted, and without repetition by identity, so that 1 and 1.0 are two elements.

use super::arguments::{Outcome, list};
use super::{Family, Function};
use crate::expr::FunctionError;
use crate::value::DataValue;

pub(super) const FAMILY: Family = Family { title: "Sets", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "difference",
        &["list", "minus", "more..."],
        "The elements of the first list that are in none of the others, sorted and without repetition.",
        &[("difference([3, 1, 2], [1])", "[2, 3]"), ("difference([1], 1)", "")],
        |args| keep("difference", args, |found| !found),
    ),
    Function::new(
        "intersection",
        &["list", "more..."],
        "The elements that are in all lists, sorted and without repetition.",
        &[("intersection([1, 2, 3], [3, 2])", "[2, 3]"), ("intersection([1], 'a')", "")],
        |args| keep("intersection", args, |found| found),
    ),
    Function::new(
        "union",
        &["list", "more..."],
        "The elements that are in any list, sorted and without repetition.",
        &[("union([3, 1], [2, 1])", "[1, 2, 3]"), ("union([1], 2)", "")],
        |args| {
            let lists = (0..args.len()).map(|i| list("union", args, i)).collect::<Result<Vec<_>, _>>()?;
            Ok(DataValue::List(as_set(lists.concat())))
        },
    ),
];

fn as_set(mut items: Vec<DataValue>) -> Vec<DataValue> {
    items.sort();
    items.dedup();
    items
}

/// The elements of the first list that `wanted` keeps, told whether each other list has them.
fn keep(function: &str, args: &[DataValue], wanted: fn(bool) -> bool) -> Outcome {
    let sorted = |i| -> Result<_, FunctionError> { Ok(as_set(list(function, args, i)?.to_vec())) };
    let mut kept = sorted(0)?;
    for i in 1..args.len() {
        let other = sorted(i)?;
        kept.retain(|item| wanted(other.binary_search(item).is_ok()));
    }
    Ok(DataValue::List(kept))
}
