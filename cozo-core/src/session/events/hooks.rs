//! The consequences of an operation on a relation: its triggers run, and its callbacks get a message at the commit.

use std::sync::Arc;

use super::callbacks::{CallbackOp, Callbacks, named};
use super::shared_changes::ChangeReaders;
use super::triggers::{Occasion, PreparedTriggers, RunTrigger, TriggerCache};
use crate::budget::make_room;
use crate::diag::SourceSpan;
use crate::exec::Mutated;
use crate::parse::ast::{MutationOp, TriggerEvent};
use crate::plan::MutationPlan;
use crate::schema::RelationSchema;
use crate::txn::{Transaction, is_ephemeral};

/// The triggers and callbacks of a database, and the readers of its changes.
#[derive(Default)]
pub struct Events {
    /// The callbacks, which receive changes.
    pub callbacks: Arc<Callbacks>,
    /// The triggers, parsed and compiled.
    pub triggers: TriggerCache,
    /// The readers of the changes of all processes.
    pub readers: ChangeReaders,
}

/// The triggers and callbacks of an operation. There are rarely any, and without them the operation need not report its rows.
pub struct Hooks<'a> {
    occasion: Occasion<'a>,
    triggers: Option<Arc<PreparedTriggers>>,
    /// The callbacks, if there is one for the relation.
    callbacks: Option<&'a Arc<Callbacks>>,
}

impl<'a> Hooks<'a> {
    /// The hooks of an operation on a relation, if there are any. The writes of triggers set off no triggers.
    pub fn to(
        mutation: &MutationPlan,
        schema: &'a RelationSchema,
        events: &'a Events,
        sets_off_triggers: bool,
    ) -> miette::Result<Option<Hooks<'a>>> {
        let event = match mutation.op {
            MutationOp::Ensure | MutationOp::EnsureNot => return Ok(None),
            MutationOp::Rm | MutationOp::Delete => TriggerEvent::Rm,
            _ => TriggerEvent::Put,
        };
        let occasion = Occasion { event, schema, span: mutation.span };
        let is_heard = events.callbacks.listens_to(&schema.name) && !is_ephemeral(schema.id);
        let callbacks = is_heard.then_some(&events.callbacks);
        let triggers = if sets_off_triggers { events.triggers.find(&occasion)? } else { None };
        Ok((is_heard || triggers.is_some()).then_some(Hooks { occasion, triggers, callbacks }))
    }

    /// Runs the hooks.
    pub fn happen(self, mutated: &Mutated, txn: &mut Transaction, run: RunTrigger<'_>) -> miette::Result<()> {
        let schema = self.occasion.schema;
        let (op, changed) = match self.occasion.event {
            // A removal may name keys that do not exist.
            TriggerEvent::Rm => (CallbackOp::Rm, !mutated.old.is_empty()),
            _ => (CallbackOp::Put, !mutated.new.is_empty()),
        };
        if let Some(callbacks) = self.callbacks.filter(|_| changed) {
            let change = (op, named(schema, &mutated.new)?, named(schema, &mutated.old)?);
            txn.hold(change.1.memory_bytes() + change.2.memory_bytes());
            callbacks.note(&schema.name, change, txn);
        }
        let Some(triggers) = self.triggers.filter(|_| !mutated.new.is_empty()) else { return Ok(()) };
        make_room(mutated.new.memory_bytes() + mutated.old.memory_bytes())?;
        let rows = [mutated.last_new(schema.keys.len()), mutated.old.clone()];
        triggers.run(&self.occasion, &rows, txn, run)
    }
}

/// Runs the triggers of a relation that is about to be replaced.
pub fn before_replacing(
    old: &RelationSchema,
    span: SourceSpan,
    txn: &mut Transaction,
    events: &Events,
    run: RunTrigger<'_>,
) -> miette::Result<()> {
    let occasion = Occasion { event: TriggerEvent::Replace, schema: old, span };
    match events.triggers.find(&occasion)? {
        Some(triggers) => triggers.run(&occasion, &[], txn, run),
        None => Ok(()),
    }
}
