//! Storage: relations as sorted rows, in snapshots that never change.
//!
//! The upper layers see two [`traits`]. A [`Storage`] hands out snapshots and applies change sets. A [`Snapshot`] is the
//! contents at one moment. It is read in key order or by key prefix, as batches of typed columns. A relation whose last key
//! column is a Validity stores histories, which can also be read [as of a time](AsOf).
//!
//! | module | what |
//! |---|---|
//! | [`traits`] | [`Storage`] and [`Snapshot`], and the facts that they tell |
//! | `range`, `cursor`, `changes`, `shape`, `key` | what is read, rows that are found, rows to change, columns, keys |
//! | [`column_tree`] | the column tree: a persistent B+tree whose leaves hold typed columns |
//! | [`mem`] | the engine that stores everything in memory, as column trees |
//! | [`codec`] | rows as bytes that sort as the rows do |
//! | [`kv`], `rocksdb` | storage over any engine of ordered bytes, and one such engine |
//! | [`sqlite`] | an SQLite file with a table for each relation |
//! | [`commit_log`] | small commits of a persistent engine in a file of their own, until they are applied together |
//! | [`cache`] | relations of a persistent engine as column trees in memory |
//! | [`overlay`] | uncommitted changes over a snapshot of any engine |
//! | [`as_of`] | histories read as of a time, for engines that do not seek in them |
//! | [`ContentCache`] | what is made of the rows of a relation, as long as they do not change |
//! | [`open`], [`ENGINES`], [`Options`] | the engines by name, and the options of a database |
//! | `folders`, `lost` | durable file names, and files that could not be read as a whole under other names |
//!
//! A persistent engine is wrapped twice when it is opened:
//!
//! ```text
//!  Cached ──> Logged ──> SqliteStorage, or KvStorage over RocksDB
//!  column     commit     files
//!  trees      log
//! ```
//!
//! **storage never sees a rule or a transaction**: the rows that reach it are coerced, free of conflicts, and final.

pub mod as_of;
pub mod cache;
mod changes;
pub mod codec;
pub mod column_tree;
pub mod commit_log;
mod content_cache;
mod content_version;
mod copy;
mod cursor;
mod engines;
mod error;
mod folders;
mod key;
pub mod kv;
mod log_mark;
mod lost;
pub mod mem;
mod options;
pub mod overlay;
mod range;
#[cfg(feature = "storage-rocksdb")]
pub mod rocksdb;
mod shape;
pub mod sqlite;
#[cfg(test)]
pub mod tests;
pub mod traits;

pub use changes::{ChangeKind, ChangeSet, ChangedRows, RowChanges, RowSource};
pub use column_tree::{DirectoryReader, LeafDirectory, Tree as ColumnTree};
pub use content_cache::{CachedValue, ContentCache};
pub use content_version::{ContentVersion, Identity};
pub use copy::{ROWS_AT_ONCE, copy};
pub use cursor::{BatchCursor, LookupCursor, Matches, Nothing, probe_count};
pub use engines::{ENGINES, Engine, open, open_file_to_read};
pub use error::StorageError;
pub use folders::sync_name;
pub use log_mark::LogMark;
pub use mem::empty_snapshot;
pub use options::{Durability, NoOptions, Options, SharedReads, has_ample_memory};
pub use range::{AsOf, End, KeyRange};
pub use shape::RelationShape;
pub use traits::{EngineTraits, Opened, RelationState, Snapshot, Storage};
