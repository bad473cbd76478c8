//! Exports and imports of whole relations.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::SessionError;
use super::results::{NamedColumns, NamedRows, RelationReader};
use crate::budget::Stop;
use crate::diag::SourceSpan;
use crate::exec::{self, Rows};
use crate::parse::ast::MutationOp;
use crate::plan::{MutationPlan, ValueSource};
use crate::program::extractors;
use crate::schema::{AccessLevel, ColumnDefinition, RelationError, SchemaRef};
use crate::txn::{Pipeline, Transaction};
use crate::value::{Batch, Column, DataValue, Tuple, check_depth};

/// The contents of relations at one moment.
pub fn export<T: AsRef<str>>(
    pipeline: &Arc<Pipeline>,
    names: impl Iterator<Item = T>,
) -> miette::Result<BTreeMap<String, NamedRows>> {
    let mut txn = Transaction::begin(pipeline, false);
    let mut exported = BTreeMap::new();
    for name in names {
        let schema = find_stored(&txn, name.as_ref(), "exported")?;
        exported.insert(name.as_ref().to_string(), RelationReader::new(schema, &mut txn)?.named_rows()?);
    }
    Ok(exported)
}

/// A reader of a relation as it is now.
pub fn read(pipeline: &Arc<Pipeline>, name: &str) -> miette::Result<RelationReader> {
    let mut txn = Transaction::begin(pipeline, false);
    let schema = find_stored(&txn, name, "exported")?;
    Ok(RelationReader::new(schema, &mut txn)?)
}

/// Readers of relations, all at one moment: of those named, else of all that may be read.
pub fn read_all(pipeline: &Arc<Pipeline>, names: Option<&[String]>) -> miette::Result<Vec<RelationReader>> {
    let mut txn = Transaction::begin(pipeline, false);
    let may_be_read = |schema: &&SchemaRef| schema.access_level >= AccessLevel::ReadOnly;
    let schemas = match names {
        None => txn.catalog().iter().filter(may_be_read).cloned().collect(),
        Some(names) => {
            names.iter().map(|name| find_stored(&txn, name, "exported")).collect::<miette::Result<Vec<_>>>()?
        }
    };
    schemas.into_iter().map(|schema| Ok(RelationReader::new(schema, &mut txn)?)).collect()
}

/// A relation whose rows are to be `action`. The listing of an index of vectors or texts has no rows of its own.
pub fn find_stored(txn: &Transaction, name: &str, action: &'static str) -> miette::Result<SchemaRef> {
    let schema = find(txn, name, AccessLevel::ReadOnly, action)?;
    let listed = name.rsplit_once(':').and_then(|(relation, index)| {
        let relation = txn.catalog().find(relation)?;
        relation.search(index).map(|index| index.is_listed_as_stored())
    });
    if listed == Some(false) {
        let columns: Vec<&str> = schema.columns().map(|column| column.name.as_str()).collect();
        return Err(SessionError::NotStored { name: name.to_string(), columns: columns.join(", ") }.into());
    }
    Ok(schema)
}

/// Puts rows into relations, or removes them if the name begins with `-`. The caller commits.
pub fn import(pipeline: &Arc<Pipeline>, relations: BTreeMap<String, NamedRows>) -> miette::Result<Transaction> {
    let mut txn = Transaction::begin(pipeline, true);
    for (name, rows) in relations {
        let import = Import::new(&txn, &name, &rows.headers)?;
        let batch = columns_of(&import.schema.name, rows.rows, rows.headers.len(), &import.positions)?;
        write(&mut txn, &import.schema, import.op, batch)?;
    }
    Ok(txn)
}

/// [`import`] from columns.
pub fn import_columns(
    pipeline: &Arc<Pipeline>,
    relations: impl IntoIterator<Item = (String, NamedColumns)>,
) -> miette::Result<Transaction> {
    let mut txn = Transaction::begin(pipeline, true);
    for (name, data) in relations {
        let import = Import::new(&txn, &name, &data.headers)?;
        let Batch { mut columns, len } = data.rows;
        if columns.len() != data.headers.len() || columns.iter().any(|column| column.len() != len) {
            return Err(SessionError::ImportShape { relation: import.schema.name.to_string() }.into());
        }
        for column in &columns {
            if let Column::Any(values) = column {
                values.iter().try_for_each(|value| check_depth(value, 0))?;
            }
        }
        // All columns of a relation have different names, so no column is taken twice.
        let columns = import.positions.iter().map(|position| std::mem::take(&mut columns[*position])).collect();
        write(&mut txn, &import.schema, import.op, Batch { columns, len })?;
    }
    Ok(txn)
}

