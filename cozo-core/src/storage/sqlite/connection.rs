//! Connections: the one that writes, and a pool of those that read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::error::failed;
use super::fork;
use super::names::CATALOG;
use crate::fork::LockedFile;
use crate::storage::{Durability, StorageError};
use crate::sync::Mutex;

/// How many idle connections are kept for later.
const MAX_IDLE: usize = 4;

/// How many prepared statements a connection keeps.
const STATEMENTS: usize = 100;

/// How long to wait for other programs that write to the file, or check it.
const PATIENCE: Duration = Duration::from_secs(5);

/// How large the log may stay, in bytes, once its contents are in the database.
const IDLE_LOG_BYTES: usize = 16 << 20;

/// The connection that writes. It finds the database, or an empty or missing file.
pub fn open_writer(path: &Path, durability: Durability) -> Result<Connection, StorageError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = open(path, flags)?;
    // With NORMAL the log is synced before it is written back, so that what power takes are the last commits alone.
    let synchronous = match durability {
        Durability::Os => "normal",
        Durability::Disk => "full",
    };
    let mut mode = journal_mode(&connection)?;
    let mut connection = connection;
    if mode != "wal" {
        connection.execute_batch("pragma journal_mode = wal").map_err(failed("open the database"))?;
        // After an error this connection may believe what is not in the file.
        connection.close().map_err(|(_, error)| failed("open the database")(error))?;
        connection = open(path, flags)?;
        mode = journal_mode(&connection)?;
    }
    if mode != "wal" {
        let message = format!("it cannot use a write-ahead log beside the file, only the mode '{mode}'");
        return Err(StorageError::Engine { engine: super::NAME, action: "open the database", message });
    }
    let pragmas = format!(
        "pragma synchronous = {synchronous}; pragma wal_autocheckpoint = 0;
         pragma journal_size_limit = {IDLE_LOG_BYTES}; pragma cache_size = -4000;"
    );
    connection.execute_batch(&pragmas).map_err(failed("open the database"))?;
    Ok(connection)
}

/// How SQLite undoes or redoes what is written to a database.
fn journal_mode(connection: &Connection) -> Result<String, StorageError> {
    connection.query_row("pragma journal_mode", [], |row| row.get(0)).map_err(failed("open the database"))
}

/// A connection that reads. There are several, and what they have in common the system keeps.
pub fn open_reader(path: &Path) -> Result<Connection, StorageError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.execute_batch("pragma cache_size = -1000").map_err(failed("open the database"))?;
    clear_log_on_close(&connection)?;
    Ok(connection)
}

/// Has the connection, if it is the last one to close, write the log back and remove it. A new connection leaves it: what turns out to
/// be damaged, of the database or of the log, stays as it is.
pub fn clear_log_on_close(connection: &Connection) -> Result<(), StorageError> {
    keep_log_on_close(connection, false).map_err(failed("open the database"))
}

fn keep_log_on_close(connection: &Connection, keep: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep).map(|_| ())
}

/// A connection to the file of this very name: neither `:memory:` nor `file:` mean anything.
pub fn open(path: &Path, flags: OpenFlags) -> Result<Connection, StorageError> {
    fork::prepare();
    let open = || {
        let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(PATIENCE)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        // Otherwise SQLite plans a statement anew each time that its parameters change.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        keep_log_on_close(&connection, true)?;
        Ok(connection)
    };
    open().map_err(failed("open the database"))
}

/// Connections that read, each used for one snapshot at a time.
pub struct Pool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    /// The lock of a database that is open for writing: held for as long as anybody may read, too, since what a snapshot
    /// shows must not be changed by the next who opens the database.
    _lock: Option<LockedFile>,
}

impl Pool {
    /// A pool of connections to a database.
    pub fn new(path: PathBuf, lock: Option<LockedFile>) -> Self {
        Pool { path, idle: Mutex::default(), _lock: lock }
    }

    /// Closes the connections that nobody uses.
    pub fn close_idle(&self) {
        self.idle.lock().clear();
    }

    /// A connection that sees the database as it is now until it is given back.
    pub fn take(&self) -> Result<Connection, StorageError> {
        let idle = self.idle.lock().pop();
        let connection = idle.map_or_else(|| open_reader(&self.path), Ok)?;
        begin_reading(&connection)?;
        Ok(connection)
    }

    /// Takes a connection back.
    pub fn give_back(&self, connection: Connection) {
        let mut idle = self.idle.lock();
        if idle.len() < MAX_IDLE && end_reading(&connection).is_ok() {
            idle.push(connection);
        }
    }
}

/// From here on the connection sees the database as it is now.
pub fn begin_reading(connection: &Connection) -> Result<(), StorageError> {
    let begin = || {
        connection.prepare_cached("begin")?.raw_execute()?;
        // The transaction begins with the first read.
        let look = format!("select 1 from {CATALOG} limit 1");
        connection.prepare_cached(&look)?.raw_query().next().map(drop)
    };
    begin().map_err(failed("begin to read"))
}

/// The connection sees nothing in particular any more.
pub fn end_reading(connection: &Connection) -> Result<(), StorageError> {
    let end = || connection.prepare_cached("commit")?.raw_execute();
    end().map(drop).map_err(failed("end reading"))
}
