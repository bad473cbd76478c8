//! Running a script of several statements with control flow, all in one transaction.
//!
//! [`run_steps`] runs statements. Each ends with an [`Outcome`]:
//!
//! | outcome | of | effect |
//! |---|---|---|
//! | `Value` | a query, a finished loop | the next statement follows; the last value is the result |
//! | `Break`, `Continue` | `%break`, `%continue` | leaves blocks up to the loop with the label, or the innermost loop |
//! | `Return` | `%return` | ends the script |
//!
//! A statement sees the writes of earlier ones. An error ends the script, and the transaction is dropped with all its writes.
//! Only `%ignore_error` continues, after rolling back to a savepoint. The value of a statement is dropped before the next one
//! runs, unless it is stored as an ephemeral relation.

use super::context::ScriptContext;
use super::query::run_query;
use crate::budget::{make_room, temporary, within};
use crate::diag::SourceSpan;
use crate::parse::ast::Symbol;
use crate::plan::default_schema;
use crate::program::ProgramError;
use crate::schema::{AccessLevel, RelationError, SchemaRef};
use crate::session::error::SessionError;
use crate::session::results::{NamedRows, RelationReader};
use crate::session::script::{RelationSource, Step};
use crate::storage::ChangeKind;
use crate::txn::Transaction;
use crate::value::{Batch, Column, SmallStr, Tuple};

/// The end of a statement.
enum Outcome {
    /// The statement has a value, and the next one follows.
    Value(NamedRows),
    /// A loop is left.
    Break(Option<Symbol>, SourceSpan),
    /// The next round of a loop begins.
    Continue(Option<Symbol>, SourceSpan),
    /// The script ends.
    Return(NamedRows),
}

/// Runs statements. The result is the value of the last one. `mentioned` has their parameters.
pub fn run_steps(
    steps: &[Step],
    mentioned: &[Symbol],
    txn: &mut Transaction,
    context: &ScriptContext<'_>,
) -> miette::Result<NamedRows> {
    if let Some(missing) = mentioned.iter().find(|name| !context.parameters.contains_key(name.name.as_str())) {
        let (name, span) = (missing.name.to_string(), missing.span);
        return Err(ProgramError::ParameterNotFound { name, span }.into());
    }
    let budget = context.core.budget(context.interrupt, 0.0);
    let _entered = budget.enter();
    let dangling = |keyword, span| SessionError::DanglingControlFlow { keyword, span };
    match run_all(steps, txn, context)? {
        Outcome::Value(rows) | Outcome::Return(rows) => Ok(rows),
        Outcome::Break(_, span) => Err(dangling("%break", span).into()),
        Outcome::Continue(_, span) => Err(dangling("%continue", span).into()),
    }
}

fn run_all(steps: &[Step], txn: &mut Transaction, context: &ScriptContext<'_>) -> miette::Result<Outcome> {
    let mut last = NamedRows::default();
    let limit = context.core.query_memory_bytes;
    for step in steps {
        let _step = temporary();
        context.interrupt.check()?;
        within(txn.held_bytes(limit), limit)?;
        // The value of the step before is not needed any more.
        drop(std::mem::take(&mut last));
        match run_step(step, txn, context)? {
            Outcome::Value(rows) => last = rows,
            other => return Ok(other),
        }
    }
    Ok(Outcome::Value(last))
}

fn run_step(step: &Step, txn: &mut Transaction, context: &ScriptContext<'_>) -> miette::Result<Outcome> {
    Ok(Outcome::Value(match step {
        Step::Query { query, store_as } => {
            kept(run_query(query, txn, &context.query_in_turn())?, store_as.as_ref(), txn)?
        }
        Step::System { op, store_as } => kept((context.run_system)(op, txn, context)?, store_as.as_ref(), txn)?,
        Step::If { condition, negated, then, otherwise } => {
            let is_empty = match condition {
                RelationSource::Relation(name) => reader(name, txn)?.is_empty()?,
                query => read(query, txn, context)?.rows.is_empty(),
            };
            let holds = is_empty == *negated;
            return run_all(if holds { then } else { otherwise }, txn, context);
        }
        Step::Loop { label, body } => return run_loop(label.as_ref(), body, txn, context),
        Step::Break(label, span) => return Ok(Outcome::Break(label.clone(), *span)),
        Step::Continue(label, span) => return Ok(Outcome::Continue(label.clone(), *span)),
        Step::Return(values) => {
            return Ok(Outcome::Return(NamedRows::chained(read_all(values, txn, context)?)));
        }
        Step::Debug(name) => {
            let rows = relation_rows(name, txn)?;
            context.core.debug.show(&name.name, rows);
            NamedRows::default()
        }
        Step::IgnoreError(query) => {
            let savepoint = txn.savepoint();
            match run_query(query, txn, &context.query_in_turn()) {
                Ok(rows) => rows,
                Err(error) => {
                    // A script that is being stopped must not continue.
                    context.interrupt.check()?;
                    drop(error);
                    txn.roll_back_to(savepoint);
                    NamedRows::status("FAILED")
                }
            }
        }
        Step::Swap(a, b) => {
            let (a, b) = (ephemeral(a, txn)?, ephemeral(b, txn)?);
            txn.swap_ephemeral(&a, &b);
            NamedRows::default()
        }
    }))
}

