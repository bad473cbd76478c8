//! What can be wrong with a script to export, or with the parts of a plan that come back.

use crate::expr::EvalError;
use crate::schema::CoercionError;

/// A plan cannot be exported, or a part of an exported plan cannot be run.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum PortableError {
    /// The script is a system operation, or has several statements.
    #[error("only a script of one query has a plan as JSON")]
    #[diagnostic(code(plan::not_one_query), help("export the queries of the script one by one"))]
    NotOneQuery,
    /// The sizes of relations have another form.
    #[error("the sizes of relations are not as expected: {0}")]
    #[diagnostic(code(plan::bad_sizes), help("write {{\"edge\": {{\"rows\": 1000, \"distinct\": {{\"from\": 10}}}}}}"))]
    BadSizes(String),
    /// JSON that is no part of a plan.
    #[error("not a part of a plan: {0}")]
    #[diagnostic(
        code(plan::malformed),
        help("pass the parts as 'plan_json' gives them, made by the same version of the library")
    )]
    Malformed(String),
    /// A column has a value of another type than the plan says.
    #[error("the column {column} is declared as {declared}, and has a value of another type")]
    #[diagnostic(code(plan::wrong_type), help("declare the column as 'Ordered', which takes all values"))]
    WrongType {
        /// The position of the column.
        column: usize,
        /// The declared encoding.
        declared: &'static str,
    },
    /// A value does not fit the column that it is written to.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Coercion(#[from] CoercionError),
    /// An expression failed on a row.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Eval(#[from] EvalError),
}

impl PortableError {
    /// An error about JSON that lacks something, or has something else in its place.
    pub(super) fn expected(what: &str, found: &serde_json::Value) -> Self {
        const SHOWN_CHARACTERS: usize = 80;
        let shown: String = found.to_string().chars().take(SHOWN_CHARACTERS).collect();
        PortableError::Malformed(format!("expected {what}, found {shown}"))
    }
}
