//! `::index create`, `::index drop`, `::reindex`, `::indices`.

use super::in_place::in_place;
use super::index_error::IndexError;
use super::searches;
use super::shared::{count, find, find_for, headers};
use crate::exec::build_index;
use crate::parse::ast::Symbol;
use crate::schema::{AccessLevel, IndexDefinition, SchemaRef};
use crate::session::results::NamedRows;
use crate::session::run::ScriptContext;
use crate::txn::Transaction;
use crate::value::{DataValue, JsonData, SmallStr};

/// `::index create rel:name {columns}`
pub fn create(
    relation: &Symbol,
    name: &Symbol,
    columns: &[Symbol],
    txn: &mut Transaction,
    context: &ScriptContext<'_>,
) -> miette::Result<NamedRows> {
    if columns.is_empty() {
        return Err(IndexError::Empty { name: name.name.to_string(), span: name.span }.into());
    }
    in_place(txn, context, |txn| {
        let schema = find_for("indexed", AccessLevel::Protected, relation, txn)?;
        if schema.index(&name.name).is_some() || schema.search(&name.name).is_some() {
            let (relation, name, span) = (schema.name.to_string(), name.name.to_string(), name.span);
            return Err(IndexError::Exists { relation, name, span }.into());
        }
        build(&schema, &name.name, &positions(&schema, columns)?, txn, context)
    })?;
    Ok(NamedRows::status("OK"))
}

/// Creates an index and fills it.
fn build(
    schema: &SchemaRef,
    name: &SmallStr,
    listed: &[usize],
    txn: &mut Transaction,
    context: &ScriptContext<'_>,
) -> miette::Result<()> {
    let index = txn.create_index(schema, name, listed);
    let budget = context.core.budget(context.interrupt, 0.0);
    let _entered = budget.enter();
    Ok(build_index(schema, &index, txn, &context.core.spill)?)
}

/// The positions of the columns listed.
fn positions(schema: &SchemaRef, columns: &[Symbol]) -> Result<Vec<usize>, IndexError> {
    let mut listed = vec![];
    for column in columns {
        let (relation, name, span) = (schema.name.to_string(), column.name.to_string(), column.span);
        match schema.column_index(&column.name) {
            None => return Err(IndexError::ColumnNotFound { relation, name, span }),
            Some(position) if listed.contains(&position) => {
                return Err(IndexError::ColumnTwice { name, span });
            }
            Some(position) => listed.push(position),
        }
    }
    Ok(listed)
}

/// `::reindex rel:name`
pub fn renew(
    relation: &Symbol,
    name: &Symbol,
    txn: &mut Transaction,
    context: &ScriptContext<'_>,
) -> miette::Result<NamedRows> {
    let schema = find_for("changed", AccessLevel::Protected, relation, txn)?;
    match (schema.index(&name.name), schema.search(&name.name)) {
        (Some(_), _) => in_place(txn, context, |txn| {
            let schema = find_for("changed", AccessLevel::Protected, relation, txn)?;
            let index = schema.index(&name.name).ok_or_else(|| not_found(&schema, name))?;
            txn.drop_index(&schema, index);
            let schema = find_for("indexed", AccessLevel::Protected, relation, txn)?;
            build(&schema, &name.name, &index.columns, txn, context)
        })?,
        (None, Some(search)) => searches::renew(&schema, search, txn, context)?,
        (None, None) => return Err(not_found(&schema, name).into()),
    }
    Ok(NamedRows::status("OK"))
}

fn not_found(schema: &SchemaRef, name: &Symbol) -> IndexError {
    IndexError::NotFound { relation: schema.name.to_string(), name: name.name.to_string(), span: name.span }
}

/// `::index|hnsw|fts|lsh drop rel:name`
pub fn drop(
    relation: &Symbol,
    name: &Symbol,
    txn: &mut Transaction,
    context: &ScriptContext<'_>,
) -> miette::Result<NamedRows> {
    let schema = find_for("changed", AccessLevel::Protected, relation, txn)?;
    match (schema.index(&name.name), schema.search(&name.name)) {
        (Some(index), _) => txn.drop_index(&schema, index),
        (None, Some(search)) => {
            txn.drop_search(&schema, search);
            context.core.searches.keep_only(search.stored[1].id, &[]);
        }
        (None, None) => return Err(not_found(&schema, name).into()),
    }
    Ok(NamedRows::status("OK"))
}

/// `::indices rel`
pub fn list(name: &Symbol, txn: &mut Transaction) -> miette::Result<NamedRows> {
    let row = |index: &IndexDefinition| {
        let config = serde_json::json!({ "indices": index.columns });
        vec![
            index.name.as_str().into(),
            "normal".into(),
            DataValue::List(vec![index.schema.name.as_str().into()]),
            DataValue::Json(JsonData(config)),
        ]
    };
    let schema = find(name, txn)?;
    let view = txn.view(&[schema.id])?;
    let mut rows: Vec<_> = schema.indices.iter().map(row).collect();
    for search in &schema.searches {
        rows.push(searches::row(search, view.of(schema.id))?);
    }
    rows.sort();
    Ok(NamedRows::new(headers(&["name", "type", "relations", "config"]), rows))
}

/// The numbers of columns and keys, the access level and the name of an index, as `::relations` shows them.
pub fn relation_row(index: &IndexDefinition) -> Vec<DataValue> {
    let columns = count(index.columns.len());
    let mut row = vec![index.schema.name.as_str().into(), columns.clone(), "index".into(), columns];
    row.extend([count(0), count(0), count(0), count(0), "".into()]);
    row
}
