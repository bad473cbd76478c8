//! The ways to open databases that faults are tried on.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use cozo::DbInstance;

/// An engine with options.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub engine: &'static str,
    /// Its options, without `durability` and the braces.
    options: &'static str,
    /// Whether a commit outlives the power.
    pub is_synced: bool,
}

const fn setting(engine: &'static str, options: &'static str, is_synced: bool) -> Setting {
    Setting { engine, options, is_synced }
}

/// Small buffers, so that RocksDB writes all kinds of files, and quickly.
macro_rules! rocks {
    ($options:literal) => {
        concat!(
            $options,
            r#", "write_buffer_mb": 1, "block_cache_mb": 8, "min_blob_bytes": 3000, "background_jobs": 2"#
        )
    };
}

/// With a cache and without, and with a commit log of the usual size, with one that is full all the time, and with none.
pub const SETTINGS: &[Setting] = &[
    setting("sqlite", r#""cache_mb": 64"#, false),
    setting("sqlite", r#""cache_mb": 64"#, true),
    setting("sqlite", r#""cache_mb": 0, "commit_log_mb": 0.01"#, false),
    setting("sqlite", r#""cache_mb": 0, "commit_log_mb": 0.01"#, true),
    setting("sqlite", r#""cache_mb": 0.01, "commit_log_mb": 0"#, true),
    setting("rocksdb", rocks!(r#""cache_mb": 64"#), false),
    setting("rocksdb", rocks!(r#""cache_mb": 64"#), true),
    setting("rocksdb", rocks!(r#""cache_mb": 0, "commit_log_mb": 0.01"#), false),
    setting("rocksdb", rocks!(r#""cache_mb": 0, "commit_log_mb": 0.01"#), true),
    setting("rocksdb", rocks!(r#""cache_mb": 0.01, "commit_log_mb": 0"#), true),
];

/// The settings of an engine, with their numbers.
pub fn of_engine(engine: &str) -> Vec<(usize, &'static Setting)> {
    SETTINGS.iter().enumerate().filter(|(_, setting)| setting.engine == engine).collect()
}

impl Setting {
    /// The options as the database takes them.
    pub fn options(&self) -> String {
        let durability = if self.is_synced { "disk" } else { "os" };
        format!(r#"{{"durability": "{durability}", {}}}"#, self.options)
    }

    /// Where a database is, in a folder.
    pub fn path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("db.{}", self.engine))
    }

    /// Opens the database in a folder.
    pub fn open(&self, folder: &Path) -> cozo::Result<DbInstance> {
        DbInstance::new(self.engine, self.path(folder), &self.options())
    }
}

impl Display for Setting {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.engine, self.options())
    }
}
