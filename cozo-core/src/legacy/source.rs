//! The SQLite file: opened so that it is never changed, and read by ranges of keys.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Params, Row, params};
use tempfile::TempDir;

use super::malformed::{Malformed, hex};
use crate::storage::StorageError;
use crate::storage::sqlite::prepare_for_forks;

/// The name of this reader in errors.
const ENGINE: &str = "the reader of CozoDB 0.7 files";

/// The id of the relation, before the key columns and, again, before the value columns.
pub(super) const ID_BYTES: usize = 8;

/// An open file, as it was when it was opened: a read transaction holds until it is dropped.
pub(super) struct FileSource {
    connection: Connection,
    /// The path, quoted, for errors.
    place: String,
    /// What was opened in place of the file; deleted afterwards.
    _copy: Option<TempDir>,
}

/// The keys of one relation.
#[derive(Clone, Copy)]
pub(super) struct IdRange {
    pub id: u64,
}

impl IdRange {
    fn start(self) -> [u8; 8] {
        self.id.to_be_bytes()
    }

    /// The first key after the range, if any key can be.
    fn end(self) -> Option<[u8; 8]> {
        self.id.checked_add(1).map(u64::to_be_bytes)
    }
}

impl FileSource {
    /// Opens an SQLite file. One that was left in the middle of a write, or keeps a log beside it, is copied first, since
    /// SQLite would have to write to it.
    pub fn open(path: &Path, keeps_log: bool) -> Result<Self, StorageError> {
        let place = format!("'{}'", path.display());
        if !keeps_log {
            check_length(path)?;
            match connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY) {
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => {}
                connected => {
                    let connection = connected.map_err(|error| failure(&place, "open a file", &error))?;
                    return Ok(FileSource { connection, place, _copy: None });
                }
            }
        }
        let (folder, copy) =
            copied(path).map_err(|error| io_failure("copy a file with an unfinished write", &error))?;
        let connection = connect(&copy, OpenFlags::SQLITE_OPEN_READ_WRITE);
        let connection = connection.map_err(|error| failure(&place, "open a copy of a file", &error))?;
        Ok(FileSource { connection, place, _copy: Some(folder) })
    }

    /// Whether there is a table `cozo` with the columns of CozoDB.
    pub fn has_table(&self) -> Result<bool, StorageError> {
        // Neither a view nor a virtual table, which would run the code of somebody else.
        let sql = "SELECT t.name, t.type, t.pk FROM sqlite_schema s, pragma_table_info(s.name) t \
                   WHERE s.name = 'cozo' COLLATE NOCASE AND s.type = 'table' AND s.rootpage > 0";
        let columns = |connection: &Connection| -> rusqlite::Result<Vec<(String, String, bool)>> {
            let mut statement = connection.prepare(sql)?;
            let column = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)? == 1));
            statement.query_map([], column)?.collect()
        };
        let columns = self.run("read the tables", columns)?;
        let expected = [("k", "BLOB", true), ("v", "BLOB", false)];
        let is_expected = |((name, kind, is_key), expected): (&(String, String, bool), (&str, &str, bool))| {
            name.eq_ignore_ascii_case(expected.0) && kind.eq_ignore_ascii_case(expected.1) && *is_key == expected.2
        };
        Ok(columns.len() == expected.len() && columns.iter().zip(expected).all(is_expected))
    }

    /// Whether the table has no rows.
    pub fn is_empty(&self) -> Result<bool, StorageError> {
        self.run("read a file", |connection| {
            connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM cozo)", [], |row| row.get(0))
        })
    }

    /// The value of a key.
    pub fn value_of(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StorageError> {
        self.run("read a row", |connection| {
            connection.query_row("SELECT v FROM cozo WHERE k = ?", [key], |row| row.get(0)).optional()
        })
    }

    /// The number of rows of a range.
    pub fn count(&self, range: IdRange) -> Result<u64, StorageError> {
        match range.end() {
            Some(end) => self.count_by("SELECT count(*) FROM cozo WHERE k >= ? AND k < ?", params![range.start(), end]),
            None => self.count_by("SELECT count(*) FROM cozo WHERE k >= ?", params![range.start()]),
        }
    }

    /// The number of rows whose key is no bytes, or too few to have an id.
    pub fn count_without_id(&self) -> Result<u64, StorageError> {
        self.count_by("SELECT count(*) FROM cozo WHERE typeof(k) <> 'blob' OR length(k) < 8", [])
    }

    fn count_by(&self, sql: &str, parameters: impl Params) -> Result<u64, StorageError> {
        let count = |row: &Row<'_>| row.get(0).map(i64::cast_unsigned);
        self.run("count the rows", |connection| connection.prepare_cached(sql)?.query_row(parameters, count))
    }

    /// The id of the first row at or after an id.
    pub fn id_from(&self, id: u64) -> Result<Option<u64>, StorageError> {
        self.run("read the keys", |connection| {
            let sql = "SELECT substr(k, 1, 8) FROM cozo WHERE k >= ? AND length(k) >= 8 ORDER BY k LIMIT 1";
            let mut statement = connection.prepare_cached(sql)?;
            statement.query_row([id.to_be_bytes()], |row| row.get(0)).optional()
        })
        .map(|bytes| bytes.map(u64::from_be_bytes))
    }

    /// Fails if the rows that are found by their keys are not all rows.
    pub fn require_whole(&self) -> Result<(), StorageError> {
        let by_key = self.count_by("SELECT count(*) FROM cozo WHERE k >= x''", [])?;
        let others = self.count_by("SELECT count(*) FROM cozo NOT INDEXED WHERE typeof(k) <> 'blob'", [])?;
        let all = self.count_by("SELECT count(*) FROM cozo NOT INDEXED", [])?;
        if by_key + others == all {
            return Ok(());
        }
        let place = &self.place;
        Err(StorageError::Damaged(format!("{place} has {all} rows, but finds {by_key} of them by their keys")))
    }

    /// At most `limit` rows of a relation's range, from the first one after `after`, in the order of keys. The keys come
    /// without the id; gives the number of rows.
    pub fn page(
        &self,
        (relation, range): (&str, IdRange),
        after: Option<&[u8]>,
        limit: usize,
        mut visit: impl FnMut(&[u8], Result<&[u8], Malformed>) -> Result<(), StorageError>,
    ) -> Result<usize, StorageError> {
        let from = after.map_or_else(|| range.start().to_vec(), |key| [&range.start()[..], key, &[0]].concat());
        let Some(end) = range.end() else { return Ok(0) };
        let mut found = 0;
        let mut outcome = Ok(());
        let mut read = || {
            let sql = "SELECT k, v FROM cozo WHERE k >= ? AND k < ? ORDER BY k LIMIT ?";
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query(params![from, end, limit as i64])?;
            while outcome.is_ok()
                && let Some(row) = rows.next()?
            {
                let value = row.get_ref(1)?.as_blob();
                let value = value.map_err(|_| Malformed::new("the value is no sequence of bytes"));
                outcome = visit(&row.get_ref(0)?.as_blob()?[ID_BYTES..], value);
                found += 1;
            }
            Ok(())
        };
        read().map_err(|error: rusqlite::Error| {
            let place = format!("{}, relation '{relation}', at or after key {}", self.place, hex(&from[ID_BYTES..]));
            failure(&place, "read the rows", &error)
        })?;
        outcome.map(|()| found)
    }

    fn run<T>(
        &self,
        action: &'static str,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StorageError> {
        read(&self.connection).map_err(|error| failure(&self.place, action, &error))
    }
}

