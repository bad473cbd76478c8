//! Options of a query, and operations on stored relations.

use super::{ColumnSpecs, Expr, Symbol};
use crate::diag::SourceSpan;

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

/// An operation on a stored relation.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// Which operation.
    pub op: MutationOp,
    /// The relation, an ephemeral one beginning with `_`.
    pub relation: Symbol,
    /// The columns, if braces were given.
    pub columns: Option<ColumnSpecs>,
    /// Where `if absent` stands: `:create` does nothing then if the relation exists.
    pub if_absent: Option<SourceSpan>,
    /// The whole option.
    pub span: SourceSpan,
}

/// The operations on stored relations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MutationOp {
    /// `:create`
    Create,
    /// `:replace`
    Replace,
    /// `:put`
    Put,
    /// `:insert`
    Insert,
    /// `:update`
    Update,
    /// `:rm`
    Rm,
    /// `:delete`
    Delete,
    /// `:ensure`
    Ensure,
    /// `:ensure_not`
    EnsureNot,
}

impl MutationOp {
    /// Whether it looks up its rows in the relation.
    pub fn reads(self) -> bool {
        use MutationOp::{Create, Delete, Ensure, EnsureNot, Insert, Put, Replace, Rm, Update};
        match self {
            Insert | Update | Delete | Ensure | EnsureNot => true,
            Create | Replace | Put | Rm => false,
        }
    }
}
