//! The options with which a database is opened: a JSON object, the third argument of `DbInstance::new`.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::StorageError;

/// The failures that a commit survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// A crash of the process: the operating system has the data when a commit returns.
    #[default]
    Os,
    /// A loss of power: the disk has the data when a commit returns.
    Disk,
}

/// What reads of a database with a shared log see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SharedReads {
    /// What the replica has applied, without a question to the log.
    #[default]
    Local,
    /// All that is in the log when the script begins.
    Latest,
}

/// The options of a database.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Options {
    /// The failures that a commit survives.
    #[serde(default)]
    pub durability: Durability,
    /// The size in megabytes of the cache of a persistent engine's relations as columns; 0 for no cache. The default is a
    /// quarter of the machine's memory.
    pub cache_mb: Option<f64>,
    /// The size in megabytes of the commits that may wait in the commit log of a persistent engine. With 0 each commit goes to
    /// the engine by itself. The default is a 32nd of the cache, from 2 to 8.
    pub commit_log_mb: Option<f64>,
    /// The memory in megabytes that a query may take for derived rows. The default is half of the machine's memory, or three eighths
    /// with less than 4 GB, of which the program and the caches need a larger share.
    pub query_memory_mb: Option<f64>,
    /// The folder of the files for rows that exceed the memory of their query. The default is the system's folder for temporary
    /// files.
    pub temp_dir: Option<PathBuf>,
    /// The disk in megabytes that all queries together may take for such rows. By default there is no limit.
    pub temp_limit_mb: Option<f64>,
    /// The address of the log that the database shares with other processes.
    pub shared: Option<String>,
    /// The seconds that an operation of the shared log may take. The default is 10.
    pub shared_timeout: Option<f64>,
    /// What reads of a database with a shared log see.
    #[serde(default)]
    pub shared_reads: SharedReads,
    /// From so many megabytes on, rows of a query go to disk. The default is half of the memory of a query; a test sets less.
    #[doc(hidden)]
    pub spill_mb: Option<f64>,
    /// Whether writes are refused.
    #[serde(default)]
    pub read_only: bool,
    /// The options of the engine.
    #[serde(flatten)]
    pub engine: Map<String, Value>,
}

impl Options {
    /// Parses the options. An empty text stands for the defaults.
    pub fn parse(text: &str) -> Result<Self, StorageError> {
        if text.trim().is_empty() {
            return Ok(Options::default());
        }
        let value: Value = serde_json::from_str(text).map_err(|error| StorageError::BadOptions(error.to_string()))?;
        if !value.is_object() {
            return Err(StorageError::BadOptions(format!("expected a JSON object, found {value}")));
        }
        let options: Options =
            serde_json::from_value(value).map_err(|error| StorageError::BadOptions(error.to_string()))?;
        options.check()?;
        Ok(options)
    }

    /// Refuses values that mean nothing.
    fn check(&self) -> Result<(), StorageError> {
        let sizes = [
            ("cache_mb", self.cache_mb),
            ("commit_log_mb", self.commit_log_mb),
            ("query_memory_mb", self.query_memory_mb),
            ("temp_limit_mb", self.temp_limit_mb),
            ("shared_timeout", self.shared_timeout),
        ];
        for (name, mb) in sizes {
            if let Some(mb) = mb.filter(|mb| *mb < 0.0) {
                let message = format!("the option '{name}' is {mb}, but a size is not negative");
                return Err(StorageError::BadOptions(message));
            }
        }
        if self.temp_dir.as_ref().is_some_and(|folder| folder.as_os_str().is_empty()) {
            return Err(StorageError::BadOptions("the option 'temp_dir' is empty: it names a folder".to_string()));
        }
        Ok(())
    }

    /// The budget of the column cache. The graph cache has a fraction of the same size.
    pub fn cache_bytes(&self) -> usize {
        self.cache_mb.map_or_else(|| *MEMORY_BYTES / 4, bytes_of_mb)
    }

    /// The budget of the commit log.
    pub fn commit_log_bytes(&self) -> usize {
        let by_default = || (self.cache_bytes() / CACHE_PER_LOG).clamp(MIN_LOG_BYTES, MAX_LOG_BYTES);
        self.commit_log_mb.map_or_else(by_default, bytes_of_mb)
    }

