//! Errors of SQLite as errors of storage.

use rusqlite::{Error, ErrorCode};

use crate::storage::error::StorageError;

/// Converts an error of SQLite, with the action that failed.
pub fn failed(action: &'static str) -> impl Fn(Error) -> StorageError {
    move |error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StorageError::Damaged(error.to_string()),
        _ => StorageError::Engine { engine: super::NAME, action, message: error.to_string() },
    }
}

/// Converts an error of the system about a file, with the action that failed.
pub fn failed_file(action: &'static str) -> impl Fn(std::io::Error) -> StorageError {
    move |error| StorageError::Engine { engine: super::NAME, action, message: error.to_string() }
}
