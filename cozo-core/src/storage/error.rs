//! What can go wrong below the transactions.

/// An engine failed to read or to write.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum StorageError {
    /// The relation was dropped, or never created, in this snapshot: the script's plan is out of date.
    #[error("relation number {0} does not exist in this snapshot")]
    #[diagnostic(code(storage::no_such_relation), help("run the script again"))]
    NoSuchRelation(u64),
}
