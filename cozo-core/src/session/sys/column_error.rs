//! Changes of columns that the database refuses.

use crate::diag::SourceSpan;
use crate::parse::ast::{ChangedColumn, Symbol};
use crate::schema::RelationSchema;

/// A change of columns that cannot be made. Nothing has changed.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum ColumnError {
    /// No such column.
    #[error("the relation '{relation}' has no column '{name}'")]
    #[diagnostic(code(query::column_not_found), help("{advice}"))]
    Missing {
        /// The relation.
        relation: String,
        /// The column.
        name: String,
        /// A column of a similar name, or how to list them.
        advice: String,
        /// Where it stands.
        #[label("no such column")]
        span: SourceSpan,
    },
    /// A column of that name is there.
    #[error("the relation '{relation}' has a column '{name}' already")]
    #[diagnostic(code(query::column_exists), help("'::columns {relation} retype' changes it, 'drop' removes it"))]
    Exists {
        /// The relation.
        relation: String,
        /// The column.
        name: String,
        /// Where it stands.
        #[label("exists")]
        span: SourceSpan,
    },
    /// An operation names a column twice.
    #[error("the column '{name}' of '{relation}' is named twice")]
    #[diagnostic(code(query::column_twice), help("name each column once"))]
    Twice {
        /// The relation.
        relation: String,
        /// The column.
        name: String,
        /// The second time.
        #[label("once more")]
        span: SourceSpan,
    },
    /// A new column has no value for the rows that are there.
    #[error("the column '{name}' needs a value for the rows that are there")]
    #[diagnostic(
        code(query::column_needs_value),
        help(
            "give a default ('{name}: {column_type} default ...'), a value ('= ...'), or make it nullable ('{column_type}?')"
        )
    )]
    NeedsValue {
        /// The column.
        name: String,
        /// Its type.
        column_type: String,
        /// Where it stands.
        #[label("no value")]
        span: SourceSpan,
    },
    /// No key column would be left.
    #[error("no key column of '{relation}' would be left")]
    #[diagnostic(code(query::no_key_left), help("choose another key first: ::columns {relation} key {{column, ...}}"))]
    NoKey {
        /// The relation.
        relation: String,
    },
    /// Rows that differ would have one key.
    #[error("{lost} rows of '{relation}' would have the key of another row, with the key {{{keys}}}")]
    #[diagnostic(
        code(query::key_not_unique),
        help(
            "find them: ?[{keys}, count({other})] := *{relation}{{{keys}, {other}}} :order -count({other}); remove some, or choose a \
             key that tells all apart"
        )
    )]
    SameKey {
        /// The relation.
        relation: String,
        /// The key columns.
        keys: String,
        /// A column that tells them apart today.
        other: String,
        /// How many rows would be lost.
        lost: u64,
        /// The relation in the operation.
        #[label("its columns would change")]
        span: SourceSpan,
    },
    /// A trigger works before the change and not after it.
    #[error("the trigger {number} 'on {event}' of '{relation}' would not work any more: {cause}")]
    #[diagnostic(
        code(query::trigger_breaks),
        help("set triggers that fit both, or remove them for the change: ::set_triggers {relation}")
    )]
    Trigger {
        /// The number of the trigger, from 0.
        number: usize,
        /// Its event.
        event: String,
        /// The relation that it belongs to.
        relation: String,
        /// Its error.
        cause: String,
        /// The relation in the operation.
        #[label("its columns would change")]
        span: SourceSpan,
    },
    /// An index is being built.
    #[error("the index '{index}' is being built")]
    #[diagnostic(code(tx::index_building), help("change the columns when it is ready: '::indices' shows it"))]
    Building {
        /// The index.
        index: String,
        /// The relation in the operation.
        #[label("its index is being built")]
        span: SourceSpan,
    },
}

impl ColumnError {
    /// The error of a column that is not there.
    pub fn missing(schema: &RelationSchema, column: &Symbol) -> Self {
        let advice = schema.instead_of(&column.name);
        let (relation, name) = (schema.name.to_string(), column.name.to_string());
        ColumnError::Missing { relation, name, advice, span: column.span }
    }

    /// The error of a name that is taken.
    pub fn exists(schema: &RelationSchema, column: &Symbol) -> Self {
        ColumnError::Exists { relation: schema.name.to_string(), name: column.name.to_string(), span: column.span }
    }

    /// The error of a column that is named twice.
    pub fn twice(schema: &RelationSchema, column: &Symbol) -> Self {
        ColumnError::Twice { relation: schema.name.to_string(), name: column.name.to_string(), span: column.span }
    }

    /// The error of a column without values.
    pub fn needs_value(column: &ChangedColumn) -> Self {
        let column_type = column.column_type.as_ref().map_or("Any".to_string(), ToString::to_string);
        ColumnError::NeedsValue { name: column.name.to_string(), column_type, span: column.name.span }
    }
}
