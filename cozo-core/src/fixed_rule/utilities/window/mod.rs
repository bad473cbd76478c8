//! `Window`: what SQL computes with window functions: ranks, neighbours and running totals within partitions.
//!
//! | module | |
//! |---|---|
//! | `options` | the options `compute`, `partition_by`, `sort_by` and `descending` |
//! | `layout` | the rows in order, with the limits of partitions and of rows that sort alike |
//! | `compute` | a column for each function |

mod compute;
mod layout;
mod options;

use crate::expr::Expr;
use crate::fixed_rule::expression::{bind, evaluate};
use crate::fixed_rule::{
    BuiltInRule, Call, DefaultValue, FixedRuleError, InputSpec, OptionKind, OptionSpec, Output, Settings, Shape,
};
use crate::value::{Batch, Column};

use compute::compute;
use layout::Layout;
use options::{computed, descending, expressions};

/// Ranks, neighbours and running totals within partitions.
pub static WINDOW: BuiltInRule = BuiltInRule {
    name: "Window",
    aliases: &[],
    doc: "Sorts the rows of each partition and computes columns from them, or keeps only the first rows of each partition. \
          The functions of `compute` are `'row_number'` (1, 2, 3, 4), `'rank'` (1, 2, 2, 4 if the second and the third row \
          sort alike), `'dense_rank'` (1, 2, 2, 3), `'percent_rank'` (the rank from 0.0 to 1.0), `['lag', x]` and `['lead', \
          x]` (`x` of the previous and of the next row; `['lag', x, 3, 0]` looks three rows back, and gives 0 where there \
          is none), `['first', x]` and `['last', x]` of the partition, and of the rows so far `['running_sum', x]` (an Int \
          of Ints), `['running_mean', x]`, `['running_min', x]`, `['running_max', x]` (both without nulls) and \
          `'running_count'`, or `['running_count', x]` without nulls. Rows that sort alike follow each other in the order \
          of rows. Nulls sort first, and last in descending order.",
    cost: "",
    source: "",
    examples: &[
        (
            "emp[dept, name, pay] <- [['a', 'Ann', 5], ['a', 'Bob', 7], ['a', 'Cy', 7], ['b', 'Di', 3]]
             ?[dept, name, pay, rank, total] <~ Window(emp[dept, name, pay], partition_by: dept, sort_by: -pay,
                                                       compute: ['rank', ['running_sum', pay]])",
            "[['a', 'Ann', 5, 3, 19], ['a', 'Bob', 7, 1, 7], ['a', 'Cy', 7, 1, 14], ['b', 'Di', 3, 1, 3]]",
        ),
        (
            "t[day, price] <- [[1, 10], [2, 12], [3, 9]]
             ?[day, change] := w[day, price, before], change = price - before
             w[day, price, before] <~ Window(t[day, price], sort_by: day, compute: [['lag', price, 1, 10]])",
            "[[1, 0], [2, 2], [3, -3]]",
        ),
        (
            "emp[dept, name] <- [['a', 'Ann'], ['a', 'Bob'], ['a', 'Cy'], ['b', 'Di']]
             ?[dept, name] <~ Window(emp[dept, name], partition_by: dept, sort_by: name, descending: true, take: 2)",
            "[['a', 'Bob'], ['a', 'Cy'], ['b', 'Di']]",
        ),
    ],
    inputs: &[InputSpec::required(
        "rel",
        Shape::Columns(0),
        "the rows; the named columns are in the result, and the expressions use them",
    )],
    options: &[
        OptionSpec::new(
            "partition_by",
            OptionKind::Expression,
            DefaultValue::Null,
            "an expression or a list of them; without it all rows are one partition",
        ),
        OptionSpec::new("sort_by", OptionKind::Expression, DefaultValue::Null, "an expression or a list of them"),
        OptionSpec::new(
            "descending",
            OptionKind::Value,
            DefaultValue::Bool(false),
            "whether the largest come first; or a list with a Bool for each of `sort_by`",
        ),
        OptionSpec::new(
            "compute",
            OptionKind::Expression,
            DefaultValue::Null,
            "a list of functions: a name, or a list of a name and expressions",
        ),
        OptionSpec::new(
            "take",
            OptionKind::NonNegativeInt,
            DefaultValue::Int(0),
            "the maximum number of rows of each partition; 0 means all; the columns are computed from all rows",
        ),
    ],
    output: Output::AfterInput(
        "the named columns of the input as they are written, then one for each of `compute`",
        |options| Ok(computed(options)?.len()),
    ),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let input = call.input(0)?;
    input.check_arity(call.options.rule, "rel", input.bindings.len())?;
    let mut names: Vec<_> = input.bound_columns(0).collect();
    // As they are written: `*r{b, a}` names columns in another order than the relation has them.
    names.sort_by_key(|(name, _)| name.span.0);
    let rows = input.ordered(&call.poison)?;
    let column = |expr: &Expr| -> Result<Column, FixedRuleError> {
        let column = evaluate(&bind(expr, &names)?, rows, &call.poison)?;
        call.poison.make_room(column.memory_bytes())?;
        Ok(column)
    };
    let columns = |option| expressions(call.options, option).iter().map(column).collect::<Result<Vec<_>, _>>();
    let (partitions, keys) = (columns("partition_by")?, columns("sort_by")?);
    let descending = descending(call.options, settings.value("descending"), keys.len())?;
    let layout = Layout::new(partitions, keys, &descending, rows.len, &call.poison)?;

    let kept = layout.first_positions(settings.count("take"));
    let kept_rows: Vec<u32> = kept.iter().map(|position| layout.order[*position as usize]).collect();
    let mut output = vec![];
    for (_, column) in &names {
        call.poison.check()?;
        output.push(rows.columns[*column].copy_rows(&kept_rows)?);
    }
    for computed in computed(call.options)? {
        call.poison.check()?;
        let of = computed.of.as_ref().map(column).transpose()?;
        let made = compute(call, &computed, of, &layout)?;
        call.poison.make_room(made.memory_bytes())?;
        output.push(if kept.len() < rows.len { made.copy_rows(&kept)? } else { made });
    }
    Ok(Batch::new(output, kept.len()))
}
