//! `::columns rel add|drop|rename|retype|key`: changing the columns of a relation in place.
//!
//! ```text
//! ::columns t rename a -> b       the definition changes, the rows stay
//! any other                       ?[k, v, w] := *t{k, v}, w = ...   :replace t {k => v, w}
//! ```
//!
//! All but `rename` run a query of that form, which reads the relation once. `:replace` makes the relation anew, with its description,
//! triggers and indices, but sets off no triggers or callbacks. An operation by itself does not fail because others write: it begins again, and
//! after some attempts they wait ([`in_place`](super::in_place)).

use std::collections::HashSet;
use std::sync::Arc;

use super::column_error::ColumnError;
use super::in_place::in_place;
use super::shared::find_for;
use super::triggers::{Working, first_event};
use crate::diag::SourceSpan;
use crate::exec::write;
use crate::parse::ast::{
    Atom, ChangedColumn, ColumnChange, ColumnSource, ColumnSpec, ColumnSpecs, ColumnTypeSpec, Expr, Formula, Head,
    HeadArg, Mutation, MutationOp, NamedArg, Query, QueryOption, Rule, RuleBody, StoredApply, StoredArgs, Symbol,
};
use crate::parse::{parse_column_type, parse_expr};
use crate::schema::{AccessLevel, BaseType, ColumnDefinition, ColumnType, RelationSchema, SchemaRef};
use crate::session::results::NamedRows;
use crate::session::run::{ScriptContext, carry_indices, check_search, run_plan};
use crate::session::script::CompiledQuery;
use crate::txn::Transaction;
use crate::value::{DataValue, SmallStr};

/// Changes the columns of a relation.
pub fn change(
    relation: &Symbol,
    change: &ColumnChange,
    txn: &mut Transaction,
    context: &ScriptContext<'_>,
) -> miette::Result<NamedRows> {
    let budget = context.core.budget(context.interrupt, 0.0);
    let _entered = budget.enter();
    let run = |txn: &mut Transaction| {
        let old = find_for("changed", AccessLevel::Normal, relation, txn)?;
        if let Some(index) = old.searches.iter().find(|index| !index.is_ready) {
            return Err(ColumnError::Building { index: index.listing.name.to_string(), span: relation.span }.into());
        }
        let working = Working::triggers(txn, context)?;
        match change {
            ColumnChange::Rename(pairs) => rename(&old, relation, pairs, txn)?,
            other => reshape(&old, relation, other, txn, context)?,
        }
        working.still_work(relation.span, txn, context)
    };
    in_place(txn, context, run)?;
    Ok(NamedRows::status("OK"))
}

fn rename(old: &SchemaRef, relation: &Symbol, pairs: &[(Symbol, Symbol)], txn: &mut Transaction) -> miette::Result<()> {
    let mut new = RelationSchema::clone(old);
    named_once(old, pairs.iter().map(|(from, _)| from))?;
    let mut renamed = HashSet::new();
    for (from, to) in pairs {
        // While columns exchange their names, two have the same one: meant is the one that still has its own.
        let named = || new.columns().enumerate().filter(|(_, column)| column.name == from.name).map(|(at, _)| at);
        let position = named().find(|at| !renamed.contains(at)).or_else(|| named().next());
        let position = position.ok_or_else(|| ColumnError::missing(&new, from))?;
        renamed.insert(position);
        let keys = new.keys.len();
        let column = if position < keys { &mut new.keys[position] } else { &mut new.values[position - keys] };
        column.name = to.name.clone();
    }
    for (_, to) in pairs {
        if new.columns().filter(|column| column.name == to.name).count() > 1 {
            return Err(ColumnError::exists(old, to).into());
        }
    }
    new.searches.iter().try_for_each(|index| check_search(&new, index, relation.span))?;
    txn.redefine(old, new);
    Ok(())
}

/// Refuses an operation that names a column twice.
fn named_once<'s>(schema: &RelationSchema, names: impl Iterator<Item = &'s Symbol>) -> Result<(), ColumnError> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(&name.name) {
            return Err(ColumnError::twice(schema, name));
        }
    }
    Ok(())
}

