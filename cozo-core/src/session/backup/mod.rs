//! Backups: files of the sqlite engine with all relations of a database at one moment.
//!
//! | function | what |
//! |---|---|
//! | [`write`](write()) | writes a backup while the database is in use |
//! | [`restore`](restore()) | fills an empty database from a backup |
//! | [`import`] | puts the rows of some relations of a backup into relations of a database |
//!
//! Backups and SQLite databases of CozoDB 0.7 can be read too. After an error the database and an existing file are unchanged.

mod error;
mod file;
mod progress;
mod restore;
mod write;

pub use file::Strictness;
pub use progress::BackupProgress;
pub use restore::{import, restore};
pub use write::{write, write_version};
