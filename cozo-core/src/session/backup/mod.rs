//! Backups: files of the sqlite engine with all relations of a database at one moment.
//!
//! | function | what |
//! |---|---|
//! | [`write`](write()) | writes a backup while the database is in use |
//! | [`restore`] | fills an empty database from a backup |
//! | [`import`] | puts the rows of some relations of a backup into relations of a database |
//!
//! Backups and SQLite databases of CozoDB 0.7 can be read too. After an error the database and an existing file are unchanged.

mod error;
mod file;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crossbeam_channel::bounded;

pub use error::BackupError;
use file::BackupFile;

use super::transfer;
use crate::budget::{Interrupt, Stop};
use crate::schema::{IndexDefinition, RelationSchema, SchemaRef, with_indices};
use crate::storage::sqlite::FileWriter;
use crate::storage::{KeyRange, Snapshot, StorageError};
use crate::txn::{Filler, Pipeline, Transaction};
use crate::value::Batch;

/// The number of rows read and written at a time.
const ROWS_AT_ONCE: usize = 16 * 1024;

/// The number of batches that may wait between reading and writing.
const WAITING_BATCHES: usize = 4;

/// The progress of a backup or a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupProgress {
    /// The relation or index that is being copied.
    pub relation: String,
    /// The rows copied so far, of all relations and indices.
    pub rows: u64,
    /// The approximate number of all rows.
    pub total_rows: u64,
}

/// A function that is called at intervals during a backup or a restore.
pub type OnProgress<'a> = &'a mut dyn FnMut(&BackupProgress);

/// Reports progress, and checks the interrupt.
struct Meter<'a> {
    progress: BackupProgress,
    interrupt: &'a Interrupt,
    on_progress: OnProgress<'a>,
}

impl<'a> Meter<'a> {
    fn new(total_rows: u64, interrupt: &'a Interrupt, on_progress: OnProgress<'a>) -> Self {
        Meter { progress: BackupProgress { relation: String::new(), rows: 0, total_rows }, interrupt, on_progress }
    }

    fn begins(&mut self, schema: &RelationSchema) {
        self.progress.relation = schema.name.to_string();
        (self.on_progress)(&self.progress);
    }

    fn copied(&mut self, rows: usize) -> Result<(), Stop> {
        self.progress.rows += rows as u64;
        (self.on_progress)(&self.progress);
        self.interrupt.check()
    }
}

/// Writes a backup. The file must not exist, or be an empty database.
pub fn write(
    pipeline: &Pipeline,
    path: &Path,
    interrupt: &Interrupt,
    on_progress: OnProgress<'_>,
) -> miette::Result<()> {
    file::require_free(path)?;
    let version = pipeline.current();
    let all: Vec<SchemaRef> = version.catalog.iter().cloned().collect();
    let total = all.iter().flat_map(with_indices).map(|table| version.snapshot.row_count(table.id)).sum();
    let mut meter = Meter::new(total, interrupt, on_progress);
    let unfinished = file::beside(path)?;
    let mut writer = FileWriter::create(&unfinished)?;
    for schema in &all {
        writer.relation(schema)?;
        for table in with_indices(schema) {
            meter.begins(table);
            copy(&*version.snapshot, table, |batch| {
                writer.append(table.id, &batch)?;
                Ok::<(), BackupError>(meter.copied(batch.len)?)
            })?;
        }
    }
    writer.finish()?;
    Ok(file::move_to(unfinished, path)?)
}

/// Passes all rows of a relation or an index to `take`, in key order. Another thread reads meanwhile, if it can be started.
fn copy<E: From<StorageError> + Send>(
    snapshot: &dyn Snapshot,
    table: &SchemaRef,
    mut take: impl FnMut(Batch) -> Result<(), E>,
) -> Result<(), E> {
    let (sender, batches) = bounded(WAITING_BATCHES);
    // If the receiver has failed, it reports its own error.
    let read_on = move || read(snapshot, table, |batch| sender.send(batch).map_err(|_| None));
    std::thread::scope(|scope| {
        let Ok(reader) = std::thread::Builder::new().spawn_scoped(scope, read_on) else {
            // The system cannot start a thread.
            return read(snapshot, table, take);
        };
        // This loop consumes the channel, so the reader ends if `take` fails.
        batches.into_iter().try_for_each(&mut take)?;
        let outcome = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        outcome.or_else(|error: Option<StorageError>| error.map_or(Ok(()), |error| Err(error.into())))
    })
}

