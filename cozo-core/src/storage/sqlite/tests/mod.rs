//! The engine's suite, and its own tests.

#![allow(clippy::unwrap_used, clippy::mutable_key_type)]

mod files;
mod log;
mod names;
mod values;

use std::path::PathBuf;

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::schema::{ColumnDefinition, ColumnType, RelationId, RelationSchema, SchemaRef};
use crate::storage::tests::{self as suite, Subject};
use crate::storage::{ChangeKind, ChangeSet, KeyRange, Options, RowChanges, Snapshot, Storage, StorageError};
use crate::value::{Batch, Tuple};

#[test]
fn the_engine_behaves_like_the_model() {
    let subject = || {
        let file = TestFile::new();
        Subject { open: Box::new(move || Box::new(file.open().unwrap())), exact: false, durable: true }
    };
    suite::run_all(subject, 60);
}

/// The name of the file. It would mean another file if SQLite treated it as a URI.
const FILE: &str = "te%41st #.db";

/// The path of a database, in a folder that is removed in the end.
struct TestFile {
    folder: TempDir,
}

impl TestFile {
    fn new() -> Self {
        TestFile { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(FILE)
    }

    fn open(&self) -> Result<SqliteStorage, StorageError> {
        SqliteStorage::open(&self.path(), &Options::default())
    }

    fn open_to_read(&self) -> Result<SqliteStorage, StorageError> {
        SqliteStorage::open(&self.path(), &Options { read_only: true, ..Options::default() })
    }

    /// The file as any program sees it.
    fn plain(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    /// The names of the files in the folder.
    fn files(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// A relation; the first columns are keys.
fn relation(id: u64, name: &str, keys: usize, columns: &[(&str, ColumnType)]) -> SchemaRef {
    let types = columns.iter().map(|(_, column_type)| column_type.clone()).collect();
    let mut schema = RelationSchema::clone(&suite::schema(keys, types));
    let name_of = |column: ColumnDefinition, name: &str| ColumnDefinition { name: name.into(), ..column };
    let named: Vec<ColumnDefinition> =
        schema.columns().cloned().zip(columns).map(|(column, (name, _))| name_of(column, name)).collect();
    (schema.keys, schema.values) = (named[..keys].to_vec(), named[keys..].to_vec());
    (schema.id, schema.name) = (RelationId(id), name.into());
    SchemaRef::new(schema)
}

fn put(schema: &SchemaRef, rows: &[Tuple]) -> ChangeSet {
    let batch = Batch::from_rows(schema.arity(), rows.iter().map(Vec::as_slice));
    let rows = RowChanges::new(schema.id, ChangeKind::Put, batch);
    ChangeSet::of_rows(vec![rows])
}

/// A relation that is created with these rows.
fn created(schema: &SchemaRef, rows: &[Tuple]) -> ChangeSet {
    ChangeSet { rows: put(schema, rows).rows, ..suite::creation(schema) }
}

fn rows_of(snapshot: &dyn Snapshot, schema: &SchemaRef, range: &KeyRange) -> Vec<Tuple> {
    let columns: Vec<usize> = (0..schema.arity()).collect();
    let mut cursor = snapshot.scan(schema.id, range, &columns, None).unwrap();
    let mut rows = vec![];
    while let Some(batch) = cursor.next_batch(1000).unwrap() {
        rows.extend(batch.rows());
    }
    rows
}

fn all_rows(storage: &SqliteStorage, schema: &SchemaRef) -> Vec<Tuple> {
    rows_of(&*storage.snapshot(), schema, &KeyRange::all())
}
