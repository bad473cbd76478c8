//! The ways in which the call of a fixed rule can be wrong.

use crate::diag::SourceSpan;

/// A fixed rule that does not exist or is forbidden, or whose head or inputs do not fit.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum FixedCallError {
    /// A fixed rule that does not exist.
    #[error("there is no fixed rule '{name}'")]
    #[diagnostic(code(parser::fixed_rule_not_found), help("'::fixed_rules' lists them"))]
    NotFound {
        /// The name.
        name: String,
        /// Where it stands.
        #[label("unknown fixed rule")]
        span: SourceSpan,
    },
    /// The head of a fixed rule does not fit what the rule gives.
    #[error("the head has {head} columns, the fixed rule '{rule}' gives {gives}")]
    #[diagnostic(
        code(parser::fixed_rule_head_arity_mismatch),
        help("name every column ('_' stands for none), or leave the head empty")
    )]
    Head {
        /// Columns in the head.
        head: usize,
        /// The fixed rule.
        rule: String,
        /// Columns that it gives.
        gives: usize,
        /// The head.
        #[label("does not fit the fixed rule")]
        span: SourceSpan,
    },
    /// An aggregation in the head of a fixed rule.
    #[error("a fixed rule cannot aggregate")]
    #[diagnostic(code(parser::fixed_aggr_conflict), help("aggregate in a rule with ':=' that applies this one"))]
    Aggregation {
        /// The head's argument.
        #[label("aggregation")]
        span: SourceSpan,
    },
    /// An input rule of a fixed rule is not defined.
    #[error("the rule '{name}' is not defined")]
    #[diagnostic(
        code(algo::rule_not_found),
        help("define it in this query; a stored relation is an input with '*', as in *{name}[]")
    )]
    InputRuleNotFound {
        /// The rule.
        name: String,
        /// The input.
        #[label("not defined")]
        span: SourceSpan,
    },
    /// Two columns of a fixed rule's inputs have the same name.
    #[error("the inputs have two columns '{name}'")]
    #[diagnostic(
        code(parser::duplicate_bindings_for_fixed_rule),
        help("name them differently; '_' stands for columns of no interest")
    )]
    DuplicateBinding {
        /// The name.
        name: String,
        /// The second of them.
        #[label("named so a second time")]
        span: SourceSpan,
    },
    /// A fixed rule that reads files or the network, where that is forbidden.
    #[error("the fixed rule '{name}' reads files and web addresses, which this database does not allow")]
    #[diagnostic(
        code(fixed_rule::access_denied),
        help("whoever opened the database decides: read the data there, and pass it as a parameter")
    )]
    ExternalAccess {
        /// The rule.
        name: String,
        /// Where it stands.
        #[label("not allowed here")]
        span: SourceSpan,
    },
}
