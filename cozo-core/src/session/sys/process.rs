//! `::running` and `::kill`.

use crate::parse::ast::Expr;
use crate::program::Resolver;
use crate::session::error::SessionError;
use crate::session::results::NamedRows;
use crate::session::run::ScriptContext;
use crate::value::DataValue;

/// `::running`
pub fn running(context: &ScriptContext<'_>) -> NamedRows {
    let row = |(number, started): (u64, f64)| vec![DataValue::from(number as i64), started.to_string().into()];
    let headers = vec!["id".to_string(), "started_at".to_string()];
    NamedRows::new(headers, context.running.list(context.script).into_iter().map(row).collect())
}

/// `::kill n`
pub fn kill(number: &Expr, context: &ScriptContext<'_>) -> miette::Result<NamedRows> {
    let mut resolver = Resolver::standalone(context.parameters);
    let closed = resolver.closed(number)?;
    let value = closed.eval_closed(&resolver.parameters.bind(context.parameters)?)?;
    let bad = || SessionError::BadProcessId { found: value.to_string(), span: number.span() };
    let number = value.get_int().ok_or_else(bad)?;
    let found = u64::try_from(number).is_ok_and(|number| context.running.kill(number));
    Ok(NamedRows::status(if found { "KILLING" } else { "NOT_FOUND" }))
}
