//! The syntax of operations on stored relations, and of their columns.

use super::{Expr, Symbol};
use crate::diag::SourceSpan;
use crate::value::SmallStr;

/// An operation on a stored relation.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// Which operation.
    pub op: MutationOp,
    /// The relation, an ephemeral one beginning with `_`.
    pub relation: Symbol,
    /// The columns, if braces were given.
    pub columns: Option<ColumnSpecs>,
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

/// `{keys => values}`
#[derive(Clone, Debug, Default)]
pub struct ColumnSpecs {
    /// Before the arrow.
    pub keys: Vec<ColumnSpec>,
    /// After it.
    pub values: Vec<ColumnSpec>,
    /// The braces.
    pub span: SourceSpan,
}

/// One column in a specification.
#[derive(Clone, Debug)]
pub struct ColumnSpec {
    /// The column's name.
    pub name: Symbol,
    /// Its type; absent means `Any?`.
    pub column_type: Option<ColumnTypeSpec>,
    /// Where its value comes from.
    pub source: ColumnSource,
}

/// Where a column's value comes from.
#[derive(Clone, Debug)]
pub enum ColumnSource {
    /// The output column of the same name.
    SameName,
    /// `= binding`: an output column as its header spells it (`x`, `count(x)`).
    Binding(Symbol),
    /// `default expr`
    Default(Expr),
}

/// A column type as written.
#[derive(Clone, Debug)]
pub struct ColumnTypeSpec {
    /// The type without the question mark.
    pub base: BaseTypeSpec,
    /// Whether `?` follows.
    pub nullable: bool,
    /// Where it stands.
    pub span: SourceSpan,
}

/// A column type without its nullability.
#[derive(Clone, Debug)]
pub enum BaseTypeSpec {
    /// `Any`, `Bool`, `Int`, `Float`, `String`, `Bytes`, `Uuid`, `Json` or `Validity`; the parser accepts no other.
    Named(SmallStr),
    /// `[type]` or `[type; length]`
    List(Box<ColumnTypeSpec>, Option<Expr>),
    /// `(type, type)`
    Tuple(Vec<ColumnTypeSpec>),
    /// `<F32; n>` (`wide` is for F64)
    Vector {
        /// 64-bit elements.
        wide: bool,
        /// The number of elements.
        len: usize,
    },
}
