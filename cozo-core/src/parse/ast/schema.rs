//! Specifications of columns, as in `:create r {k: Int => v: String default 'x'}`.

use super::{Expr, Symbol};
use crate::diag::SourceSpan;
use crate::value::SmallStr;

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
