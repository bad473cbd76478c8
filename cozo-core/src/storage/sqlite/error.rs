//! Errors of SQLite as errors of storage.

use rusqlite::{Error, ErrorCode};

use crate::storage::error::StorageError;

/// Converts an error of SQLite, with the action that failed.
pub fn failed(action: &'static str) -> impl Fn(Error) -> StorageError {
    move |error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StorageError::Damaged(error.to_string()),
        Some(ErrorCode::TooBig) => {
            StorageError::Unstorable("sqlite holds texts, lists and rows of 1,000,000,000 bytes at most".to_string())
        }
        _ => StorageError::Engine { engine: super::NAME, action, message: error.to_string() },
    }
}

/// Converts an error of the system about a file, with the action that failed.
pub fn failed_file(action: &'static str) -> impl Fn(std::io::Error) -> StorageError {
    move |error| StorageError::Engine { engine: super::NAME, action, message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn values_that_are_too_large_are_refused_by_their_size() {
        let error = Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_TOOBIG), None);
        assert!(matches!(failed("write a value")(error), StorageError::Unstorable(_)));
    }
}
