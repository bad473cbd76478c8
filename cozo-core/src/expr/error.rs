//! What can go wrong while evaluating.

use crate::diag::SourceSpan;

/// Why a function refused its arguments, or an aggregation its input; the evaluator adds the span.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FunctionError(pub String);

impl FunctionError {
    /// An error with this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        FunctionError(reason.into())
    }
}

/// An expression failed on a row.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum EvalError {
    /// A function refused its arguments: the help says why.
    #[error("evaluation failed")]
    #[diagnostic(code(eval::throw))]
    Throw {
        /// The reason.
        #[help]
        reason: String,
        /// The call.
        #[label("failed here")]
        span: SourceSpan,
    },
    /// A filter or a condition is not a Boolean: CozoScript has no truthiness, compare or use `to_bool`.
    #[error("a condition gave {found}, not a Boolean")]
    #[diagnostic(
        code(eval::predicate_not_bool),
        help("there is no truthiness: write a comparison, or convert with to_bool(...)")
    )]
    NotBoolean {
        /// What it gave.
        found: String,
        /// The condition.
        #[label("must be true or false")]
        span: SourceSpan,
    },
    /// `variable in expr` met something that is not a list.
    #[error("the right side of 'in' gave {found}, not a List")]
    #[diagnostic(
        code(eval::invalid_spread_unif),
        help("'x in l' needs a List such as [1, 2]; Json arrays and vectors are not Lists")
    )]
    NotList {
        /// What it gave.
        found: String,
        /// The expression.
        #[label("must be a List")]
        span: SourceSpan,
    },
}