/// Where the first page says how large pages are, 1 meaning 65,536 bytes.
const PAGE_BYTES_AT: usize = 16;
/// Where it counts the changes of the file, and where it says at which of them it last counted the pages.
const CHANGES_AT: usize = 24;
const COUNTED_AT: usize = 92;
/// Where it counts the pages.
const PAGES_AT: usize = 28;
/// How long all of that is.
const HEAD_BYTES: usize = 100;

/// Fails for a file that is shorter than its first page says. SQLite reads what is missing of a page as zeros, and finds fewer rows.
fn check_length(path: &Path) -> Result<(), StorageError> {
    let read = || -> std::io::Result<Option<(u64, u64)>> {
        let mut file = File::open(path)?;
        let mut head = [0; HEAD_BYTES];
        if file.read_exact(&mut head).is_err() {
            return Ok(None);
        }
        let number = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        // Programs of before 2010 did not count pages.
        if number(CHANGES_AT) != number(COUNTED_AT) {
            return Ok(None);
        }
        let page_bytes = match u16::from_be_bytes([head[PAGE_BYTES_AT], head[PAGE_BYTES_AT + 1]]) {
            1 => 1 << 16,
            bytes => u64::from(bytes),
        };
        Ok(Some((file.metadata()?.len(), u64::from(number(PAGES_AT)) * page_bytes)))
    };
    match read().map_err(|error| io_failure("read the length of a file", &error))? {
        Some((found, expected)) if found < expected => Err(StorageError::Damaged(format!(
            "'{}' has {found} bytes, and was {expected} bytes long when it was whole: the rest was cut off",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Opens a file and begins to read it.
fn connect(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    prepare_for_forks();
    // Without `SQLITE_OPEN_URI`, so that a path is never more than a path.
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.execute_batch("PRAGMA trusted_schema = OFF; BEGIN; SELECT count(*) FROM sqlite_schema")?;
    Ok(connection)
}

/// A copy of a file and of what SQLite keeps beside it, in a folder that is deleted when it is dropped.
fn copied(path: &Path) -> std::io::Result<(TempDir, PathBuf)> {
    let folder = TempDir::new()?;
    let copy = folder.path().join("copy.db");
    for suffix in ["", "-journal", "-wal"] {
        let beside = |path: &Path| {
            let mut name = path.as_os_str().to_os_string();
            name.push(suffix);
            PathBuf::from(name)
        };
        if beside(path).try_exists()? {
            // Not `fs::copy`, which would also copy that nobody may write.
            std::io::copy(&mut std::fs::File::open(beside(path))?, &mut std::fs::File::create(beside(&copy))?)?;
        }
    }
    Ok((folder, copy))
}

/// The error for something that SQLite could not do.
fn failure(place: &str, action: &'static str, error: &rusqlite::Error) -> StorageError {
    let message = format!("{place}: {error}");
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StorageError::Locked(place.trim_matches('\'').to_string())
        }
        // Also a value of another type than those that are written.
        None | Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StorageError::Damaged(message),
        Some(_) => StorageError::Engine { engine: ENGINE, action, message },
    }
}

/// The error for something that the system could not do.
pub(super) fn io_failure(action: &'static str, error: &std::io::Error) -> StorageError {
    StorageError::Engine { engine: ENGINE, action, message: error.to_string() }
}
