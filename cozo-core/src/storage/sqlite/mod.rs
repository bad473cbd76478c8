//! The sqlite engine: an SQLite file with a table for each relation, which any SQLite tool opens.
//!
//! ```text
//! :create friends {fr: Int, to: Int => since: Float?}
//!
//! create table "friends" ("fr" integer, "to" integer, "since" real, primary key ("fr", "to")) without rowid
//! ```
//!
//! Where the key is a single integer, it is SQLite's number of the row, and the table is not `without rowid`.
//!
//! A table is called as its relation wherever SQLite takes the name; the catalog, the table `cozo_catalog`, knows the name
//! of each, and the definition as JSON. Indices are tables too.
//!
//! | module | what |
//! |---|---|
//! | `open` | what a file is, the lock, the catalog of a new one |
//! | `connection` | connections, and the pool of those that read |
//! | `catalog`, `names`, `table` | relations as tables, and the statements for them |
//! | `form` | values as SQLite keeps them |
//! | `place` | bounds of any type as conditions on keys |
//! | `write` | change sets as statements |
//! | [`FileWriter`] | a new file from sorted rows |
//! | `snapshot`, `lanes`, `log` | read transactions, and how the log of changes stays short nevertheless |
//! | `reading`, `cursor`, `history` | rows of ranges and prefixes, also as of a time |
//!
//! **Nobody else writes to the file while it is open.** Others may read it at any time.

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
