//! Reads of stored relations as of a time: `*relation{key, value @ time}`.

use super::{ProgramError, Resolver, StoredRead};
use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::parse::ast;
use crate::schema::time_to_read;
use crate::value::DataValue;

impl Resolver<'_> {
    /// Resolves a stored relation to read, perhaps as of a time.
    pub fn stored_read(&mut self, name: &ast::Symbol, time: Option<&ast::Expr>) -> Result<StoredRead, ProgramError> {
        let schema = self.readable(name)?;
        let Some(time) = time else { return Ok(StoredRead { schema, as_of: None }) };
        if !schema.keeps_history() {
            return Err(ProgramError::InvalidTimeTravel { relation: schema.name.to_string(), span: time.span() });
        }
        let as_of = self.closed(time)?;
        if let Expr::Constant(value, span) = &as_of {
            // Whether it is a time does not depend on when "now" is.
            checked_time(value, 0, *span)?;
        }
        Ok(StoredRead { schema, as_of: Some(as_of) })
    }
}

/// The timestamp of the value of an expression after `@`.
pub fn checked_time(value: &DataValue, now_micros: i64, span: SourceSpan) -> Result<i64, ProgramError> {
    time_to_read(value, now_micros).ok_or_else(|| ProgramError::BadValiditySpec { found: value.to_string(), span })
}
