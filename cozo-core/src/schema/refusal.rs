//! The errors for a stored relation that does not exist or must not be used so, the same for every way to a relation.

use super::{AccessLevel, RelationSchema};
use crate::diag::{SourceSpan, nearest};
use crate::value::SmallStr;

/// A stored relation cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum RelationError {
    /// There is no such relation: create it, or mend the name.
    #[error("there is no stored relation '{name}'")]
    #[diagnostic(code(query::relation_not_found))]
    NotFound {
        /// The name.
        name: String,
        /// A relation of a similar name.
        #[help]
        hint: String,
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
    /// The error for a name that none of the relations has.
    pub fn not_found(name: &str, span: impl Into<Option<SourceSpan>>, relations: &[SmallStr]) -> Self {
        let names: Vec<&str> = relations.iter().map(SmallStr::as_str).collect();
        let near = nearest(name, &names).map(|near| format!("did you mean `{near}`? "));
        let hint = format!("{}'::relations' lists them; ':create' makes one", near.unwrap_or_default());
        RelationError::NotFound { name: name.to_string(), hint, span: span.into() }
    }
}

/// How many columns of a relation an error lists.
const COLUMNS_LISTED: usize = 12;

impl RelationSchema {
    /// What a name that is no column may have meant, for an error.
    pub fn instead_of(&self, column: &str) -> String {
        let names: Vec<&str> = self.columns().map(|column| column.name.as_str()).collect();
        match nearest(column, &names) {
            Some(near) => format!("did you mean `{near}`? {}", self.listed()),
            None => self.listed(),
        }
    }

    /// The columns in words: `its columns are id, name`.
    pub fn listed(&self) -> String {
        let mut names: Vec<&str> = self.columns().map(|column| column.name.as_str()).take(COLUMNS_LISTED).collect();
        if self.arity() > COLUMNS_LISTED {
            names.push("...");
        }
        format!("its columns are {}", names.join(", "))
    }

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
