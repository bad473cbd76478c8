//! `::describe` and `::access_level`.

use super::shared::{find, value_of};
use crate::parse::ast::{Expr, Symbol};
use crate::schema::{AccessLevel, RelationSchema};
use crate::session::error::SessionError;
use crate::session::results::NamedRows;
use crate::session::run::ScriptContext;
use crate::txn::Transaction;

/// `::describe rel "text"`
pub fn describe(
    name: &Symbol,
    text: Option<&Expr>,
    txn: &mut Transaction,
    context: &ScriptContext<'_>,
) -> miette::Result<NamedRows> {
    let schema = find(name, txn)?;
    let description = match text {
        None => String::new(),
        Some(expr) => {
            let value = value_of(expr, context)?;
            value.get_str().ok_or(SessionError::BadDescription { span: expr.span() })?.to_string()
        }
    };
    txn.redefine(&schema, RelationSchema { description, ..RelationSchema::clone(&schema) });
    Ok(NamedRows::status("OK"))
}

/// `::access_level level a, b`
pub fn access_level(level: &Symbol, names: &[Symbol], txn: &mut Transaction) -> miette::Result<NamedRows> {
    let levels = [AccessLevel::Hidden, AccessLevel::ReadOnly, AccessLevel::Protected, AccessLevel::Normal];
    let unknown = || SessionError::BadAccessLevel { name: level.name.to_string(), span: level.span };
    let access_level = levels.into_iter().find(|known| known.name() == level.name).ok_or_else(unknown)?;
    for name in names {
        let schema = find(name, txn)?;
        txn.redefine(&schema, RelationSchema { access_level, ..RelationSchema::clone(&schema) });
    }
    Ok(NamedRows::status("OK"))
}