/// The operation for the rows imported under a name.
struct Import {
    schema: SchemaRef,
    op: MutationOp,
    /// The positions of the needed columns among the headers.
    positions: Vec<usize>,
}

impl Import {
    fn new(txn: &Transaction, name: &str, headers: &[String]) -> Result<Import, SessionError> {
        let (op, name) = name.strip_prefix('-').map_or((MutationOp::Put, name), |name| (MutationOp::Rm, name));
        let schema = target(txn, name)?;
        let width = if op == MutationOp::Rm { schema.keys.len() } else { schema.arity() };
        let positions = positions(&schema, width, headers)?;
        Ok(Import { schema, op, positions })
    }
}

/// A relation that rows may be imported into.
pub fn target(txn: &Transaction, name: &str) -> Result<SchemaRef, SessionError> {
    match name.contains(':') {
        true => Err(SessionError::ImportIntoIndex(name.to_string())),
        false => find(txn, name, AccessLevel::Protected, "imported into"),
    }
}

/// Puts rows into a relation. All its columns must be among the headers. Other headers are ignored.
pub fn put_columns(txn: &mut Transaction, schema: &SchemaRef, headers: &[String], rows: Batch) -> miette::Result<()> {
    let positions = positions(schema, schema.arity(), headers)?;
    let columns = positions.iter().map(|position| rows.columns[*position].clone()).collect();
    write(txn, schema, MutationOp::Put, Batch { columns, len: rows.len })
}

/// The positions of the first columns of a relation among the headers.
fn positions(schema: &SchemaRef, width: usize, headers: &[String]) -> Result<Vec<usize>, SessionError> {
    if let Some((_, repeated)) = headers.iter().enumerate().find(|(i, header)| headers[..*i].contains(header)) {
        let (relation, column) = (schema.name.to_string(), repeated.clone());
        return Err(SessionError::ImportRepeatedColumn { relation, column });
    }
    let position = |column: &ColumnDefinition| {
        let (relation, name) = (schema.name.to_string(), column.name.to_string());
        let missing = || SessionError::ImportColumn { relation, column: name };
        headers.iter().position(|header| header.as_str() == column.name).ok_or_else(missing)
    };
    schema.columns().take(width).map(position).collect()
}

fn write(txn: &mut Transaction, schema: &SchemaRef, op: MutationOp, batch: Batch) -> miette::Result<()> {
    let sources = (0..batch.columns.len()).map(ValueSource::Output).collect();
    let (extractors, span) = (extractors(schema)?, SourceSpan::default());
    let plan = MutationPlan { op, schema: schema.clone(), sources, extractors, is_idle: false, span };
    exec::write(&plan, schema, Rows::Many(batch), &[], txn, false, None)?;
    Ok(())
}

/// The values at some positions of each row, as columns. A row has a value for each header.
fn columns_of(name: &str, rows: Vec<Tuple>, headers: usize, positions: &[usize]) -> Result<Batch, SessionError> {
    let (mut columns, len) = (vec![Column::default(); positions.len()], rows.len());
    for (number, mut row) in rows.into_iter().enumerate() {
        if row.len() != headers {
            return Err(misfit(name, number, row.len(), headers));
        }
        for (column, position) in columns.iter_mut().zip(positions) {
            match &mut row[*position] {
                value if value.has_column_type() => column.push(value),
                // The value may be large, so it is moved. All columns have different names, so no value is taken twice.
                value => push_large(column, std::mem::take(value))?,
            }
            if number == 0 {
                // A column that moves as it grows costs more than the rest.
                column.try_reserve(len - 1);
            }
        }
    }
    Ok(Batch { columns, len })
}

/// Appends a value that may be large: a list, a set, JSON.
#[inline(never)]
fn push_large(column: &mut Column, value: DataValue) -> Result<(), Stop> {
    check_depth(&value, 0)?;
    column.push_owned(value);
    Ok(())
}

/// The error of a row with more or fewer values than headers. Values without a header would be lost silently.
#[cold]
fn misfit(relation: &str, row: usize, found: usize, headers: usize) -> SessionError {
    let relation = relation.to_string();
    match found < headers {
        true => SessionError::ImportRow { relation, row, found },
        false => SessionError::ImportRowTooLong { relation, row, found, headers },
    }
}

/// A relation, if its access level allows the action.
fn find(txn: &Transaction, name: &str, needed: AccessLevel, action: &'static str) -> Result<SchemaRef, SessionError> {
    let schema = txn.catalog().find(name);
    let schema = schema.ok_or_else(|| RelationError::not_found(name, None, &txn.relation_names()))?;
    schema.require(needed, action, None)?;
    Ok(schema.clone())
}
