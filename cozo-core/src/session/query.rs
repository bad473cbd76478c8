//! Running one query in a transaction: compile, run, and apply the operation of the query.
//!
//! [`run_query`] is the entry. It takes a [`QueryCache`] with the parsed query, and a [`Context`] with everything that the query
//! runs with: parameters, interrupt, caches, budget.
//!
//! ```text
//!  run_query ── run_with_given ─┬─ reusable: compiled for this catalog before ─┐
//!                               └─ compile, within a budget ───────────────────┴─ run_compiled
//!  run_compiled ─┬─ is_small: run_single, without a budget ─┐
//!                └─ run_counted: within a budget ─┬─ run_single ─┼─ finish ─┬─ no operation: the rows are the result
//!                                                 └─ run_plan ───┘          └─ make_target ── exec::write ── Hooks
//! ```
//!
//! | function | runs | the rows |
//! |---|---|---|
//! | `run_single` | plans that give one row, on single values | [`Rows::One`] |
//! | `run_plan` | all other plans, on batches | [`Rows::Many`] |
//!
//! Invariants: a budget is entered while the query is compiled and while it runs, except for small queries, whose cost is
//! known to be below that of a budget. Memory that the transaction or the script holds counts against the query's limit.

use std::collections::BTreeMap;
use std::time::Instant;

use super::compile::{CompiledQuery, QueryCache, timeout_of};
use super::core::Core;
use super::hooks::{Hooks, before_replacing};
use super::rows::row_bytes;
use super::{NamedRows, ScriptResult, SessionError};
use crate::budget::{Budget, Interrupt, Stop, make_room, step, within};
use crate::diag::locate;
use crate::exec::{Answer, Mutated, Profile, Rows, Run, answer, single_row, timeout_seconds, write};
use crate::parse::ast::{MutationOp, Query};
use crate::plan::{MutationPlan, Options, Plan, Strategy};
use crate::program::{GivenRelation, ParameterValues};
use crate::schema::{AccessLevel, RelationSchema, SchemaRef};
use crate::txn::Transaction;
use crate::value::{Batch, Column, DataValue, SmallStr, Tuple};

/// The time limit in seconds of a query without an option for it.
pub const DEFAULT_TIMEOUT_SECONDS: f64 = 300.0;

/// The context of a query.
pub struct Context<'a> {
    /// The parameters by name.
    pub parameters: &'a BTreeMap<String, DataValue>,
    /// Stops the script.
    pub interrupt: &'a Interrupt,
    /// The database.
    pub core: &'a Core,
    /// Whether writes set off triggers. Writes of triggers do not.
    pub sets_off_triggers: bool,
    /// The memory that the script holds while the query runs, besides that of its transaction.
    pub held_bytes: usize,
    /// For a script that was parsed just now: its beginning and its size.
    pub new_script: Option<(Instant, usize)>,
    /// The budget under which the query was compiled, if it was compiled just now.
    pub budget: Option<&'a Budget>,
}

impl Context<'_> {
    /// The budget of a query that is not compiled yet.
    pub fn budget_of(&self, query: &Query) -> Result<Budget, Stop> {
        let seconds = timeout_of(query, self.parameters).unwrap_or(DEFAULT_TIMEOUT_SECONDS);
        let (passed, script_bytes) =
            self.new_script.map_or((0.0, 0), |(began, bytes)| (began.elapsed().as_secs_f64(), bytes));
        // Zero stands for no limit, so a limit that has passed becomes a tiny one.
        let left = if seconds > 0.0 { (seconds - passed).max(f64::MIN_POSITIVE) } else { 0.0 };
        let budget = Budget::new(self.interrupt.clone(), left, self.core.query_memory_bytes);
        budget.charge(script_bytes)?;
        budget.check()?;
        Ok(budget)
    }

    /// The budget of a compiled query.
    fn budget(&self, timeout_seconds: f64, txn: &mut Transaction) -> Result<Budget, Stop> {
        let limit = self.core.query_memory_bytes;
        let budget = match self.budget {
            Some(budget) => budget.clone(),
            None => Budget::new(self.interrupt.clone(), timeout_seconds, limit),
        };
        budget.check()?;
        budget.charge(txn.held_bytes(limit).saturating_add(self.held_bytes))?;
        Ok(budget)
    }
}

/// Runs a query. Its writes go into the transaction.
pub fn run_query<R: ScriptResult>(
    query: &QueryCache,
    txn: &mut Transaction,
    context: &Context<'_>,
) -> miette::Result<R> {
    let run = run_with_given(query, &[], &[], txn, context);
    run.map_err(|report| locate(report, query.place(), "in this query"))
}

