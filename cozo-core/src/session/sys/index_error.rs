//! Definitions of indices that the database refuses.

use crate::diag::SourceSpan;

/// An index that cannot be created, or does not exist.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum IndexError {
    /// An index without columns.
    #[error("the index '{name}' has no columns")]
    #[diagnostic(
        code(parser::empty_index),
        help("name at least one column, as in ::index create user:by_city {{city}}")
    )]
    Empty {
        /// The index.
        name: String,
        /// Where it stands.
        #[label("on no columns")]
        span: SourceSpan,
    },
    /// An index on a column that the relation does not have.
    #[error("the relation '{relation}' has no column '{name}' to index")]
    #[diagnostic(code(tx::col_in_idx_not_found), help("'::columns {relation}' lists its columns"))]
    ColumnNotFound {
        /// The relation.
        relation: String,
        /// The column.
        name: String,
        /// Where it stands.
        #[label("no such column")]
        span: SourceSpan,
    },
    /// A name in the expression of an index is not a column of the relation.
    #[error("the relation '{relation}' has no column '{name}'")]
    #[diagnostic(
        code(eval::bad_binding),
        help("the expression of an index takes columns of its relation: '::columns {relation}' lists them")
    )]
    BadBinding {
        /// The relation.
        relation: String,
        /// The name.
        name: String,
        /// Where it stands.
        #[label("no such column")]
        span: SourceSpan,
    },
    /// A column listed twice for an index.
    #[error("the index lists the column '{name}' twice")]
    #[diagnostic(code(parser::dup_name_in_cols), help("once is enough: leave the second out"))]
    ColumnTwice {
        /// The column.
        name: String,
        /// The second.
        #[label("again here")]
        span: SourceSpan,
    },
    /// A second index of the same name.
    #[error("the relation '{relation}' has an index '{name}' already")]
    #[diagnostic(
        code(tx::index_already_exists),
        help("choose another name, or '::index drop {relation}:{name}' first")
    )]
    Exists {
        /// The relation.
        relation: String,
        /// The index.
        name: String,
        /// Where it stands.
        #[label("exists")]
        span: SourceSpan,
    },
    /// No index of that name.
    #[error("the relation '{relation}' has no index '{name}'")]
    #[diagnostic(code(tx::idx_not_found), help("'::indices {relation}' lists its indices"))]
    NotFound {
        /// The relation.
        relation: String,
        /// The index.
        name: String,
        /// Where it stands.
        #[label("not found")]
        span: SourceSpan,
    },
    /// A column whose values an index of vectors cannot hold.
    #[error("the column '{name}' has the type {found}, not {wanted}")]
    #[diagnostic(code(tx::no_vector_column), help("'dim' and 'dtype' must be those of the column"))]
    NoVectorColumn {
        /// The column.
        name: String,
        /// Its type.
        found: String,
        /// The types that can be indexed.
        wanted: String,
        /// Where it stands.
        #[label("cannot be indexed so")]
        span: SourceSpan,
    },
    /// An expression of an index has a parameter.
    #[error("the expression of an index cannot have a parameter")]
    #[diagnostic(code(tx::parameter_in_index), help("later writes do not know its value: write the value itself"))]
    Parameter {
        /// The parameter.
        #[label("a parameter")]
        span: SourceSpan,
    },
    /// An option that must be given.
    #[error("the option '{name}' is missing")]
    #[diagnostic(code(parser::option_missing), help("give it in braces, as in {{ {name}: ... }}"))]
    OptionMissing {
        /// The option.
        name: &'static str,
        /// The operation.
        #[label("lacks the option")]
        span: SourceSpan,
    },
    /// There is no such option.
    #[error("there is no option '{name}'")]
    #[diagnostic(code(parser::unknown_index_option))]
    UnknownOption {
        /// The name.
        name: String,
        /// The nearest names.
        #[help]
        hint: String,
        /// Where it stands.
        #[label("unknown option")]
        span: SourceSpan,
    },
    /// An option given twice.
    #[error("the option '{name}' is given twice")]
    #[diagnostic(code(parser::option_twice), help("leave one of them out"))]
    OptionTwice {
        /// The name.
        name: String,
        /// The second.
        #[label("again here")]
        span: SourceSpan,
    },
    /// An option with a value that it cannot have.
    #[error("the option '{name}' cannot be {found}")]
    #[diagnostic(code(parser::bad_index_option), help("it must be {wanted}"))]
    BadOption {
        /// The option.
        name: String,
        /// Its value as written.
        found: String,
        /// What it can be.
        wanted: String,
        /// The value.
        #[label("not possible")]
        span: SourceSpan,
    },
    /// The index is not ready.
    #[error("the index '{name}' is being built")]
    #[diagnostic(code(tx::index_building), help("'::indices' says when it is ready"))]
    Building {
        /// The index.
        name: String,
    },
    /// The index or its relation was dropped while the index was built.
    #[error("'{name}' was dropped while the index was built")]
    #[diagnostic(code(tx::index_dropped), help("create the index again"))]
    Dropped {
        /// The relation or the index.
        name: String,
    },
}
