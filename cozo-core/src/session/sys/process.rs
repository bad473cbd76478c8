//! `::running`, `::kill` and `::replica`.

use std::sync::Arc;

use super::shared::{headers, value_of};
use crate::parse::ast::Expr;
use crate::replica::Replica;
use crate::session::error::SessionError;
use crate::session::results::NamedRows;
use crate::session::run::ScriptContext;
use crate::session::running::Listed;
use crate::value::DataValue;

/// `::running`
pub fn running(context: &ScriptContext<'_>) -> NamedRows {
    let listed = context.running.list(context.script);
    // Where no query is measured, the columns are those that programs for CozoDB 0.7 expect.
    let is_measured = listed.iter().any(|script| script.memory_bytes > 0 || script.disk_bytes > 0);
    let columns =
        if is_measured { &["id", "started_at", "memory_bytes", "disk_bytes"][..] } else { &["id", "started_at"] };
    let row = |script: Listed| {
        let started = script.began_micros as f64 / 1e6;
        let mut row = vec![DataValue::from(script.number as i64), started.to_string().into()];
        if is_measured {
            row.extend([script.memory_bytes as i64, script.disk_bytes as i64].map(DataValue::from));
        }
        row
    };
    NamedRows::new(headers(columns), listed.into_iter().map(row).collect())
}

/// `::replica`: no row if the database has no shared log.
pub fn replica(context: &ScriptContext<'_>) -> NamedRows {
    let row = |replica: &Arc<Replica>| {
        let applied = DataValue::from(replica.applied() as i64);
        let failure = replica.failure().map_or(DataValue::Null, |failure| failure.to_string().into());
        vec![replica.log().name().into(), applied, replica.age().as_secs_f64().into(), failure]
    };
    let rows = context.core.pipeline.replica().map(row).into_iter().collect();
    NamedRows::new(headers(&["log", "applied", "seconds_ago", "failure"]), rows)
}

/// `::kill n`
pub fn kill(number: &Expr, context: &ScriptContext<'_>) -> miette::Result<NamedRows> {
    let value = value_of(number, context)?;
    let bad = || SessionError::BadProcessId { found: value.to_string(), span: number.span() };
    let number = value.get_int().ok_or_else(bad)?;
    let found = u64::try_from(number).is_ok_and(|number| context.running.kill(number));
    Ok(NamedRows::status(if found { "KILLING" } else { "NOT_FOUND" }))
}