/// Passes all rows to `take` in key order, until it fails.
fn read<E: From<StorageError>>(
    snapshot: &dyn Snapshot,
    table: &SchemaRef,
    mut take: impl FnMut(Batch) -> Result<(), E>,
) -> Result<(), E> {
    let columns: Vec<usize> = (0..table.arity()).collect();
    let mut cursor = snapshot.scan(table.id, &KeyRange::all(), &columns)?;
    while let Some(batch) = cursor.next_batch(ROWS_AT_ONCE)? {
        take(batch)?;
    }
    Ok(())
}

/// The treatment of rows of a damaged file of CozoDB 0.7 that fit no relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// The restore fails.
    EveryRow,
    /// The rows are skipped, and described.
    WhatFits,
}

/// Fills an empty database from a backup. Returns what could not be carried over, in words.
pub fn restore(
    pipeline: &Pipeline,
    path: &Path,
    strictness: Strictness,
    interrupt: &Interrupt,
    on_progress: OnProgress<'_>,
) -> miette::Result<Vec<String>> {
    let file = BackupFile::open(path, strictness)?;
    let mut meter = Meter::new(file.total_rows(), interrupt, on_progress);
    let mut remarks = vec![];
    pipeline.fill(|filler| {
        for relation in file.relations() {
            remarks.extend(restore_one(&file, relation, filler, &mut meter)?);
        }
        Ok::<(), BackupError>(())
    })?;
    remarks.extend(file.not_carried_over());
    Ok(remarks)
}

fn restore_one(
    file: &BackupFile,
    relation: &SchemaRef,
    filler: &mut Filler<'_>,
    meter: &mut Meter<'_>,
) -> Result<Vec<String>, BackupError> {
    let created = filler.create(relation)?;
    let mut fill = |index: Option<&IndexDefinition>, into: &SchemaRef| {
        meter.begins(index.map_or(relation, |index| &index.schema));
        file.copy(relation, index, |batch| {
            meter.copied(batch.len)?;
            Ok(filler.put(into, batch)?)
        })
    };
    let remarks = fill(None, &created)?;
    for (index, into) in relation.indices.iter().zip(&created.indices) {
        fill(Some(index), &into.schema)?;
    }
    Ok(remarks)
}

/// Puts the rows of relations in a backup into the relations with the same names; all of them or none.
pub fn import(pipeline: &Arc<Pipeline>, path: &Path, relations: &[String]) -> miette::Result<()> {
    let file = BackupFile::open(path, Strictness::EveryRow)?;
    let mut txn = Transaction::begin(pipeline, true);
    for name in relations.iter().collect::<BTreeSet<_>>() {
        let target = transfer::target(&txn, name)?;
        if let Some(index) = target.indices.first() {
            return Err(BackupError::Indexed { relation: name.clone(), index: index.schema.name.to_string() }.into());
        }
        let Some(source) = file.relations().iter().find(|relation| relation.name == name.as_str()) else {
            let known: Vec<&str> = file.relations().iter().map(|relation| relation.name.as_str()).collect();
            return Err(BackupError::NotInBackup { relation: name.clone(), known: known.join(", ") }.into());
        };
        let mut all = Batch::empty(source.arity());
        file.copy(source, None, |batch| {
            all.append(&batch);
            Ok(())
        })?;
        let headers: Vec<String> = source.columns().map(|column| column.name.to_string()).collect();
        transfer::put_columns(&mut txn, &target, &headers, all)?;
    }
    Ok(txn.commit()?)
}
