//! Change sets as statements. The caller begins and ends the transaction.

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::{CachedStatement, Connection};

use super::catalog::{self, Entry, Tables};
use super::column_encoding::Form;
use super::error::failed;
use super::names::{column_names, quoted};
use super::table::Table;
use crate::schema::{RelationId, RelationSchema, SchemaRef, with_indices};
use crate::storage::changes::{ChangeKind, ChangeSet, RowChanges};
use crate::storage::error::StorageError;
use crate::storage::key::Key;
use crate::value::{Batch, Column, SmallStr};

/// Applies a change set to the database and to `tables`.
pub fn apply(connection: &Connection, tables: &mut Tables, changes: &ChangeSet) -> Result<(), StorageError> {
    // Tables are dropped first, so that their names are free for new ones.
    for relation in &changes.dropped {
        drop_table(connection, tables, *relation)?;
    }
    let is_dropped = |relation: RelationId| changes.dropped.contains(&relation);
    for schema in changes.created.iter().filter(|schema| !is_dropped(schema.id)) {
        create_table(connection, tables, schema)?;
    }
    for rows in changes.rows.iter().filter(|rows| !is_dropped(rows.relation)) {
        apply_rows(connection, tables, rows)?;
    }
    define(connection, tables, &changes.definitions)?;
    changes.log_mark.map_or(Ok(()), |mark| catalog::save_log_mark(connection, mark))
}

/// Creates the table of a relation or an index. It counts as an index until there is a definition.
pub fn create_table(connection: &Connection, tables: &mut Tables, schema: &SchemaRef) -> Result<(), StorageError> {
    let name = tables.name_for(&schema.name);
    let table = Table::new(schema, name)?;
    connection.execute_batch(&table.creation()).map_err(failed("create a table"))?;
    let entry = Entry { table: Arc::new(table), rows: 0, definition: None };
    catalog::save(connection, &entry)?;
    tables.insert(schema.id, entry);
    Ok(())
}

/// Drops the tables without a definition. Filling a database leaves them if it is interrupted.
pub fn drop_strays(connection: &Connection, tables: &mut Tables) -> Result<(), StorageError> {
    let definitions = tables.values().filter_map(|entry| entry.definition.as_ref());
    let known: BTreeSet<RelationId> = definitions.flat_map(with_indices).map(|schema| schema.id).collect();
    let strays: Vec<RelationId> = tables.keys().copied().filter(|relation| !known.contains(relation)).collect();
    strays.into_iter().try_for_each(|relation| drop_table(connection, tables, relation))
}

fn drop_table(connection: &Connection, tables: &mut Tables, relation: RelationId) -> Result<(), StorageError> {
    let Some(entry) = tables.remove(&relation) else { return Ok(()) };
    connection.execute_batch(&entry.table.dropping()).map_err(failed("drop a table"))?;
    tables.free_name(&entry.table.name);
    catalog::remove(connection, relation)
}

fn apply_rows(connection: &Connection, tables: &mut Tables, changes: &RowChanges) -> Result<(), StorageError> {
    let entry = tables.get_mut(&changes.relation).ok_or(StorageError::NoSuchRelation(changes.relation.0))?;
    for rows in changes.rows.batches() {
        match changes.kind {
            ChangeKind::Put => entry.rows += put_rows(connection, &entry.table, &*rows?)?,
            ChangeKind::Remove => {
                let removed = remove_rows(connection, &entry.table, &*rows?)?;
                entry.rows = entry.rows.saturating_sub(removed);
            }
        }
    }
    Ok(())
}

/// Puts rows. Returns the number of new rows.
pub fn put_rows(connection: &Connection, table: &Table, rows: &Batch) -> Result<u64, StorageError> {
    check_keys(table, rows)?;
    let at_once = table.rows_a_statement(rows);
    let whole = rows.len - rows.len % at_once;
    let added = put_in_steps(connection, table, rows, 0..whole, at_once)?;
    Ok(added + put_in_steps(connection, table, rows, whole..rows.len, 1)?)
}

/// Fails for a null in a native key. An insertion that ignores existing rows would silently ignore such a row too.
fn check_keys(table: &Table, rows: &Batch) -> Result<(), StorageError> {
    let is_bad = |(form, column): (&Form, &Column)| *form != Form::Tagged && column.has_nulls();
    if table.key_forms().iter().zip(&rows.columns).any(is_bad) {
        let message = format!("a key of '{}' has a null", table.schema.name);
        return Err(StorageError::Engine { engine: super::NAME, action: "write rows", message });
    }
    Ok(())
}

/// Puts some rows, `step` at a time. A step of new rows costs one insertion. If some rows of a step exist already, the step is
/// repeated, and replaces them.
fn put_in_steps(
    connection: &Connection,
    table: &Table,
    rows: &Batch,
    range: std::ops::Range<usize>,
    step: usize,
) -> Result<u64, StorageError> {
    if range.is_empty() {
        return Ok(0);
    }
    let mut insert = prepare(connection, &table.insertion(step, "ignore"))?;
    let mut replace: Option<CachedStatement> = None;
    let mut added = 0;
    for first in range.step_by(step) {
        let new = run(&mut insert, table, rows, first, step)?;
        added += new as u64;
        if new < step && table.shape.arity > table.shape.keys {
            if replace.is_none() {
                replace = Some(prepare(connection, &table.insertion(step, "replace"))?);
            }
            run(replace.as_mut().expect("just prepared"), table, rows, first, step)?;
        }
    }
    Ok(added)
}

