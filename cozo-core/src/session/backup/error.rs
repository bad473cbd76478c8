//! Errors of backups.

use crate::budget::Stop;
use crate::storage::StorageError;
use crate::txn::TxnError;

/// A backup cannot be made or read.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum BackupError {
    /// The file exists already.
    #[error("'{path}' exists already: {found}")]
    #[diagnostic(code(backup::target_exists), help("give the path of a new file; the existing one was left as it is"))]
    TargetExists {
        /// The path.
        path: String,
        /// What exists there.
        found: String,
    },
    /// The file does not exist.
    #[error("there is no file '{path}'")]
    #[diagnostic(code(backup::no_such_file), help("give the path of a backup"))]
    NoSuchFile {
        /// The path.
        path: String,
    },
    /// The backup lacks a relation that is to be imported.
    #[error("the backup has no relation '{relation}'")]
    #[diagnostic(code(backup::no_such_relation), help("it has: {known}"))]
    NotInBackup {
        /// The relation.
        relation: String,
        /// The relations that it has.
        known: String,
    },
    /// The target relation of an import has an index.
    #[error("cannot import into '{relation}', which has the index '{index}'")]
    #[diagnostic(
        code(tx::bare_import_with_indices),
        help("drop the index, import, and create it again; or use 'import_relations', which keeps indices in step")
    )]
    Indexed {
        /// The relation.
        relation: String,
        /// One of its indices.
        index: String,
    },
    /// The file system returned an error.
    #[error("could not {action} '{path}': {message}")]
    #[diagnostic(code(backup::file), help("see that the folder exists, that there is space, and the right to write"))]
    File {
        /// The action that failed.
        action: &'static str,
        /// The path.
        path: String,
        /// The system's message.
        message: String,
    },
    /// The backup or the restore was stopped.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Stopped(#[from] Stop),
    /// The file's engine failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Storage(#[from] StorageError),
    /// The database failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Txn(#[from] TxnError),
}
