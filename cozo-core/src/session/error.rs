//! What can go wrong around scripts.

use crate::diag::SourceSpan;
use crate::schema::RelationError;

/// A request that the database refuses.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum SessionError {
    /// The engine is unknown, or not compiled in.
    #[error("there is no storage engine '{0}'")]
    #[diagnostic(code(db::unknown_engine), help("the engines here are: {1}"))]
    UnknownEngine(String, &'static str),
    /// An engine of this project that comes with a later version.
    #[error("{0} is not yet supported")]
    #[diagnostic(code(db::not_yet), help("it will come with a later version"))]
    NotYet(String),
    /// The options of `DbInstance::new` are not what they should be.
    #[error("bad database options: {0}")]
    #[diagnostic(code(db::bad_options), help("options are a JSON object, or empty; the mem engine takes none"))]
    BadOptions(String),
    /// A write in a read-only run.
    #[error("this is a read-only run: '{0}' would write")]
    #[diagnostic(code(query::read_only), help("run the script as mutable"))]
    ReadOnly(String, #[label("would write")] SourceSpan),
    /// A relation does not exist, or may not be used so.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Relation(#[from] RelationError),
    /// The target name of `::rename` is taken.
    #[error("there is a relation '{name}' already")]
    #[diagnostic(code(eval::rel_name_conflict), help("choose another name, or remove that relation first"))]
    NameTaken {
        /// The name.
        name: String,
        /// Where it stands.
        #[label("taken")]
        span: SourceSpan,
    },
    /// No such access level.
    #[error("there is no access level '{name}'")]
    #[diagnostic(code(parser::bad_access_level), help("the levels are normal, protected, read_only and hidden"))]
    BadAccessLevel {
        /// The name.
        name: String,
        /// Where it stands.
        #[label("unknown level")]
        span: SourceSpan,
    },
    /// `%break` or `%continue` outside of a loop, or with a label that no loop has.
    #[error("'{keyword}' has no loop to act on")]
    #[diagnostic(
        code(eval::dangling_ctrl_flow),
        help("it must stand inside %loop ... %end, and a label must be that of a loop around it")
    )]
    DanglingControlFlow {
        /// The statement.
        keyword: &'static str,
        /// Where it stands.
        #[label("not in such a loop")]
        span: SourceSpan,
    },
    /// `::kill` with something that is not the number of a query.
    #[error("'::kill' needs the number of a running query, found {found}")]
    #[diagnostic(code(parser::bad_process_id), help("'::running' lists the running queries with their numbers"))]
    BadProcessId {
        /// What was given.
        found: String,
        /// Where it stands.
        #[label("not a number")]
        span: SourceSpan,
    },
    /// A description that is not a string.
    #[error("a description must be a string")]
    #[diagnostic(code(parser::bad_description), help("put it in quotes"))]
    BadDescription {
        /// The text.
        #[label("not a string")]
        span: SourceSpan,
    },
    /// An import lacks a column.
    #[error("required header {column} not found for relation '{relation}'")]
    #[diagnostic(
        code(import::bad_data),
        help("an import gives every column of the relation; for removal, every key column")
    )]
    ImportColumn {
        /// The relation.
        relation: String,
        /// The column.
        column: String,
    },
    /// A row of an import has too few values.
    #[error("row too short for relation '{relation}': row {row} has {found} values")]
    #[diagnostic(code(import::bad_data), help("every row has one value for each header"))]
    ImportRow {
        /// The relation.
        relation: String,
        /// The row, from 0.
        row: usize,
        /// Its values.
        found: usize,
    },
    /// An import into an index.
    #[error("cannot import into the index '{0}'")]
    #[diagnostic(code(tx::import_into_index), help("import into its relation: the index follows"))]
    ImportIntoIndex(String),
    /// A script of several statements, or a system operation, inside a transaction that the host holds open.
    #[error("a transaction held open takes single queries only")]
    #[diagnostic(code(parser::expect_singleton), help("run the statements one by one, and system operations outside"))]
    ExpectSingleton,
    /// A call on a transaction that was committed or aborted.
    #[error("sending on a disconnected channel: the transaction has ended")]
    #[diagnostic(code(transact::ended), help("begin a new transaction"))]
    TransactionEnded,
    /// JSON that is not what it should be.
    #[error("bad JSON: {0}")]
    #[diagnostic(code(json::bad_data), help("see the documentation for the shape of this argument"))]
    BadJson(String),
    /// Two columns of a kept result have the same name.
    #[error("the result has two columns '{0}'")]
    #[diagnostic(code(eval::duplicate_column), help("name the columns differently to keep the result as a relation"))]
    DuplicateColumn(String, #[label("kept here")] SourceSpan),
}
