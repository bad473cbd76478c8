//! `::set_triggers` and `::show_triggers`.

use std::collections::BTreeMap;

use super::column_error::ColumnError;
use super::shared::{count, find, find_for, headers};
use crate::diag::SourceSpan;
use crate::fixed_rule::RuleSet;
use crate::parse::ast::{MutationOp, QueryOption, Symbol, TriggerEvent, TriggerSpec};
use crate::parse::parse_query;
use crate::program::ProgramError;
use crate::schema::{AccessLevel, RelationSchema, Triggers};
use crate::session::error::SessionError;
use crate::session::events::given;
use crate::session::results::NamedRows;
use crate::session::run::ScriptContext;
use crate::session::script::{CompiledQuery, DEFAULT_TIMEOUT_SECONDS};
use crate::txn::Transaction;
use crate::value::{DataValue, SmallStr};

/// `::set_triggers rel on put { query } ...`. The new triggers replace all earlier ones.
pub fn set(
    name: &Symbol,
    specs: &[TriggerSpec],
    txn: &mut Transaction,
    context: &ScriptContext<'_>,
) -> miette::Result<NamedRows> {
    let schema = find_for("given triggers", AccessLevel::Protected, name, txn)?;
    let fixed_rules = context.core.fixed_rules.current();
    let budget = context.core.budget(context.interrupt, DEFAULT_TIMEOUT_SECONDS);
    let _compiling = budget.enter();
    let mut triggers = Triggers::default();
    for spec in specs {
        check(spec, &schema, txn, &fixed_rules)?;
        budget.check()?;
        let list = match spec.event {
            TriggerEvent::Put => &mut triggers.put,
            TriggerEvent::Rm => &mut triggers.rm,
            TriggerEvent::Replace => &mut triggers.replace,
        };
        list.push(spec.source.clone());
    }
    txn.redefine(&schema, RelationSchema { triggers, ..RelationSchema::clone(&schema) });
    Ok(NamedRows::status("OK"))
}

/// Checks the text of a trigger. Its names are resolved when it runs.
fn check(spec: &TriggerSpec, schema: &RelationSchema, txn: &Transaction, fixed_rules: &RuleSet) -> miette::Result<()> {
    for option in &spec.query.options {
        if let QueryOption::Mutation(mutation) = option
            && mutation.op == MutationOp::Replace
        {
            return Err(SessionError::ReplaceInTrigger { span: mutation.span }.into());
        }
    }
    match CompiledQuery::compile(&spec.query, txn, fixed_rules, &BTreeMap::new(), &given(spec.event, schema)) {
        Err(report) if is_of_the_text(&report) => Err(report),
        Err(_) => Ok(()),
        Ok(compiled) => Ok(compiled.parameters.bind(&BTreeMap::new()).map(|_| ())?),
    }
}

/// Whether an error concerns the text alone. A missing fixed rule does not, since it may be registered before the trigger runs.
fn is_of_the_text(report: &miette::Report) -> bool {
    let is_rule = matches!(report.downcast_ref(), Some(ProgramError::FixedRuleNotFound { .. }));
    !is_rule && report.code().is_some_and(|code| code.to_string().starts_with("parser::"))
}

/// `::show_triggers rel`
pub fn show(name: &Symbol, txn: &Transaction) -> miette::Result<NamedRows> {
    let schema = find(name, txn)?;
    let rows = by_event(&schema.triggers).into_iter().flat_map(|(event, sources)| {
        let row = move |(i, source): (usize, &String)| -> Vec<DataValue> {
            vec![event.to_string().into(), count(i), source.as_str().into()]
        };
        sources.iter().enumerate().map(row)
    });
    Ok(NamedRows::new(headers(&["type", "idx", "trigger"]), rows.collect()))
}

/// The triggers of all relations that compile.
pub struct Working(Vec<(SmallStr, TriggerEvent, usize)>);

impl Working {
    /// The triggers that compile as the transaction sees the catalog.
    pub fn triggers(txn: &Transaction, context: &ScriptContext<'_>) -> miette::Result<Working> {
        let mut working = vec![];
        for schema in txn.catalog().iter().filter(|schema| schema.triggers != Triggers::default()) {
            for (event, sources) in by_event(&schema.triggers) {
                let compiles = |(_, source): &(usize, &String)| compiled(source, event, schema, txn, context).is_ok();
                let found = sources.iter().enumerate().filter(compiles);
                working.extend(found.map(|(number, _)| (schema.name.clone(), event, number)));
            }
        }
        context.interrupt.check()?;
        Ok(Working(working))
    }

    /// Fails if one of them does not compile any more.
    pub fn still_work(self, span: SourceSpan, txn: &Transaction, context: &ScriptContext<'_>) -> miette::Result<()> {
        for (name, event, number) in self.0 {
            let Some(schema) = txn.catalog().find(&name) else { continue };
            let of_event = by_event(&schema.triggers).into_iter().find(|(other, _)| *other == event);
            let source = of_event.and_then(|(_, sources)| sources.get(number));
            if let Some(Err(cause)) = source.map(|source| compiled(source, event, schema, txn, context)) {
                let (event, relation, cause) = (event.to_string(), name.to_string(), cause.to_string());
                return Err(ColumnError::Trigger { number, event, relation, cause, span }.into());
            }
        }
        Ok(())
    }
}

/// The first event for which there is a trigger.
pub fn first_event(triggers: &Triggers) -> Option<TriggerEvent> {
    by_event(triggers).into_iter().find(|(_, sources)| !sources.is_empty()).map(|(event, _)| event)
}

fn by_event(triggers: &Triggers) -> [(TriggerEvent, &Vec<String>); 3] {
    let Triggers { put, rm, replace } = triggers;
    [(TriggerEvent::Put, put), (TriggerEvent::Rm, rm), (TriggerEvent::Replace, replace)]
}

fn compiled(
    source: &str,
    event: TriggerEvent,
    schema: &RelationSchema,
    txn: &Transaction,
    context: &ScriptContext<'_>,
) -> miette::Result<()> {
    let query = parse_query(source)?;
    let rules = context.core.fixed_rules.current();
    CompiledQuery::compile(&query, txn, &rules, &BTreeMap::new(), &given(event, schema)).map(drop)
}
