//! From the table of the entry to the answer: sorted, cut, asserted.
//!
//! [`answer`] decides how many rows the entry needs ([`Wanted`](crate::exec::run::Wanted)). With `:limit` and without `:order`, evaluation
//! stops as soon as there are enough rows; with both, only the first rows of the order are kept. Rows that are sorted by nothing
//! else are sorted by all columns, so that answers do not depend on how they were found.

use crate::exec::driver::evaluate::evaluate;
use crate::exec::error::ExecError;
use crate::exec::rows::{RowStream, Rows};
use crate::exec::rowset::table::{BYTES_AROUND_ROW, OnDisk};
use crate::exec::rowset::top_k::TopKSpec;
use crate::exec::run::Run;
use crate::exec::sorting::{Disk, RunOrder, SortedRuns, sort_rows};
use crate::exec::thresholds::MAX_BATCH_ROWS;
use crate::expr::Expr;
use crate::expr::functions::shorten;
use crate::parse::ast::Assertion;
use crate::plan::{OptionError, Options, SortKey, TableKind};
use crate::value::{Batch, DataValue};

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

/// Runs a query, and applies its options to the rows. They are in their final order.
pub fn answer(run: &mut Run<'_>, options: &Options) -> Result<Rows, AnswerError> {
    let parameters = run.input.parameters;
    let limit = non_negative(":limit", options.limit.as_ref(), parameters)?;
    let offset = non_negative(":offset", options.offset.as_ref(), parameters)?.unwrap_or(0);
    let inline = entry_is_inline(run);
    let stops_early = options.order.is_empty() && inline;
    let enough = limit.filter(|_| inline).map(|limit| limit.saturating_add(offset));
    run.wanted.enough = enough.filter(|_| stops_early);
    let are_kept =
        |rows: &usize| run.space.is_none() || rows.saturating_mul(row_bytes(run)) <= run.budget.spill_above();
    run.wanted.top = enough
        .filter(|_| !stops_early)
        .filter(are_kept)
        .map(|rows| TopKSpec { keys: options.order.clone(), rows: rows.max(1) });
    run.wanted.order = options.order.clone();
    let table = evaluate(run)?;
    let mut rows = match table.into_disk() {
        Ok(on_disk) => Rows::Stream(Box::new(stream(on_disk, offset, limit, run)?)),
        Err(table) => Rows::Many(table.into_rows()),
    };
    check_assertion(options, &mut rows)?;
    if let Some(seconds) = sleep_seconds(options, parameters)? {
        run.budget.sleep(seconds).map_err(ExecError::from)?;
    }
    Ok(match rows {
        Rows::Many(rows) if stops_early && limit.is_some() => Rows::Many(sort_rows(cut(rows, offset, limit), &[])?),
        Rows::Many(rows) => match disk_to_sort(&rows, run) {
            Some(disk) => {
                let width = rows.columns.len();
                let runs = runs_of(rows, run.wanted.order.clone(), disk)?;
                Rows::Stream(Box::new(RowStream::new(runs.merge()?, width, offset, limit)))
            }
            None => Rows::Many(cut(sort_rows(rows, &options.order)?, offset, limit)),
        },
        rows => rows,
    })
}

/// The disk, if memory does not suffice to sort rows.
fn disk_to_sort<'r>(rows: &Batch, run: &'r Run<'_>) -> Option<&'r Disk> {
    let is_short = run.budget.should_spill() && run.budget.spare_bytes() < rows.memory_bytes();
    if is_short { run.disk() } else { None }
}

/// About the least bytes that a row of the entry takes.
fn row_bytes(run: &Run<'_>) -> usize {
    // A table of wanted rows grows to twice as many before it is cut.
    2 * (run.plan.tables[run.plan.entry].arity * size_of::<i64>() + BYTES_AROUND_ROW)
}

/// Rows on disk in the wanted order, from `offset` on and at most `limit` of them.
fn stream(on_disk: OnDisk, offset: usize, limit: Option<usize>, run: &Run<'_>) -> Result<RowStream, ExecError> {
    let width = run.plan.tables[run.plan.entry].arity;
    let runs = match on_disk {
        OnDisk::Runs(runs) => runs,
        OnDisk::Rows(rows) => {
            let disk = run.disk().expect("rows are on disk");
            let mut runs = SortedRuns::new(RunOrder::Rows(run.wanted.order.clone()), disk);
            let mut reader = rows.read_all();
            while let Some(batch) = reader.next_rows(usize::MAX)? {
                runs.push(batch)?;
            }
            runs
        }
    };
    Ok(RowStream::new(runs.merge()?, width, offset, limit))
}

/// Rows in memory as runs on disk.
fn runs_of(rows: Batch, order: Vec<SortKey>, disk: &Disk) -> Result<SortedRuns, ExecError> {
    let mut runs = SortedRuns::new(RunOrder::Rows(order), disk);
    for start in (0..rows.len).step_by(MAX_BATCH_ROWS) {
        runs.push(rows.slice(start..(start + MAX_BATCH_ROWS).min(rows.len)))?;
    }
    disk.budget().release(rows.memory_bytes());
    Ok(runs)
}

/// Whether the entry is a set that rules fill. Only then can evaluation stop early.
fn entry_is_inline(run: &Run<'_>) -> bool {
    let given = |component: &crate::plan::ComponentPlan| {
        let mut tables = component.constants.iter().map(|c| c.table).chain(component.fixed.iter().map(|f| f.table));
        tables.any(|table| table == run.plan.entry)
    };
    matches!(run.plan.tables[run.plan.entry].kind, TableKind::Set) && !run.plan.components.iter().any(given)
}

fn check_assertion(options: &Options, rows: &mut Rows) -> Result<(), ExecError> {
    let Some((assertion, span)) = options.assertion else { return Ok(()) };
    let is_empty = match rows {
        Rows::One(row, _) => row.is_none(),
        Rows::Many(rows) => rows.is_empty(),
        Rows::Stream(rows) => rows.is_empty()?,
    };
    match assertion {
        Assertion::None if !is_empty => Err(ExecError::AssertNone { span }),
        Assertion::Some if is_empty => Err(ExecError::AssertSome { span }),
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
