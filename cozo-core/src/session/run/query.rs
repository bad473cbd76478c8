//! Running one query in a transaction: compile, run, and apply the operation of the query.
//!
//! [`run_query`] is the entry. It takes a [`QueryCache`] with the parsed query, and a [`QueryContext`] with everything that the query
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

use super::carry::{ToBuild, carry_indices};
use super::context::QueryContext;
use crate::budget::{Budget, Stop, make_room, step, within};
use crate::diag::{SourceSpan, locate};
use crate::exec::{Mutated, Profile, Rows, Run, answer, single_row, timeout_seconds, write};
use crate::parse::ast::MutationOp;
use crate::plan::{MutationPlan, Options, Strategy, answer_types};
use crate::program::{GivenRelation, ParameterValues};
use crate::schema::{AccessLevel, RelationSchema, SchemaRef};
use crate::session::error::SessionError;
use crate::session::events::{Hooks, Trigger, before_replacing};
use crate::session::results::{NamedRows, ScriptResult, row_bytes};
use crate::session::script::{CompiledQuery, DEFAULT_TIMEOUT_SECONDS, QueryCache};
use crate::txn::{Transaction, Written, is_ephemeral};
use crate::value::{Batch, DataValue};

/// The parameters of triggers: none.
static NO_PARAMETERS: BTreeMap<String, DataValue> = BTreeMap::new();

/// Runs a query. Its writes go into the transaction.
pub fn run_query<R: ScriptResult>(
    query: &QueryCache,
    txn: &mut Transaction,
    context: &QueryContext<'_>,
) -> miette::Result<R> {
    let run = run_with_given(query, &[], &[], txn, context);
    run.map_err(|report| locate(report, query.place(), "in this query"))
}

/// Runs a trigger on the rows of its given relations.
fn run_trigger(
    trigger: &Trigger,
    rows: &[Batch],
    txn: &mut Transaction,
    context: &QueryContext<'_>,
) -> miette::Result<()> {
    // They lie in the report of the operation, and in `rows`.
    let held_bytes = context.held_bytes + 2 * rows.iter().map(Batch::memory_bytes).sum::<usize>();
    let (parameters, new_script, budget) = (&NO_PARAMETERS, None, None);
    let context = QueryContext { parameters, sets_off_triggers: false, held_bytes, new_script, budget, ..*context };
    run_with_given::<NamedRows>(&trigger.query, &trigger.given, rows, txn, &context).map(drop)
}

/// Runs a query that may apply relations with given rows.
fn run_with_given<R: ScriptResult>(
    query: &QueryCache,
    given: &[GivenRelation],
    rows: &[Batch],
    txn: &mut Transaction,
    context: &QueryContext<'_>,
) -> miette::Result<R> {
    let fixed_rules = &context.core.fixed_rules;
    if let Some(compiled) = query.reusable(txn, fixed_rules) {
        return run_compiled(&compiled, rows, txn, context);
    }
    let budget = context.budget_of(&query.query)?;
    let _compiling = budget.enter();
    let compiled = query.compiled(txn, fixed_rules, context.parameters, given)?;
    run_compiled(&compiled, rows, txn, &QueryContext { budget: Some(&budget), ..*context })
}

/// Runs a compiled query. `given` has the rows of the given relations that it was compiled with.
fn run_compiled<R: ScriptResult>(
    compiled: &CompiledQuery,
    given: &[Batch],
    txn: &mut Transaction,
    context: &QueryContext<'_>,
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
    context: &QueryContext<'_>,
) -> miette::Result<R> {
    let budget = query_budget(&compiled.options, parameters, txn, context)?;
    let _entered = budget.enter();
    if let Some(rows) = run_single(compiled, parameters, txn, context)? {
        return finish(compiled, rows, parameters, txn, context);
    }
    let rows = run_plan(compiled, parameters, given, txn, context, &budget, &mut None)?;
    finish(compiled, rows, parameters, txn, context)
}

/// The budget of a query, by its options.
pub fn query_budget(
    options: &Options,
    parameters: &[&DataValue],
    txn: &mut Transaction,
    context: &QueryContext<'_>,
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
    context: &QueryContext<'_>,
) -> miette::Result<R> {
    let headers = compiled.plan.as_ref().map(|plan| plan.headers.as_slice()).unwrap_or_default();
    let Some(mutation) = &compiled.mutation else {
        let result = match rows {
            Rows::One(row, _) => R::of_row(headers, row)?,
            Rows::Many(rows) => R::of_columns(headers.to_vec(), rows)?,
            Rows::Stream(rows) => R::of_stream(headers.to_vec(), *rows)?,
        };
        return Ok(result.with_types(|| compiled.plan.as_ref().map(answer_types).unwrap_or_default()));
    };
    let returning = compiled.options.returning;
    if mutation.is_idle {
        return Ok(R::of_rows(NamedRows::status("OK"))?);
    }
    let made = make_target(mutation, txn, context)?;
    let schema = made.as_ref().map_or(&mutation.schema, |made| &made.schema);
    let reaction = Hooks::to(mutation, schema, &context.core.events, context.sets_off_triggers)?;
    let reports = returning || reaction.is_some();
    let mutated = write(mutation, schema, rows, parameters, txn, reports, Some(&context.core.spill))?;
    if let Some(made) = &made {
        made.indices.build(&schema.name, txn, &context.core.spill)?;
    }
    if context.sets_off_triggers && !schema.name.starts_with('_') {
        count(&mut txn.written, mutation.op, mutated.given, reports.then_some(mutated.old.len));
    }
    if let Some(reaction) = reaction {
        reaction.happen(&mutated, txn, &|trigger, rows, txn| run_trigger(trigger, rows, txn, context))?;
    }
    Ok(R::of_rows(if returning { returned(mutation.op, schema, &mutated)? } else { NamedRows::status("OK") })?)
}