fn position(schema: &RelationSchema, column: &Symbol) -> Result<usize, ColumnError> {
    schema.column_index(&column.name).ok_or_else(|| ColumnError::missing(schema, column))
}

/// A column of the new relation.
struct NewColumn {
    name: Symbol,
    column_type: ColumnTypeSpec,
    default: Option<Expr>,
    /// Its values, if they are not those of the column of the same name.
    value: Option<Expr>,
}

/// The columns of the new relation.
struct NewColumns {
    keys: Vec<NewColumn>,
    values: Vec<NewColumn>,
}

fn reshape(
    old: &SchemaRef,
    relation: &Symbol,
    change: &ColumnChange,
    txn: &mut Transaction,
    context: &ScriptContext<'_>,
) -> miette::Result<()> {
    let mut shape = NewColumns::of(old, relation)?;
    shape.apply(old, change)?;
    if let ColumnChange::Key(_) = change {
        shape.keeps_order_for_triggers(old, relation.span)?;
    }
    let query = shape.query(old, relation);
    let rules = context.core.fixed_rules.current();
    let compiled = CompiledQuery::compile(&query, txn, &rules, context.parameters, &[])?;
    let mutation = compiled.mutation.as_ref().expect("the query has an operation");
    let mut new = RelationSchema::clone(&mutation.schema);
    new.description.clone_from(&old.description);
    new.triggers = old.triggers.clone();
    let unchanged = |name: &str| shape.keeps(name) && old.column_index(name).is_some();
    let to_build = carry_indices(old, &mut new, &unchanged, relation.span)?;
    let parameters = compiled.parameters.bind(context.parameters)?;
    let budget = context.core.budget(context.interrupt, 0.0);
    let _entered = budget.enter();
    let rows = run_plan(&compiled, &parameters, &[], txn, &context.query(), &budget, &mut None)?;
    let before = txn.view(&[old.id])?.of(old.id).row_count(old.id);
    let made = txn.replace(old, new);
    // What an index that goes over would follow, it has already.
    let bare = RelationSchema { indices: vec![], searches: vec![], ..RelationSchema::clone(&made) };
    write(mutation, &Arc::new(bare), rows, &parameters, txn, false, Some(&context.core.spill))?;
    let lost = before - txn.rows_put(made.id) as u64;
    if lost > 0 {
        let (name, keys, span) = (old.name.to_string(), shape.key_names(), relation.span);
        let is_other = |column: &&ColumnDefinition| !shape.keys.iter().any(|key| key.name.name == column.name);
        let other = old.columns().find(is_other).map_or("_".to_string(), |column| column.name.to_string());
        return Err(ColumnError::SameKey { relation: name, keys, other, lost, span }.into());
    }
    to_build.build(&old.name, txn, &context.core.spill)
}

impl NewColumns {
    /// The columns as they are.
    fn of(old: &RelationSchema, relation: &Symbol) -> miette::Result<NewColumns> {
        let column = |definition: &ColumnDefinition| -> miette::Result<NewColumn> {
            Ok(NewColumn {
                name: Symbol::new(definition.name.clone(), relation.span),
                column_type: parse_column_type(&definition.column_type.to_string())?,
                default: definition.default.as_ref().map(|text| parse_expr(text)).transpose()?,
                value: None,
            })
        };
        let columns = |definitions: &[ColumnDefinition]| definitions.iter().map(column).collect::<miette::Result<_>>();
        Ok(NewColumns { keys: columns(&old.keys)?, values: columns(&old.values)? })
    }

