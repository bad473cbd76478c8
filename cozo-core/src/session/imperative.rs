//! Scripts as they run: one query, one system operation, or several statements with control flow, all in one transaction.
//!
//! [`CompiledScript::new`] converts a parsed script. Each query in it becomes a [`QueryCache`], so a cached script compiles its
//! queries once. [`run_steps`] runs statements. Each ends with an [`Outcome`]:
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

use super::compile::QueryCache;
use super::query::{run_query, store_as};
use super::{NamedRows, RelationReader, SessionError, sys};
use crate::budget::{Budget, temporary, within};
use crate::diag::SourceSpan;
use crate::parse::ast::{self, Condition, Statement, Symbol, SystemOp};
use crate::program::ProgramError;
use crate::schema::{AccessLevel, RelationError};
use crate::txn::Transaction;

/// A script whose queries can be compiled and cached.
pub enum CompiledScript {
    /// One query.
    Query(QueryCache),
    /// Statements, and the parameters that they mention.
    Steps(Vec<Step>, Vec<Symbol>),
    /// One system operation.
    System(SystemOp),
}

/// A statement.
pub enum Step {
    Query { query: QueryCache, store_as: Option<Symbol> },
    System { op: SystemOp, store_as: Option<Symbol> },
    If { condition: RelationSource, negated: bool, then: Vec<Step>, otherwise: Vec<Step> },
    Loop { label: Option<Symbol>, body: Vec<Step> },
    Break(Option<Symbol>, SourceSpan),
    Continue(Option<Symbol>, SourceSpan),
    Return(Vec<RelationSource>),
    Debug(Symbol),
    IgnoreError(QueryCache),
    Swap(Symbol, Symbol),
}

/// A relation by name, or a query.
pub enum RelationSource {
    Relation(Symbol),
    Query { query: QueryCache, store_as: Option<Symbol> },
}

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

impl CompiledScript {
    /// Converts a parsed script.
    pub fn new(script: ast::Script) -> Self {
        match script {
            ast::Script::Query(query) => CompiledScript::Query(QueryCache::new(*query)),
            ast::Script::Imperative { statements, parameters } => CompiledScript::Steps(steps(statements), parameters),
            ast::Script::System(op) => CompiledScript::System(op),
        }
    }

    /// Whether it may write stored relations.
    pub fn writes(&self) -> bool {
        match self {
            CompiledScript::Query(query) => query.writes(),
            CompiledScript::Steps(steps, _) => steps.iter().any(Step::writes),
            CompiledScript::System(op) => sys::writes(op),
        }
    }

    /// Whether it is known to begin by reading stored relations.
    pub fn begins_by_reading(&self) -> bool {
        matches!(self, CompiledScript::Query(query) if query.is_known_to_read())
    }

    /// Whether parsing the script again would make it faster.
    pub fn is_outdated(&self) -> bool {
        matches!(self, CompiledScript::Query(query) if query.is_outdated())
    }

    /// The place of an error about the whole script: the relation that it writes, or its first line.
    pub fn place(&self, source: &str) -> SourceSpan {
        match self {
            CompiledScript::Query(query) => query.written_at().unwrap_or_else(|| query.place()),
            CompiledScript::System(op) => op.span,
            CompiledScript::Steps(..) => first_line(source),
        }
    }
}

/// The first line of a script that is not blank.
pub fn first_line(source: &str) -> SourceSpan {
    let text = source.trim_start();
    SourceSpan(source.len() - text.len(), text.lines().next().unwrap_or_default().trim_end().len())
}

fn steps(statements: Vec<Statement>) -> Vec<Step> {
    statements.into_iter().map(step).collect()
}

fn step(statement: Statement) -> Step {
    match statement {
        Statement::Query { query, store_as } => Step::Query { query: QueryCache::new(*query), store_as },
        Statement::System { op, store_as } => Step::System { op, store_as },
        Statement::If { condition, negated, then, otherwise, .. } => {
            Step::If { condition: source(condition), negated, then: steps(then), otherwise: steps(otherwise) }
        }
        Statement::Loop { label, body, .. } => Step::Loop { label, body: steps(body) },
        Statement::Break(label, span) => Step::Break(label, span),
        Statement::Continue(label, span) => Step::Continue(label, span),
        Statement::Return(values, _) => Step::Return(values.into_iter().map(source).collect()),
        Statement::Debug(name) => Step::Debug(name),
        Statement::IgnoreError(query) => Step::IgnoreError(QueryCache::new(*query)),
        Statement::Swap(a, b) => Step::Swap(a, b),
    }
}

fn source(condition: Condition) -> RelationSource {
    match condition {
        Condition::Relation(name) => RelationSource::Relation(name),
        Condition::Query { query, store_as } => RelationSource::Query { query: QueryCache::new(*query), store_as },
    }
}

impl RelationSource {
    fn writes(&self) -> bool {
        matches!(self, RelationSource::Query { query, .. } if query.writes())
    }
}

impl Step {
    fn writes(&self) -> bool {
        match self {
            Step::Query { query, .. } | Step::IgnoreError(query) => query.writes(),
            Step::System { op, .. } => sys::writes(op),
            Step::If { condition, then, otherwise, .. } => {
                condition.writes() || then.iter().chain(otherwise).any(Step::writes)
            }
            Step::Loop { body, .. } => body.iter().any(Step::writes),
            Step::Return(values) => values.iter().any(RelationSource::writes),
            Step::Break(..) | Step::Continue(..) | Step::Debug(_) | Step::Swap(..) => false,
        }
    }
}

/// Runs statements. The result is the value of the last one. `mentioned` has their parameters.
pub fn run_steps(
    steps: &[Step],
    mentioned: &[Symbol],
    txn: &mut Transaction,
    context: &sys::SystemContext<'_>,
) -> miette::Result<NamedRows> {
    if let Some(missing) = mentioned.iter().find(|name| !context.parameters.contains_key(name.name.as_str())) {
        let (name, span) = (missing.name.to_string(), missing.span);
        return Err(ProgramError::ParameterNotFound { name, span }.into());
    }
    let budget = Budget::new(context.interrupt.clone(), 0.0, context.core.query_memory_bytes);
    let _entered = budget.enter();
    let dangling = |keyword, span| SessionError::DanglingControlFlow { keyword, span };
    match run_all(steps, txn, context)? {
        Outcome::Value(rows) | Outcome::Return(rows) => Ok(rows),
        Outcome::Break(_, span) => Err(dangling("%break", span).into()),
        Outcome::Continue(_, span) => Err(dangling("%continue", span).into()),
    }
}

fn run_all(steps: &[Step], txn: &mut Transaction, context: &sys::SystemContext<'_>) -> miette::Result<Outcome> {
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

fn run_step(step: &Step, txn: &mut Transaction, context: &sys::SystemContext<'_>) -> miette::Result<Outcome> {
    Ok(Outcome::Value(match step {
        Step::Query { query, store_as } => {
            kept(run_query(query, txn, &context.query_in_turn())?, store_as.as_ref(), txn)?
        }
        Step::System { op, store_as } => kept(sys::run(op, txn, context)?, store_as.as_ref(), txn)?,
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
    context: &sys::SystemContext<'_>,
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

fn read(source: &RelationSource, txn: &mut Transaction, context: &sys::SystemContext<'_>) -> miette::Result<NamedRows> {
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
    context: &sys::SystemContext<'_>,
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

fn ephemeral(name: &Symbol, txn: &Transaction) -> Result<crate::schema::SchemaRef, SessionError> {
    let not_found = || RelationError::not_found(&name.name, name.span).into();
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
