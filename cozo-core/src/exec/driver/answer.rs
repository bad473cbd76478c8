//! From the table of the entry to the answer: sorted, cut, asserted.
//!
//! [`answer`] decides how many rows the entry needs ([`Wanted`](crate::exec::run::Wanted)). With `:limit` and without `:order`, evaluation
//! stops as soon as there are enough rows; with both, only the first rows of the order are kept. Rows that are sorted by nothing
//! else are sorted by all columns, so that answers do not depend on how they were found.

use crate::budget::Budget;
use crate::exec::driver::fixpoint::evaluate;
use crate::exec::driver::sort::sort_rows;
use crate::exec::error::ExecError;
use crate::exec::rowset::top_k::TopKSpec;
use crate::exec::run::Run;
use crate::expr::Expr;
use crate::expr::functions::shorten;
use crate::parse::ast::Assertion;
use crate::plan::{OptionError, Options, TableKind};
use crate::value::{Batch, DataValue};

/// The rows of a query, in their final order.
pub struct Answer {
    /// The rows, one column for each header.
    pub rows: Batch,
}

/// A query's option has a bad value, or the query fails.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum AnswerError {
    /// The option.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Option(#[from] OptionError),
    /// The query.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Exec(#[from] ExecError),
}

/// Runs a query, and applies its options to the rows.
pub fn answer(run: &mut Run<'_>, options: &Options) -> Result<Answer, AnswerError> {
    let parameters = run.input.parameters;
    let limit = non_negative(":limit", options.limit.as_ref(), parameters)?;
    let offset = non_negative(":offset", options.offset.as_ref(), parameters)?.unwrap_or(0);
    let inline = entry_is_inline(run);
    let stops_early = options.order.is_empty() && inline;
    let enough = limit.filter(|_| inline).map(|limit| limit.saturating_add(offset));
    run.wanted.enough = enough.filter(|_| stops_early);
    run.wanted.top =
        enough.filter(|_| !stops_early).map(|rows| TopKSpec { keys: options.order.clone(), rows: rows.max(1) });
    let rows = evaluate(run)?.into_rows();
    check_assertion(options, &rows)?;
    let sleep = sleep_seconds(options, parameters)?;
    if stops_early && limit.is_some() {
        return finish(sort_rows(cut(rows, offset, limit), &[])?, sleep, run.budget);
    }
    finish(cut(sort_rows(rows, &options.order)?, offset, limit), sleep, run.budget)
}

fn finish(rows: Batch, sleep: Option<f64>, budget: &Budget) -> Result<Answer, AnswerError> {
    if let Some(seconds) = sleep {
        budget.sleep(seconds).map_err(ExecError::from)?;
    }
    Ok(Answer { rows })
}

/// Whether the entry is a set that rules fill. Only then can evaluation stop early.
fn entry_is_inline(run: &Run<'_>) -> bool {
    let given = |component: &crate::plan::ComponentPlan| {
        let mut tables = component.constants.iter().map(|c| c.table).chain(component.fixed.iter().map(|f| f.table));
        tables.any(|table| table == run.plan.entry)
    };
    matches!(run.plan.tables[run.plan.entry].kind, TableKind::Set) && !run.plan.components.iter().any(given)
}

fn check_assertion(options: &Options, rows: &Batch) -> Result<(), ExecError> {
    match options.assertion {
        Some((Assertion::None, span)) if !rows.is_empty() => Err(ExecError::AssertNone { span }),
        Some((Assertion::Some, span)) if rows.is_empty() => Err(ExecError::AssertSome { span }),
        _ => Ok(()),
    }
}

/// How much of a wrong value an error shows, in bytes.
const SHOWN_BYTES: usize = 80;

/// The value of an option that counts rows.
pub fn non_negative(
    option: &'static str,
    expr: Option<&Expr>,
    parameters: &[&DataValue],
) -> Result<Option<usize>, AnswerError> {
    let Some(expr) = expr else { return Ok(None) };
    let value = expr.eval_closed(parameters).map_err(ExecError::from)?;
    // A number above the largest integer stands for all rows.
    let is_vast = value.get_float().is_some_and(|count| count.is_finite() && count >= i64::MAX as f64);
    let count = value.get_int().and_then(|count| usize::try_from(count).ok());
    match count.or(is_vast.then_some(usize::MAX)) {
        Some(count) => Ok(Some(count)),
        None => {
            Err(OptionError::NotNonNegative { option, found: shorten(&value, SHOWN_BYTES, "..."), span: expr.span() }
                .into())
        }
    }
}

/// The seconds of `:timeout`, which may be zero or negative.
pub fn timeout_seconds(options: &Options, parameters: &[&DataValue]) -> Result<Option<f64>, AnswerError> {
    let Some(expr) = &options.timeout else { return Ok(None) };
    let value = expr.eval_closed(parameters).map_err(ExecError::from)?;
    let bad = || OptionError::TimeoutNotSeconds { found: shorten(&value, SHOWN_BYTES, "..."), span: expr.span() };
    Ok(Some(value.get_float().ok_or_else(bad)?))
}

/// The seconds of `:sleep`, which are positive.
fn sleep_seconds(options: &Options, parameters: &[&DataValue]) -> Result<Option<f64>, AnswerError> {
    let Some(expr) = &options.sleep else { return Ok(None) };
    let value = expr.eval_closed(parameters).map_err(ExecError::from)?;
    let bad = || OptionError::SleepNotPositive { found: shorten(&value, SHOWN_BYTES, "..."), span: expr.span() };
    Ok(Some(value.get_float().filter(|seconds| *seconds > 0.0).ok_or_else(bad)?))
}

/// The rows from `offset` on, `limit` of them at most.
fn cut(rows: Batch, offset: usize, limit: Option<usize>) -> Batch {
    let start = offset.min(rows.len);
    let end = limit.map_or(rows.len, |limit| start.saturating_add(limit).min(rows.len));
    if start == 0 && end == rows.len { rows } else { rows.slice(start..end) }
}