/// Runs a statement for some rows. Returns the number of rows that it changed.
fn run(
    statement: &mut CachedStatement,
    table: &Table,
    rows: &Batch,
    first: usize,
    count: usize,
) -> Result<usize, StorageError> {
    let mut parameter = 0;
    for row in first..first + count {
        for (form, column) in table.forms.iter().zip(&rows.columns) {
            parameter += 1;
            form.bind(statement, parameter, column, row)?;
        }
    }
    statement.raw_execute().map_err(failed("write rows"))
}

/// Removes rows. Returns the number of rows that existed.
fn remove_rows(connection: &Connection, table: &Table, keys: &Batch) -> Result<u64, StorageError> {
    let mut statement = prepare(connection, &table.removal())?;
    let mut removed = 0;
    for row in 0..keys.len {
        if bind_key(&mut statement, table, keys, row)? {
            removed += statement.raw_execute().map_err(failed("remove rows"))? as u64;
        }
    }
    Ok(removed)
}

/// Binds a key. Returns `false` if no row can have it.
fn bind_key(statement: &mut CachedStatement, table: &Table, keys: &Batch, row: usize) -> Result<bool, StorageError> {
    for (i, (form, column)) in table.key_forms().iter().zip(&keys.columns).enumerate() {
        let Some(value) = form.encode_key(Key::at(column, row))? else { return Ok(false) };
        statement.raw_bind_parameter(i + 1, value).map_err(failed("remove rows"))?;
    }
    Ok(true)
}

fn prepare<'c>(connection: &'c Connection, sql: &str) -> Result<CachedStatement<'c>, StorageError> {
    connection.prepare_cached(sql).map_err(failed("write rows"))
}

/// Applies new definitions of relations, and renames their tables.
fn define(
    connection: &Connection,
    tables: &mut Tables,
    definitions: &[(SmallStr, Option<SchemaRef>)],
) -> Result<(), StorageError> {
    let mut renamed = vec![];
    for schema in definitions.iter().filter_map(|(_, schema)| schema.as_ref()) {
        for (at, schema) in with_indices(schema).enumerate() {
            // An index is defined by its relation.
            let definition = (at == 0).then(|| schema.clone());
            let entry = tables.get_mut(&schema.id).ok_or(StorageError::NoSuchRelation(schema.id.0))?;
            if entry.table.schema.name != schema.name {
                renamed.push(schema.id);
            }
            let table = Table::new(schema, entry.table.name.clone())?;
            rename_columns(connection, &entry.table, &table)?;
            entry.table = Arc::new(table);
            entry.definition = definition;
            catalog::save(connection, entry)?;
        }
    }
    rename(connection, tables, &renamed)
}

/// Gives the columns of a table the names that they have in the new definition. They may have exchanged names, so those that change get
/// temporary names first.
fn rename_columns(connection: &Connection, old: &Table, new: &Table) -> Result<(), StorageError> {
    let [before, after] =
        [old, new].map(|table| column_names(table.schema.columns().map(|column| column.name.as_str())));
    let changed: Vec<usize> = (0..before.len()).filter(|at| before[*at] != after[*at]).collect();
    let rename = |from: &str, to: &str| {
        let renaming = format!("alter table {} rename column {} to {}", quoted(&old.name), quoted(from), quoted(to));
        connection.execute_batch(&renaming).map_err(failed("rename a column"))
    };
    let temporary = |at: usize| format!("{at}~renamed");
    changed.iter().try_for_each(|at| rename(&before[*at], &temporary(*at)))?;
    changed.iter().try_for_each(|at| rename(&temporary(*at), &after[*at]))
}

/// Gives tables the names of their relations. Relations may have exchanged names, so all tables get temporary names first.
fn rename(connection: &Connection, tables: &mut Tables, renamed: &[RelationId]) -> Result<(), StorageError> {
    for relation in renamed {
        rename_table(connection, tables, *relation, |schema| format!("{}~renamed", schema.id.0))?;
    }
    renamed
        .iter()
        .try_for_each(|relation| rename_table(connection, tables, *relation, |schema| schema.name.to_string()))
}

fn rename_table(
    connection: &Connection,
    tables: &mut Tables,
    relation: RelationId,
    wanted: impl Fn(&RelationSchema) -> String,
) -> Result<(), StorageError> {
    let missing = || StorageError::NoSuchRelation(relation.0);
    let old = tables.get(&relation).ok_or_else(missing)?.table.clone();
    let name = tables.name_for(&wanted(&old.schema));
    let renaming = format!("alter table {} rename to {}", quoted(&old.name), quoted(&name));
    connection.execute_batch(&renaming).map_err(failed("rename a table"))?;
    tables.free_name(&old.name);
    let entry = tables.get_mut(&relation).ok_or_else(missing)?;
    entry.table = Arc::new(Table::new(&old.schema, name)?);
    catalog::save(connection, entry)
}
