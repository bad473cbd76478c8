//! Whole relations in and out.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{NamedRows, SessionError};
use crate::diag::SourceSpan;
use crate::exec::{MAX_BATCH_ROWS, mutate};
use crate::parse::ast::MutationOp;
use crate::plan::{MutationPlan, ValueSource};
use crate::schema::{AccessLevel, ColumnDefinition, RelationError, SchemaRef};
use crate::storage::KeyRange;
use crate::txn::{Pipeline, Transaction, View};
use crate::value::{Batch, Column, Tuple};

/// All rows of a relation, as columns.
pub fn all_rows(schema: &SchemaRef, view: &View) -> miette::Result<Batch> {
    let columns: Vec<usize> = (0..schema.arity()).collect();
    let mut rows = Batch::empty(columns.len());
    let mut cursor = view.of(schema.id).scan(schema.id, &KeyRange::all(), &columns)?;
    while let Some(batch) = cursor.next_batch(MAX_BATCH_ROWS)? {
        rows.append(&batch);
    }
    Ok(rows)
}

/// The contents of relations, as of one moment.
pub fn export<T: AsRef<str>>(
    pipeline: &Arc<Pipeline>,
    names: impl Iterator<Item = T>,
) -> miette::Result<BTreeMap<String, NamedRows>> {
    let mut txn = Transaction::begin(pipeline, false);
    let mut exported = BTreeMap::new();
    for name in names {
        let schema = find(&txn, name.as_ref(), AccessLevel::ReadOnly, "exported")?;
        let view = txn.view(&[schema.id])?;
        let headers = schema.columns().map(|column| column.name.to_string()).collect();
        exported.insert(name.as_ref().to_string(), NamedRows::from_batch(headers, &all_rows(&schema, &view)?));
    }
    Ok(exported)
}

/// Puts rows into relations, or removes them where the name begins with `-`; all of them or none.
pub fn import(pipeline: &Arc<Pipeline>, relations: BTreeMap<String, NamedRows>) -> miette::Result<()> {
    let mut txn = Transaction::begin(pipeline, true);
    for (name, rows) in relations {
        match name.strip_prefix('-') {
            Some(name) => import_one(&mut txn, name, MutationOp::Rm, rows)?,
            None => import_one(&mut txn, &name, MutationOp::Put, rows)?,
        }
    }
    Ok(txn.commit()?)
}

fn import_one(txn: &mut Transaction, name: &str, op: MutationOp, rows: NamedRows) -> miette::Result<()> {
    let schema = target(txn, name)?;
    let width = if op == MutationOp::Rm { schema.keys.len() } else { schema.arity() };
    let positions = positions(&schema, width, &rows.headers)?;
    let batch = columns_of(name, rows.rows, &positions)?;
    write(txn, &schema, op, &batch)
}

/// A relation that rows may be imported into.
pub fn target(txn: &Transaction, name: &str) -> Result<SchemaRef, SessionError> {
    match name.contains(':') {
        true => Err(SessionError::ImportIntoIndex(name.to_string())),
        false => find(txn, name, AccessLevel::Protected, "imported into"),
    }
}

/// Puts rows into a relation; every column of it must be among the headers, and others are left aside.
pub fn put_columns(txn: &mut Transaction, schema: &SchemaRef, headers: &[String], rows: Batch) -> miette::Result<()> {
    let positions = positions(schema, schema.arity(), headers)?;
    let columns = positions.iter().map(|position| rows.columns[*position].clone()).collect();
    write(txn, schema, MutationOp::Put, &Batch { columns, len: rows.len })
}

/// Where the first columns of a relation stand among the headers.
fn positions(schema: &SchemaRef, width: usize, headers: &[String]) -> Result<Vec<usize>, SessionError> {
    let position = |column: &ColumnDefinition| {
        let (relation, name) = (schema.name.to_string(), column.name.to_string());
        let missing = || SessionError::ImportColumn { relation, column: name };
        headers.iter().position(|header| header.as_str() == column.name).ok_or_else(missing)
    };
    schema.columns().take(width).map(position).collect()
}

fn write(txn: &mut Transaction, schema: &SchemaRef, op: MutationOp, batch: &Batch) -> miette::Result<()> {
    let sources = (0..batch.columns.len()).map(ValueSource::Output).collect();
    let plan = MutationPlan { op, schema: schema.clone(), sources, span: SourceSpan::default() };
    mutate(&plan, schema, batch, &[], txn, false)?;
    Ok(())
}

/// The values at some positions of each row, as columns.
fn columns_of(name: &str, rows: Vec<Tuple>, positions: &[usize]) -> Result<Batch, SessionError> {
    let needed = positions.iter().max().map_or(0, |last| last + 1);
    let mut batch = Batch { columns: vec![Column::default(); positions.len()], len: rows.len() };
    for (number, row) in rows.into_iter().enumerate() {
        if row.len() < needed {
            return Err(SessionError::ImportRow { relation: name.to_string(), row: number, found: row.len() });
        }
        for (column, position) in batch.columns.iter_mut().zip(positions) {
            column.push(&row[*position]);
        }
    }
    Ok(batch)
}

/// A relation, if its access level allows the action.
fn find(txn: &Transaction, name: &str, needed: AccessLevel, action: &'static str) -> Result<SchemaRef, SessionError> {
    let schema = txn.catalog().find(name);
    let schema = schema.ok_or_else(|| RelationError::not_found(name, None))?;
    schema.require(needed, action, None)?;
    Ok(schema.clone())
}
