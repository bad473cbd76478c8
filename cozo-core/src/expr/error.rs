//! What can go wrong while evaluating.

use super::functions::Function;
use crate::budget::{MAX_DEPTH, Stop};
use crate::diag::SourceSpan;

/// Why a function or an aggregation gave no value; the evaluator adds the span.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FunctionError {
    /// It refuses its arguments or its input, for this reason.
    #[error("{0}")]
    Refused(String),
    /// The script must stop.
    #[error(transparent)]
    Stop(#[from] Stop),
}

impl FunctionError {
    /// A refusal for this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        FunctionError::Refused(reason.into())
    }

    /// The error of a call at a place. The help shows how the function is called.
    pub fn at(self, function: &Function, span: SourceSpan) -> EvalError {
        match self {
            FunctionError::Refused(reason) => EvalError::Throw { reason, usage: function.usage(), span },
            FunctionError::Stop(Stop::TooDeep) => EvalError::TooDeep { span },
            FunctionError::Stop(stop) => EvalError::Stop(stop),
        }
    }
}

/// An expression failed on a row.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum EvalError {
    /// A function refused its arguments, or `assert` failed.
    #[error("{reason}")]
    #[diagnostic(code(eval::throw))]
    Throw {
        /// The reason.
        reason: String,
        /// How the function is called, and what it does.
        #[help]
        usage: String,
        /// The call.
        #[label("failed here")]
        span: SourceSpan,
    },
    /// The script was killed, ran into its timeout, or outgrew its memory.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Stop(#[from] Stop),
    /// A function would nest values deeper than [`MAX_DEPTH`] levels.
    #[error("a value may be nested {MAX_DEPTH} levels deep")]
    #[diagnostic(
        code(eval::too_deep),
        help("lists, sets and JSON count as levels: keep what is linked in rows of a relation")
    )]
    TooDeep {
        /// The call.
        #[label("this would be deeper")]
        span: SourceSpan,
    },
    /// A filter or a condition is not a Boolean: CozoScript has no truthiness, so compare or use `to_bool`.
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
        help(
            "'x in l' needs a List such as [1, 2], or a Json array; take json_entries(j) of an object, to_list(v) of a vector"
        )
    )]
    NotList {
        /// What it gave.
        found: String,
        /// The expression.
        #[label("must be a List")]
        span: SourceSpan,
    },
}
