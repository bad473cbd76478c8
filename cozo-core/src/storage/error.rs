//! Errors of the storage engines.

/// An engine failed to open, to read or to write.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum StorageError {
    /// The relation was dropped, or never created, in this snapshot: the script's plan is out of date.
    #[error("relation number {0} does not exist in this snapshot")]
    #[diagnostic(code(storage::no_such_relation), help("run the script again"))]
    NoSuchRelation(u64),
    /// No engine has this name, or it is not in this build.
    #[error("there is no storage engine '{name}'")]
    #[diagnostic(code(db::unknown_engine), help("the engines here are: {known}"))]
    UnknownEngine {
        /// The requested name.
        name: String,
        /// The engines of this build.
        known: String,
    },
    /// The text of the options is not a JSON object, or has an unknown key or a value of the wrong type.
    #[error("bad database options: {0}")]
    #[diagnostic(
        code(db::bad_options),
        help("options are a JSON object, such as {{\"durability\": \"disk\", \"cache_mb\": 100}}")
    )]
    BadOptions(String),
    /// Another process, or another handle of this one, has the database open for writing.
    #[error("the database '{0}' is in use")]
    #[diagnostic(
        code(storage::locked),
        help(
            "a database is open in one place at a time: close the other one, share its handle, or open with \"read_only\": true"
        )
    )]
    Locked(String),
    /// The engine has threads. They do not exist in a forked process, and the engine cannot restart them there.
    #[error("the engine '{0}' was used by the process that this one was forked from, and cannot be used here")]
    #[diagnostic(
        code(db::forked),
        help(
            "its threads stay in that process: open the database in a process that is started afresh, in Python by multiprocessing.set_start_method(\"spawn\"), or fork before the first database of this engine is opened"
        )
    )]
    ForkedEngine(&'static str),
    /// The system cannot start the threads that an engine needs.
    #[error("the system gives no {wanted} threads for the engine '{engine}': {message}")]
    #[diagnostic(
        code(storage::no_threads),
        help(
            "end other programs, raise the limits of threads and memory (ulimit -u, ulimit -v), or use the engine sqlite"
        )
    )]
    NoThreads {
        /// The engine.
        engine: &'static str,
        /// The number of threads needed.
        wanted: usize,
        /// The system's message.
        message: String,
    },
    /// The path holds something else.
    #[error("'{path}' is not a database of this engine: {found}")]
    #[diagnostic(code(storage::not_a_database))]
    NotADatabase {
        /// The path.
        path: String,
        /// What was found there.
        found: String,
        /// What to do.
        #[help]
        help: String,
    },
    /// The database was written by a newer version of this program.
    #[error("'{path}' has format version {found}, and this program knows versions up to {known}")]
    #[diagnostic(
        code(storage::newer_format),
        help("open it with a newer version of this program; nothing was changed")
    )]
    NewerFormat {
        /// The path.
        path: String,
        /// The format version of the database.
        found: u64,
        /// The version that this program writes.
        known: u64,
    },
    /// The stored bytes are invalid: the disk or another program damaged them.
    #[error("the stored data is damaged: {0}")]
    #[diagnostic(code(storage::damaged), help("restore a backup; `cozo check` lists what is damaged"))]
    Damaged(String),
    /// The rows of a query, which exceed its memory, could not be read again from its temporary file.
    #[error("the rows to write could not be read: {0}")]
    #[diagnostic(
        code(storage::source),
        help("nothing was changed; run the script again, and check the disk of 'temp_dir'")
    )]
    Source(String),
    /// A value cannot be stored on disk.
    #[error("a value cannot be stored: {0}")]
    #[diagnostic(code(storage::unstorable), help("store it in parts, or as text"))]
    Unstorable(String),
    /// A relation exceeds a limit of the engine.
    #[error("{engine} cannot hold the relation '{relation}': {reason}")]
    #[diagnostic(code(storage::cannot_hold), help("divide the relation, or use another engine"))]
    CannotHold {
        /// The engine.
        engine: &'static str,
        /// The relation.
        relation: String,
        /// The limit that it exceeds.
        reason: String,
    },
    /// The database was opened for reading only.
    #[error("the database was opened for reading only")]
    #[diagnostic(code(storage::read_only), help("open it without \"read_only\": true to write"))]
    ReadOnly,
    /// The engine failed, for instance because the disk is full.
    #[error("{engine} could not {action}: {message}")]
    #[diagnostic(
        code(storage::engine),
        help("nothing of what failed was kept; see that there is space, and the right to write")
    )]
    Engine {
        /// The engine.
        engine: &'static str,
        /// The action that failed.
        action: &'static str,
        /// The engine's message.
        message: String,
    },
    /// A write or a sync failed during a commit. Whether the disk holds the commit is unknown until the next opening.
    #[error("it is not known whether the commit was kept: {0}")]
    #[diagnostic(
        code(storage::unknown_outcome),
        help(
            "close the database, open it again, and look: the commit is there as a whole or not at all; until then nothing is written"
        )
    )]
    UnknownOutcome(String),
    /// An earlier commit ended with [`StorageError::UnknownOutcome`].
    #[error("nothing was written, since it is not known whether an earlier commit was kept: {0}")]
    #[diagnostic(
        code(storage::in_doubt),
        help("see that there is space, and the right to write; if it goes on, close the database and open it again")
    )]
    InDoubt(String),
}

impl StorageError {
    /// Whether the engine failed during an operation, as opposed to refusing it beforehand.
    pub fn is_of_engine(&self) -> bool {
        matches!(self, StorageError::Engine { .. } | StorageError::Damaged(_))
    }
}
