//! Connections: the writing one, and a pool of reading ones.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::error::failed;
use super::fork;
use super::names::CATALOG;
use crate::fork::LockedFile;
use crate::storage::error::StorageError;
use crate::storage::options::Durability;
use crate::sync::Mutex;

/// The most idle connections in the pool.
const MAX_IDLE: usize = 4;

/// The number of prepared statements that a connection caches.
const STATEMENTS: usize = 100;

/// The longest wait for other programs that write to the file, or check it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The largest size of the log file, in bytes, once its contents are in the database.
const IDLE_LOG_BYTES: usize = 16 << 20;

/// Opens the writing connection, for a database or an empty or missing file.
pub fn open_writer(path: &Path, durability: Durability) -> Result<Connection, StorageError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = open(path, flags)?;
    // With NORMAL the log is synced before it is written back, so a loss of power loses the last commits only.
    let synchronous = match durability {
        Durability::Os => "normal",
        Durability::Disk => "full",
    };
    let mut mode = journal_mode(&connection)?;
    let mut connection = connection;
    if mode != "wal" {
        connection.execute_batch("pragma journal_mode = wal").map_err(failed("open the database"))?;
        // After an error this connection's state may differ from the file.
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

/// The journal mode of a database.
fn journal_mode(connection: &Connection) -> Result<String, StorageError> {
    connection.query_row("pragma journal_mode", [], |row| row.get(0)).map_err(failed("open the database"))
}

/// Opens a reading connection. Its cache is small, since there are several, and the system caches the file for all of them.
pub fn open_reader(path: &Path) -> Result<Connection, StorageError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.execute_batch("pragma cache_size = -1000").map_err(failed("open the database"))?;
    clear_log_on_close(&connection)?;
    Ok(connection)
}

/// Makes the connection write the log back and remove it, if it is the last one to close. New connections do not do so. Then a
/// database or a log that turns out to be damaged stays as it is.
pub fn clear_log_on_close(connection: &Connection) -> Result<(), StorageError> {
    keep_log_on_close(connection, false).map_err(failed("open the database"))
}

fn keep_log_on_close(connection: &Connection, keep: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep).map(|_| ())
}

/// Opens a connection to the file with exactly this name: `:memory:` and `file:` have no special meaning.
pub fn open(path: &Path, flags: OpenFlags) -> Result<Connection, StorageError> {
    fork::prepare();
    let open = || {
        let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(PATIENCE)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        // Otherwise SQLite plans a statement again each time that its parameters change.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        keep_log_on_close(&connection, true)?;
        Ok(connection)
    };
    open().map_err(failed("open the database"))
}

/// Reading connections, each used for one snapshot at a time.
pub struct Pool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    /// The lock of a database that is open for writing. It is held while there may be readers, since another process must not
    /// change what their snapshots show.
    _lock: Option<LockedFile>,
}

impl Pool {
    /// A pool of connections to a database.
    pub fn new(path: PathBuf, lock: Option<LockedFile>) -> Self {
        Pool { path, idle: Mutex::default(), _lock: lock }
    }

    /// Closes the idle connections.
    pub fn close_idle(&self) {
        self.idle.lock().clear();
    }

    /// Takes a connection. It sees the database as it is now, until it is returned.
    pub fn take(&self) -> Result<Connection, StorageError> {
        let idle = self.idle.lock().pop();
        let connection = idle.map_or_else(|| open_reader(&self.path), Ok)?;
        begin_reading(&connection)?;
        Ok(connection)
    }

    /// Returns a connection to the pool.
    pub fn give_back(&self, connection: Connection) {
        let mut idle = self.idle.lock();
        if idle.len() < MAX_IDLE && end_reading(&connection).is_ok() {
            idle.push(connection);
        }
    }
}

/// Begins a read transaction, which sees the database as it is now.
pub fn begin_reading(connection: &Connection) -> Result<(), StorageError> {
    let begin = || {
        connection.prepare_cached("begin")?.raw_execute()?;
        // The transaction begins with the first read.
        let look = format!("select 1 from {CATALOG} limit 1");
        connection.prepare_cached(&look)?.raw_query().next().map(drop)
    };
    begin().map_err(failed("begin to read"))
}

/// Ends the read transaction.
pub fn end_reading(connection: &Connection) -> Result<(), StorageError> {
    let end = || connection.prepare_cached("commit")?.raw_execute();
    end().map(drop).map_err(failed("end reading"))
}
