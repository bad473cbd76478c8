//! What several operations need: the relation of a name, and cells of results.

use crate::parse::ast::Symbol;
use crate::schema::{RelationError, SchemaRef};
use crate::session::error::SessionError;
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
    let not_found = || RelationError::not_found(&name.name, name.span).into();
    txn.catalog().find(&name.name).cloned().ok_or_else(not_found)
}
