//! A query: rules and options, and the calls of fixed rules.
//!
//! A [`Rule`] has a [`Head`] and a [`RuleBody`]. What stands in the body of an inline rule is a [`Formula`].

use super::{Expr, Formula, QueryOption, Symbol};
use crate::diag::SourceSpan;

/// Rules and options.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// The rules in textual order.
    pub rules: Vec<Rule>,
    /// The options in textual order.
    pub options: Vec<QueryOption>,
    /// The whole query.
    pub span: SourceSpan,
}

/// One rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What it defines.
    pub head: Head,
    /// How.
    pub body: RuleBody,
    /// The whole rule.
    pub span: SourceSpan,
}

/// The name and the columns that a rule defines.
#[derive(Clone, Debug)]
pub struct Head {
    /// The rule's name; `?` for the entry.
    pub name: Symbol,
    /// The columns.
    pub args: Vec<HeadArg>,
    /// The whole head.
    pub span: SourceSpan,
}

/// One column of a head.
#[derive(Clone, Debug)]
pub struct HeadArg {
    /// The variable that gives the column.
    pub variable: Symbol,
    /// The aggregation applied to it, if any.
    pub aggregation: Option<AggregationCall>,
}

/// `name(variable, argument, ...)` in a head.
#[derive(Clone, Debug)]
pub struct AggregationCall {
    /// The aggregation's name.
    pub name: Symbol,
    /// The arguments after the variable.
    pub args: Vec<Expr>,
}

/// The right side of a rule.
#[derive(Clone, Debug)]
pub enum RuleBody {
    /// `head := body`
    Inline(Formula),
    /// `head <- data`
    Constant(Expr),
    /// `head <~ Name(...)`
    Fixed(FixedCall),
}

/// A fixed rule applied.
#[derive(Clone, Debug)]
pub struct FixedCall {
    /// The fixed rule.
    pub name: Symbol,
    /// Its input relations in order.
    pub inputs: Vec<FixedInput>,
    /// Its options by name.
    pub options: Vec<(Symbol, Expr)>,
    /// The call.
    pub span: SourceSpan,
}

/// An input relation of a fixed rule.
#[derive(Clone, Debug)]
pub enum FixedInput {
    /// `name[bindings]`
    Rule {
        /// The rule.
        name: Symbol,
        /// Names for its columns (`_` for none).
        bindings: Vec<Symbol>,
        /// The whole input.
        span: SourceSpan,
    },
    /// `*name[bindings]` or `*name{column: binding}`
    Stored {
        /// The relation.
        name: Symbol,
        /// Names for its columns.
        bindings: StoredBindings,
        /// The time asked for.
        validity: Option<Expr>,
        /// The whole input.
        span: SourceSpan,
    },
}

/// Names for the columns of a stored input.
#[derive(Clone, Debug)]
pub enum StoredBindings {
    /// By position.
    Positional(Vec<Symbol>),
    /// By column: the column and the name given to it.
    Named(Vec<(Symbol, Symbol)>),
}
