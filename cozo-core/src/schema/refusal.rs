//! The errors for a stored relation that does not exist or must not be used so, the same for every way to a relation.

use super::{AccessLevel, RelationSchema};
use crate::diag::SourceSpan;

/// A stored relation cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum RelationError {
    /// There is no such relation: create it, or mend the name.
    #[error("there is no stored relation '{name}'")]
    #[diagnostic(code(query::relation_not_found), help("'::relations' lists them; ':create' makes one"))]
    NotFound {
        /// The name.
        name: String,
        /// Where it stands, if in a script.
        #[label("not found")]
        span: Option<SourceSpan>,
    },
    /// The access level of the relation forbids it: change the level, or leave the relation alone.
    #[error("the relation '{name}' is {level}: it cannot be {action}")]
    #[diagnostic(
        code(tx::insufficient_access_level),
        help("'::access_level normal {}' lifts the restriction", name.split(':').next().unwrap_or(name))
    )]
    Access {
        /// The relation.
        name: String,
        /// Its access level.
        level: &'static str,
        /// What was asked for.
        action: &'static str,
        /// Where it stands, if in a script.
        #[label("refused")]
        span: Option<SourceSpan>,
    },
}

impl RelationError {
    /// The error for a name without a relation.
    pub fn not_found(name: &str, span: impl Into<Option<SourceSpan>>) -> Self {
        RelationError::NotFound { name: name.to_string(), span: span.into() }
    }
}

impl RelationSchema {
    /// Refuses what the access level does not allow; `action` is what was asked for, as in "it cannot be ...".
    pub fn require(
        &self,
        needed: AccessLevel,
        action: &'static str,
        span: impl Into<Option<SourceSpan>>,
    ) -> Result<(), RelationError> {
        if self.access_level >= needed {
            return Ok(());
        }
        let (name, level) = (self.name.to_string(), self.access_level.name());
        Err(RelationError::Access { name, level, action, span: span.into() })
    }
}
