//! The engines, and the ways to open them, that tests run on.
#![allow(dead_code)]

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use cozo::DbInstance;

/// An engine with options.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The engine.
    pub engine: &'static str,
    /// Its options.
    pub options: &'static str,
}

/// Every engine that is compiled in; the persistent ones with a large cache, with one that gives up relations all the time, and with none, and with a
/// commit log of the usual size, with one that is full all the time, and with none.
pub const SETTINGS: &[Setting] = &[
    Setting { engine: "mem", options: "" },
    Setting { engine: "sqlite", options: r#"{"cache_mb": 64}"# },
    Setting { engine: "sqlite", options: r#"{"cache_mb": 0.01, "commit_log_mb": 0.001}"# },
    Setting { engine: "sqlite", options: r#"{"cache_mb": 0}"# },
    #[cfg(feature = "storage-rocksdb")]
    Setting { engine: "rocksdb", options: r#"{"cache_mb": 64}"# },
    #[cfg(feature = "storage-rocksdb")]
    Setting { engine: "rocksdb", options: r#"{"cache_mb": 0.01}"# },
    #[cfg(feature = "storage-rocksdb")]
    Setting { engine: "rocksdb", options: r#"{"cache_mb": 0, "commit_log_mb": 0}"# },
];

impl Display for Setting {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.engine, self.options)
    }
}

impl Setting {
    /// Opens a database in a folder.
    pub fn open(&self, folder: &Path) -> cozo::Result<DbInstance> {
        DbInstance::new(self.engine, folder.join(format!("db.{}", self.engine)), self.options)
    }

    /// Its options and one more, such as `"spill_mb": 0`.
    pub fn options_with(&self, option: &str) -> String {
        match self.options {
            "" => format!("{{{option}}}"),
            options => options.replacen('{', &format!("{{{option}, "), 1),
        }
    }

    /// Whether the database outlives its process.
    pub fn is_persistent(&self) -> bool {
        self.engine != "mem"
    }
}

/// The settings of persistent engines.
pub fn persistent() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(|setting| setting.is_persistent())
}