    fn apply(&mut self, old: &RelationSchema, change: &ColumnChange) -> miette::Result<()> {
        if let ColumnChange::Drop(names) | ColumnChange::Key(names) = change {
            named_once(old, names.iter())?;
        }
        match change {
            ColumnChange::Add(columns) => columns.iter().try_for_each(|column| self.add(old, column)),
            ColumnChange::Drop(names) => names.iter().try_for_each(|name| self.take(old, name).map(drop)),
            ColumnChange::Retype(columns) => columns.iter().try_for_each(|column| self.retype(old, column)),
            ColumnChange::Key(names) => self.set_key(old, names),
            ColumnChange::Rename(_) => unreachable!("renaming changes no rows"),
        }?;
        match self.keys.is_empty() {
            true => Err(ColumnError::NoKey { relation: old.name.to_string() }.into()),
            false => Ok(()),
        }
    }

    fn find(&mut self, name: &str) -> Option<&mut NewColumn> {
        self.keys.iter_mut().chain(&mut self.values).find(|column| column.name.name == name)
    }

    /// Takes a column out.
    fn take(&mut self, old: &RelationSchema, name: &Symbol) -> miette::Result<NewColumn> {
        for columns in [&mut self.keys, &mut self.values] {
            if let Some(at) = columns.iter().position(|column| column.name.name == name.name) {
                return Ok(columns.remove(at));
            }
        }
        Err(ColumnError::missing(old, name).into())
    }

    fn add(&mut self, old: &RelationSchema, column: &ChangedColumn) -> miette::Result<()> {
        if self.find(&column.name.name).is_some() {
            return Err(ColumnError::exists(old, &column.name).into());
        }
        let any = || parse_column_type(&ColumnType::ANY.to_string());
        let column_type = column.column_type.clone().map_or_else(any, Ok)?;
        let value = match (&column.value, &column.default) {
            (Some(value), _) | (None, Some(value)) => value.clone(),
            (None, None) if column_type.nullable => Expr::Literal(DataValue::Null, column.name.span),
            (None, None) => return Err(ColumnError::needs_value(column).into()),
        };
        let (name, default) = (column.name.clone(), column.default.clone());
        self.values.push(NewColumn { name, column_type, default, value: Some(value) });
        Ok(())
    }

    fn retype(&mut self, old: &RelationSchema, column: &ChangedColumn) -> miette::Result<()> {
        let position = position(old, &column.name)?;
        let before = &old.columns().nth(position).expect("just found").column_type;
        let new = self.find(&column.name.name).expect("no column has been dropped");
        if let Some(column_type) = &column.column_type {
            new.column_type = column_type.clone();
        }
        if column.default.is_some() {
            new.default.clone_from(&column.default);
        }
        let converted = || converted(&column.name, before, column.column_type.as_ref());
        new.value = Some(column.value.clone().unwrap_or_else(converted));
        Ok(())
    }

    fn set_key(&mut self, old: &RelationSchema, names: &[Symbol]) -> miette::Result<()> {
        let keys = names.iter().map(|name| self.take(old, name)).collect::<miette::Result<Vec<_>>>()?;
        let rest = std::mem::replace(&mut self.keys, keys);
        self.values.splice(0..0, rest);
        Ok(())
    }

    /// Refuses another order of the columns of a relation with triggers, which read the rows of `_new` and `_old` by position.
    fn keeps_order_for_triggers(&self, old: &RelationSchema, span: SourceSpan) -> Result<(), ColumnError> {
        let names = self.columns().map(|column| &column.name.name);
        match first_event(&old.triggers) {
            Some(event) if !names.eq(old.columns().map(|column| &column.name)) => Err(ColumnError::Trigger {
                number: 0,
                event: event.to_string(),
                relation: old.name.to_string(),
                cause: "it reads the columns by position, and they would be in another order".to_string(),
                span,
            }),
            _ => Ok(()),
        }
    }

    /// Whether a column has the values that it had.
    fn keeps(&self, name: &str) -> bool {
        self.columns().any(|column| column.name.name == name && column.value.is_none())
    }

    fn columns(&self) -> impl Iterator<Item = &NewColumn> {
        self.keys.iter().chain(&self.values)
    }

