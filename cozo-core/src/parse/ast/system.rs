//! System operations.

use super::{ColumnTypeSpec, Expr, Query, Symbol};
use crate::diag::SourceSpan;

/// A system operation.
#[derive(Clone, Debug)]
pub struct SystemOp {
    /// Which.
    pub kind: SystemOpKind,
    /// The whole operation.
    pub span: SourceSpan,
}

/// The system operations.
#[derive(Clone, Debug)]
pub enum SystemOpKind {
    /// `::relations`
    Relations,
    /// `::columns rel` (also `rel:index`)
    Columns(Symbol),
    /// `::columns rel add {...}` and the like
    ChangeColumns {
        /// The relation.
        relation: Symbol,
        /// What changes.
        change: ColumnChange,
    },
    /// `::indices rel`
    Indices(Symbol),
    /// `::describe rel "text"?`
    Describe(Symbol, Option<Expr>),
    /// `::remove a, b`
    Remove(Vec<Symbol>),
    /// `::rename a -> b, c -> d`
    Rename(Vec<(Symbol, Symbol)>),
    /// `::index create rel:name {columns}`
    CreateIndex {
        /// The base relation.
        relation: Symbol,
        /// The index.
        index: Symbol,
        /// Its leading columns.
        columns: Vec<Symbol>,
    },
    /// `::hnsw|fts|lsh create rel:name {options}`
    CreateSearchIndex {
        /// Which kind.
        kind: SearchIndexKind,
        /// The base relation.
        relation: Symbol,
        /// The index.
        index: Symbol,
        /// The options as written.
        options: Vec<(Symbol, Expr)>,
    },
    /// `::index|hnsw|fts|lsh drop rel:name`
    DropIndex {
        /// The base relation.
        relation: Symbol,
        /// The index.
        index: Symbol,
    },
    /// `::reindex rel:name`
    Reindex {
        /// The base relation.
        relation: Symbol,
        /// The index.
        index: Symbol,
    },
    /// `::set_triggers rel on put {...} ...`
    SetTriggers(Symbol, Vec<TriggerSpec>),
    /// `::show_triggers rel`
    ShowTriggers(Symbol),
    /// `::access_level level a, b`
    AccessLevel(Symbol, Vec<Symbol>),
    /// `::running`
    Running,
    /// `::kill expr`
    Kill(Expr),
    /// `::compact`
    Compact,
    /// `::fixed_rules`
    FixedRules,
    /// `::replica`
    Replica,
    /// `::explain { query }`; `analyze` runs it too
    Explain {
        /// The query.
        query: Box<Query>,
        /// Whether the query is run and measured.
        analyze: bool,
    },
}

/// A change of the columns of a relation.
#[derive(Clone, Debug)]
pub enum ColumnChange {
    /// `add {column, ...}`
    Add(Vec<ChangedColumn>),
    /// `drop column, ...`
    Drop(Vec<Symbol>),
    /// `rename old -> new, ...`
    Rename(Vec<(Symbol, Symbol)>),
    /// `retype {column, ...}`
    Retype(Vec<ChangedColumn>),
    /// `key {column, ...}`
    Key(Vec<Symbol>),
}

/// A column that is added, or that changes: `name: Type default expr = value`.
#[derive(Clone, Debug)]
pub struct ChangedColumn {
    /// The column's name.
    pub name: Symbol,
    /// Its type, if written.
    pub column_type: Option<ColumnTypeSpec>,
    /// Its default, if written.
    pub default: Option<Expr>,
    /// The value of existing rows, over their columns.
    pub value: Option<Expr>,
}

/// The kinds of search index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchIndexKind {
    /// Nearest neighbours of vectors.
    Hnsw,
    /// Full text.
    Fts,
    /// Near-duplicates.
    Lsh,
}

/// One clause of `::set_triggers`.
#[derive(Clone, Debug)]
pub struct TriggerSpec {
    /// When it runs.
    pub event: TriggerEvent,
    /// The query, parsed.
    pub query: Box<Query>,
    /// The text between the braces, leading blanks dropped.
    pub source: String,
}

/// When a trigger runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TriggerEvent {
    /// After rows were put.
    Put,
    /// After rows were removed.
    Rm,
    /// Before the relation is replaced.
    Replace,
}
