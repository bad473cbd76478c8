//! `Intervals`: from when to when each row of a history holds.
//!
//! In ascending order the rows of a key stand together, and a [`Validity`] sorts the latest time first. So one pass over the rows
//! finds the end of each in what came before it. Of an assertion and a retraction at one time the assertion counts, as in reads
//! at a time.

use crate::expr::Expr;
use crate::expr::functions::quote;
use crate::fixed_rule::expression::{bind, evaluate, list_items};
use crate::fixed_rule::{
    BuiltInRule, Call, FixedRuleError, Input, InputSpec, OptionKind, OptionSpec, Options, Output, Settings, Shape,
};
use crate::value::{Batch, Column, DataValue, Validity, compare_columns};

/// From when to when each row of a history holds.
pub static INTERVALS: BuiltInRule = BuiltInRule {
    name: "Intervals",
    aliases: &[],
    doc: "Turns a history into the intervals in which its assertions hold, in microseconds since the epoch, as in the \
          Validity. An assertion holds until the next assertion or retraction of its key, which is made of the columns \
          before the Validity. The interval begins with `from` and ends just before `to`; `to` is null if the assertion \
          still holds.",
    cost: "",
    source: "",
    examples: &[(
        "h[k, at, v] <- [['a', validity(1), 5], ['a', validity(4), 6], ['a', validity(9, false), 0], ['b', validity(2), 7]]
         ?[k, v, from, to] <~ Intervals(h[k, at, v], out: [k, v])",
        "[['a', 5, 1, 4], ['a', 6, 4, 9], ['b', 7, 2, null]]",
    )],
    inputs: &[InputSpec::required(
        "history",
        Shape::Columns(1),
        "a relation with a Validity at the end of its key, or rows in that order: key, Validity, values",
    )],
    options: &[OptionSpec::required(
        "out",
        OptionKind::Expression,
        "a list of expressions over the columns of the history: the columns before `from` and `to`",
    )],
    output: Output::FromOptions("the expressions of `out`, then `from` and `to`", |options| Ok(out(options)?.len() + 2)),
    external_access: false,
    run,
};

/// The expressions of the option `out`.
fn out(options: Options<'_>) -> Result<Vec<Expr>, FixedRuleError> {
    options.expr("out").and_then(list_items).ok_or_else(|| FixedRuleError::NoArity {
        rule: options.rule.to_string(),
        help: "give the columns as a list of expressions: out: [name, price]",
        span: options.span_of("out"),
    })
}

fn run(call: &Call<'_>, _: &Settings) -> Result<Batch, FixedRuleError> {
    let input = call.input(0)?;
    let bindings: Vec<_> = input.bound_columns(0).collect();
    let out = out(call.options)?.iter().map(|expr| bind(expr, &bindings)).collect::<Result<Vec<_>, _>>()?;
    let rows = input.ordered(&call.poison)?;
    let Some(at) = rows.columns.iter().position(|column| column.iter().any(|value| validity(&value).is_some())) else {
        return match rows.len {
            0 => Ok(Batch::empty(out.len() + 2)),
            _ => Err(not_a_validity(call, input, &rows.columns[0].get(0))),
        };
    };
    let intervals = intervals(call, input, rows, at)?;
    let holding: Vec<u32> = intervals.iter().map(|interval| interval.row).collect();
    let rows = rows.take(&holding);
    let given = out.iter().map(|expr| evaluate(expr, &rows, &call.poison)).collect::<Result<Vec<_>, _>>()?;
    let from = Column::ints(intervals.iter().map(|interval| interval.from).collect());
    let to = intervals.iter().map(|interval| interval.to.map_or(DataValue::Null, DataValue::from)).collect();
    Ok(Batch::new(given.into_iter().chain([from, to]).collect(), intervals.len()))
}

/// When a row holds.
struct Interval {
    row: u32,
    from: i64,
    to: Option<i64>,
}

/// The intervals of rows in ascending order, whose Validity is in the column `at`.
fn intervals(call: &Call<'_>, input: &Input<'_>, rows: &Batch, at: usize) -> Result<Vec<Interval>, FixedRuleError> {
    let key = &rows.columns[..at];
    let mut intervals = vec![];
    // The begin of what follows in time, of the same key.
    let mut next: Option<i64> = None;
    for row in 0..rows.len {
        let value = rows.columns[at].get(row);
        let validity = validity(&value).ok_or_else(|| not_a_validity(call, input, &value))?;
        if row == 0 || compare_columns(key, row - 1, key, row).is_ne() {
            call.poison.check()?;
            next = None;
        } else if next == Some(validity.micros()) {
            continue;
        }
        if validity.asserts() {
            intervals.push(Interval { row: row as u32, from: validity.micros(), to: next });
        }
        next = Some(validity.micros());
    }
    Ok(intervals)
}

fn validity(value: &DataValue) -> Option<Validity> {
    match value {
        DataValue::Validity(validity) => Some(*validity),
        _ => None,
    }
}

fn not_a_validity(call: &Call<'_>, input: &Input<'_>, value: &DataValue) -> FixedRuleError {
    let (rule, found, span) = (call.options.rule.to_string(), quote(value), input.span);
    FixedRuleError::InputValue { rule, wanted: "a Validity after the key", found, span }
}
