//! The options of `Window`.

use crate::diag::nearest;
use crate::expr::Expr;
use crate::expr::functions::shorten;
use crate::fixed_rule::expression::list_items;
use crate::fixed_rule::{FixedRuleError, OptionKind, Options};
use crate::value::DataValue;

/// A function of a row among the rows of its partition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowFunction {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    Lag,
    Lead,
    First,
    Last,
    RunningSum,
    RunningMean,
    RunningMin,
    RunningMax,
    RunningCount,
}

/// The functions by name, with the least and the greatest number of their arguments.
const FUNCTIONS: &[(&str, WindowFunction, usize, usize)] = &[
    ("row_number", WindowFunction::RowNumber, 0, 0),
    ("rank", WindowFunction::Rank, 0, 0),
    ("dense_rank", WindowFunction::DenseRank, 0, 0),
    ("percent_rank", WindowFunction::PercentRank, 0, 0),
    ("lag", WindowFunction::Lag, 1, 3),
    ("lead", WindowFunction::Lead, 1, 3),
    ("first", WindowFunction::First, 1, 1),
    ("last", WindowFunction::Last, 1, 1),
    ("running_sum", WindowFunction::RunningSum, 1, 1),
    ("running_mean", WindowFunction::RunningMean, 1, 1),
    ("running_min", WindowFunction::RunningMin, 1, 1),
    ("running_max", WindowFunction::RunningMax, 1, 1),
    ("running_count", WindowFunction::RunningCount, 0, 1),
];

/// A column to compute.
pub(super) struct Computed {
    pub name: &'static str,
    pub function: WindowFunction,
    /// The expression that it is of, over the columns of the input.
    pub of: Option<Expr>,
    /// How many rows `lag` and `lead` go.
    pub offset: usize,
    /// What they give where there is no such row.
    pub default: DataValue,
}

/// The expressions of an option that is one or a list of them.
pub(super) fn expressions(options: Options<'_>, option: &str) -> Vec<Expr> {
    match options.expr(option) {
        None | Some(Expr::Constant(DataValue::Null, _)) => vec![],
        Some(expr) => list_items(expr).unwrap_or_else(|| vec![expr.clone()]),
    }
}

/// The columns that the option `compute` asks for.
pub(super) fn computed(options: Options<'_>) -> Result<Vec<Computed>, FixedRuleError> {
    expressions(options, "compute").iter().map(|item| computed_column(options, item)).collect()
}

fn computed_column(options: Options<'_>, item: &Expr) -> Result<Computed, FixedRuleError> {
    let parts = list_items(item).unwrap_or_else(|| vec![item.clone()]);
    let (name, args) = match parts.split_first() {
        Some((Expr::Constant(DataValue::Str(name), _), args)) => (name, args),
        _ => return Err(wrong(options, known_names(), item.to_string())),
    };
    let Some((name, function, least, most)) = FUNCTIONS.iter().find(|(known, ..)| known == name) else {
        let names: Vec<&str> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
        let meant = nearest(name, &names).map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
        return Err(wrong(options, known_names() + &meant, format!("'{name}'")));
    };
    if !(*least..=*most).contains(&args.len()) {
        let form = match (least, most) {
            (0, 0) => format!("'{name}' without arguments"),
            (0, _) => format!("'{name}' or ['{name}', expression]"),
            (_, 1) => format!("['{name}', expression]"),
            _ => format!("['{name}', expression], perhaps with a number of rows and a default behind"),
        };
        return Err(wrong(options, form, item.to_string()));
    }
    let offset = args.get(1).map(|expr| offset(options, expr)).transpose()?.unwrap_or(1);
    let default = args.get(2).map(|expr| options.constant("compute", expr)).transpose()?.unwrap_or_default();
    Ok(Computed { name, function: *function, of: args.first().cloned(), offset, default })
}

fn offset(options: Options<'_>, expr: &Expr) -> Result<usize, FixedRuleError> {
    let value = options.constant("compute", expr)?;
    let offset = value.get_int().and_then(|offset| usize::try_from(offset).ok());
    let expected = || format!("a function whose second argument is {}", OptionKind::NonNegativeInt.describe());
    offset.ok_or_else(|| wrong(options, expected(), value.to_string()))
}

fn wrong(options: Options<'_>, expected: String, found: String) -> FixedRuleError {
    /// How much of what was found is shown, in bytes.
    const SHOWN_BYTES: usize = 80;
    let shown = if found.len() > SHOWN_BYTES { shorten(&found.into(), SHOWN_BYTES, "...") } else { found };
    options.wrong("compute", expected, shown)
}

fn known_names() -> String {
    let names: Vec<String> = FUNCTIONS.iter().map(|(name, ..)| format!("'{name}'")).collect();
    format!("a list of functions, each a name or a list of a name and expressions; the names are {}", names.join(", "))
}

/// Whether each of so many sort keys descends.
pub(super) fn descending(options: Options<'_>, value: &DataValue, keys: usize) -> Result<Vec<bool>, FixedRuleError> {
    let each = match value {
        DataValue::Bool(all) => Some(vec![*all; keys]),
        other => other.get_slice().and_then(|items| items.iter().map(DataValue::get_bool).collect()),
    };
    each.filter(|each| each.len() == keys).ok_or_else(|| {
        let expected = format!("true, false, or a list of {keys} of these, one for each of 'sort_by'");
        options.wrong("descending", expected, value.to_string())
    })
}
