//! The files of backups. They are read as databases. A new one is written beside its path, and moved there when it is complete.

use std::path::Path;
use std::sync::Arc;

use tempfile::TempPath;

use super::error::BackupError;
use crate::expr::functions;
use crate::legacy::{self, FileKind, LegacyFile, LegacyRelation, Report, RowsRead};
use crate::replica::is_mark;
use crate::schema::{IndexDefinition, RelationSchema, SchemaRef, SearchOptions, with_indices};
use crate::storage::{BatchCursor, ROWS_AT_ONCE, Snapshot, Storage, StorageError, copy, open_file_to_read, sync_name};
use crate::value::Batch;
use crate::value::SmallStr;
use crate::value::sort::sorted;

/// The treatment of rows of a damaged file of CozoDB 0.7 that fit no relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// The restore fails.
    EveryRow,
    /// The rows are skipped, and described.
    WhatFits,
}

/// A backup opened for reading.
pub struct BackupFile {
    relations: Vec<SchemaRef>,
    contents: Contents,
    strictness: Strictness,
}

enum Contents {
    /// A database of the sqlite engine.
    Ours { snapshot: Arc<dyn Snapshot>, _storage: Box<dyn Storage> },
    /// A file of CozoDB 0.7.
    Legacy { file: Box<LegacyFile>, report: Report },
}

impl BackupFile {
    /// Opens a file, without changing it.
    pub fn open(path: &Path, strictness: Strictness) -> miette::Result<Self> {
        if !path.exists() {
            return Err(BackupError::NoSuchFile { path: path.display().to_string() }.into());
        }
        let (relations, contents) = match open_file_to_read(path) {
            Ok(storage) => {
                (own_relations(&*storage)?, Contents::Ours { snapshot: storage.snapshot(), _storage: storage })
            }
            Err(error @ StorageError::NotADatabase { .. }) => match legacy::recognise(path)? {
                FileKind::NotSqlite(_) | FileKind::OtherSqlite => return Err(error.into()),
                _ => open_legacy(path)?,
            },
            Err(error) => return Err(error.into()),
        };
        Ok(BackupFile { relations, contents, strictness })
    }

    /// The relations, with their indices.
    pub fn relations(&self) -> &[SchemaRef] {
        &self.relations
    }

    /// The approximate number of rows of relations and indices.
    pub fn total_rows(&self) -> u64 {
        match &self.contents {
            Contents::Ours { snapshot, .. } => {
                self.relations.iter().flat_map(with_indices).map(|table| snapshot.row_count(table.id)).sum()
            }
            Contents::Legacy { report, .. } => {
                let rows = |schema: &SchemaRef| {
                    let of = report.relations.iter().find(|of| of.name == schema.name);
                    of.map_or(0, |of| of.rows_in_file) * (1 + schema.indices.len() as u64)
                };
                self.relations.iter().map(rows).sum()
            }
        }
    }

    /// Passes all rows of a relation, or of a relation that keeps one of its indices, to `take`, sorted within each batch. Returns
    /// remarks on skipped rows, in words.
    pub fn copy(
        &self,
        relation: &SchemaRef,
        table: &SchemaRef,
        mut take: impl FnMut(Batch) -> Result<(), BackupError>,
    ) -> Result<Vec<String>, BackupError> {
        match &self.contents {
            Contents::Ours { snapshot, .. } => copy(&**snapshot, table, take).map(|()| vec![]),
            Contents::Legacy { file, report } => {
                let source = legacy_relation(file, relation);
                let index = relation.indices.iter().find(|index| index.schema.name == table.name);
                let Some(index) = index else {
                    let read = read_legacy(file, source, |batch| take(sorted(batch, relation.keys.len())))?;
                    return self.remarks(&read, report, relation);
                };
                let mut entries = Batch::empty(index.columns.len());
                read_legacy(file, source, |batch| {
                    let columns = index.columns.iter().map(|column| batch.columns[*column].clone()).collect();
                    entries.append(&Batch::new(columns, batch.len));
                    Ok(())
                })?;
                take(sorted(entries, index.columns.len()))?;
                Ok(vec![])
            }
        }
    }

    /// The search indices of a relation of CozoDB 0.7, which have no rows in the file that could be carried over.
    pub fn searches_to_build(&self, relation: &SchemaRef) -> Vec<(SmallStr, SearchOptions)> {
        match &self.contents {
            Contents::Ours { .. } => vec![],
            Contents::Legacy { file, .. } => legacy_relation(file, relation).searches(),
        }
    }

