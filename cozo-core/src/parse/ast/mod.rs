//! The syntax tree of CozoScript. A [`Script`] is a [`Query`] of rules and options, an imperative script of [`Statement`]s, or a
//! [`SystemOp`].
//!
//! A [`Rule`] has a head and a body: a [`Formula`] of [`Atom`]s over [`Expr`]s, constant data, or the call of a fixed rule. Everything has
//! a span (`spans`) and prints as CozoScript (`display`). **Names are names here**: nothing is resolved against functions, rules or the
//! catalog.

mod relation;
mod system;

use std::sync::Arc;

use crate::diag::SourceSpan;
use crate::value::{Batch, DataValue, SmallStr};
pub use relation::{BaseTypeSpec, ColumnSource, ColumnSpec, ColumnSpecs, ColumnTypeSpec, Mutation, MutationOp};
pub use system::{SearchIndexKind, SystemOp, SystemOpKind, TriggerEvent, TriggerSpec};

/// A name and where it stands. Symbols are equal and ordered by the name alone.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// The name, without any sigil.
    pub name: SmallStr,
    /// Where it stands.
    pub span: SourceSpan,
}

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
    /// The whole atom.
    pub span: SourceSpan,
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

/// An option of a query.
#[derive(Clone, Debug)]
pub enum QueryOption {
    /// `:limit n`
    Limit(Expr),
    /// `:offset n`
    Offset(Expr),
    /// `:order a, -b` or `:sort ...`
    Order(Vec<OrderKey>),
    /// `:timeout seconds`
    Timeout(Expr),
    /// `:sleep seconds`
    Sleep(Expr),
    /// `:assert none` or `:assert some`
    Assert(Assertion, SourceSpan),
    /// `:returning`
    Returning(SourceSpan),
    /// `:disable_magic_rewrite bool`
    DisableMagicRewrite(Expr),
    /// `:disable_join_reorder bool`
    DisableJoinReorder(Expr),
    /// `:create rel {...}` and the like
    Mutation(Mutation),
}

/// A key of `:order`.
#[derive(Clone, Debug)]
pub struct OrderKey {
    /// The output column as its header spells it: `x`, or `count(x)` without blanks.
    pub column: Symbol,
    /// Whether the largest comes first.
    pub descending: bool,
}

/// What `:assert` asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assertion {
    /// No row.
    None,
    /// At least one row.
    Some,
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
