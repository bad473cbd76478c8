//! What can be wrong with a query.

use crate::diag::SourceSpan;

/// A query that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("{message}")]
#[diagnostic(code(text::bad_query), help("{help}"))]
pub struct TextQueryError {
    /// What is wrong.
    pub message: String,
    /// Where, in the text of the query.
    #[label("here")]
    pub span: SourceSpan,
    /// How to mend it.
    pub help: String,
}

impl TextQueryError {
    pub(super) fn new(message: impl Into<String>, span: (usize, usize), help: impl Into<String>) -> TextQueryError {
        TextQueryError { message: message.into(), span: SourceSpan(span.0, span.1 - span.0), help: help.into() }
    }
}
