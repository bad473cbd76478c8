//! Writing a new database file as fast as possible, for backups and for large imports.

use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::catalog::{self, Tables};
use super::connection::open;
use super::error::{failed, failed_file};
use super::open::create;
use super::write;
use crate::schema::{RelationId, SchemaRef, with_indices};
use crate::storage::changes::ChangeSet;
use crate::storage::error::StorageError;
use crate::storage::folders::sync_name;
use crate::value::Batch;

/// Writes a new file. It is a database once it is [finished](FileWriter::finish), and is removed otherwise.
pub struct FileWriter {
    path: PathBuf,
    /// None once the file is finished.
    connection: Option<Connection>,
    tables: Tables,
}

impl FileWriter {
    /// Begins a file, which must not exist yet.
    pub fn create(path: &Path) -> Result<Self, StorageError> {
        let path = std::path::absolute(path).map_err(failed_file("find the file"))?;
        File::create_new(&path).map_err(failed_file("make the file"))?;
        let connection = open(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let mut writer = FileWriter { path, connection: Some(connection), tables: Tables::default() };
        // An unfinished file is of no use, so no change needs to be undone.
        writer.run("pragma journal_mode = off; pragma synchronous = off; pragma locking_mode = exclusive;")?;
        create(writer.connection())?;
        writer.tables = catalog::load(writer.connection())?;
        writer.run("begin")?;
        Ok(writer)
    }

    /// Adds a relation and its indices, empty.
    pub fn relation(&mut self, schema: &SchemaRef) -> Result<(), StorageError> {
        let created = with_indices(schema).cloned().collect();
        let definitions = vec![(schema.name.clone(), Some(schema.clone()))];
        let changes = ChangeSet { created, definitions, ..ChangeSet::default() };
        let FileWriter { connection, tables, .. } = self;
        write::apply(connection.as_ref().expect(UNFINISHED), tables, &changes)
    }

    /// Adds rows to a relation or an index that was added before. It is fastest if all rows, over all calls, come in key order.
    pub fn append(&mut self, relation: RelationId, rows: &Batch) -> Result<(), StorageError> {
        let FileWriter { connection, tables, .. } = self;
        let entry = tables.get_mut(&relation).ok_or(StorageError::NoSuchRelation(relation.0))?;
        entry.rows += write::put_rows(connection.as_ref().expect(UNFINISHED), &entry.table, rows)?;
        Ok(())
    }

    /// Makes the file a database, and syncs it to the disk.
    pub fn finish(mut self) -> Result<(), StorageError> {
        catalog::save_row_counts(self.connection(), &self.tables)?;
        self.run("commit")?;
        let connection = self.connection.take().expect(UNFINISHED);
        let finished = connection.close().map_err(|(_, error)| failed("finish the file")(error)).and_then(|()| {
            let file = File::open(&self.path).map_err(failed_file("finish the file"))?;
            file.sync_all().and_then(|()| sync_name(&self.path)).map_err(failed_file("finish the file"))
        });
        finished.inspect_err(|_| self.remove())
    }

    fn connection(&self) -> &Connection {
        self.connection.as_ref().expect(UNFINISHED)
    }

    fn run(&self, sql: &str) -> Result<(), StorageError> {
        self.connection().execute_batch(sql).map_err(failed("write the file"))
    }

    /// Removes an unusable file.
    fn remove(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

const UNFINISHED: &str = "nothing is called after `finish`, which takes the writer";

impl Drop for FileWriter {
    fn drop(&mut self) {
        if self.connection.take().is_some() {
            self.remove();
        }
    }
}
