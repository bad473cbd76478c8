//! `::set_triggers` and `::show_triggers`.

use std::collections::BTreeMap;

use super::shared::{count, find, find_for, headers};
use crate::fixed_rule::RuleSet;
use crate::parse::ast::{MutationOp, QueryOption, Symbol, TriggerEvent, TriggerSpec};
use crate::program::ProgramError;
use crate::schema::{AccessLevel, RelationSchema, Triggers};
use crate::session::error::SessionError;
use crate::session::events::given;
use crate::session::results::NamedRows;
use crate::session::run::ScriptContext;
use crate::session::script::{CompiledQuery, DEFAULT_TIMEOUT_SECONDS};
use crate::txn::Transaction;
use crate::value::DataValue;

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
    let Triggers { put, rm, replace } = &schema.triggers;
    let lists = [(TriggerEvent::Put, put), (TriggerEvent::Rm, rm), (TriggerEvent::Replace, replace)];
    let rows = lists.into_iter().flat_map(|(event, sources)| {
        let row = move |(i, source): (usize, &String)| -> Vec<DataValue> {
            vec![event.to_string().into(), count(i), source.as_str().into()]
        };
        sources.iter().enumerate().map(row)
    });
    Ok(NamedRows::new(headers(&["type", "idx", "trigger"]), rows.collect()))
}