    /// The budget of a query for derived rows.
    pub fn query_memory_bytes(&self) -> usize {
        let by_default = || if has_ample_memory() { *MEMORY_BYTES / 2 } else { *MEMORY_BYTES / 8 * 3 };
        self.query_memory_mb.map_or_else(by_default, bytes_of_mb)
    }

    /// The memory from which on rows of a query go to disk.
    pub fn spill_bytes(&self) -> usize {
        self.spill_mb.map_or(usize::MAX, bytes_of_mb)
    }

    /// The disk that all queries together may take.
    pub fn temp_limit_bytes(&self) -> u64 {
        self.temp_limit_mb.map_or(u64::MAX, |mb| bytes_of_mb(mb) as u64)
    }

    /// How long an operation of the shared log may take.
    pub fn shared_timeout(&self) -> Duration {
        let seconds = self.shared_timeout.unwrap_or(DEFAULT_SHARED_SECONDS);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// The options of the engine, as the engine's own type. The type must have `#[serde(deny_unknown_fields)]`.
    pub fn of_engine<T: for<'de> Deserialize<'de>>(&self) -> Result<T, StorageError> {
        T::deserialize(Value::Object(self.engine.clone())).map_err(|error| {
            // The message lists the engine's own options only, so the common ones are added.
            let message =
                error.to_string().replace(", there are no fields", "").replace("unknown field", "unknown option");
            let common = if message.starts_with("unknown option") { COMMON } else { "" };
            StorageError::BadOptions(format!("{message}{common}"))
        })
    }
}

/// The options that every engine has, for the message about an unknown option.
const COMMON: &str = "; all engines have `durability`, `cache_mb`, `commit_log_mb`, `query_memory_mb`, `temp_dir`, `temp_limit_mb`, `read_only`, `shared`, `shared_timeout` and `shared_reads`";

/// The default seconds that an operation of the shared log may take.
const DEFAULT_SHARED_SECONDS: f64 = 10.0;

/// The default size of the log is the size of the cache divided by this. Applying the log takes several times its size in memory.
const CACHE_PER_LOG: usize = 32;

/// The smallest default size of the log.
const MIN_LOG_BYTES: usize = 2 << 20;

/// The greatest default size of the log. A larger log makes an import hardly faster.
const MAX_LOG_BYTES: usize = 8 << 20;

/// Converts megabytes to bytes. The conversion saturates.
fn bytes_of_mb(mb: f64) -> usize {
    (mb * f64::from(1 << 20)) as usize
}

/// The assumed memory of the machine if the system does not report it.
const UNKNOWN_MEMORY: usize = 2 << 30;

/// With less memory, queries and the caches of engines take smaller shares, and memory that was freed goes back to the system at once.
pub(super) const AMPLE_MEMORY_BYTES: usize = 4 << 30;

/// Whether there is memory enough to keep some for later.
pub fn has_ample_memory() -> bool {
    *MEMORY_BYTES >= AMPLE_MEMORY_BYTES
}

/// The memory of the machine, or of the container if that is less.
pub(super) static MEMORY_BYTES: LazyLock<usize> = LazyLock::new(|| {
    let Ok(mut system) = sysinfo::System::new() else { return UNKNOWN_MEMORY };
    system.refresh_memory_specifics(sysinfo::MemoryRefreshKind::nothing().with_ram());
    let limits = [system.cgroup_limits(), limits_of_process(&mut system)];
    let limit = limits.into_iter().flatten().map(|limits| limits.total_memory).fold(u64::MAX, u64::min);
    usize::try_from(system.total_memory().min(limit)).unwrap_or(usize::MAX)
});

/// The limits of the container that this process is in, which may be a part of the container that the system shows.
fn limits_of_process(system: &mut sysinfo::System) -> Option<sysinfo::CGroupLimits> {
    let own = sysinfo::get_current_pid().ok()?;
    let what = sysinfo::ProcessRefreshKind::nothing();
    system.refresh_processes_specifics(sysinfo::ProcessesToUpdate::Some(&[own]), false, what);
    system.process(own)?.cgroup_limits()
}

/// The options of an engine that has none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoOptions {}
