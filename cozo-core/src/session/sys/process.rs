//! `::running` and `::kill`.

use super::shared::{headers, value_of};
use crate::parse::ast::Expr;
use crate::session::error::SessionError;
use crate::session::results::NamedRows;
use crate::session::run::ScriptContext;
use crate::value::DataValue;

/// `::running`
pub fn running(context: &ScriptContext<'_>) -> NamedRows {
    let row = |(number, started): (u64, f64)| vec![DataValue::from(number as i64), started.to_string().into()];
    NamedRows::new(headers(&["id", "started_at"]), context.running.list(context.script).into_iter().map(row).collect())
}

/// `::kill n`
pub fn kill(number: &Expr, context: &ScriptContext<'_>) -> miette::Result<NamedRows> {
    let value = value_of(number, context)?;
    let bad = || SessionError::BadProcessId { found: value.to_string(), span: number.span() };
    let number = value.get_int().ok_or_else(bad)?;
    let found = u64::try_from(number).is_ok_and(|number| context.running.kill(number));
    Ok(NamedRows::status(if found { "KILLING" } else { "NOT_FOUND" }))
}
