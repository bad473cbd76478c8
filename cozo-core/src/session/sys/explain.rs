//! `::explain`.

use super::super::compile::CompiledQuery;
use super::{NamedRows, SystemContext};
use crate::parse::ast::{Query, QueryOption};
use crate::plan::{EXPLAIN_HEADERS, explain as explain_plan};
use crate::txn::Transaction;

/// `::explain { query }`: the query is compiled, not run; its operation on a stored relation is left aside.
pub fn explain(query: &Query, txn: &Transaction, context: &SystemContext<'_>) -> miette::Result<NamedRows> {
    let mut query = query.clone();
    let shapes_plan = |option: &QueryOption| {
        matches!(option, QueryOption::DisableMagicRewrite(_) | QueryOption::DisableJoinReorder(_))
    };
    query.options.retain(shapes_plan);
    let compiled = CompiledQuery::compile(&query, txn, context.parameters)?;
    let headers = EXPLAIN_HEADERS.iter().map(|header| header.to_string()).collect();
    Ok(NamedRows::new(headers, compiled.plan.as_ref().map(explain_plan).unwrap_or_default()))
}
