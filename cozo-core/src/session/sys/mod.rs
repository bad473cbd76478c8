//! System operations, a file for each kind.

mod explain;
mod indices;
mod metadata;
mod process;
mod relations;
mod triggers;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use super::core::Core;
use super::query::Context;
use super::running::Running;
use super::{NamedRows, SessionError};
use crate::budget::Interrupt;
use crate::parse::ast::{SystemOp, SystemOpKind};
use crate::program::ProgramError;
use crate::schema::{RelationError, SchemaRef};
use crate::txn::Transaction;
use crate::value::DataValue;

/// The context of system operations and statements.
pub struct SystemContext<'a> {
    /// The parameters by name.
    pub parameters: &'a BTreeMap<String, DataValue>,
    /// Stops the script.
    pub interrupt: &'a Interrupt,
    /// The number of the script.
    pub script: u64,
    /// The running scripts.
    pub running: &'a Arc<Running>,
    /// The database.
    pub core: &'a Core,
    /// For a script that was parsed just now: its beginning and its size.
    pub new_script: Option<(Instant, usize)>,
}

impl SystemContext<'_> {
    /// The context of a script's only query.
    pub fn query(&self) -> Context<'_> {
        let SystemContext { parameters, interrupt, core, new_script, .. } = *self;
        Context { parameters, interrupt, core, sets_off_triggers: true, held_bytes: 0, new_script, budget: None }
    }

    /// The context of one of several queries. Its time begins now.
    pub fn query_in_turn(&self) -> Context<'_> {
        let new_script = self.new_script.map(|(_, bytes)| (Instant::now(), bytes));
        Context { new_script, ..self.query() }
    }
}

/// The supported operations with descriptions, for documentation and completion.
pub const SYSTEM_OPS: &[(&str, &str)] = &[
    ("::access_level LEVEL REL, ...", "sets what may be done with relations: normal, protected, read_only or hidden"),
    ("::columns REL", "lists the columns of a relation"),
    ("::compact", "gives space back to the system"),
    ("::describe REL 'TEXT'", "sets the description of a relation"),
    ("::explain analyze { QUERY }", "runs a query, without its writes, and shows what each operator did"),
    (
        "::explain { QUERY }",
        "shows how a query would run, operator by operator; at the end of a rule, how it runs as a whole if that is special",
    ),
    ("::fixed_rules", "lists the fixed rules"),
    ("::index create REL:NAME { COLUMN, ... }", "makes an index of a relation"),
    ("::index drop REL:NAME", "drops an index"),
    ("::indices REL", "lists the indices of a relation"),
    ("::kill N", "stops a running query"),
    ("::relations", "lists the stored relations"),
    ("::remove REL, ...", "removes relations"),
    ("::rename REL -> REL, ...", "renames relations"),
    ("::running", "lists the running queries"),
    ("::set_triggers REL on put|rm|replace { QUERY } ...", "sets the queries that run when a relation changes"),
    ("::show_triggers REL", "lists the triggers of a relation"),
];

/// Whether an operation changes stored data or the catalog.
pub fn writes(op: &SystemOp) -> bool {
    !matches!(
        op.kind,
        SystemOpKind::Relations
            | SystemOpKind::Columns(_)
            | SystemOpKind::Indices(_)
            | SystemOpKind::ShowTriggers(_)
            | SystemOpKind::Running
            | SystemOpKind::Kill(_)
            | SystemOpKind::FixedRules
            | SystemOpKind::Explain { .. }
    )
}

/// Runs an operation.
pub fn run(op: &SystemOp, txn: &mut Transaction, context: &SystemContext<'_>) -> miette::Result<NamedRows> {
    if writes(op) && !txn.is_write() {
        // Only the name of the operation is shown, since the rest may be long.
        let text = op.to_string();
        let name = text.split_whitespace().next().unwrap_or_default();
        return Err(SessionError::ReadOnly(name.to_string(), op.span).into());
    }
    match &op.kind {
        SystemOpKind::Relations => Ok(relations::list(txn)),
        SystemOpKind::Columns(name) => relations::columns(name, txn),
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
        SystemOpKind::Kill(number) => process::kill(number, context),
        SystemOpKind::Compact => {
            context.core.pipeline.compact()?;
            Ok(NamedRows::status("OK"))
        }
        SystemOpKind::FixedRules => Ok(relations::fixed_rules(context)),
        SystemOpKind::CreateIndex { relation, index, columns } => {
            indices::create(relation, index, columns, txn, context)
        }
        SystemOpKind::DropIndex { relation, index } => indices::drop(relation, index, txn),
        SystemOpKind::CreateSearchIndex { .. } => not_yet("a search index", op),
    }
}

fn not_yet(construct: &str, op: &SystemOp) -> miette::Result<NamedRows> {
    Err(ProgramError::NotYet { construct: construct.to_string(), span: op.span }.into())
}

/// A relation that an operation names.
fn find(name: &crate::parse::ast::Symbol, txn: &Transaction) -> Result<SchemaRef, SessionError> {
    let not_found = || RelationError::not_found(&name.name, name.span).into();
    txn.catalog().find(&name.name).cloned().ok_or_else(not_found)
}
