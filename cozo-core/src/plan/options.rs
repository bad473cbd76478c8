//! The options of a query: what is done with the rows of the entry.

use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::parse::ast::{self, Assertion, QueryOption};
use crate::program::{ProgramError, Resolver};
use crate::value::SmallStr;

/// An option makes no sense.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum OptionError {
    /// `:limit` or `:offset` is not a whole number of rows.
    #[error("'{option}' needs an integer of at least 0, found {found}")]
    #[diagnostic(code(parser::option_not_non_neg), help("write {option} followed by a number of rows"))]
    NotNonNegative {
        /// The option.
        option: &'static str,
        /// What was given.
        found: String,
        /// The value.
        #[label("not a number of rows")]
        span: SourceSpan,
    },
    /// `:timeout` or `:sleep` is not a number of seconds.
    #[error("'{option}' needs a number of seconds, found {found}")]
    #[diagnostic(code(parser::option_not_pos), help("write {option} followed by seconds, such as 0.5"))]
    NotSeconds {
        /// The option.
        option: &'static str,
        /// What was given.
        found: String,
        /// The value.
        #[label("not a number of seconds")]
        span: SourceSpan,
    },
    /// `:disable_magic_rewrite` or `:disable_join_reorder` is not a Boolean.
    #[error("the option needs true or false")]
    #[diagnostic(code(parser::option_not_bool), help("write true or false"))]
    NotBoolean {
        /// The value.
        #[label("neither true nor false")]
        span: SourceSpan,
    },
    /// A sort key is not among the output columns.
    #[error("there is no output column '{name}' to sort by")]
    #[diagnostic(
        code(parser::sort_key_not_found),
        help("sort by a column as the head of '?' spells it, with its aggregation: {columns}")
    )]
    SortKeyNotFound {
        /// The key.
        name: String,
        /// The columns there are.
        columns: String,
        /// The key.
        #[label("not an output column")]
        span: SourceSpan,
    },
    /// Two `:assert` options.
    #[error("there are two ':assert' options")]
    #[diagnostic(code(parser::multiple_out_assert), help("keep one of them"))]
    MultipleAssertions {
        /// The second.
        #[label("asserted again")]
        span: SourceSpan,
    },
    /// Two operations on stored relations in one query.
    #[error("there are two operations on stored relations in one query")]
    #[diagnostic(code(parser::multiple_mutations), help("write a query for each: {{ ... }} {{ ... }}"))]
    MultipleMutations {
        /// The second.
        #[label("a second operation")]
        span: SourceSpan,
    },
}

/// The options of a query, their values still expressions.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// At most so many rows.
    pub limit: Option<Expr>,
    /// After skipping so many.
    pub offset: Option<Expr>,
    /// Sorted by these columns.
    pub order: Vec<SortKey>,
    /// Ended after so many seconds.
    pub timeout: Option<Expr>,
    /// Asleep for so many seconds before it ends.
    pub sleep: Option<Expr>,
    /// Failed unless there are rows, or none.
    pub assertion: Option<(Assertion, SourceSpan)>,
    /// With the rows that the operation changed.
    pub returning: bool,
}

/// A column to sort by.
#[derive(Clone, Copy, Debug)]
pub struct SortKey {
    /// The output column.
    pub column: usize,
    /// The largest first.
    pub descending: bool,
}

/// Resolves the options; `headers` are those of the entry.
pub fn plan_options(
    options: &[QueryOption],
    headers: &[String],
    resolver: &mut Resolver<'_>,
) -> Result<Options, PlanOptionsError> {
    let mut planned = Options::default();
    for option in options {
        match option {
            QueryOption::Limit(expr) => planned.limit = Some(resolver.closed(expr)?),
            QueryOption::Offset(expr) => planned.offset = Some(resolver.closed(expr)?),
            QueryOption::Timeout(expr) => planned.timeout = Some(resolver.closed(expr)?),
            QueryOption::Sleep(expr) => planned.sleep = Some(resolver.closed(expr)?),
            QueryOption::Order(keys) => {
                for key in keys {
                    planned.order.push(sort_key(key, headers)?);
                }
            }
            QueryOption::Assert(_, span) if planned.assertion.is_some() => {
                return Err(OptionError::MultipleAssertions { span: *span }.into());
            }
            QueryOption::Assert(assertion, span) => planned.assertion = Some((*assertion, *span)),
            QueryOption::Returning(_) => planned.returning = true,
            QueryOption::DisableMagicRewrite(_) | QueryOption::DisableJoinReorder(_) | QueryOption::Mutation(_) => {}
        }
    }
    Ok(planned)
}

/// Either of the two ways in which options can be wrong.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum PlanOptionsError {
    /// The option itself.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Option(#[from] OptionError),
    /// The expression that gives its value.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Program(#[from] ProgramError),
}

fn sort_key(key: &ast::OrderKey, headers: &[String]) -> Result<SortKey, OptionError> {
    let name: &SmallStr = &key.column.name;
    let column = headers.iter().position(|header| header.as_str() == name.as_str());
    let column = column.ok_or_else(|| OptionError::SortKeyNotFound {
        name: name.to_string(),
        columns: headers.join(", "),
        span: key.column.span,
    })?;
    Ok(SortKey { column, descending: key.descending })
}
