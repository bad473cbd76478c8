//! Whole scripts, and the statements of imperative ones.

use super::{Query, Symbol, SystemOp};
use crate::diag::SourceSpan;

/// A whole script.
#[derive(Clone, Debug)]
pub enum Script {
    /// One query in a transaction of its own.
    Query(Box<Query>),
    /// Blocks and control flow in one transaction.
    Imperative {
        /// The statements.
        statements: Vec<Statement>,
        /// The parameters at their mentions, in textual order. All must have values, whichever statements run.
        parameters: Vec<Symbol>,
    },
    /// One system operation.
    System(SystemOp),
}

/// A statement of an imperative script.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `{ query }`, perhaps `as _name`
    Query {
        /// The query.
        query: Box<Query>,
        /// The relation that takes the result.
        store_as: Option<Symbol>,
    },
    /// `{ ::op }`, perhaps `as _name`
    System {
        /// The operation.
        op: SystemOp,
        /// The relation that takes the result.
        store_as: Option<Symbol>,
    },
    /// `%if` or `%if_not`
    If {
        /// What is tested for rows.
        condition: Condition,
        /// Whether it is `%if_not`.
        negated: bool,
        /// The statements if it holds.
        then: Vec<Statement>,
        /// The statements if it does not.
        otherwise: Vec<Statement>,
        /// The whole statement.
        span: SourceSpan,
    },
    /// `%mark label %loop ... %end`
    Loop {
        /// The label that `%break` and `%continue` may name.
        label: Option<Symbol>,
        /// The statements.
        body: Vec<Statement>,
        /// The whole statement.
        span: SourceSpan,
    },
    /// `%break label`
    Break(Option<Symbol>, SourceSpan),
    /// `%continue label`
    Continue(Option<Symbol>, SourceSpan),
    /// `%return a, b`
    Return(Vec<Condition>, SourceSpan),
    /// `%debug name`
    Debug(Symbol),
    /// `%ignore_error { query }`
    IgnoreError(Box<Query>),
    /// `%swap _a _b`
    Swap(Symbol, Symbol),
}

/// A relation by name, or a query, perhaps `as _name`.
#[derive(Clone, Debug)]
pub enum Condition {
    /// A relation.
    Relation(Symbol),
    /// A query.
    Query {
        /// The query.
        query: Box<Query>,
        /// The relation that takes the result.
        store_as: Option<Symbol>,
    },
}
