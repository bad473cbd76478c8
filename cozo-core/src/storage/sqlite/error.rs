//! What SQLite says, as errors of storage.

use rusqlite::{Error, ErrorCode};

use crate::storage::StorageError;

/// Makes an error of what SQLite says, with what was to be done.
pub fn failed(action: &'static str) -> impl Fn(Error) -> StorageError {
    move |error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StorageError::Damaged(error.to_string()),
        _ => StorageError::Engine { engine: super::NAME, action, message: error.to_string() },
    }
}

/// Makes an error of what the system says about a file.
pub fn failed_file(action: &'static str) -> impl Fn(std::io::Error) -> StorageError {
    move |error| StorageError::Engine { engine: super::NAME, action, message: error.to_string() }
}
