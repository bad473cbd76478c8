//! What can go wrong while a plan runs.

use crate::budget::Stop;
use crate::diag::SourceSpan;
use crate::expr::EvalError;
use crate::fixed_rule::FixedRuleError;
use crate::index::search::SearchIndexError;
use crate::program::ProgramError;
use crate::schema::CoercionError;
use crate::spill::SpillError;
use crate::storage::StorageError;
use crate::txn::TxnError;

/// A query failed while it ran.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum ExecError {
    /// The query was killed, ran into its timeout, or outgrew its memory.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Stop(#[from] Stop),
    /// An expression failed on a row.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Eval(#[from] EvalError),
    /// The data that a parameter gave does not fit its rule.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Program(#[from] ProgramError),
    /// A fixed rule failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    FixedRule(#[from] FixedRuleError),
    /// The engine failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Storage(#[from] StorageError),
    /// The transaction failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Txn(#[from] TxnError),
    /// A search index could not be searched, or could not follow its relation.
    #[error(transparent)]
    #[diagnostic(transparent)]
    SearchIndex(#[from] SearchIndexError),
    /// Rows that exceed the memory could not go to disk.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Spill(#[from] SpillError),
    /// A parameter of a search has a value that it cannot have.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Limit(#[from] LimitError),
    /// An aggregation refused a value.
    #[error("{reason}")]
    #[diagnostic(code(eval::throw))]
    Aggregation {
        /// The aggregation.
        name: &'static str,
        /// The reason.
        reason: String,
        /// How it is written, and what it gives.
        #[help]
        usage: String,
        /// Where it stands in the head.
        #[label("failed here")]
        span: SourceSpan,
    },
    /// `:assert none`, and there are rows.
    #[error("the query has rows, but ':assert none' is given")]
    #[diagnostic(code(eval::assert_none_failure), help("the transaction is not applied"))]
    AssertNone {
        /// The option.
        #[label("asserted here")]
        span: SourceSpan,
    },
    /// `:assert some`, and there is no row.
    #[error("the query has no rows, but ':assert some' is given")]
    #[diagnostic(code(eval::assert_some_failure), help("the transaction is not applied"))]
    AssertSome {
        /// The option.
        #[label("asserted here")]
        span: SourceSpan,
    },
    /// A row does not fit the relation; the cause says which and why.
    #[error("when executing against relation '{relation}'")]
    Write {
        /// The relation.
        relation: String,
        /// The row, and why.
        #[source]
        #[diagnostic_source]
        cause: RowError,
    },
}

/// A parameter that has a value it cannot have.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum LimitError {
    /// `k` is not a number of rows.
    #[error("'k' must be a positive integer, not {found}")]
    #[diagnostic(code(parser::expected_int_for_hnsw_k), help("it is the most rows that are wanted for each query"))]
    K {
        /// The value.
        found: String,
        /// The expression.
        #[label("not a number of rows")]
        span: SourceSpan,
    },
    /// `ef` is not a number of candidates.
    #[error("'ef' must be a positive integer, not {found}")]
    #[diagnostic(
        code(parser::expected_int_for_hnsw_ef),
        help("it is the number of candidates: more of them find better rows, and take longer")
    )]
    Ef {
        /// The value.
        found: String,
        /// The expression.
        #[label("not a number of candidates")]
        span: SourceSpan,
    },
    /// `radius` is not a distance.
    #[error("'radius' must be a positive number, not {found}")]
    #[diagnostic(code(parser::expected_float_for_hnsw_radius), help("it is the greatest distance that is wanted"))]
    Radius {
        /// The value.
        found: String,
        /// The expression.
        #[label("not a distance")]
        span: SourceSpan,
    },
    /// Another parameter.
    #[error("'{name}' must be {wanted}, not {found}")]
    #[diagnostic(code(eval::search_parameter), help("without the parameter, the search takes its default"))]
    Other {
        /// The parameter.
        name: &'static str,
        /// What it can be.
        wanted: &'static str,
        /// The value.
        found: String,
        /// The expression.
        #[label("not possible")]
        span: SourceSpan,
    },
}

/// Why a row cannot be written.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum RowError {
    /// A value does not fit its column.
    #[error("the row {row} cannot be stored: column '{column}'")]
    Coercion {
        /// The row.
        row: String,
        /// The column.
        column: String,
        /// Why.
        #[source]
        #[diagnostic_source]
        cause: CoercionError,
        /// The operation.
        #[label("written by this operation")]
        span: SourceSpan,
    },
    /// The row is there, or is not, or is different, against what the operation asserts.
    #[error("the row {row} {reason}")]
    #[diagnostic(code(transact::assertion_failure), help("{help}"))]
    Assertion {
        /// The row or its key.
        row: String,
        /// What is wrong.
        reason: &'static str,
        /// What to do.
        help: &'static str,
        /// The operation.
        #[label("asserted by this operation")]
        span: SourceSpan,
    },
}
