//! The check of a database's stored data.

use super::db::DbInstance;
use crate::exec::MAX_BATCH_ROWS;
use crate::index::search::{Indexed, verify};
use crate::index::secondary;
use crate::program::extractor;
use crate::schema::{RelationSchema, SchemaRef, SearchIndex, coerce, surely_fits};
use crate::storage::{KeyRange, Snapshot, StorageError};
use crate::value::{Batch, Column, compare_columns};

/// The most problems that are described for one relation or index.
const MAX_DESCRIBED: usize = 10;

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Relations and indices, each with its number of rows.
    pub relations: Vec<(String, u64)>,
    /// The problems, in words; empty if there are none.
    pub problems: Vec<String>,
}

impl DbInstance {
    /// Reads all stored data, and reports problems: those that the engine finds, keys out of order, values that do not fit their
    /// columns, indices that do not agree with their relations. Open the database with `"cache_mb": 0`, so that the check reads
    /// from the engine and not from the cache.
    pub fn check(&self) -> miette::Result<CheckReport> {
        let pipeline = self.pipeline()?;
        let version = pipeline.current();
        let mut report = CheckReport { relations: vec![], problems: pipeline.verify()? };
        for schema in version.catalog.iter() {
            for search in schema.searches.iter().filter(|search| search.is_ready) {
                search.stored.iter().for_each(|stored| check_rows(stored, &*version.snapshot, &mut report));
                report.problems.extend(problems_of_search(schema, search, &*version.snapshot));
            }
            check_rows(schema, &*version.snapshot, &mut report);
            for index in &schema.indices {
                check_rows(&index.schema, &*version.snapshot, &mut report);
                let agrees = secondary::agrees(schema, index, &*version.snapshot);
                match agrees {
                    Ok(true) => {}
                    Ok(false) => {
                        let name = &index.schema.name;
                        let problem = "does not agree with its relation";
                        report.problems.push(format!("the index '{name}' {problem}: '::reindex {name}' makes it anew"));
                    }
                    Err(error) => {
                        report.problems.push(format!("the index '{}' cannot be read: {error}", index.schema.name))
                    }
                }
            }
        }
        Ok(report)
    }
}

/// The problems of a search index.
fn problems_of_search(schema: &SchemaRef, search: &SearchIndex, snapshot: &dyn Snapshot) -> Vec<String> {
    let failed = |error: String| vec![format!("the index '{}' cannot be read: {error}", search.listing.name)];
    match extractor(schema, search) {
        Err(error) => failed(error.to_string()),
        Ok(extractor) => {
            let of = Indexed { relation: schema, index: search, extractor: &extractor, snapshot, cache: None };
            verify(of).unwrap_or_else(|error| failed(error.to_string()))
        }
    }
}

/// Reads all rows of a relation or an index.
fn check_rows(schema: &SchemaRef, snapshot: &dyn Snapshot, report: &mut CheckReport) {
    let mut problems = vec![];
    let read = read_rows(schema, snapshot, &mut problems);
    let (rows, described) = (*read.as_ref().unwrap_or(&0), problems.len().min(MAX_DESCRIBED));
    let more = problems.len() - described;
    report.relations.push((schema.name.to_string(), rows));
    report.problems.extend(problems.into_iter().take(described));
    if more > 0 {
        report.problems.push(format!("'{}' has {more} more problems of this kind", schema.name));
    }
    if let Err(error) = read {
        report.problems.push(format!("'{}' cannot be read to its end: {error}", schema.name));
    }
}

/// Reads all rows. Returns their number, and adds their problems.
fn read_rows(schema: &SchemaRef, snapshot: &dyn Snapshot, problems: &mut Vec<String>) -> Result<u64, StorageError> {
    let columns: Vec<usize> = (0..schema.arity()).collect();
    let mut cursor = snapshot.scan(schema.id, &KeyRange::all(), &columns, None)?;
    let mut last: Option<Batch> = None;
    let mut rows = 0;
    while let Some(batch) = cursor.next_batch(MAX_BATCH_ROWS)? {
        rows += batch.len as u64;
        for row in 0..batch.len {
            let ascends = match (row, &last) {
                (0, None) => true,
                (0, Some(last)) => compare_columns(keys(schema, last), 0, keys(schema, &batch), 0).is_lt(),
                _ => compare_columns(keys(schema, &batch), row - 1, keys(schema, &batch), row).is_lt(),
            };
            if !ascends {
                problems.push(format!("'{}' has keys out of order at {}", schema.name, printed(schema, &batch, row)));
            }
        }
        problems.extend(misfits(schema, &batch));
        last = Some(batch.slice(batch.len - 1..batch.len));
    }
    Ok(rows)
}

/// The values that do not fit their columns.
fn misfits(schema: &RelationSchema, batch: &Batch) -> Vec<String> {
    let mut problems = vec![];
    let doubtful = schema.columns().zip(&batch.columns).filter(|(of, column)| !surely_fits(column, &of.column_type));
    for (definition, column) in doubtful {
        let fits =
            |row: &usize| coerce(column.get(*row), &definition.column_type, 0).is_ok_and(|fit| fit == column.get(*row));
        for row in (0..batch.len).filter(|row| !fits(row)) {
            let (value, key) = (column.get(row), printed(schema, batch, row));
            let (relation, name, wanted) = (&schema.name, &definition.name, &definition.column_type);
            problems.push(format!("'{relation}' has {value} in the column '{name}' of type {wanted} at {key}"));
        }
    }
    problems
}

/// The key columns.
fn keys<'b>(schema: &RelationSchema, batch: &'b Batch) -> &'b [Column] {
    &batch.columns[..schema.keys.len()]
}

/// A key as text.
fn printed(schema: &RelationSchema, batch: &Batch, row: usize) -> String {
    let key: Vec<String> = keys(schema, batch).iter().map(|column| column.get(row).to_string()).collect();
    format!("[{}]", key.join(", "))
}

#[cfg(test)]
mod tests;
