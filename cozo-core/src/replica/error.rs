//! Errors of replicas.

use cozo_shared_log::LogError;

use crate::storage::StorageError;

/// A replica cannot start, or cannot go on.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum ReplicaError {
    /// The shared log failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Log(#[from] LogError),
    /// The replica's engine failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Storage(#[from] StorageError),
    /// An entry of the log was written by a newer version.
    #[error("entry {number} of the shared log has the format {found}, and this version knows {known}")]
    #[diagnostic(code(replica::newer_format), help("update this program; the replica stays as it is"))]
    NewerFormat {
        /// The number of the entry.
        number: u64,
        /// Its format.
        found: u8,
        /// The format of this version.
        known: u8,
    },
    /// An entry of the log cannot be read.
    #[error("entry {number} of the shared log is damaged: {what}")]
    #[diagnostic(
        code(replica::damaged_entry),
        help("the replica stays at the entry before; a checkpoint after the entry would let it go on")
    )]
    DamagedEntry {
        /// The number of the entry.
        number: u64,
        /// What is wrong.
        what: String,
    },
    /// The file is a replica of another log.
    #[error("the database is a replica of another log than {log}: {why}")]
    #[diagnostic(
        code(replica::other_log),
        help("open it with its own log, or choose an empty path; nothing was changed")
    )]
    OtherLog {
        /// The log that was asked for.
        log: String,
        /// The difference.
        why: String,
    },
    /// The database has relations of its own, and so has the log.
    #[error("the database has relations, such as '{relation}', that are not of the shared log {log}")]
    #[diagnostic(
        code(replica::not_a_replica),
        help("choose an empty path for the replica, and export what the database has; nothing was changed")
    )]
    NotAReplica {
        /// A relation.
        relation: String,
        /// The log.
        log: String,
    },
    /// A replica is opened as an ordinary database.
    #[error("the database is a replica of a shared log")]
    #[diagnostic(
        code(replica::needs_log),
        help(
            "open it with the option 'shared', or with \"read_only\": true; written alone, it would differ from all others"
        )
    )]
    NeedsLog,
    /// Entries that the replica lacks were removed, and no checkpoint has them.
    #[error("the replica has entries up to {applied}, but the log begins with {first}, and no checkpoint lies between")]
    #[diagnostic(
        code(replica::no_checkpoint),
        help("make a checkpoint where a replica is up to date, then open this one again")
    )]
    NoCheckpoint {
        /// The last entry applied.
        applied: u64,
        /// The first entry that is kept.
        first: u64,
    },
    /// A replica that is in use was left behind by a truncation of the log.
    #[error("the replica has entries up to {applied}, but the log begins with {first}")]
    #[diagnostic(code(replica::left_behind), help("open the database again: it then begins with a checkpoint"))]
    LeftBehind {
        /// The last entry applied.
        applied: u64,
        /// The first entry that is kept.
        first: u64,
    },
    /// The commit is in the log, but the replica could not store it.
    #[error("the transaction is committed, but the replica could not store it: {0}")]
    #[diagnostic(
        code(replica::behind),
        help("do not run the script again: the replica reads it from the log when the cause is mended")
    )]
    Behind(String),
    /// Other processes appended first, again and again.
    #[error("other processes were first for {seconds:.1} seconds; nothing was written")]
    #[diagnostic(
        code(replica::overtaken),
        help(
            "run the script again; fewer and larger transactions of the others leave it more room, or raise 'shared_timeout'"
        )
    )]
    Overtaken {
        /// How long it was tried.
        seconds: f64,
    },
    /// A database to restore into has relations.
    #[error("the database has the relation '{relation}'")]
    #[diagnostic(code(replica::not_empty), help("restore into a new database; nothing was changed"))]
    NotEmpty {
        /// One of its relations.
        relation: String,
    },
    /// The log has no entry at a point in time.
    #[error("the log has entries {first} to {last}, and none of them is at that point")]
    #[diagnostic(code(replica::beyond_log), help("`cozo log` shows the entries with their times"))]
    BeyondLog {
        /// The first entry that is kept.
        first: u64,
        /// The last entry.
        last: u64,
    },
    /// A checkpoint is not what was stored.
    #[error("the checkpoint of entry {number} of the shared log is damaged")]
    #[diagnostic(
        code(replica::damaged_checkpoint),
        help("make another one where a replica is up to date; nothing was changed")
    )]
    DamagedCheckpoint {
        /// The number of the entry.
        number: u64,
    },
    /// The state at a position cannot be made anew.
    #[error("the database as it was before entry {asked} cannot be rebuilt in {folder}: {why}")]
    #[diagnostic(
        code(replica::cannot_rebuild),
        help("free some disk there, or open the database with the option 'temp_dir'; nothing was changed")
    )]
    CannotRebuild {
        /// The entry whose changes are asked for.
        asked: u64,
        /// The folder.
        folder: String,
        /// The reason.
        why: String,
    },
    /// Changes are asked for whose entry was removed.
    #[error("the changes of entry {asked} are no longer in the shared log, which begins with entry {first}")]
    #[diagnostic(
        code(replica::changes_gone),
        help("read the relation as it is, and ask for the changes from now on, without a position")
    )]
    ChangesGone {
        /// The first entry asked for.
        asked: u64,
        /// The first entry that is kept.
        first: u64,
    },
    /// Changes are asked for after an entry that is not there yet.
    #[error("the changes after entry {asked} are asked for, but the shared log ends with entry {last}")]
    #[diagnostic(
        code(replica::changes_ahead),
        help("a position is valid for the log that it is from; ask without a position for the changes from now on")
    )]
    ChangesAhead {
        /// The entry asked for.
        asked: u64,
        /// The last entry.
        last: u64,
    },
    /// A text is no position among changes.
    #[error("'{0}' is no position among the changes of a shared log")]
    #[diagnostic(code(replica::bad_position), help("a position comes with each change, such as '17.1'"))]
    BadPosition(String),
    /// Changes are asked for after they have ended.
    #[error("the changes have ended: there was an error, or the database was closed")]
    #[diagnostic(
        code(replica::changes_ended),
        help("ask for the changes after the last position; open the database again if need be")
    )]
    ChangesEnded,
    /// The database has no shared log.
    #[error("the database has no shared log")]
    #[diagnostic(code(replica::no_log), help("open it with the option 'shared'"))]
    NoLog,
    /// Entries can only be removed up to a checkpoint.
    #[error("there is no checkpoint of entry {asked} or a later one; the newest is of entry {newest}")]
    #[diagnostic(code(replica::no_such_checkpoint), help("make a checkpoint first; nothing was removed"))]
    NoSuchCheckpoint {
        /// The entry asked for.
        asked: u64,
        /// The entry of the newest checkpoint; 0 if there is none.
        newest: u64,
    },
    /// The system starts no thread that follows the log.
    #[error("the thread that follows the shared log cannot start: {0}")]
    #[diagnostic(code(replica::no_thread), help("let the process have more threads, then open the database again"))]
    NoThread(String),
    /// What only a database of one process can do.
    #[error("a database with a shared log cannot {0}")]
    #[diagnostic(code(replica::unsupported), help("{1}"))]
    Unsupported(&'static str, &'static str),
}

impl ReplicaError {
    /// A file of a checkpoint cannot be written or read.
    pub fn file(error: std::io::Error) -> Self {
        ReplicaError::Storage(StorageError::Engine {
            engine: "the replica",
            action: "write or read a checkpoint",
            message: error.to_string(),
        })
    }

    /// Whether the same may succeed later, without a change to the log or to the replica.
    pub fn may_pass(&self) -> bool {
        use LogError::{Timeout, Unknown, Unreachable};
        matches!(
            self,
            ReplicaError::Log(Unreachable { .. } | Timeout { .. } | Unknown { .. }) | ReplicaError::Storage(_)
        )
    }

    /// Whether it is not known if the transaction was committed, or known that it was.
    pub fn may_be_committed(&self) -> bool {
        matches!(self, ReplicaError::Log(LogError::Unknown { .. }) | ReplicaError::Behind(_))
    }
}
