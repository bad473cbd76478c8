//! Errors around scripts.

use crate::budget::Stop;
use crate::diag::SourceSpan;
use crate::fork::Forked;
use crate::schema::RelationError;

/// A request that the database refuses.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum SessionError {
    /// The listing of a search index, which is computed when a script reads it.
    #[error("the index '{name}' has no rows of its own to export")]
    #[diagnostic(code(query::index_not_stored), help("a script can read it: '?[{columns}] := *{name}{{{columns}}}'"))]
    NotStored {
        /// The index as a relation.
        name: String,
        /// Its columns.
        columns: String,
    },
    /// A write in a read-only run.
    #[error("this is a read-only run: '{0}' would write")]
    #[diagnostic(code(query::read_only), help("run the script as mutable"))]
    ReadOnly(String, #[label("would write")] SourceSpan),
    /// A relation does not exist, or its access level forbids the use.
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
    /// `::remove` of a relation that has indices.
    #[error("the relation '{relation}' has indices: it cannot be removed")]
    #[diagnostic(code(tx::relation_has_indices), help("drop its indices first: ::index drop {index}"))]
    HasIndices {
        /// The relation.
        relation: String,
        /// One of its indices.
        index: String,
        /// Where it stands.
        #[label("has indices")]
        span: SourceSpan,
    },
    /// A column of an index would be gone.
    #[error("the index '{index}' needs the column '{column}'")]
    #[diagnostic(code(tx::index_needs_column), help("keep the column, or drop the index first: ::index drop {index}"))]
    IndexColumn {
        /// The index as a relation.
        index: String,
        /// The column.
        column: String,
        /// The operation.
        #[label("would leave the index without it")]
        span: SourceSpan,
    },
    /// The vectors of an index would have another type.
    #[error("the index '{index}' needs the type that the column '{column}' has")]
    #[diagnostic(code(tx::index_needs_column), help("drop the index first: ::index drop {index}"))]
    IndexedVectors {
        /// The index as a relation.
        index: String,
        /// The column.
        column: String,
        /// The operation.
        #[label("would change it")]
        span: SourceSpan,
    },
    /// The expression of a search index would not fit the columns.
    #[error("the index '{index}' of '{relation}' would not work any more: {cause}")]
    #[diagnostic(
        code(tx::index_needs_column),
        help("drop the index first (::index drop {index}), and create it anew after")
    )]
    IndexExpression {
        /// The relation.
        relation: String,
        /// The index as a relation.
        index: String,
        /// What its expression lacks.
        cause: String,
        /// The operation.
        #[label("would change what it reads")]
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
    /// `:replace` in a trigger.
    #[error("a trigger cannot use ':replace'")]
    #[diagnostic(code(eval::replace_in_trigger), help("remove the rows that are not wanted, and put the others"))]
    ReplaceInTrigger {
        /// The operation.
        #[label("not in a trigger")]
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
        /// The value found.
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
    /// An import has two columns of one name.
    #[error("the header '{column}' for relation '{relation}' occurs twice")]
    #[diagnostic(code(import::bad_data), help("give every column its own name"))]
    ImportRepeatedColumn {
        /// The relation.
        relation: String,
        /// The column.
        column: String,
    },
    /// An import of columns is not a table.
    #[error("the columns for relation '{relation}' are not one for each header, each as long as there are rows")]
    #[diagnostic(code(import::bad_data), help("give one column for each header, all of the same length"))]
    ImportShape {
        /// The relation.
        relation: String,
    },
    /// A row of an import has too few values.
    #[error("row too short for relation '{relation}': row {row} has {found} values")]
    #[diagnostic(code(import::bad_data), help("every row has one value for each header"))]
    ImportRow {
        /// The relation.
        relation: String,
        /// The row, from 0.
        row: usize,
        /// The number of values in the row.
        found: usize,
    },
    /// A row of an import has values that no header names.
    #[error("row too long for relation '{relation}': row {row} has {found} values, and there are {headers} headers")]
    #[diagnostic(code(import::bad_data), help("every row has one value for each header"))]
    ImportRowTooLong {
        /// The relation.
        relation: String,
        /// The row, from 0.
        row: usize,
        /// The number of values in the row.
        found: usize,
        /// The headers.
        headers: usize,
    },
    /// Two rows for a new relation have the same key, so that one of them would be lost.
    #[error("two rows for relation '{relation}' have the same key")]
    #[diagnostic(code(import::bad_data), help("give each key once, or declare more columns as keys"))]
    RepeatedKey {
        /// The relation.
        relation: String,
    },
    /// A value for a new relation does not fit its column.
    #[error("column '{column}' of relation '{relation}': {reason}")]
    #[diagnostic(code(import::bad_data), help("mend the value, or give the column another type"))]
    BadValue {
        /// The relation.
        relation: String,
        /// The column.
        column: String,
        /// Why it does not fit.
        reason: String,
    },
    /// An import into an index.
    #[error("cannot import into the index '{0}'")]
    #[diagnostic(code(tx::import_into_index), help("import into its relation: the index follows"))]
    ImportIntoIndex(String),
    /// A script of several statements, or a system operation, inside a transaction that the host holds open.
    #[error("a transaction held open takes single queries only")]
    #[diagnostic(code(parser::expect_singleton), help("run the statements one by one, and system operations outside"))]
    ExpectSingleton,
    /// A call in a process that was forked from the one that opened the database.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Forked(#[from] Forked),
    /// The system has no thread for a transaction that the host holds open.
    #[error("the system gives no thread for the transaction: {0}")]
    #[diagnostic(
        code(transact::no_thread),
        help("end other transactions or programs, or raise the limits of threads and memory (ulimit -u, ulimit -v)")
    )]
    NoThread(String),
    /// A call on a transaction that was committed or aborted.
    #[error("sending on a disconnected channel: the transaction has ended")]
    #[diagnostic(code(transact::ended), help("begin a new transaction"))]
    TransactionEnded,
    /// The receiver of a fixed rule over a channel was dropped, or a request was.
    #[error("the host does not answer the fixed rule's request")]
    #[diagnostic(code(fixed_rule::no_answer), help("the receiver of the rule's channel, or the request, was dropped"))]
    NoAnswer,
    /// An argument takes too much memory, or is nested too deep.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Stopped(#[from] Stop),
    /// JSON of a wrong shape.
    #[error("bad JSON: {0}")]
    #[diagnostic(code(json::bad_data), help("see the documentation for the shape of this argument"))]
    BadJson(String),
    /// Two columns of a result that is to be stored have the same name.
    #[error("the result has two columns '{0}'")]
    #[diagnostic(code(eval::duplicate_column), help("name the columns differently to keep the result as a relation"))]
    DuplicateColumn(String, #[label("kept here")] SourceSpan),
}
