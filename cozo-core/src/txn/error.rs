//! Why a transaction cannot go on or commit.

use crate::replica::ReplicaError;
use crate::storage::StorageError;

/// A transaction failed.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum TxnError {
    /// Another transaction changed a key that this one wrote or ensured, after this one began: run it again.
    #[error("the transaction conflicts with another that committed first")]
    #[diagnostic(code(transact::conflict), help("nothing was written; run the script again"))]
    Conflict,
    /// Another transaction created, dropped or changed a relation that this one uses: run it again.
    #[error("the relation '{0}' was changed by another transaction")]
    #[diagnostic(code(transact::schema_conflict), help("nothing was written; run the script again"))]
    SchemaConflict(String),
    /// A backup is restored into a database that has relations.
    #[error("the database is not empty: it has the relation '{0}'")]
    #[diagnostic(
        code(backup::not_empty),
        help("restore into a new database, or import single relations from the backup; nothing was changed")
    )]
    NotEmpty(String),
    /// A relation that is to be created and filled has the name of another.
    #[error("there is a relation '{0}' already")]
    #[diagnostic(
        code(eval::rel_name_conflict),
        help("'::rename {0} -> ...' gives it another name, '::remove {0}' removes it; nothing was changed")
    )]
    NameTaken(String),
    /// The engine failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Storage(#[from] StorageError),
    /// The shared log failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Replica(#[from] ReplicaError),
}

impl TxnError {
    /// Whether it is not known if the transaction was committed.
    pub fn is_unknown_outcome(&self) -> bool {
        match self {
            TxnError::Storage(StorageError::UnknownOutcome(_)) => true,
            TxnError::Replica(error) => error.may_be_committed(),
            _ => false,
        }
    }
}