/// Runs a query that may apply relations with given rows.
pub fn run_with_given<R: ScriptResult>(
    query: &QueryCache,
    given: &[GivenRelation],
    rows: &[Batch],
    txn: &mut Transaction,
    context: &Context<'_>,
) -> miette::Result<R> {
    let fixed_rules = &context.core.fixed_rules;
    if let Some(compiled) = query.reusable(txn, fixed_rules) {
        return run_compiled(&compiled, rows, txn, context);
    }
    let budget = context.budget_of(&query.query)?;
    let _compiling = budget.enter();
    let compiled = query.compiled(txn, fixed_rules, context.parameters, given)?;
    run_compiled(&compiled, rows, txn, &Context { budget: Some(&budget), ..*context })
}

/// Runs a compiled query. `given` has the rows of the given relations that it was compiled with.
fn run_compiled<R: ScriptResult>(
    compiled: &CompiledQuery,
    given: &[Batch],
    txn: &mut Transaction,
    context: &Context<'_>,
) -> miette::Result<R> {
    let mut parameters = ParameterValues::new();
    compiled.parameters.bind_into(context.parameters, &mut parameters)?;
    if compiled.is_small {
        context.interrupt.check()?;
        return match run_single(compiled, &parameters, txn, context)? {
            Some(rows) => finish(compiled, rows, &parameters, txn, context),
            None => run_counted(compiled, &parameters, given, txn, context),
        };
    }
    run_counted(compiled, &parameters, given, txn, context)
}

/// Runs a query within a budget of memory and time.
#[inline(never)]
fn run_counted<R: ScriptResult>(
    compiled: &CompiledQuery,
    parameters: &[&DataValue],
    given: &[Batch],
    txn: &mut Transaction,
    context: &Context<'_>,
) -> miette::Result<R> {
    let budget = query_budget(&compiled.options, parameters, txn, context)?;
    let _entered = budget.enter();
    if let Some(rows) = run_single(compiled, parameters, txn, context)? {
        return finish(compiled, rows, parameters, txn, context);
    }
    let rows = run_plan(compiled, parameters, given, txn, context, &budget, &mut None)?;
    finish(compiled, Rows::Many(rows), parameters, txn, context)
}

/// The budget of a query, by its options.
pub fn query_budget(
    options: &Options,
    parameters: &[&DataValue],
    txn: &mut Transaction,
    context: &Context<'_>,
) -> miette::Result<Budget> {
    // The time limit may be an expression, whose evaluation has a limit too.
    let is_computed = options.timeout.as_ref().is_some_and(|timeout| !timeout.is_given());
    let of_option = if is_computed { Some(context.budget(DEFAULT_TIMEOUT_SECONDS, txn)?) } else { None };
    let entered = of_option.as_ref().map(Budget::enter);
    let timeout = timeout_seconds(options, parameters)?;
    drop(entered);
    Ok(context.budget(timeout.unwrap_or(DEFAULT_TIMEOUT_SECONDS), txn)?)
}

/// Returns the rows of a query, or applies its operation to them.
///
/// The function is inlined into both callers, which avoids moving the row of a query for one row.
#[inline(always)]
fn finish<R: ScriptResult>(
    compiled: &CompiledQuery,
    rows: Rows,
    parameters: &[&DataValue],
    txn: &mut Transaction,
    context: &Context<'_>,
) -> miette::Result<R> {
    let headers = compiled.plan.as_ref().map(|plan| plan.headers.as_slice()).unwrap_or_default();
    let Some(mutation) = &compiled.mutation else {
        return match rows {
            Rows::One(row, _) => Ok(R::of_row(headers, row)?),
            Rows::Many(rows) => Ok(R::of_columns(headers.to_vec(), rows)?),
        };
    };
    let returning = compiled.options.returning;
    let made = make_target(mutation, txn, context)?;
    let schema = made.as_ref().unwrap_or(&mutation.schema);
    let reaction = Hooks::to(mutation, schema, context)?;
    let mutated = write(mutation, schema, rows, parameters, txn, returning || reaction.is_some())?;
    if let Some(reaction) = reaction {
        reaction.happen(&mutated, txn, context)?;
    }
    Ok(R::of_rows(if returning { returned(mutation.op, schema, &mutated)? } else { NamedRows::status("OK") })?)
}

