//! The engines by name.

use std::io;
use std::path::{Path, PathBuf};

use super::cache::Cached;
use super::commit_log::{Leftover, Logged, Place};
use super::error::StorageError;
use super::mem::MemStorage;
use super::options::NoOptions;
use super::options::Options;
use super::sqlite::SqliteStorage;
use super::traits::Storage;

/// An engine that a database can be opened with.
pub struct Engine {
    /// The name that `DbInstance::new` takes.
    pub name: &'static str,
    /// A description in one line.
    pub doc: &'static str,
    /// The place of the commit log of a database at a path. Only a persistent engine has one, and a cache and a log over it.
    log: Option<fn(&Path) -> Place>,
    /// The path of the engine's own log, if opening the database may rewrite the log even when its end is damaged.
    own_log: Option<fn(&Path) -> PathBuf>,
    open: fn(&Path, &Options) -> OpenResult,
}

type OpenResult = Result<Box<dyn Storage>, StorageError>;

/// The engines of this build.
pub const ENGINES: &[Engine] = &[
    Engine {
        name: "mem",
        doc: "keeps everything in memory and nothing on disk",
        log: None,
        own_log: None,
        open: |_, options| {
            options.of_engine::<NoOptions>()?;
            Ok(Box::new(MemStorage::new()))
        },
    },
    #[cfg(feature = "storage-rocksdb")]
    Engine {
        name: "rocksdb",
        doc: "keeps a folder of RocksDB files, made for many writes and for more data than memory",
        log: Some(Place::within),
        own_log: None,
        open: |path, options| Ok(Box::new(super::rocksdb::open(path, options)?)),
    },
    Engine {
        name: "sqlite",
        doc: "a file that any SQLite tool opens, with a table for each relation",
        log: Some(Place::beside),
        own_log: Some(super::sqlite::own_log),
        open: |path, options| Ok(Box::new(SqliteStorage::open(path, options)?)),
    },
];

/// Opens a database. Creates it if it does not exist.
pub fn open(engine: &str, path: &Path, options: &Options) -> OpenResult {
    let Some(found) = ENGINES.iter().find(|candidate| candidate.name == engine) else {
        let known: Vec<&str> = ENGINES.iter().map(|engine| engine.name).collect();
        return Err(StorageError::UnknownEngine { name: engine.to_string(), known: known.join(", ") });
    };
    let Some(log) = found.log else { return (found.open)(path, options) };
    let path = one_name_of(path);
    let storage = open_logged(found, log(&path), &path, options)?;
    let cache_bytes = options.cache_bytes();
    match cache_bytes > 0 {
        true => Ok(Box::new(Cached::new(storage, cache_bytes)?)),
        false => Ok(storage),
    }
}

/// Opens a file of the engine `sqlite`, such as a backup, for reading.
pub fn open_file_to_read(path: &Path) -> OpenResult {
    open("sqlite", path, &Options { read_only: true, cache_mb: Some(0.0), ..Options::default() })
}

/// The path without links and detours. The lock and the log lie at the place of the database, and engines compare paths as text to
/// see whether this process has the database open. If the file does not exist yet, only the path of its folder is resolved.
fn one_name_of(path: &Path) -> PathBuf {
    let in_folder = |_: io::Error| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok::<PathBuf, io::Error>(folder.canonicalize()?.join(name))
    };
    path.canonicalize().or_else(in_folder).unwrap_or_else(|_| path.to_path_buf())
}

fn open_logged(engine: &Engine, log: Place, path: &Path, options: &Options) -> OpenResult {
    if options.read_only {
        // Another process may write meanwhile, so the log is read first. Commits that it then applies to the engine carry their mark.
        // Commits that it appends later are not needed.
        let leftover = Leftover::find(&log, false)?;
        let storage = (engine.open)(path, options)?;
        return Ok(Box::new(Logged::new(storage, log, leftover, None, options)?));
    }
    let own_log = if Leftover::is_any(&log)? { engine.own_log.map(|path_of| path_of(path)) } else { None };
    // If the file is missing, the engine reports it.
    let own_log = own_log.and_then(|path| Some((path.clone(), std::fs::read(path).ok()?)));
    let is_new = !path.exists();
    let storage = (engine.open)(path, options)?;
    // This process has the engine's lock now, so no other process appends.
    let leftover = Leftover::find(&log, is_new)?;
    Ok(Box::new(Logged::new(storage, log, leftover, own_log, options)?))
}
