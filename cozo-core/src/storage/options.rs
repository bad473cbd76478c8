//! The options with which a database is opened: a JSON object, the third argument of `DbInstance::new`.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::StorageError;

/// What a commit outlives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// The end of the process, however sudden: the system has the data when a commit returns.
    #[default]
    Os,
    /// The end of power: the disk has the data when a commit returns.
    Disk,
}

/// The options of a database.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Options {
    /// What a commit outlives.
    #[serde(default)]
    pub durability: Durability,
    /// How many megabytes of relations of a persistent engine are kept as columns in memory; 0 for none. By default a
    /// quarter of the machine's memory.
    pub cache_mb: Option<f64>,
    /// How many megabytes of commits to a persistent engine may wait in the commit log until they are applied; 0 for none,
    /// so that each commit goes to the engine by itself. By default a 32nd of the cache, from 2 to 8.
    pub commit_log_mb: Option<f64>,
    /// How many megabytes a query may take for what it derives. By default half of the machine's memory.
    pub query_memory_mb: Option<f64>,
    /// Whether nothing may be written.
    #[serde(default)]
    pub read_only: bool,
    /// The options of the engine.
    #[serde(flatten)]
    pub engine: Map<String, Value>,
}

impl Options {
    /// The options that a text gives; empty text gives none.
    pub fn parse(text: &str) -> Result<Self, StorageError> {
        if text.trim().is_empty() {
            return Ok(Options::default());
        }
        let value: Value = serde_json::from_str(text).map_err(|error| StorageError::BadOptions(error.to_string()))?;
        if !value.is_object() {
            return Err(StorageError::BadOptions(format!("expected a JSON object, found {value}")));
        }
        serde_json::from_value(value).map_err(|error| StorageError::BadOptions(error.to_string()))
    }

    /// The budget of the column cache. Graphs that are kept have a part of as much.
    pub fn cache_bytes(&self) -> usize {
        self.cache_mb.map_or_else(|| *MEMORY_BYTES / 4, bytes_of_mb)
    }

    /// What the commit log may hold.
    pub fn commit_log_bytes(&self) -> usize {
        let by_default = || (self.cache_bytes() / CACHE_PER_LOG).clamp(MIN_LOG_BYTES, MAX_LOG_BYTES);
        self.commit_log_mb.map_or_else(by_default, bytes_of_mb)
    }

    /// What a query may take for what it derives.
    pub fn query_memory_bytes(&self) -> usize {
        self.query_memory_mb.map_or_else(|| *MEMORY_BYTES / 2, bytes_of_mb)
    }

    /// The options of the engine, as the engine's type has them: `#[serde(deny_unknown_fields)]`.
    pub fn of_engine<T: for<'de> Deserialize<'de>>(&self) -> Result<T, StorageError> {
        T::deserialize(Value::Object(self.engine.clone())).map_err(|error| {
            // The engine knows its own options only.
            let message =
                error.to_string().replace(", there are no fields", "").replace("unknown field", "unknown option");
            let common = if message.starts_with("unknown option") { COMMON } else { "" };
            StorageError::BadOptions(format!("{message}{common}"))
        })
    }
}

/// What an unknown option may have been meant for, with any engine.
const COMMON: &str = "; all engines have `durability`, `cache_mb`, `commit_log_mb`, `query_memory_mb` and `read_only`";

/// By default the log is such a part of the cache: to apply it takes about six times as much memory.
const CACHE_PER_LOG: usize = 32;

/// But at least this,
const MIN_LOG_BYTES: usize = 2 << 20;

/// and at most this: a larger one makes an import little faster.
const MAX_LOG_BYTES: usize = 8 << 20;

/// Conversions from floats saturate; what is negative is nothing.
fn bytes_of_mb(mb: f64) -> usize {
    (mb * f64::from(1 << 20)) as usize
}

/// What is taken for the machine's memory where the system does not say.
const UNKNOWN_MEMORY: usize = 2 << 30;

/// The memory of the machine, or of the container if that is less.
pub(super) static MEMORY_BYTES: LazyLock<usize> = LazyLock::new(|| {
    let Ok(mut system) = sysinfo::System::new() else { return UNKNOWN_MEMORY };
    system.refresh_memory_specifics(sysinfo::MemoryRefreshKind::nothing().with_ram());
    let limit = system.cgroup_limits().map_or(u64::MAX, |limits| limits.total_memory);
    usize::try_from(system.total_memory().min(limit)).unwrap_or(usize::MAX)
});

/// The options of an engine that has none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoOptions {}
