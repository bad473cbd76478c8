//! Reads of stored relations as of a time: `*relation{key, value @ time}`.

use super::{ProgramError, Resolver, StoredRead};
use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::parse::ast;
use crate::schema::{RelationSchema, time_to_read};
use crate::value::{DataValue, Num};

impl Resolver<'_> {
    /// Resolves a stored relation to read, perhaps as of a time.
    pub fn stored_read(&mut self, name: &ast::Symbol, time: Option<&ast::Expr>) -> Result<StoredRead, ProgramError> {
        let schema = self.readable(name)?;
        let Some(time) = time else { return Ok(StoredRead { schema, as_of: None }) };
        check_history(&schema, time)?;
        let as_of = self.closed(time)?;
        if let Expr::Constant(value, span) = &as_of {
            // Whether it is a time does not depend on when "now" is.
            checked_time(value, 0, *span)?;
        }
        Ok(StoredRead { schema, as_of: Some(as_of) })
    }
}

/// Whether a relation has histories to read as of a time, which is no number of seconds.
pub(super) fn check_history(schema: &RelationSchema, time: &ast::Expr) -> Result<(), ProgramError> {
    if !schema.keeps_history() {
        return Err(ProgramError::InvalidTimeTravel { relation: schema.name.to_string(), span: time.span() });
    }
    if gives_seconds(time) {
        let found = "a number of seconds".to_string();
        return Err(ProgramError::BadValiditySpec { found, help: SECONDS, span: time.span() });
    }
    Ok(())
}

/// How to write a time after `@`.
const FORMS: &str = "give whole microseconds since the Unix epoch, 'NOW', 'END', or a time such as '2024-05-01', \
                     '2024-05-01 10:30' or '2024-05-01T10:30:15.25Z'";

/// The same where seconds were given.
const SECONDS: &str = "'@' takes microseconds, and times as numbers are in seconds: write @ to_micros(now()), or @ 'NOW' for the \
                       present; a history that counts seconds is read at to_int(..)";

/// Functions that give seconds since the epoch.
const SECONDS_SINCE_EPOCH: &[&str] =
    &["date_add", "date_trunc", "from_micros", "make_timestamp", "now", "parse_timestamp", "uuid_timestamp"];

/// Whether an expression is a number of seconds since the epoch, perhaps with some seconds more or less. As microseconds, it
/// would be a moment of January 1970.
fn gives_seconds(expr: &ast::Expr) -> bool {
    match expr {
        ast::Expr::Call { function, args, .. } => match &*function.name {
            "add" | "sub" => args.iter().any(gives_seconds),
            name => SECONDS_SINCE_EPOCH.contains(&name),
        },
        _ => false,
    }
}

/// The timestamp of the value of an expression after `@`.
pub fn checked_time(value: &DataValue, now_micros: i64, span: SourceSpan) -> Result<i64, ProgramError> {
    time_to_read(value, now_micros).ok_or_else(|| {
        let help = if matches!(value, DataValue::Num(_)) { SECONDS } else { FORMS };
        ProgramError::BadValiditySpec { found: value.to_string(), help, span }
    })
}

/// The timestamp of the time of a row. A Float is none, even if it is whole: columns and functions give times in seconds.
pub fn checked_time_of_row(value: &DataValue, now_micros: i64, span: SourceSpan) -> Result<i64, ProgramError> {
    match value {
        DataValue::Num(Num::Float(_)) => {
            Err(ProgramError::BadValiditySpec { found: value.to_string(), help: SECONDS, span })
        }
        value => checked_time(value, now_micros, span),
    }
}