/// Counts what an operation has written: the number of rows given to it, and of those that were there before, if it has read
/// them.
fn count(written: &mut Written, op: MutationOp, given: usize, old: Option<usize>) {
    match op {
        MutationOp::Create | MutationOp::Replace => {
            written.created += 1;
            written.put += given;
        }
        MutationOp::Put => written.put += given,
        MutationOp::Insert => written.inserted += given,
        MutationOp::Update => written.updated += given,
        MutationOp::Delete => written.removed += given,
        MutationOp::Rm => match old {
            Some(removed) => written.removed += removed,
            None => written.perhaps_removed += given,
        },
        MutationOp::Ensure | MutationOp::EnsureNot => {}
    }
}

/// Runs a plan on single values. Returns its one row or no row, or `None` if the plan runs on batches.
///
/// The function is inlined for the same reason as [`finish`].
#[inline(always)]
pub fn run_single(
    compiled: &CompiledQuery,
    parameters: &[&DataValue],
    txn: &mut Transaction,
    context: &QueryContext<'_>,
) -> miette::Result<Option<Rows>> {
    let plan = compiled.plan.as_ref().filter(|plan| plan.strategy != Strategy::Batches);
    let Some(plan) = plan else { return Ok(None) };
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
    context: &QueryContext<'_>,
    budget: &Budget,
    profile: &mut Option<Profile>,
) -> miette::Result<Rows> {
    let Some(plan) = &compiled.plan else {
        let width = compiled.mutation.as_ref().map_or(0, |mutation| mutation.sources.len());
        return Ok(Rows::Many(Batch::empty(width)));
    };
    let view = txn.view(&plan.reads)?;
    let mut run = Run::new(plan, parameters, view, budget)?;
    run.input.given = given;
    run.caches.graphs = Some(&context.core.graphs);
    run.caches.indexes = Some(&context.core.indexes);
    run.caches.searches = Some(&context.core.searches);
    run.space = Some(&context.core.spill);
    run.notes.profile = profile.take();
    let rows = answer(&mut run, &compiled.options)?;
    *profile = run.notes.profile.take();
    Ok(rows)
}

/// A relation that a query creates.
struct Target {
    schema: SchemaRef,
    /// The indices that are built when the rows are written.
    indices: ToBuild,
}

/// Creates the relation that `:create` or `:replace` writes. The target of other operations exists, and the plan has its schema.
fn make_target(
    mutation: &MutationPlan,
    txn: &mut Transaction,
    context: &QueryContext<'_>,
) -> miette::Result<Option<Box<Target>>> {
    let name = &mutation.schema.name;
    if !txn.is_write() && !name.starts_with('_') {
        return Err(SessionError::ReadOnly(name.to_string(), mutation.span).into());
    }
    if !matches!(mutation.op, MutationOp::Create | MutationOp::Replace) {
        return Ok(None);
    }
    create_target(mutation, txn, context).map(|target| Some(Box::new(target)))
}

fn create_target(mutation: &MutationPlan, txn: &mut Transaction, context: &QueryContext<'_>) -> miette::Result<Target> {
    let new = RelationSchema::clone(&mutation.schema);
    match txn.relation(&new.name).cloned().filter(|_| mutation.op == MutationOp::Replace) {
        None => Ok(Target { schema: txn.create(new)?, indices: ToBuild::default() }),
        Some(old) if is_ephemeral(old.id) => {
            txn.drop_relation(&old)?;
            Ok(Target { schema: txn.create(new)?, indices: ToBuild::default() })
        }
        Some(old) => replace(&old, new, mutation.span, txn, context),
    }
}

/// Puts a relation in the place of one, with its description, triggers and indices.
fn replace(
    old: &SchemaRef,
    mut new: RelationSchema,
    span: SourceSpan,
    txn: &mut Transaction,
    context: &QueryContext<'_>,
) -> miette::Result<Target> {
    old.require(AccessLevel::Normal, "replaced", span)?;
    let indices = carry_indices(old, &mut new, &|_| false, span)?;
    let run = |trigger: &Trigger, rows: &[Batch], txn: &mut Transaction| run_trigger(trigger, rows, txn, context);
    before_replacing(old, span, txn, &context.core.events, &run)?;
    (new.description, new.triggers) = (old.description.clone(), old.triggers.clone());
    Ok(Target { schema: txn.replace(old, new), indices })
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
