//! Booleans, and the choice of the first value that is not null.
//!
//! `if` and `cond` are no functions: they evaluate only the branch they take, so the resolver makes
//! [`Expr::Conditional`](crate::expr::Expr::Conditional) of them.

use super::arguments::{Outcome, boolean, fail, quote};
use super::{Family, Function, kernels};
use crate::value::DataValue;

pub(super) const FAMILY: Family = Family { title: "Booleans", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "and",
        &["x..."],
        "Whether all arguments are true; true without arguments. Stops at the first false, so a later argument that is not \
         a Bool goes unnoticed, but all arguments are evaluated.",
        &[("and(true, 1 < 2)", "true"), ("and()", "true"), ("true && 1", "")],
        |args| until("and", args, false),
    )
    .with_kernel(kernels::booleans::and),
    Function::new(
        "assert",
        &["condition", "values..."],
        "True if the first argument is `true`; anything else is an error that quotes all arguments.",
        &[("assert(1 < 2, 'order')", "true"), ("assert(false, 'never')", "")],
        assert,
    ),
    Function::new(
        "coalesce",
        &["x..."],
        "The first argument that is not null; null if there is none.",
        &[("coalesce(null, 2, 3)", "2"), ("null ~ 'x'", "'x'"), ("coalesce()", "null")],
        |args| Ok(args.iter().find(|arg| !arg.is_null()).map(DataValue::copy).transpose()?.unwrap_or_default()),
    )
    .with_kernel(kernels::booleans::coalesce),
    Function::new("negate", &["x"], "The opposite of a Bool.", &[("!true", "false"), ("!0", "")], |args| {
        Ok(DataValue::Bool(!boolean("negate", args, 0)?))
    })
    .with_kernel(kernels::booleans::negate),
    Function::new(
        "or",
        &["x..."],
        "Whether any argument is true; false without arguments. Stops at the first true, so a later argument that is not a \
         Bool goes unnoticed, but all arguments are evaluated.",
        &[("or(false, 1 < 2)", "true"), ("or()", "false"), ("false || 1", "")],
        |args| until("or", args, true),
    )
    .with_kernel(kernels::booleans::or),
];

/// `decisive` if an argument equals it, or else its opposite. Arguments after the decisive one are not checked.
fn until(function: &str, args: &[DataValue], decisive: bool) -> Outcome {
    for i in 0..args.len() {
        if boolean(function, args, i)? == decisive {
            return Ok(DataValue::Bool(decisive));
        }
    }
    Ok(DataValue::Bool(!decisive))
}

fn assert(args: &[DataValue]) -> Outcome {
    if args[0] == DataValue::Bool(true) {
        return Ok(DataValue::Bool(true));
    }
    let quoted: Vec<String> = args.iter().map(quote).collect();
    fail("assert", format!("assertion failed: {}", quoted.join(", ")))
}
