//! Equality and order.

use std::cmp::Ordering;

use super::arguments::{Outcome, fail, list, number, quote};
use super::{Family, Function, kernels};
use crate::expr::FunctionError;
use crate::value::{DataValue, Num, Scalar};

pub(super) const FAMILY: Family = Family { title: "Comparison", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "eq",
        &["x", "y"],
        "Whether two values of any type are equal. An Int and a Float are compared as numbers; other values \
         of different types are never equal.",
        &[("1 == 1.0", "true"), ("[1] == [1.0]", "false"), ("null == null", "true")],
        |args| Ok(args[0].loosely_equals(&args[1]).into()),
    )
    .with_numbers(|a, b| Some(Scalar::bool(a.num()?.loosely_equals(b.num()?))))
    .with_kernel(kernels::comparison::eq),
    Function::new(
        "ge",
        &["x", "y"],
        "Whether the first is greater or they are equal; both must be of one comparable type (numbers are \
         one type).",
        &[("2 >= 2.0", "true"), ("'a' >= 1", "")],
        |args| Ok(compare("ge", args)?.is_ge().into()),
    )
    .with_numbers(|a, b| Some(Scalar::bool(a.num()?.loosely_compare(b.num()?).is_ge())))
    .with_kernel(kernels::comparison::ge),
    Function::new(
        "gt",
        &["x", "y"],
        "Whether the first is greater; both must be of one comparable type (numbers are one type).",
        &[("2 > 1.5", "true"), ("[2] > [1, 9]", "true"), ("null > 1", "")],
        |args| Ok(compare("gt", args)?.is_gt().into()),
    )
    .with_numbers(|a, b| Some(Scalar::bool(a.num()?.loosely_compare(b.num()?).is_gt())))
    .with_kernel(kernels::comparison::gt),
    Function::new(
        "is_in",
        &["x", "list"],
        "Whether a list contains a value. This is identity: unlike with `==`, 1 and 1.0 are different.",
        &[
            ("is_in(1, [1, 2])", "true"),
            ("is_in('a', json(['a', 1]))", "true"),
            ("is_in(1, [1.0])", "false"),
            ("is_in(1, 'abc')", ""),
        ],
        |args| Ok(list("is_in", args, 1)?.contains(&args[0]).into()),
    )
    .with_kernel(kernels::comparison::is_in),
    Function::new(
        "le",
        &["x", "y"],
        "Whether the first is smaller or they are equal; both must be of one comparable type (numbers are \
         one type).",
        &[("1 <= 1.0", "true"), ("null <= null", "true"), ("1 <= 'a'", "")],
        |args| Ok(compare("le", args)?.is_le().into()),
    )
    .with_numbers(|a, b| Some(Scalar::bool(a.num()?.loosely_compare(b.num()?).is_le())))
    .with_kernel(kernels::comparison::le),
    Function::new(
        "lt",
        &["x", "y"],
        "Whether the first is smaller; both must be of one comparable type (numbers are one type).",
        &[("'B' < 'a'", "true"), ("1 < 1.0", "false"), ("null < 1", "")],
        |args| Ok(compare("lt", args)?.is_lt().into()),
    )
    .with_numbers(|a, b| Some(Scalar::bool(a.num()?.loosely_compare(b.num()?).is_lt())))
    .with_kernel(kernels::comparison::lt),
    Function::new(
        "max",
        &["x", "more..."],
        "The greatest of the numbers, an Int or a Float as it was given; of equal numbers the Float.",
        &[("max(1, 2.5, 2)", "2.5"), ("max(1, 1.0)", "1.0"), ("max(1, null)", "")],
        |args| extreme("max", args, Num::max),
    )
    .with_kernel(kernels::arithmetic::max),
    Function::new(
        "min",
        &["x", "more..."],
        "The smallest of the numbers, an Int or a Float as it was given; of equal numbers the Int.",
        &[("min(3, 2.5)", "2.5"), ("min(1.0, 1)", "1"), ("min('a')", "")],
        |args| extreme("min", args, Num::min),
    )
    .with_kernel(kernels::arithmetic::min),
    Function::new(
        "neq",
        &["x", "y"],
        "The opposite of `a == b`.",
        &[("1 != 'a'", "true"), ("1 != 1.0", "false")],
        |args| Ok((!args[0].loosely_equals(&args[1])).into()),
    )
    .with_numbers(|a, b| Some(Scalar::bool(!a.num()?.loosely_equals(b.num()?))))
    .with_kernel(kernels::comparison::neq),
];

/// The order of two values of one comparable type.
fn compare(function: &str, args: &[DataValue]) -> Result<Ordering, FunctionError> {
    use DataValue::{Bool, Bytes, List, Null, Num, Str};
    match (&args[0], &args[1]) {
        (Num(a), Num(b)) => Ok(a.loosely_compare(*b)),
        (Null, Null) | (Bool(_), Bool(_)) | (Str(_), Str(_)) | (Bytes(_), Bytes(_)) | (List(_), List(_)) => {
            Ok(args[0].cmp(&args[1]))
        }
        (a, b) => fail(
            function,
            format!(
                "cannot order {} and {}: both must be of one type: Null, Bool, number, String, Bytes or List",
                quote(a),
                quote(b)
            ),
        ),
    }
}

/// The number that `choose` prefers over all others.
fn extreme(function: &str, args: &[DataValue], choose: fn(Num, Num) -> Num) -> Outcome {
    let mut best = number(function, args, 0)?;
    for i in 1..args.len() {
        best = choose(best, number(function, args, i)?);
    }
    Ok(best.into())
}
