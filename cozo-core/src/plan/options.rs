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
    /// `:timeout` is not a number of seconds.
    #[error("':timeout' needs a number of seconds, found {found}")]
    #[diagnostic(code(parser::option_not_non_neg), help("write ':timeout' and seconds, such as 0.5; 0 means no limit"))]
    TimeoutNotSeconds {
        /// What was given.
        found: String,
        /// The value.
        #[label("not a number of seconds")]
        span: SourceSpan,
    },
    /// `:sleep` is not a positive number of seconds.
    #[error("':sleep' needs a positive number of seconds, found {found}")]
    #[diagnostic(code(parser::option_not_pos), help("write ':sleep' and seconds, such as 0.5"))]
    SleepNotPositive {
        /// What was given.
        found: String,
        /// The value.
        #[label("not a positive number of seconds")]
        span: SourceSpan,
    },
    /// An option's value has a variable.
    #[error("'{name}' is a variable where an option needs a constant")]
    #[diagnostic(
        code(parser::option_not_constant),
        help("options are evaluated once, before any row: use numbers, parameters and functions of them")
    )]
    NotConstant {
        /// The variable.
        name: String,
        /// Where it stands.
        #[label("not a constant")]
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
    /// The most rows.
    pub limit: Option<Expr>,
    /// The rows to skip first.
    pub offset: Option<Expr>,
    /// The columns to sort by.
    pub order: Vec<SortKey>,
    /// The seconds after which the query is stopped.
    pub timeout: Option<Expr>,
    /// The seconds to sleep before the query ends.
    pub sleep: Option<Expr>,
    /// Fails unless there are rows, or none.
    pub assertion: Option<(Assertion, SourceSpan)>,
    /// Whether to return the rows that the operation changed.
    pub returning: bool,
}

impl Options {
    /// Whether they leave a result of one row, and the way to it, as it is.
    pub(super) fn keep_single_row(&self) -> bool {
        let Options { limit, offset, order: _, timeout, sleep, assertion, returning: _ } = self;
        limit.is_none() && offset.is_none() && timeout.is_none() && sleep.is_none() && assertion.is_none()
    }
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
            QueryOption::Limit(expr) => planned.limit = Some(constant(expr, resolver)?),
            QueryOption::Offset(expr) => planned.offset = Some(constant(expr, resolver)?),
            QueryOption::Timeout(expr) => planned.timeout = Some(constant(expr, resolver)?),
            QueryOption::Sleep(expr) => planned.sleep = Some(constant(expr, resolver)?),
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

/// The value of an option; it has no variables.
pub fn constant(expr: &ast::Expr, resolver: &mut Resolver<'_>) -> Result<Expr, PlanOptionsError> {
    resolver.closed(expr).map_err(|error| match error {
        ProgramError::NotConstant { name, span } => OptionError::NotConstant { name, span }.into(),
        other => other.into(),
    })
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
