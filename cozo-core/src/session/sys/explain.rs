//! `::explain` and `::explain analyze`.

use std::time::Instant;

use crate::budget::Budget;
use crate::exec::{OperatorProfile, Profile, Rows};
use crate::parse::ast::{Query, QueryOption};
use crate::plan::{Described, EXPLAIN_HEADERS, Plan, explain as explain_plan};
use crate::session::results::NamedRows;
use crate::session::run::{QueryContext, ScriptContext, query_budget, run_plan, run_single};
use crate::session::script::CompiledQuery;
use crate::txn::Transaction;
use crate::value::DataValue;

/// The columns of `::explain analyze` beyond those of `::explain`.
const PROFILE_HEADERS: [&str; 6] = ["rows", "batches", "seconds", "searched", "estimate", "beyond_memory"];

/// `::explain { query }`. The query is compiled but not run. Its operation on a stored relation is ignored.
pub fn explain(query: &Query, txn: &Transaction, context: &ScriptContext<'_>) -> miette::Result<NamedRows> {
    let budget = context.query().budget_of(query)?;
    let _compiling = budget.enter();
    let compiled = compiled(query, txn, context)?;
    let rows = compiled.plan.as_ref().map(explain_plan).unwrap_or_default();
    Ok(NamedRows::new(headers(&[]), rows.into_iter().map(|explained| explained.row).collect()))
}

/// `::explain analyze { query }`. The query runs without its operation on a stored relation. The result has for each operator the
/// number of rows and batches that it returned, the seconds spent in it alone, summed over threads, and for a search in an index which
/// ways it took how often, and how many entries it visited; and the number of rows that the planner had estimated, where orders of joins
/// were compared; and how rows that exceeded the memory were processed.
pub fn analyze(query: &Query, txn: &mut Transaction, context: &ScriptContext<'_>) -> miette::Result<NamedRows> {
    let budget = context.query().budget_of(query)?;
    let _compiling = budget.enter();
    let compiled = compiled(query, txn, context)?;
    let Some(plan) = &compiled.plan else { return Ok(NamedRows::new(headers(&PROFILE_HEADERS), vec![])) };
    let parameters = compiled.parameters.bind(context.parameters)?;
    let context = QueryContext { budget: Some(&budget), ..context.query() };
    let budget = query_budget(&compiled.options, &parameters, txn, &context)?;
    let profile = profiled(&compiled, plan, &parameters, txn, &context, &budget)?;
    let rows = explain_plan(plan).into_iter().map(|mut explained| {
        explained.row.extend(match explained.describes {
            Described::Constant => [const { DataValue::Null }; 6],
            Described::Fixed(fixed) => measured(&profile.of_fixed(fixed.table), None),
            Described::Operator(rule, position) => {
                let estimate = rule.operators.get(position).and_then(|operator| operator.estimate);
                measured(&profile.of(rule, position), estimate)
            }
        });
        explained.row
    });
    Ok(NamedRows::new(headers(&PROFILE_HEADERS), rows.collect()))
}

/// The values under [`PROFILE_HEADERS`].
fn measured(done: &OperatorProfile, estimate: Option<f64>) -> [DataValue; 6] {
    let searched = done.searched.to_string();
    [
        (done.rows as i64).into(),
        (done.batches as i64).into(),
        done.time.as_secs_f64().into(),
        if searched.is_empty() { DataValue::Null } else { searched.into() },
        estimate.map_or(DataValue::Null, |rows| (rows.round() as i64).into()),
        done.beyond_memory.map_or(DataValue::Null, |how| how.name().into()),
    ]
}

/// Compiles a query without its operation on a stored relation.
fn compiled(query: &Query, txn: &Transaction, context: &ScriptContext<'_>) -> miette::Result<CompiledQuery> {
    let mut query = query.clone();
    query.options.retain(|option| !matches!(option, QueryOption::Mutation(_) | QueryOption::Returning(_)));
    CompiledQuery::compile(&query, txn, &context.core.fixed_rules.current(), context.parameters, &[])
}

/// Runs a query in the same way as without a profile, and records the work of its operators.
fn profiled(
    compiled: &CompiledQuery,
    plan: &Plan,
    parameters: &[&DataValue],
    txn: &mut Transaction,
    context: &QueryContext<'_>,
    budget: &Budget,
) -> miette::Result<Profile> {
    let _entered = budget.enter();
    let began = Instant::now();
    if let Some(rows) = run_single(compiled, parameters, txn, context)? {
        let (profile, time) = (Profile::default(), began.elapsed());
        let count = u64::from(matches!(rows, Rows::One(Some(_), _)));
        let mut rules = plan.components.iter().flat_map(|component| &component.rules);
        rules.next().into_iter().for_each(|rule| profile.add_rows(rule, count, time));
        return Ok(profile);
    }
    let mut profile = Some(Profile::default());
    run_plan(compiled, parameters, &[], txn, context, budget, &mut profile)?;
    Ok(profile.unwrap_or_default())
}

fn headers(more: &[&str]) -> Vec<String> {
    EXPLAIN_HEADERS.iter().chain(more).map(|header| header.to_string()).collect()
}
