//! What a path holds, and what to do where it is no file of CozoDB 0.7.

use std::io::Read;
use std::path::Path;

use super::malformed::hex;
use super::source::{FileSource, io_failure};
use crate::storage::StorageError;

/// What a path holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A database or a backup of CozoDB 0.7 as an SQLite file: what [`super::LegacyFile`] reads.
    Cozo07,
    /// No SQLite file, but what the text says.
    NotSqlite(&'static str),
    /// An SQLite file of another program.
    OtherSqlite,
    /// A file of a CozoDB before 0.7.
    TooOld,
    /// A file of CozoDB with a version of its format that nobody knew, in hexadecimal digits.
    UnknownVersion(String),
    /// A file that CozoDB began to create, and no more.
    CutShort,
    /// A database of CozoDB 0.7 on RocksDB, a directory.
    RocksDb,
}

/// The first bytes of every SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// Where the header of an SQLite file says how it is written; 2 is a log beside the file.
const WRITE_FORMAT: usize = 18;

/// The key of the row of the catalog with the version of the format: `[null, 'STORAGE_VERSION']`.
const VERSION_KEY: &[u8] = b"\0\0\0\0\0\0\0\0\x01\x06STORAGE_\xffVERSION\0\xfe";
/// The key of the row of the catalog with the last id, which every version has: `[null]`.
const LAST_ID_KEY: &[u8] = b"\0\0\0\0\0\0\0\0\x01";
/// The version of the format of CozoDB 0.7.
const VERSION: &[u8] = &[0];

/// What a path holds. Who keeps a catalog of their own in an SQLite file must look for that first: a relation may be
/// called `cozo`. Errors are those of reading alone: nothing there, no right to read it.
pub fn recognise(path: &Path) -> Result<FileKind, StorageError> {
    identify(path).map(|(kind, _)| kind)
}

/// What a path holds, with the open file if it is an SQLite file.
pub(super) fn identify(path: &Path) -> Result<(FileKind, Option<FileSource>), StorageError> {
    let failed = |error: std::io::Error| {
        io_failure("open a file", &std::io::Error::other(format!("'{}': {error}", path.display())))
    };
    if std::fs::metadata(path).map_err(failed)?.is_dir() {
        let is_rocksdb = path.join("manifest").is_file() && path.join("data").is_dir();
        return Ok((if is_rocksdb { FileKind::RocksDb } else { FileKind::NotSqlite("a directory") }, None));
    }
    let mut header = Vec::new();
    std::fs::File::open(path).and_then(|file| file.take(100).read_to_end(&mut header)).map_err(failed)?;
    if !header.starts_with(SQLITE) {
        return Ok((
            FileKind::NotSqlite(if header.is_empty() { "an empty file" } else { "a file of another kind" }),
            None,
        ));
    }
    let source = FileSource::open(path, header.get(WRITE_FORMAT) == Some(&2))?;
    Ok((kind_of(&source)?, Some(source)))
}

fn kind_of(source: &FileSource) -> Result<FileKind, StorageError> {
    if !source.has_table()? {
        return Ok(FileKind::OtherSqlite);
    }
    Ok(match source.value_of(VERSION_KEY)? {
        Some(version) if version == VERSION => FileKind::Cozo07,
        Some(version) => FileKind::UnknownVersion(hex(&version)),
        None if source.value_of(LAST_ID_KEY)?.is_some() => FileKind::TooOld,
        None if source.is_empty()? => FileKind::CutShort,
        None => FileKind::OtherSqlite,
    })
}

impl FileKind {
    /// The error for a path that should be a file of CozoDB 0.7 and is not.
    pub fn require(&self, path: &Path) -> Result<(), StorageError> {
        let (found, help) = match self {
            FileKind::Cozo07 => return Ok(()),
            FileKind::NotSqlite(found) => (
                found.to_string(),
                "a database of CozoDB 0.7 on engine 'sqlite', or a backup, is an SQLite file: check the path",
            ),
            FileKind::OtherSqlite => (
                "an SQLite file of another program".to_string(),
                "only SQLite files written by CozoDB 0.7 can be read: check the path",
            ),
            FileKind::TooOld => (
                "a database of a CozoDB before 0.7".to_string(),
                "export its relations with the version that wrote it, and import them",
            ),
            FileKind::UnknownVersion(version) => (
                format!("a database of CozoDB with the unknown format version {version}"),
                "make a backup with CozoDB 0.7, and import that",
            ),
            FileKind::CutShort => (
                "an empty database of CozoDB whose creation was cut short".to_string(),
                "nothing was ever in it: delete the file, or give another path",
            ),
            FileKind::RocksDb => (
                "a directory of CozoDB 0.7 with engine 'rocksdb'".to_string(),
                "make a backup with CozoDB 0.7 (`backup` of any binding, HTTP `/backup`, `%backup` of the REPL), and import that",
            ),
        };
        let engine_path = path.display().to_string();
        Err(StorageError::NotADatabase { path: engine_path, found, help: help.to_string() })
    }
}
