//! The check whether a folder may be opened, and the errors if it may not.

use std::fs;
use std::path::Path;

use ::rocksdb::{Error, ErrorKind};

use super::evidence::OPENING;
use super::{NAME, failed};
use crate::storage::error::StorageError;

/// Refuses a path with anything but a database, before RocksDB writes to it.
pub(super) fn check(path: &Path, read_only: bool) -> Result<(), StorageError> {
    let refused = |found: &str, help: &str| {
        let path = path.display().to_string();
        Err(StorageError::NotADatabase { path, found: found.to_string(), help: help.to_string() })
    };
    if !path.exists() {
        return match read_only {
            true => refused("nothing is there", "open it without \"read_only\": true once, so that it is made"),
            false => Ok(()),
        };
    }
    if !path.is_dir() {
        return refused("a file is there", "the engine keeps a folder: give the path of a new or an empty one");
    }
    if path.join("CURRENT").is_file() {
        return Ok(());
    }
    if path.join("manifest").is_file() && path.join("data").is_dir() {
        return refused(
            "a database of CozoDB 0.7 is there",
            "make a backup of it with CozoDB 0.7, and restore that backup into a new database",
        );
    }
    match foreign_entry(path)? {
        Some(name) => {
            refused(&format!("other files are there, such as '{name}'"), "give the path of a new or an empty folder")
        }
        None if read_only => refused("an empty folder is there", "open it without \"read_only\": true once"),
        None => Ok(()),
    }
}

/// The name of a file in the folder that an interrupted creation by RocksDB does not leave.
fn foreign_entry(path: &Path) -> Result<Option<String>, StorageError> {
    let unreadable = |error: std::io::Error| StorageError::Engine {
        engine: NAME,
        action: "read the folder of the database",
        message: error.to_string(),
    };
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned();
        let begins = ["IDENTITY", "LOCK", "LOG", "MANIFEST-", "OPTIONS-"];
        let ends = [".dbtmp", ".log", OPENING];
        if !begins.iter().any(|begin| name.starts_with(begin)) && !ends.iter().any(|end| name.ends_with(end)) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// The error for a folder that RocksDB did not open.
pub(super) fn refusal(path: &Path, error: Error) -> StorageError {
    let path = path.display().to_string();
    let said: &str = error.as_ref();
    if error.kind() == ErrorKind::IOError && said.contains("lock") {
        return StorageError::Locked(path);
    }
    if error.kind() == ErrorKind::InvalidArgument && said.contains("Column families not opened") {
        let (found, help) = ("a RocksDB of another program is there", "give the path of a new or an empty folder");
        return StorageError::NotADatabase { path, found: found.to_string(), help: help.to_string() };
    }
    failed("open the database")(error)
}
