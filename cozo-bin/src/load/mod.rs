//! Data files into stored relations.
//!
//! A relation that exists is filled as it is: the file needs its columns, in any order. One that does not is created,
//! by the given columns, or by what the file holds: a first pass finds the narrowest type for each column and the
//! shortest run of leading columns that tells all rows apart, which become the keys.

mod infer;
mod reader;
mod target;

use std::collections::BTreeMap;
use std::path::Path;

use cozo::{DataValue, DbInstance, NamedRows};
use indicatif::ProgressBar;

use crate::error::CliError;
use reader::{DataFile, Record};
use target::{Column, columns_of, create, exists};
pub use target::{Target, split};

/// Rows handed to the database at a time: enough to make a commit cheap, few enough to hold.
const BATCH_ROWS: usize = 10_000;

/// Loads a file into a relation; the number of its records.
pub fn load(db: &DbInstance, target: Target<'_>, path: &Path, bar: &ProgressBar) -> miette::Result<usize> {
    let file = DataFile::open(path, bar)?;
    if !exists(db, target.name)? {
        let columns = match target.columns {
            Some(columns) => columns.to_string(),
            None => infer::columns(&file, bar)?,
        };
        create(db, target.name, &columns)?;
    }
    let columns = columns_of(db, target.name)?;
    let sources = sources(&file, target.name, &columns)?;
    bar.set_message("loading");
    bar.set_position(0);
    fill(db, target.name, &columns, &sources, &file, bar)
}

/// Where each column of the relation stands in the file.
fn sources(file: &DataFile, relation: &str, columns: &[Column]) -> Result<Vec<usize>, CliError> {
    let position = |column: &Column| {
        let missing = || CliError::MissingColumn {
            path: file.name(),
            relation: relation.to_string(),
            column: column.name.clone(),
            found: file.headers.join(", "),
        };
        file.headers.iter().position(|header| *header == column.name).ok_or_else(missing)
    };
    columns.iter().map(position).collect()
}

/// Reads the file and imports it batch by batch.
fn fill(
    db: &DbInstance,
    relation: &str,
    columns: &[Column],
    sources: &[usize],
    file: &DataFile,
    bar: &ProgressBar,
) -> miette::Result<usize> {
    let headers: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let mut records = file.records(bar)?;
    let mut loaded = 0;
    loop {
        let mut rows = Vec::with_capacity(BATCH_ROWS);
        for record in records.by_ref().take(BATCH_ROWS) {
            let number = (loaded + rows.len() + 1) as u64;
            rows.push(row(&record?, columns, sources).map_err(|reason| file.bad_record(number, reason))?);
        }
        if rows.is_empty() {
            return Ok(loaded);
        }
        loaded += rows.len();
        db.import_relations(BTreeMap::from([(relation.to_string(), NamedRows::new(headers.clone(), rows))]))?;
    }
}

/// The values of a record in the order of the relation's columns.
fn row(record: &Record, columns: &[Column], sources: &[usize]) -> Result<Vec<DataValue>, String> {
    let value = |(column, source): (&Column, &usize)| {
        let cell = record.cell(*source);
        column.kind.convert(cell, column.nullable).map_err(|reason| format!("column '{}': {reason}", column.name))
    };
    columns.iter().zip(sources).map(value).collect()
}
