//! `ReorderSort`: rows sorted and numbered.

use crate::expr::Expr;
use crate::fixed_rule::expression::{bind, evaluate, list_items};
use crate::fixed_rule::{
    BuiltInRule, Call, DefaultValue, FixedRuleError, InputSpec, OptionKind, OptionSpec, Options, Output, Settings,
    Shape,
};
use crate::value::{Batch, Column, compare_columns};

/// Rows sorted and numbered.
pub static REORDER_SORT: BuiltInRule = BuiltInRule {
    name: "ReorderSort",
    aliases: &[],
    doc: "Sorts rows and gives them ranks from 1, so that the order can be used within a query.",
    cost: "",
    source: "",
    examples: &[(
        "r[x] <- [[5], [9], [7]]  ?[rank, x] <~ ReorderSort(r[x], out: [x], sort_by: x, descending: true)",
        "[[1, 9], [2, 7], [3, 5]]",
    )],
    inputs: &[InputSpec::required("rel", Shape::Columns(0), "the rows; the expressions use the names of its columns")],
    options: &[
        OptionSpec::required("out", OptionKind::Expression, "a list of expressions: the columns after the rank"),
        OptionSpec::new("sort_by", OptionKind::Expression, DefaultValue::Null, "an expression or a list of them"),
        OptionSpec::new("descending", OptionKind::Bool, DefaultValue::Bool(false), "the largest first"),
        OptionSpec::new(
            "break_ties",
            OptionKind::Bool,
            DefaultValue::Bool(false),
            "whether rows that tie get different ranks (1, 2, 3, 4) instead of the same rank (1, 2, 2, 4)",
        ),
        OptionSpec::new(
            "skip",
            OptionKind::NonNegativeInt,
            DefaultValue::Int(0),
            "the number of rows to leave out at the beginning",
        ),
        OptionSpec::new(
            "take",
            OptionKind::NonNegativeInt,
            DefaultValue::Int(0),
            "the maximum number of rows; 0 means all",
        ),
    ],
    output: Output::FromOptions("the rank, then the expressions of `out`", |options| Ok(1 + out(options)?.len())),
    external_access: false,
    run,
};

/// The expressions of the option `out`.
fn out(options: Options<'_>) -> Result<Vec<Expr>, FixedRuleError> {
    options.expr("out").and_then(list_items).ok_or_else(|| FixedRuleError::NoArity {
        rule: options.rule.to_string(),
        help: "give the columns as a list of expressions: out: [a, b + 1]",
        span: options.span_of("out"),
    })
}

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let input = call.input(0)?;
    let bindings: Vec<_> = input.bound_columns(0).collect();
    let bound = |exprs: Vec<Expr>| exprs.iter().map(|expr| bind(expr, &bindings)).collect::<Result<Vec<_>, _>>();
    let out = bound(out(call.options)?)?;
    let sort_by = call.options.expr("sort_by").map(|expr| list_items(expr).unwrap_or_else(|| vec![expr.clone()]));
    let sort_by = bound(sort_by.unwrap_or_default())?;

    let rows = input.ordered(&call.poison)?;
    let columns = |exprs: &[Expr]| -> Result<Vec<Column>, FixedRuleError> {
        exprs.iter().map(|expr| evaluate(expr, rows, &call.poison)).collect()
    };
    let keys = columns(&sort_by)?;
    let compare = |a: u32, b: u32| compare_columns(&keys, a as usize, &keys, b as usize);
    let mut order: Vec<u32> = (0..rows.len as u32).collect();
    match settings.bool("descending") {
        true => order.sort_by(|a, b| compare(*b, *a)),
        false => order.sort_by(|a, b| compare(*a, *b)),
    }
    call.poison.check()?;
    let ranks = ranks(&order, settings.bool("break_ties"), |a, b| compare(a, b).is_eq());
    let start = settings.count("skip").min(order.len());
    let take = Some(settings.count("take")).filter(|take| *take > 0).unwrap_or(usize::MAX);
    let kept = start..start.saturating_add(take).min(order.len());
    let order = &order[kept.clone()];
    let given = columns(&out)?;
    let given = given.iter().map(|column| column.take(order));
    Ok(Batch::new(std::iter::once(Column::ints(ranks[kept].to_vec())).chain(given).collect(), order.len()))
}

/// The rank of each row in order, from 1.
fn ranks(order: &[u32], break_ties: bool, ties: impl Fn(u32, u32) -> bool) -> Vec<i64> {
    let mut ranks: Vec<i64> = Vec::with_capacity(order.len());
    for (i, row) in order.iter().enumerate() {
        let rank = match i.checked_sub(1) {
            Some(before) if !break_ties && ties(order[before], *row) => ranks[before],
            _ => i as i64 + 1,
        };
        ranks.push(rank);
    }
    ranks
}
