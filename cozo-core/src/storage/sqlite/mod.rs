//! The sqlite engine: an SQLite file with a table for each relation, which any SQLite tool opens.
//!
//! ```text
//! :create friends {fr: Int, to: Int => since: Float?}
//!
//! create table "friends" ("fr" integer, "to" integer, "since" real, primary key ("fr", "to")) without rowid
//! ```
//!
//! If the key is a single integer, it is SQLite's row number, and the table is not `without rowid`.
//!
//! A table has the name of its relation if SQLite accepts it. The catalog, the table `cozo_catalog`, has the name of each table
//! and the definition as JSON. Indices are tables too.
//!
//! | module | what |
//! |---|---|
//! | `engine` | the engine: the writing connection, the newest snapshot, commits |
//! | `open` | the recognition of a file, the lock, the catalog of a new file |
//! | `connection` | connections, and the pool of reading ones |
//! | `catalog`, `names`, `table` | relations as tables, and the statements for them |
//! | `column_encoding` | values in the forms that SQLite stores |
//! | `bounds` | bounds of any type as conditions on keys |
//! | `write` | change sets as statements |
//! | [`FileWriter`] | a new file from sorted rows |
//! | `snapshot`, `read_connections` | snapshots as read transactions of pooled connections |
//! | `log` | checkpoints, which keep the write-ahead log short |
//! | `reading`, `cursor`, `history` | rows of ranges and prefixes, also as of a time |
//! | `fork` | SQLite in a forked process |
//!
//! A commit and the snapshots around it:
//!
//! ```text
//!  snapshot 7, newest, unpinned     reads the database as it is
//!  commit 8 begins                  pins snapshot 7: it has a read transaction, and later changes are invisible to it
//!  commit 8 ends                    snapshot 8, newest, unpinned
//! ```
//!
//! Invariants:
//! - No other process writes to the file while it is open. Others may read it at any time.
//! - No statement stays open between two calls of a cursor, so a connection serves any number of cursors.

mod bounds;
mod catalog;
mod column_encoding;
mod connection;
mod cursor;
mod engine;
mod error;
mod file_writer;
mod fork;
mod history;
mod log;
mod names;
mod open;
mod read_connections;
mod reading;
mod snapshot;
mod table;
#[cfg(test)]
mod tests;
mod write;

pub use engine::SqliteStorage;
pub use file_writer::FileWriter;
pub use fork::prepare as prepare_for_forks;
pub use open::own_log;

/// The engine's name.
const NAME: &str = "sqlite";
