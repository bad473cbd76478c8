//! What can go wrong with rows on disk.

use std::path::Path;

/// Rows of a query could not be written to disk, or read again.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum SpillError {
    /// The queries of the database would use more disk than the option allows.
    #[error("the query needs more than the {limit_mb} MB on disk that queries may take")]
    #[diagnostic(
        code(eval::out_of_disk),
        help(
            "nothing was changed. Narrow the query, or open the database with a larger option 'temp_limit_mb' or 'query_memory_mb'"
        )
    )]
    Limit {
        /// The limit.
        limit_mb: u64,
    },
    /// The disk is full.
    #[error("the disk is full: the query needs room for rows that exceed its memory, in the folder '{folder}'")]
    #[diagnostic(
        code(eval::disk_full),
        help(
            "nothing was changed. Free some disk, or open the database with the option 'temp_dir' on another disk, or with a larger 'query_memory_mb'"
        )
    )]
    Full {
        /// The folder.
        folder: String,
    },
    /// The system refused to write or to read.
    #[error("rows that exceed the query's memory cannot be {action} in the folder '{folder}': {message}")]
    #[diagnostic(
        code(eval::temp_files),
        help(
            "nothing was changed. The folder must exist and be writable: the option 'temp_dir' names another one, and a larger 'query_memory_mb' needs it less"
        )
    )]
    Io {
        /// What was tried.
        action: &'static str,
        /// The folder.
        folder: String,
        /// The system's message.
        message: String,
    },
    /// What was read is not what was written.
    #[error("rows on disk are damaged: {0}")]
    #[diagnostic(
        code(eval::temp_files_damaged),
        help("nothing was changed. Run the query again, and check the disk of 'temp_dir'")
    )]
    Damaged(String),
}

impl SpillError {
    /// The error of a system call.
    pub(super) fn of(action: &'static str, folder: &Path, error: &std::io::Error) -> Self {
        let folder = folder.display().to_string();
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => SpillError::Full { folder },
            _ => SpillError::Io { action, folder, message: error.to_string() },
        }
    }
}
