//! Bodies of rules: formulas of atoms over expressions.

use std::sync::Arc;

use super::Symbol;
use crate::diag::SourceSpan;
use crate::value::{Batch, DataValue};

/// A logical formula over atoms.
#[derive(Clone, Debug)]
pub enum Formula {
    /// All of them hold (`,` or `and`).
    And(Vec<Formula>),
    /// Any of them holds.
    Or(Vec<Formula>),
    /// It does not hold.
    Not(Box<Formula>, SourceSpan),
    /// A single atom.
    Atom(Atom),
}

/// An atom of a rule's body.
#[derive(Clone, Debug)]
pub enum Atom {
    /// `name[args]`
    Rule(RuleApply),
    /// `*name[args]` or `*name{column: arg}`
    Stored(StoredApply),
    /// `~name:index{bindings | parameters}`
    Search(SearchApply),
    /// `variable = expr`
    Unify {
        /// The left side.
        variable: Symbol,
        /// The right side.
        expr: Expr,
        /// The whole atom.
        span: SourceSpan,
    },
    /// `variable in expr`
    Unnest {
        /// The left side.
        variable: Symbol,
        /// The list.
        expr: Expr,
        /// The whole atom.
        span: SourceSpan,
    },
    /// An expression that must be true.
    Filter(Expr),
}

/// `name[args]`
#[derive(Clone, Debug)]
pub struct RuleApply {
    /// The rule applied.
    pub name: Symbol,
    /// One expression a column.
    pub args: Vec<Expr>,
    /// The whole atom.
    pub span: SourceSpan,
}

/// A stored relation applied; `name` is without the `*`, an ephemeral one begins with `_`, an index is `rel:index`.
#[derive(Clone, Debug)]
pub struct StoredApply {
    /// The relation.
    pub name: Symbol,
    /// The arguments.
    pub args: StoredArgs,
    /// The time asked for, `@ expr`.
    pub validity: Option<Expr>,
    /// The whole atom.
    pub span: SourceSpan,
}

/// The arguments of a stored relation.
#[derive(Clone, Debug)]
pub enum StoredArgs {
    /// One expression a column.
    Positional(Vec<Expr>),
    /// Some columns by name.
    Named(Vec<NamedArg>),
}

/// `column: expr`, or `column` alone for the variable of that name (then `expr` is that variable).
#[derive(Clone, Debug)]
pub struct NamedArg {
    /// The column.
    pub column: Symbol,
    /// What it is unified with.
    pub expr: Expr,
}

/// A search in an index.
#[derive(Clone, Debug)]
pub struct SearchApply {
    /// The base relation.
    pub relation: Symbol,
    /// The index.
    pub index: Symbol,
    /// Columns of the base relation.
    pub bindings: Vec<NamedArg>,
    /// The parameters after the bar.
    pub parameters: Vec<(Symbol, Expr)>,
    /// The parameter `within`: the application of a rule or of a stored relation, which has the keys that may be found.
    pub within: Option<Box<Atom>>,
    /// The whole atom.
    pub span: SourceSpan,
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A literal value (null, Bool, number, String). `-9` is the operator applied to 9.
    Literal(DataValue, SourceSpan),
    /// `$name`
    Parameter(Symbol),
    /// A variable, or `_`.
    Variable(Symbol),
    /// `[a, b]`
    List(Vec<Expr>, SourceSpan),
    /// A long list of constants.
    Data(Arc<DataValue>, SourceSpan),
    /// A long list of rows of constants, all of one width, as the data of a rule.
    Rows(Arc<Batch>, SourceSpan),
    /// `{key: value}`
    Object(Vec<(Expr, Expr)>, SourceSpan),
    /// A function applied; an operator is a call of its function (`a + b` is `add(a, b)`, see the operator table).
    Call {
        /// The function's name; for an operator its span is that of the operator.
        function: Symbol,
        /// The arguments.
        args: Vec<Expr>,
        /// The whole call.
        span: SourceSpan,
    },
}