/// Runs a plan on single values. Returns its one row or no row, or `None` if the plan runs on batches.
///
/// The function is inlined for the same reason as [`finish`].
#[inline(always)]
pub fn run_single(
    compiled: &CompiledQuery,
    parameters: &[&DataValue],
    txn: &mut Transaction,
    context: &Context<'_>,
) -> miette::Result<Option<Rows>> {
    let is_single = |plan: &&Plan| plan.strategy != Strategy::Batches && compiled.options.keep_single_row();
    let Some(plan) = compiled.plan.as_ref().filter(is_single) else { return Ok(None) };
    let rows = single_row(plan, parameters, txn.view(&plan.reads)?)?;
    if let Some(Rows::One(_, bytes)) = &rows {
        within(*bytes, context.core.query_memory_bytes)?;
    }
    Ok(rows)
}

/// Runs the plan of a query, if it has one, and applies its options. A profile records the work of each operator. The caller has
/// entered the budget.
pub fn run_plan(
    compiled: &CompiledQuery,
    parameters: &[&DataValue],
    given: &[Batch],
    txn: &mut Transaction,
    context: &Context<'_>,
    budget: &Budget,
    profile: &mut Option<Profile>,
) -> miette::Result<Batch> {
    let Some(plan) = &compiled.plan else {
        return Ok(Batch::empty(compiled.mutation.as_ref().map_or(0, |mutation| mutation.sources.len())));
    };
    let view = txn.view(&plan.reads)?;
    let mut run = Run::new(plan, parameters, view, budget)?;
    run.input.given = given;
    run.caches.graphs = Some(&context.core.graphs);
    run.caches.indexes = Some(&context.core.indexes);
    run.notes.profile = profile.take();
    let Answer { rows } = answer(&mut run, &compiled.options)?;
    *profile = run.notes.profile.take();
    Ok(rows)
}

/// Creates the relation that `:create` or `:replace` writes. The target of other operations exists, and the plan has its schema.
fn make_target(
    mutation: &MutationPlan,
    txn: &mut Transaction,
    context: &Context<'_>,
) -> miette::Result<Option<SchemaRef>> {
    let name = &mutation.schema.name;
    if !txn.is_write() && !name.starts_with('_') {
        return Err(SessionError::ReadOnly(name.to_string(), mutation.span).into());
    }
    if !matches!(mutation.op, MutationOp::Create | MutationOp::Replace) {
        return Ok(None);
    }
    match (mutation.op, txn.relation(name).cloned()) {
        (MutationOp::Create, _) | (_, None) => Ok(Some(txn.create(RelationSchema::clone(&mutation.schema))?)),
        (_, Some(old)) => {
            old.require(AccessLevel::Normal, "replaced", mutation.span)?;
            if let Some(index) = old.indices.first() {
                let (relation, index) = (old.name.to_string(), index.schema.name.to_string());
                return Err(SessionError::ReplaceWithIndices { relation, index, span: mutation.span }.into());
            }
            before_replacing(&old, mutation.span, txn, context)?;
            txn.drop_relation(&old)?;
            let (description, triggers) = (old.description.clone(), old.triggers.clone());
            let schema = RelationSchema { description, triggers, ..RelationSchema::clone(&mutation.schema) };
            Ok(Some(txn.create(schema)?))
        }
    }
}

/// The result of a query with `:returning`.
fn returned(op: MutationOp, schema: &RelationSchema, mutated: &Mutated) -> Result<NamedRows, Stop> {
    let (new, old) = match op {
        MutationOp::Rm | MutationOp::Delete => ("requested", "deleted"),
        _ => ("inserted", "replaced"),
    };
    let headers = std::iter::once("_kind".to_string()).chain(schema.columns().map(|column| column.name.to_string()));
    let mut rows = Vec::with_capacity(mutated.new.len + mutated.old.len);
    for (kind, batch) in [(new, &mutated.new), (old, &mutated.old)] {
        make_room(row_bytes(batch, schema.arity() + 1))?;
        for row in batch.rows() {
            step(1)?;
            let padding = std::iter::repeat_n(DataValue::Null, schema.arity() - row.len());
            rows.push(std::iter::once(DataValue::from(kind)).chain(row).chain(padding).collect());
        }
    }
    Ok(NamedRows::new(headers.collect(), rows))
}

/// Stores a result as an ephemeral relation. It replaces one with the same name.
pub fn store_as(
    name: &SmallStr,
    span: crate::diag::SourceSpan,
    rows: &NamedRows,
    txn: &mut Transaction,
) -> miette::Result<()> {
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
    let schema = txn.create(crate::plan::default_schema(name, columns))?;
    let mut sorted: Vec<&Tuple> = rows.rows.iter().collect();
    sorted.sort();
    sorted.dedup();
    let mut batch = Batch { columns: vec![Column::default(); schema.arity()], len: 0 };
    sorted.into_iter().for_each(|row| batch.push_row(row));
    Ok(txn.write(&schema, crate::storage::ChangeKind::Put, batch)?)
}
