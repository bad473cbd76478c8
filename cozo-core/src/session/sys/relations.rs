//! `::relations`, `::columns`, `::fixed_rules`, `::remove`, `::rename`.

use super::shared::{count, find, find_for, headers};
use super::{indices, searches};
use crate::parse::ast::Symbol;
use crate::schema::{AccessLevel, RelationSchema};
use crate::session::error::SessionError;
use crate::session::results::NamedRows;
use crate::session::run::ScriptContext;
use crate::txn::Transaction;
use crate::value::Tuple;

/// `::relations`. Indices are listed too, all sorted by name.
pub fn list(txn: &Transaction) -> NamedRows {
    let row = |schema: &std::sync::Arc<RelationSchema>| {
        let (keys, values) = (schema.keys.len(), schema.values.len());
        let mut row = vec![schema.name.as_str().into(), count(keys + values), schema.access_level.name().into()];
        let triggers = &schema.triggers;
        row.extend([count(keys), count(values)]);
        row.extend([&triggers.put, &triggers.rm, &triggers.replace].map(|queries| count(queries.len())));
        row.push(schema.description.as_str().into());
        row
    };
    let names = [
        "name",
        "arity",
        "access_level",
        "n_keys",
        "n_non_keys",
        "n_put_triggers",
        "n_rm_triggers",
        "n_replace_triggers",
        "description",
    ];
    let relations = txn.catalog().iter().map(row);
    let indices = txn.catalog().iter().flat_map(|schema| schema.indices.iter().map(indices::relation_row));
    let searches = txn.catalog().iter().flat_map(|schema| &schema.searches).flat_map(searches::relation_rows);
    let mut rows: Vec<Tuple> = relations.chain(indices).chain(searches).collect();
    rows.sort();
    NamedRows::new(headers(&names), rows)
}

/// `::columns rel`
pub fn columns(name: &Symbol, txn: &Transaction) -> miette::Result<NamedRows> {
    let schema = find(name, txn)?;
    let keys = schema.keys.len();
    let row = |(i, column): (usize, &crate::schema::ColumnDefinition)| {
        vec![
            column.name.as_str().into(),
            (i < keys).into(),
            count(i),
            column.column_type.to_string().into(),
            column.default.is_some().into(),
        ]
    };
    let rows = schema.columns().enumerate().map(row).collect();
    Ok(NamedRows::new(headers(&["column", "is_key", "index", "type", "has_default"]), rows))
}

/// `::fixed_rules`
pub fn fixed_rules(context: &ScriptContext<'_>) -> NamedRows {
    let rules = context.core.fixed_rules.current();
    NamedRows::new(headers(&["rule"]), rules.names().into_iter().map(|name| vec![name.into()]).collect())
}

/// `::remove a, b`
pub fn remove(names: &[Symbol], txn: &mut Transaction) -> miette::Result<NamedRows> {
    for name in names {
        let schema = find_for("removed", AccessLevel::Normal, name, txn)?;
        if let Some(index) = schema.index_names().next() {
            let (relation, index) = (schema.name.to_string(), index.to_string());
            return Err(SessionError::HasIndices { relation, index, span: name.span }.into());
        }
        txn.drop_relation(&schema)?;
    }
    Ok(NamedRows::status("OK"))
}

/// `::rename a -> b, c -> d`, from left to right.
pub fn rename(pairs: &[(Symbol, Symbol)], txn: &mut Transaction) -> miette::Result<NamedRows> {
    for (old, new) in pairs {
        let schema = find_for("renamed", AccessLevel::Normal, old, txn)?;
        if txn.catalog().find(&new.name).is_some() {
            return Err(SessionError::NameTaken { name: new.name.to_string(), span: new.span }.into());
        }
        txn.redefine(&schema, RelationSchema { name: new.name.clone(), ..RelationSchema::clone(&schema) });
    }
    Ok(NamedRows::status("OK"))
}
