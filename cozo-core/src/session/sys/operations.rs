//! The system operations: their names, and which file runs them.

use super::{columns, explain, indices, metadata, process, relations, searches, triggers};
use crate::parse::ast::{SystemOp, SystemOpKind};
use crate::session::error::SessionError;
use crate::session::results::NamedRows;
use crate::session::run::ScriptContext;
use crate::session::script::op_writes;
use crate::txn::Transaction;

/// The supported operations with descriptions, for documentation and completion.
pub const SYSTEM_OPS: &[(&str, &str)] = &[
    ("::access_level LEVEL REL, ...", "sets what may be done with relations: normal, protected, read_only or hidden"),
    ("::columns REL", "lists the columns of a relation"),
    (
        "::columns REL add { COLUMN: TYPE default VALUE, ... }",
        "adds value columns; existing rows get the default, or the value of the expression after `=` over their columns",
    ),
    ("::columns REL drop COLUMN, ...", "drops columns"),
    ("::columns REL key { COLUMN, ... }", "makes these columns the key, in this order; all others become values"),
    ("::columns REL rename COLUMN -> COLUMN, ...", "renames columns"),
    (
        "::columns REL retype { COLUMN: TYPE default VALUE, ... }",
        "changes types and defaults; values are converted, or computed by the expression after `=`",
    ),
    ("::compact", "returns unused space to the system"),
    ("::describe REL 'TEXT'", "sets the description of a relation"),
    (
        "::explain analyze { QUERY }",
        "runs a query, without its writes, and shows what each operator did, how many rows were estimated, how searches in indices were done, and how rows that exceeded the memory were processed",
    ),
    (
        "::explain { QUERY }",
        "shows how a query would run, operator by operator; if a whole rule runs in a special way, its last line says so",
    ),
    ("::fixed_rules", "lists the fixed rules"),
    (
        "::fts create REL:NAME { extractor: EXPR, tokenizer: NAME, ... }",
        "makes an index of the words of a relation, to search texts",
    ),
    ("::fts drop REL:NAME", "drops an index"),
    (
        "::hnsw create REL:NAME { dim: N, fields: [COLUMN, ...], m: N, ef_construction: N, ... }",
        "makes an index of the vectors of a relation, to find the nearest vectors",
    ),
    ("::hnsw drop REL:NAME", "drops an index"),
    ("::index create REL:NAME { COLUMN, ... }", "makes an index of a relation"),
    ("::index drop REL:NAME", "drops an index"),
    ("::indices REL", "lists the indices of a relation"),
    ("::kill N", "stops a running query"),
    (
        "::lsh create REL:NAME { extractor: EXPR, tokenizer: NAME, ... }",
        "makes an index of the texts or lists of a relation, to find near-duplicates",
    ),
    ("::lsh drop REL:NAME", "drops an index"),
    (
        "::reindex REL:NAME",
        "rebuilds an index from the rows of its relation, which repairs it; searches and writes continue meanwhile",
    ),
    ("::relations", "lists the stored relations"),
    ("::remove REL, ...", "removes relations"),
    ("::rename REL -> REL, ...", "renames relations"),
    (
        "::replica",
        "shows the log that processes share, the number of its last entry that is applied here, the seconds since that was known to be all, and why the replica cannot go on, if it cannot",
    ),
    ("::running", "lists the running queries"),
    ("::set_triggers REL on put|rm|replace { QUERY } ...", "sets the queries that run when a relation changes"),
    ("::show_triggers REL", "lists the triggers of a relation"),
];

/// Runs an operation.
pub fn run(op: &SystemOp, txn: &mut Transaction, context: &ScriptContext<'_>) -> miette::Result<NamedRows> {
    if op_writes(op) && !txn.is_write() {
        // Only the name of the operation is shown, since the rest may be long.
        let text = op.to_string();
        let name = text.split_whitespace().next().unwrap_or_default();
        return Err(SessionError::ReadOnly(name.to_string(), op.span).into());
    }
    match &op.kind {
        SystemOpKind::Relations => Ok(relations::list(txn)),
        SystemOpKind::Columns(name) => relations::columns(name, txn),
        SystemOpKind::ChangeColumns { relation, change } => columns::change(relation, change, txn, context),
        SystemOpKind::Indices(name) => indices::list(name, txn),
        SystemOpKind::SetTriggers(name, specs) => triggers::set(name, specs, txn, context),
        SystemOpKind::ShowTriggers(name) => triggers::show(name, txn),
        SystemOpKind::Remove(names) => relations::remove(names, txn),
        SystemOpKind::Rename(pairs) => relations::rename(pairs, txn),
        SystemOpKind::Describe(name, text) => metadata::describe(name, text.as_ref(), txn, context),
        SystemOpKind::AccessLevel(level, names) => metadata::access_level(level, names, txn),
        SystemOpKind::Explain { query, analyze: false } => explain::explain(query, txn, context),
        SystemOpKind::Explain { query, analyze: true } => explain::analyze(query, txn, context),
        SystemOpKind::Running => Ok(process::running(context)),
        SystemOpKind::Replica => Ok(process::replica(context)),
        SystemOpKind::Kill(number) => process::kill(number, context),
        SystemOpKind::Compact => {
            context.core.pipeline.compact()?;
            Ok(NamedRows::status("OK"))
        }
        SystemOpKind::FixedRules => Ok(relations::fixed_rules(context)),
        SystemOpKind::CreateIndex { relation, index, columns } => {
            indices::create(relation, index, columns, txn, context)
        }
        SystemOpKind::Reindex { relation, index } => indices::renew(relation, index, txn, context),
        SystemOpKind::DropIndex { relation, index } => indices::drop(relation, index, txn, context),
        SystemOpKind::CreateSearchIndex { kind, relation, index, options } => {
            searches::create(*kind, relation, index, options, txn, context)
        }
    }
}
