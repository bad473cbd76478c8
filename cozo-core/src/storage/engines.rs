//! The engines by name.

use std::io;
use std::path::{Path, PathBuf};

use super::cache::Cached;
use super::commit_log::{Leftover, Logged, Place};
use super::mem::MemStorage;
use super::options::NoOptions;
use super::sqlite::SqliteStorage;
use super::{Options, Storage, StorageError};

/// An engine that a database can be opened with.
pub struct Engine {
    /// The name that `DbInstance::new` takes.
    pub name: &'static str,
    /// What it is, in a line.
    pub doc: &'static str,
    /// Where its commit log is, for a database at this path, if it keeps data on a disk, so that a cache and a log over it pay.
    log: Option<fn(&Path) -> Place>,
    /// The engine's own log, if opening the database may write it anew even where its end is damaged.
    own_log: Option<fn(&Path) -> PathBuf>,
    open: fn(&Path, &Options) -> Opened,
}

type Opened = Result<Box<dyn Storage>, StorageError>;

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

/// Opens a database, and makes it first if it is not there.
pub fn open(engine: &str, path: &Path, options: &Options) -> Opened {
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

/// The path without links and detours. A database has one place, its lock and its log beside it or in it, and engines tell by the text
/// of the path whether this process has it open already. What is not there yet keeps its name in its folder.
fn one_name_of(path: &Path) -> PathBuf {
    let in_folder = |_: io::Error| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok::<PathBuf, io::Error>(folder.canonicalize()?.join(name))
    };
    path.canonicalize().or_else(in_folder).unwrap_or_else(|_| path.to_path_buf())
}

fn open_logged(engine: &Engine, log: Place, path: &Path, options: &Options) -> Opened {
    if options.read_only {
        // Another process may write meanwhile. What it applies to its engine after the log was read is known to be applied; what it
        // appends after the engine was read is not asked for.
        let leftover = Leftover::find(&log, false)?;
        let storage = (engine.open)(path, options)?;
        return Ok(Box::new(Logged::new(storage, log, leftover, None, options)?));
    }
    let own_log = if Leftover::is_any(&log)? { engine.own_log.map(|path_of| path_of(path)) } else { None };
    // That it is not there is for the engine to find out.
    let own_log = own_log.and_then(|path| Some((path.clone(), std::fs::read(path).ok()?)));
    let is_new = !path.exists();
    let storage = (engine.open)(path, options)?;
    // This process has the engine's lock now, so that no other appends.
    let leftover = Leftover::find(&log, is_new)?;
    Ok(Box::new(Logged::new(storage, log, leftover, own_log, options)?))
}
