//! Triggers: queries of a relation that run when it changes, in the same transaction.
//!
//! The catalog has their text. This module parses them once, and caches them with their plans. They read the rows of the operation
//! as the relations `_new` and `_old`, which are passed as columns. A function that is passed in runs their queries ([`RunTrigger`]).

use std::sync::Arc;

use quick_cache::sync::Cache;

use crate::diag::{SourceSpan, elsewhere, show_in};
use crate::parse::ast::TriggerEvent;
use crate::parse::parse_query;
use crate::program::GivenRelation;
use crate::schema::{RelationId, RelationSchema, Triggers};
use crate::session::script::QueryCache;
use crate::txn::Transaction;
use crate::value::Batch;

/// The number of relations and events whose triggers are cached.
const CACHED_RELATIONS: usize = 1000;

/// Triggers ready to run.
pub struct TriggerCache(Cache<(RelationId, TriggerEvent), Arc<PreparedTriggers>>);

/// The triggers of a relation for one event, in their order.
pub struct PreparedTriggers(Vec<Trigger>);

/// A trigger.
pub struct Trigger {
    source: String,
    /// Its query.
    pub query: QueryCache,
    /// The relations that it may apply besides stored ones.
    pub given: Vec<GivenRelation>,
}

/// Runs a trigger on the rows of its given relations. Queries are above events, so the function is passed in.
pub type RunTrigger<'a> = &'a dyn Fn(&Trigger, &[Batch], &mut Transaction) -> miette::Result<()>;

/// The operation that sets off triggers.
pub struct Occasion<'a> {
    /// The kind of operation.
    pub event: TriggerEvent,
    /// The relation.
    pub schema: &'a RelationSchema,
    /// The operation in the script.
    pub span: SourceSpan,
}

impl Default for TriggerCache {
    fn default() -> Self {
        TriggerCache(Cache::new(CACHED_RELATIONS))
    }
}

impl TriggerCache {
    /// The triggers of an operation, if there are any.
    pub fn find(&self, occasion: &Occasion<'_>) -> miette::Result<Option<Arc<PreparedTriggers>>> {
        let sources = sources(&occasion.schema.triggers, occasion.event);
        if sources.is_empty() {
            return Ok(None);
        }
        let key = (occasion.schema.id, occasion.event);
        if let Some(known) = self.0.get(&key)
            && known.0.iter().map(|trigger| &trigger.source).eq(sources)
        {
            return Ok(Some(known));
        }
        let parse = |(number, source): (usize, &String)| occasion.parse(number, source);
        let triggers = sources.iter().enumerate().map(parse).collect::<miette::Result<_>>()?;
        let prepared = Arc::new(PreparedTriggers(triggers));
        self.0.insert(key, prepared.clone());
        Ok(Some(prepared))
    }
}

impl PreparedTriggers {
    /// Runs the triggers. `rows` has the rows of the relations that [`given`] returns, in the same order.
    pub fn run(
        &self,
        occasion: &Occasion<'_>,
        rows: &[Batch],
        txn: &mut Transaction,
        run: RunTrigger<'_>,
    ) -> miette::Result<()> {
        for (number, trigger) in self.0.iter().enumerate() {
            run(trigger, rows, txn).map_err(|report| occasion.failed(number, &trigger.source, report))?;
        }
        Ok(())
    }
}

impl Occasion<'_> {
    fn parse(&self, number: usize, source: &str) -> miette::Result<Trigger> {
        let query = parse_query(source).map_err(|error| self.failed(number, source, error.into()))?;
        let given = given(self.event, self.schema);
        Ok(Trigger { source: source.to_string(), query: QueryCache::new(query), given })
    }

    /// The error of a trigger as one of the operation.
    fn failed(&self, number: usize, source: &str, report: miette::Report) -> miette::Report {
        let message = format!("the trigger {number} 'on {}' of '{}' failed", self.event, self.schema.name);
        elsewhere(show_in(report, source), message, "set off by this operation", self.span)
    }
}

/// The texts of the triggers for an event.
fn sources(triggers: &Triggers, event: TriggerEvent) -> &[String] {
    match event {
        TriggerEvent::Put => &triggers.put,
        TriggerEvent::Rm => &triggers.rm,
        TriggerEvent::Replace => &triggers.replace,
    }
}

/// The relations that triggers for an event may apply: the new rows and the old ones.
pub fn given(event: TriggerEvent, schema: &RelationSchema) -> Vec<GivenRelation> {
    let relation = |name: &str, width: usize| {
        let columns = schema.columns().take(width).map(|column| column.name.clone()).collect();
        GivenRelation { name: name.into(), columns }
    };
    match event {
        TriggerEvent::Put => vec![relation("_new", schema.arity()), relation("_old", schema.arity())],
        TriggerEvent::Rm => vec![relation("_new", schema.keys.len()), relation("_old", schema.arity())],
        TriggerEvent::Replace => vec![],
    }
}
