//! What several operations need: relations and values that their text names, and cells of results.

use crate::parse::ast::{Expr, Symbol};
use crate::program::Resolver;
use crate::schema::{AccessLevel, RelationError, SchemaRef};
use crate::session::error::SessionError;
use crate::session::run::ScriptContext;
use crate::txn::Transaction;
use crate::value::DataValue;

/// The headers of a result.
pub fn headers(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

/// A number of things.
pub fn count(n: usize) -> DataValue {
    DataValue::from(n as i64)
}

/// A relation that an operation names.
pub fn find(name: &Symbol, txn: &Transaction) -> Result<SchemaRef, SessionError> {
    let not_found = || RelationError::not_found(&name.name, name.span, &txn.relation_names()).into();
    txn.catalog().find(&name.name).cloned().ok_or_else(not_found)
}

/// A relation that an operation changes, if its access level allows the action.
pub fn find_for(
    action: &'static str,
    needed: AccessLevel,
    name: &Symbol,
    txn: &Transaction,
) -> Result<SchemaRef, SessionError> {
    let schema = find(name, txn)?;
    schema.require(needed, action, name.span)?;
    Ok(schema)
}

/// The value of an expression without variables.
pub fn value_of(expr: &Expr, context: &ScriptContext<'_>) -> miette::Result<DataValue> {
    let mut resolver = Resolver::standalone(context.parameters);
    let closed = resolver.closed(expr)?;
    Ok(closed.eval_closed(&resolver.parameters.bind(context.parameters)?)?)
}
