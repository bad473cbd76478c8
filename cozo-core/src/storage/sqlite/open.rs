//! Opening a database file: the lock, the recognition of the file, and its catalog.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::catalog::{self, Tables};
use super::connection::{open, open_writer};
use super::error::{failed, failed_file};
use super::names::CATALOG;
use crate::fork::LockedFile;
use crate::storage::error::StorageError;
use crate::storage::folders::sync_name;
use crate::storage::options::Durability;

/// The mark of our databases in the file. The command `file` and other programs show it.
const APPLICATION_ID: i64 = 0x0c07_0db1;

/// The version of the format that is written, in the file's `user_version`.
pub const FORMAT_VERSION: u64 = 1;

/// The contents of a file.
#[derive(Debug, PartialEq)]
enum Content {
    /// No contents: a database can be created there.
    Nothing,
    /// A database.
    Database,
}

/// A database opened for writing.
pub struct OpenedFile {
    /// The writing connection.
    pub writer: Connection,
    /// The relations.
    pub tables: Tables,
    /// The lock, held while any part of the database is in use.
    pub lock: LockedFile,
}

/// Opens a database for writing. Creates it if there is none.
pub fn open_database(path: &Path, durability: Durability) -> Result<OpenedFile, StorageError> {
    let lock_path = beside(path, "-lock");
    let is_new_lock = !lock_path.exists();
    let lock = lock_file(path, &lock_path)?;
    let content = match inspect(path).and_then(|content| refuse_lone_log(path, content)) {
        Ok(content) => content,
        Err(error) => {
            if is_new_lock {
                // No lock file stays beside a file of another program. An error here is harmless.
                let _ = std::fs::remove_file(&lock_path);
            }
            return Err(error);
        }
    };
    refuse_second_name(path)?;
    let writer = open_writer(path, durability)?;
    match content {
        Content::Nothing => {
            create(&writer)?;
            if durability == Durability::Disk {
                sync_name(path).map_err(failed_file("make the database"))?;
            }
        }
        Content::Database => catalog::create_log_mark(&writer)?,
    }
    let tables = catalog::load(&writer)?;
    Ok(OpenedFile { writer, tables, lock })
}

/// Checks that the file is a database, without changing it.
pub fn check_database(path: &Path) -> Result<(), StorageError> {
    match inspect(path)? {
        Content::Database => Ok(()),
        Content::Nothing => Err(not_a_database(path, "there is nothing", "open it for writing to make a database")),
    }
}

/// Creates the catalog of a new database.
pub fn create(connection: &Connection) -> Result<(), StorageError> {
    let run = |sql: &str| connection.execute_batch(sql).map_err(failed("make the database"));
    run("begin immediate")?;
    run(&format!("pragma application_id = {APPLICATION_ID}; pragma user_version = {FORMAT_VERSION}"))?;
    catalog::create(connection)?;
    run("commit")
}

/// SQLite's own log of a database.
pub fn own_log(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

/// A file beside the database, with a suffix to its name.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Locks a file beside the database. The locks of the database file itself belong to SQLite.
fn lock_file(path: &Path, lock_path: &Path) -> Result<LockedFile, StorageError> {
    let options = File::options().write(true).create(true).truncate(false).open(lock_path);
    let file = options.map_err(failed_file("make the lock file beside the database"))?;
    match LockedFile::lock(file) {
        Ok(lock) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(StorageError::Locked(path.display().to_string())),
        Err(TryLockError::Error(error)) => Err(failed_file("lock the database")(error)),
    }
}

/// The longest file that an interrupted creation leaves: the first page.
const BEGUN_BYTES: u64 = 4096;

/// The contents of a file. An error if it belongs to another program.
fn inspect(path: &Path) -> Result<Content, StorageError> {
    let is_begun = match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Content::Nothing),
        Err(error) => return Err(failed_file("open the database")(error)),
        Ok(metadata) if metadata.is_dir() => return Err(foreign_folder(path)),
        Ok(metadata) if metadata.len() == 0 => return Ok(Content::Nothing),
        Ok(metadata) => {
            refuse_short(path, metadata.len())?;
            metadata.len() <= BEGUN_BYTES && beside(path, "-journal").exists()
        }
    };
    let connection = match is_begun {
        // SQLite rolls the interrupted creation back if it may write.
        true => open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?,
        false => open_to_inspect(path)?,
    };
    let tables = tables(&connection).map_err(|error| unreadable(path, error))?;
    if tables.iter().any(|table| table == CATALOG) {
        return check_version(path, &connection);
    }
    if tables.is_empty() {
        return Ok(Content::Nothing);
    }
    Err(if is_cozo_0_7(&connection, &tables) { foreign_cozo(path) } else { foreign_sqlite(path) })
}

/// Refuses a truncated file, which is shorter than its header says. SQLite would read the missing pages as zeros, and overwrite them.
/// A page that is missing in the file may be in the log instead.
fn refuse_short(path: &Path, len: u64) -> Result<(), StorageError> {
    let mut header = [0; HEADER_BYTES];
    let is_read = File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok();
    if !is_read || !header.starts_with(b"SQLite format 3\0") {
        return Ok(());
    }
    let number = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().expect("four bytes"));
    let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 1 << 16,
        bytes => u64::from(bytes),
    };
    let should_be = u64::from(number(PAGES)) * page_bytes;
    // Old versions of SQLite do not maintain the number of pages. The two counters of changes then differ.
    if page_bytes == 0 || number(CHANGES) != number(CHANGES_WITH_PAGES) || len >= should_be {
        return Ok(());
    }
    let in_log = pages_in_log(&own_log(path), page_bytes as usize).map_err(failed_file("read the database's log"))?;
    let first_missing = (len / page_bytes) as u32 + 1;
    if (first_missing..=number(PAGES)).all(|page| in_log.contains(&page)) {
        return Ok(());
    }
    let message = format!("the file is cut off: it has {len} bytes of {should_be}; nothing was changed");
    Err(StorageError::Damaged(message))
}

