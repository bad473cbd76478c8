//! The engines by name.

use std::path::Path;

use super::cache::Cached;
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
    /// Whether it keeps data on a disk, so that a cache over it pays.
    pub persistent: bool,
    open: fn(&Path, &Options) -> Opened,
}

type Opened = Result<Box<dyn Storage>, StorageError>;

/// The engines of this build.
pub const ENGINES: &[Engine] = &[
    Engine {
        name: "mem",
        doc: "keeps everything in memory and nothing on disk",
        persistent: false,
        open: |_, options| {
            options.of_engine::<NoOptions>()?;
            Ok(Box::new(MemStorage::new()))
        },
    },
    #[cfg(feature = "storage-rocksdb")]
    Engine {
        name: "rocksdb",
        doc: "keeps a folder of RocksDB files, made for many writes and for more data than memory",
        persistent: true,
        open: |path, options| Ok(Box::new(super::rocksdb::open(path, options)?)),
    },
    Engine {
        name: "sqlite",
        doc: "a file that any SQLite tool opens, with a table for each relation",
        persistent: true,
        open: |path, options| Ok(Box::new(SqliteStorage::open(path, options)?)),
    },
];

/// Opens a database, and makes it first if it is not there.
pub fn open(engine: &str, path: &Path, options: &Options) -> Opened {
    let Some(found) = ENGINES.iter().find(|candidate| candidate.name == engine) else {
        let known: Vec<&str> = ENGINES.iter().map(|engine| engine.name).collect();
        return Err(StorageError::UnknownEngine { name: engine.to_string(), known: known.join(", ") });
    };
    let storage = (found.open)(path, options)?;
    let cache_bytes = options.cache_bytes();
    match found.persistent && cache_bytes > 0 {
        true => Ok(Box::new(Cached::new(storage, cache_bytes)?)),
        false => Ok(storage),
    }
}