    fn key_names(&self) -> String {
        self.keys.iter().map(|column| column.name.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// `?[k, v, w] := *t{k, v}, w = ...   :replace t {k => v, w}`
    fn query(&self, old: &RelationSchema, relation: &Symbol) -> Query {
        let span = relation.span;
        // A column that changes has one variable for its old value and one for its new one.
        let old_name =
            |name: &str| match self.columns().any(|column| column.name.name == name && column.value.is_some()) {
                true => Symbol::new(format!("{name} before"), span),
                false => Symbol::new(name, span),
            };
        let argument = |column: &ColumnDefinition| NamedArg {
            column: Symbol::new(column.name.clone(), span),
            expr: Expr::Variable(old_name(&column.name)),
        };
        let args = StoredArgs::Named(old.columns().map(argument).collect());
        let stored = Atom::Stored(StoredApply { name: relation.clone(), args, validity: None, span });
        let mut atoms = vec![Formula::Atom(stored)];
        for column in self.columns() {
            if let Some(value) = &column.value {
                let (variable, mut expr) = (column.name.clone(), value.clone());
                let span = expr.span();
                rename_variables(&mut expr, &|name| old.column_index(name).map(|_| old_name(name).name));
                atoms.push(Formula::Atom(Atom::Unify { variable, expr, span }));
            }
        }
        let args = self.columns().map(|column| HeadArg { variable: column.name.clone(), aggregation: None }).collect();
        let head = Head { name: Symbol::new("?", span), args, span };
        let rule = Rule { head, body: RuleBody::Inline(Formula::And(atoms)), span };
        let spec = |column: &NewColumn| ColumnSpec {
            name: column.name.clone(),
            column_type: Some(column.column_type.clone()),
            source: column.default.clone().map_or(ColumnSource::SameName, ColumnSource::Default),
        };
        let specs = |columns: &[NewColumn]| columns.iter().map(spec).collect();
        let columns = Some(ColumnSpecs { keys: specs(&self.keys), values: specs(&self.values), span });
        let replace = Mutation { op: MutationOp::Replace, relation: relation.clone(), columns, if_absent: None, span };
        Query { rules: vec![rule], options: vec![QueryOption::Mutation(replace)], span }
    }
}

/// The old value of a column as one of its new type, where the type has a function for it. What remains is coerced as in any write.
fn converted(column: &Symbol, before: &ColumnType, after: Option<&ColumnTypeSpec>) -> Expr {
    use crate::parse::ast::BaseTypeSpec::Named;
    let variable = Expr::Variable(column.clone());
    let target = after.map(|spec| &spec.base);
    let function = match (&before.base, target) {
        (BaseType::String, Some(Named(name))) if name == "Int" => "to_int",
        (BaseType::String, Some(Named(name))) if name == "Float" => "to_float",
        (BaseType::String | BaseType::Any, Some(Named(name))) if name == "String" => return variable,
        (_, Some(Named(name))) if name == "String" => "to_string",
        _ => return variable,
    };
    let call = |function: &str, args| {
        let span = column.span;
        Expr::Call { function: Symbol::new(function, span), args, span }
    };
    let null = Expr::Literal(DataValue::Null, column.span);
    let is_null = call("is_null", vec![variable.clone()]);
    call("if", vec![is_null, null, call(function, vec![variable])])
}

/// Gives variables of an expression other names.
fn rename_variables(expr: &mut Expr, name: &dyn Fn(&str) -> Option<SmallStr>) {
    match expr {
        Expr::Variable(variable) => {
            if let Some(new) = name(&variable.name) {
                variable.name = new;
            }
        }
        Expr::List(items, _) => items.iter_mut().for_each(|item| rename_variables(item, name)),
        Expr::Object(pairs, _) => pairs.iter_mut().for_each(|(key, value)| {
            rename_variables(key, name);
            rename_variables(value, name);
        }),
        Expr::Call { args, .. } => args.iter_mut().for_each(|arg| rename_variables(arg, name)),
        Expr::Literal(..) | Expr::Parameter(_) | Expr::Data(..) | Expr::Rows(..) => {}
    }
}