/// The pages in a log of SQLite. The header has two numbers, its salts, and frames with the same salts are in use.
fn pages_in_log(log: &Path, page_bytes: usize) -> std::io::Result<BTreeSet<u32>> {
    let mut pages = BTreeSet::new();
    let mut file = match File::open(log) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(pages),
        file => BufReader::new(file?),
    };
    let (mut header, mut frame) = ([0; LOG_HEADER_BYTES], vec![0; FRAME_HEADER_BYTES + page_bytes]);
    if file.read_exact(&mut header).is_err() {
        return Ok(pages);
    }
    while file.read_exact(&mut frame).is_ok() && frame[8..16] == header[16..24] {
        pages.insert(u32::from_be_bytes(frame[..4].try_into().expect("four bytes")));
    }
    Ok(pages)
}

/// The lengths of a log's header, and of the header of each page in it.
const LOG_HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;

/// The length of an SQLite file's header, and the offsets of the number of pages, of the counter of changes, and of the counter for
/// which the number of pages is valid (<https://www.sqlite.org/fileformat2.html>).
const HEADER_BYTES: usize = 100;
const PAGES: usize = 28;
const CHANGES: usize = 24;
const CHANGES_WITH_PAGES: usize = 92;

/// A connection to inspect a file. It creates no files beside it.
fn open_to_inspect(path: &Path) -> Result<Connection, StorageError> {
    if ["-wal", "-journal"].iter().any(|suffix| beside(path, suffix).exists()) {
        return open(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    }
    let mut uri = "file:///".to_string();
    for byte in path.as_os_str().as_encoded_bytes().iter().skip_while(|byte| **byte == b'/') {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b':' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    open(Path::new(&uri), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
}

/// Refuses to create a database beside the log of an earlier one, since SQLite would remove the log.
fn refuse_lone_log(path: &Path, content: Content) -> Result<Content, StorageError> {
    let log = own_log(path);
    if !path.exists() && std::fs::metadata(&log).is_ok_and(|metadata| metadata.len() > 0) {
        let help = "put the file back, or give the log another name; nothing was changed";
        return Err(not_a_database(path, "the log of a database ('-wal'), whose file is missing", help));
    }
    Ok(content)
}

/// Refuses a file with a second name, a hard link. By that name the file could be opened again, with another lock and another log.
fn refuse_second_name(path: &Path) -> Result<(), StorageError> {
    #[cfg(unix)]
    if std::fs::metadata(path).is_ok_and(|metadata| std::os::unix::fs::MetadataExt::nlink(&metadata) > 1) {
        let help = "a database that is opened under two names is damaged: copy the file and open the copy, or remove the other name";
        return Err(not_a_database(path, "a file that has another name, too (a hard link)", help));
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("select name from sqlite_schema where type = 'table'")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

fn check_version(path: &Path, connection: &Connection) -> Result<Content, StorageError> {
    let version = connection.query_row("pragma user_version", [], |row| row.get::<_, i64>(0));
    let found = version.map_err(failed("open the database"))?.max(0) as u64;
    if found > FORMAT_VERSION {
        return Err(StorageError::NewerFormat { path: path.display().to_string(), found, known: FORMAT_VERSION });
    }
    Ok(Content::Database)
}

fn is_cozo_0_7(connection: &Connection, tables: &[String]) -> bool {
    let columns = || -> rusqlite::Result<Vec<String>> {
        let mut statement = connection.prepare("select name from pragma_table_info('cozo')")?;
        statement.query_map([], |row| row.get(0))?.collect()
    };
    tables.iter().any(|table| table == "cozo") && columns().is_ok_and(|columns| columns == ["k", "v"])
}

fn unreadable(path: &Path, error: rusqlite::Error) -> StorageError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => not_a_database(path, "a file that is no SQLite file", OTHER_PATH),
        // Our databases have no journal to be rolled back.
        Some(ErrorCode::ReadOnly) => not_a_database(path, "an SQLite file with a transaction to be undone", OTHER_PATH),
        _ => failed("open the database")(error),
    }
}

const OTHER_PATH: &str = "give the path of a database, or of a file that does not exist yet; nothing was changed";

fn foreign_cozo(path: &Path) -> StorageError {
    let help = "restore it into a new database, as a backup of CozoDB 0.7: `cozo restore`, or `restore` of a database that was opened at another path; nothing was changed";
    not_a_database(path, "a database or a backup of CozoDB 0.7", help)
}

fn foreign_sqlite(path: &Path) -> StorageError {
    not_a_database(path, "an SQLite file of another program", OTHER_PATH)
}

fn foreign_folder(path: &Path) -> StorageError {
    not_a_database(path, "a folder", "a database of this engine is a file; a folder may be one of another engine")
}

fn not_a_database(path: &Path, found: &str, help: &str) -> StorageError {
    StorageError::NotADatabase { path: path.display().to_string(), found: found.to_string(), help: help.to_string() }
}