    /// Remarks on the skipped rows of a relation of CozoDB 0.7.
    fn remarks(&self, read: &RowsRead, report: &Report, relation: &SchemaRef) -> Result<Vec<String>, BackupError> {
        let of = report.relations.iter().find(|of| of.name == relation.name);
        let complete = of.map_or(Ok(()), |of| read.require_all(of));
        match (complete, self.strictness) {
            (Ok(()), _) => Ok(vec![]),
            (Err(error), Strictness::EveryRow) => Err(error.into()),
            (Err(error), Strictness::WhatFits) => {
                let rows =
                    read.examples.iter().map(|row| format!("'{}', key {}: {}", relation.name, row.key, row.reason));
                Ok(std::iter::once(error.to_string()).chain(rows).collect())
            }
        }
    }

    /// Everything but rows that cannot be carried over, in words.
    pub fn not_carried_over(&self) -> Vec<String> {
        let Contents::Legacy { report, .. } = &self.contents else { return vec![] };
        let notes = report.not_carried_over.iter().chain(&report.warnings).map(|note| match note.relation.as_str() {
            "" => note.message.clone(),
            relation => format!("'{relation}': {}", note.message),
        });
        let remnants = report.remnants.iter().map(|remnant| {
            let of = remnant.id.map_or(String::new(), |id| format!(" (number {id})"));
            format!("{} rows of a relation that is gone{of} were left out", remnant.rows)
        });
        notes.chain(remnants).collect()
    }
}

fn legacy_relation<'f>(file: &'f LegacyFile, relation: &SchemaRef) -> &'f LegacyRelation {
    let source = file.relations().iter().find(|source| source.schema.name == relation.name);
    source.expect("the relations are those of the file")
}

/// The relations that scripts see.
fn own_relations(storage: &dyn Storage) -> Result<Vec<SchemaRef>, StorageError> {
    Ok(storage.opened()?.definitions.into_iter().filter(|schema| !is_mark(schema)).collect())
}

fn open_legacy(path: &Path) -> Result<(Vec<SchemaRef>, Contents), StorageError> {
    let file = Box::new(LegacyFile::open(path)?);
    let report = file.report(&|name| functions::find(name).is_some())?;
    let relations = file.relations().iter().map(|relation| SchemaRef::new(definition(relation))).collect();
    Ok((relations, Contents::Legacy { file, report }))
}

/// The definition of a relation of CozoDB 0.7 with its ordinary indices.
fn definition(relation: &LegacyRelation) -> RelationSchema {
    relation.indices.iter().fold(relation.schema.clone(), |schema, index| {
        let made = IndexDefinition::new(&schema, &index.name, &index.columns, schema.id);
        schema.with_index(made)
    })
}

fn read_legacy(
    file: &LegacyFile,
    relation: &LegacyRelation,
    mut take: impl FnMut(Batch) -> Result<(), BackupError>,
) -> Result<RowsRead, BackupError> {
    let mut rows = file.rows(relation);
    while let Some(batch) = rows.next_batch(ROWS_AT_ONCE)? {
        take(batch)?;
    }
    Ok(rows.read().clone())
}

/// Fails unless a backup may be written to a path: no file, an empty file, or a database without relations.
pub fn require_free(path: &Path) -> Result<(), BackupError> {
    let exists = |found: &str| BackupError::TargetExists { path: path.display().to_string(), found: found.to_string() };
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed("look at", path)(error)),
        Ok(metadata) if metadata.is_dir() => Err(exists("a folder")),
        Ok(metadata) if metadata.len() == 0 => Ok(()),
        Ok(_) => match open_file_to_read(path).and_then(|storage| storage.opened()) {
            Ok(opened) if opened.definitions.is_empty() => Ok(()),
            Ok(_) => Err(exists("a database with relations")),
            Err(_) => Err(exists("a file that is no database of this program")),
        },
    }
}

/// A temporary path beside a path, on the same file system. Dropping it removes the file, unless it was moved.
pub fn beside(path: &Path) -> Result<TempPath, BackupError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unfinished = path.with_file_name(format!(".{name}.{}.unfinished", std::process::id()));
    TempPath::try_from_path(unfinished).map_err(failed("make a file beside", path))
}

/// Moves a temporary file to its path.
pub fn move_to(unfinished: TempPath, path: &Path) -> Result<(), BackupError> {
    unfinished.persist(path).map_err(|refused| failed("finish", path)(refused.error))?;
    sync_name(path).map_err(failed("finish", path))
}

fn failed<'a>(action: &'static str, path: &'a Path) -> impl Fn(std::io::Error) -> BackupError + 'a {
    move |error| BackupError::File { action, path: path.display().to_string(), message: error.to_string() }
}