fn run_loop(
    label: Option<&Symbol>,
    body: &[Step],
    txn: &mut Transaction,
    context: &ScriptContext<'_>,
) -> miette::Result<Outcome> {
    let is_mine = |target: &Option<Symbol>| match (target, label) {
        (None, _) => true,
        (Some(target), Some(label)) => target.name == label.name,
        (Some(_), None) => false,
    };
    loop {
        match run_all(body, txn, context)? {
            Outcome::Value(_) => {}
            Outcome::Continue(target, _) if is_mine(&target) => {}
            Outcome::Break(target, _) if is_mine(&target) => return Ok(Outcome::Value(NamedRows::default())),
            other => return Ok(other),
        }
    }
}

/// Returns a result, after storing it as an ephemeral relation if there is a name.
fn kept(rows: NamedRows, name: Option<&Symbol>, txn: &mut Transaction) -> miette::Result<NamedRows> {
    if let Some(name) = name {
        store_as(&name.name, name.span, &rows, txn)?;
    }
    Ok(rows)
}

fn read(source: &RelationSource, txn: &mut Transaction, context: &ScriptContext<'_>) -> miette::Result<NamedRows> {
    match source {
        RelationSource::Relation(name) => relation_rows(name, txn),
        RelationSource::Query { query, store_as } => {
            kept(run_query(query, txn, &context.query_in_turn())?, store_as.as_ref(), txn)
        }
    }
}

/// All results that a script returns. Together they have the memory limit of one result.
fn read_all(
    sources: &[RelationSource],
    txn: &mut Transaction,
    context: &ScriptContext<'_>,
) -> miette::Result<Vec<NamedRows>> {
    let (mut results, mut bytes) = (vec![], 0);
    for source in sources {
        let result = read(source, txn, context)?;
        bytes += result.memory_bytes();
        within(bytes, context.core.query_memory_bytes)?;
        results.push(result);
    }
    Ok(results)
}

fn ephemeral(name: &Symbol, txn: &Transaction) -> Result<SchemaRef, SessionError> {
    let not_found = || RelationError::not_found(&name.name, name.span, &txn.relation_names()).into();
    txn.relation(&name.name).cloned().ok_or_else(not_found)
}

/// All rows of a relation.
fn relation_rows(name: &Symbol, txn: &mut Transaction) -> miette::Result<NamedRows> {
    reader(name, txn)?.named_rows()
}

fn reader(name: &Symbol, txn: &mut Transaction) -> miette::Result<RelationReader> {
    let schema = ephemeral(name, txn)?;
    schema.require(AccessLevel::ReadOnly, "read", name.span)?;
    Ok(RelationReader::new(schema, txn)?)
}

/// Stores a result as an ephemeral relation. It replaces one with the same name.
fn store_as(name: &SmallStr, span: SourceSpan, rows: &NamedRows, txn: &mut Transaction) -> miette::Result<()> {
    make_room(rows.memory_bytes())?;
    let column = |header: &String| SmallStr::from(header.replace('(', "_").replace(')', ""));
    let columns: Vec<SmallStr> = rows.headers.iter().map(column).collect();
    if let Some((i, name)) = columns.iter().enumerate().find(|(i, name)| columns[..*i].contains(name)) {
        debug_assert!(i > 0, "the first column repeats none");
        return Err(SessionError::DuplicateColumn(name.to_string(), span).into());
    }
    if let Some(old) = txn.relation(name).cloned() {
        txn.drop_relation(&old)?;
    }
    let schema = txn.create(default_schema(name, columns))?;
    let mut sorted: Vec<&Tuple> = rows.rows.iter().collect();
    sorted.sort();
    sorted.dedup();
    let mut batch = Batch { columns: vec![Column::default(); schema.arity()], len: 0 };
    sorted.into_iter().for_each(|row| batch.push_row(row));
    Ok(txn.write(&schema, ChangeKind::Put, batch)?)
}
