//! The engine: one writing connection, the newest snapshot, and a pool of reading connections.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use super::catalog;
use super::connection::{Pool, clear_log_on_close};
use super::error::{failed, failed_file};
use super::log::LogKeeper;
use super::open::{FORMAT_VERSION, OpenedFile, check_database, open_database};
use super::snapshot::SqliteSnapshot;
use super::write;
use crate::storage::changes::ChangeSet;
use crate::storage::error::StorageError;
use crate::storage::log_mark::LogMark;
use crate::storage::options::{Durability, NoOptions, Options};
use crate::storage::traits::{EngineTraits, Opened, Snapshot, Storage};
use crate::sync::Mutex;

/// A commit of this many rows takes about a tenth of a millisecond.
const MAX_ROWS_IN_PLACE: usize = 16;

/// An SQLite file.
pub struct SqliteStorage {
    current: Mutex<Arc<SqliteSnapshot>>,
    max_rows_in_place: usize,
    /// None if the database was opened for reading only.
    writer: Option<Mutex<Writer>>,
    /// The mark found at the opening.
    log_mark: Option<LogMark>,
    /// The pool has the lock of the database, so it is dropped last.
    pool: Arc<Pool>,
}

/// The state for writing, used by one commit at a time.
struct Writer {
    /// The helper's connection is closed before the writing one, since the last connection writes the log back.
    log: LogKeeper,
    connection: Connection,
    /// Whether the next commit saves the numbers of rows.
    is_time_for_counts: bool,
}

impl SqliteStorage {
    /// Opens a database. Creates it if there is none. A database opened for reading only shows its state at the opening.
    pub fn open(path: &Path, options: &Options) -> Result<Self, StorageError> {
        options.of_engine::<NoOptions>()?;
        let path = std::path::absolute(path).map_err(failed_file("find the database"))?;
        if options.read_only {
            return Self::open_to_read(&path);
        }
        let OpenedFile { writer, mut tables, lock } = open_database(&path, options.durability)?;
        in_transaction(&writer, |connection| write::drop_strays(connection, &mut tables))?;
        let log_mark = catalog::log_mark(&writer)?;
        clear_log_on_close(&writer)?;
        let writer = Writer { connection: writer, log: LogKeeper::default(), is_time_for_counts: false };
        let pool = Arc::new(Pool::new(path, Some(lock)));
        let current = Arc::new(SqliteSnapshot::new(pool.clone(), tables));
        let max_rows_in_place = if options.durability == Durability::Os { MAX_ROWS_IN_PLACE } else { 0 };
        Ok(SqliteStorage {
            current: Mutex::new(current),
            max_rows_in_place,
            writer: Some(Mutex::new(writer)),
            log_mark,
            pool,
        })
    }

    fn open_to_read(path: &Path) -> Result<Self, StorageError> {
        check_database(path)?;
        let pool = Arc::new(Pool::new(path.to_path_buf(), None));
        let connection = pool.take()?;
        let (tables, log_mark) = (catalog::load(&connection)?, catalog::log_mark(&connection)?);
        let current = Arc::new(SqliteSnapshot::pinned(pool.clone(), tables, connection));
        Ok(SqliteStorage { current: Mutex::new(current), max_rows_in_place: 0, writer: None, log_mark, pool })
    }

    /// Calls `work` with the writing connection and the keeper of its log.
    #[cfg(test)]
    pub fn with_writer<T>(&self, work: impl FnOnce(&Connection, &mut LogKeeper) -> T) -> T {
        let mut writer = self.writer.as_ref().expect("open for writing").lock();
        let Writer { connection, log, .. } = &mut *writer;
        work(connection, log)
    }

    fn writer(&self) -> Result<&Mutex<Writer>, StorageError> {
        self.writer.as_ref().ok_or(StorageError::ReadOnly)
    }
}

impl Storage for SqliteStorage {
    fn opened(&self) -> Result<Opened, StorageError> {
        let definitions = self.current.lock().tables.values().filter_map(|entry| entry.definition.clone()).collect();
        Ok(Opened { definitions, log_mark: self.log_mark, warnings: vec![] })
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        self.current.lock().clone()
    }

    fn before_commit(&self) {
        if let Some(writer) = &self.writer {
            let mut writer = writer.lock();
            let newest = self.current.lock().clone();
            let Writer { connection, log, is_time_for_counts } = &mut *writer;
            *is_time_for_counts |= log.before_commit(connection, &newest);
        }
    }

    fn traits(&self) -> EngineTraits {
        EngineTraits { max_rows_in_place: self.max_rows_in_place, ..EngineTraits::default() }
    }

    fn commit(&self, changes: &mut [ChangeSet]) -> Result<Arc<dyn Snapshot>, StorageError> {
        let mut writer = self.writer()?.lock();
        let mut newest = self.current.lock();
        let Writer { connection, is_time_for_counts, .. } = &mut *writer;
        if Arc::strong_count(&newest) > 1 {
            newest.pin()?;
        }
        let mut tables = newest.tables.clone();
        in_transaction(connection, |connection| {
            changes.iter().try_for_each(|changes| write::apply(connection, &mut tables, changes))?;
            if *is_time_for_counts { catalog::save_row_counts(connection, &tables) } else { Ok(()) }
        })?;
        *is_time_for_counts = false;
        *newest = Arc::new(SqliteSnapshot::new(self.pool.clone(), tables));
        Ok(newest.clone())
    }

    /// A failed commit may be in SQLite's own log. The next commit overwrites it there.
    fn settle(&self) -> Result<(), StorageError> {
        let mut writer = self.writer()?.lock();
        let Writer { connection, .. } = &mut *writer;
        let rewrite = format!("pragma user_version = {FORMAT_VERSION}");
        in_transaction(connection, |connection| connection.execute_batch(&rewrite).map_err(failed("settle a commit")))
    }

    fn verify(&self) -> Result<Vec<String>, StorageError> {
        let connection = self.pool.take()?;
        let problems = check_integrity(&connection).map_err(failed("check the database"));
        self.pool.give_back(connection);
        problems
    }

    /// Commits wait until it is done.
    fn compact(&self) -> Result<(), StorageError> {
        let mut writer = self.writer()?.lock();
        let Writer { connection, log, .. } = &mut *writer;
        connection.execute_batch("vacuum").map_err(failed("compact the database"))?;
        log.empty(connection, &self.current.lock());
        Ok(())
    }
}

/// The problems that SQLite finds in its file, in words.
fn check_integrity(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("pragma integrity_check")?;
    let lines: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

impl Drop for SqliteStorage {
    fn drop(&mut self) {
        let Some(writer) = &self.writer else { return };
        let connection = &writer.lock().connection;
        let tables = self.current.lock().tables.clone();
        // The counts are estimates: if they cannot be saved, the old ones remain.
        let _ = in_transaction(connection, |connection| catalog::save_row_counts(connection, &tables));
        // The last connection to close writes the log back, and only the writer can do that.
        *self.current.lock() = Arc::new(SqliteSnapshot::new(self.pool.clone(), tables));
        self.pool.close_idle();
    }
}

/// Runs `work` in a transaction, which is rolled back on an error.
fn in_transaction(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<(), StorageError>,
) -> Result<(), StorageError> {
    let run = |sql| connection.prepare_cached(sql)?.raw_execute();
    run("begin immediate").map_err(failed("begin a commit"))?;
    let done = work(connection).and_then(|()| run("commit").map(drop).map_err(failed("commit")));
    // After some errors SQLite has ended the transaction itself.
    if done.is_err() && !connection.is_autocommit() {
        run("rollback").map_err(failed("undo a commit that failed"))?;
    }
    done
}
