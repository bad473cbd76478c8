//! What can go wrong with a shared log, and what to do then.

use miette::Diagnostic;
use thiserror::Error;

/// An error of a shared log.
#[derive(Clone, Debug, Error, Diagnostic)]
pub enum LogError {
    /// The log did not answer. No entry was appended; a blob may have been stored or removed.
    #[error("{log} cannot be reached: {why}")]
    #[diagnostic(
        code(shared_log::unreachable),
        help("See whether it runs and the network lets it through, then try again.")
    )]
    Unreachable {
        /// The name of the log.
        log: String,
        /// What was the last failure.
        why: String,
    },
    /// The time was over before the work was done.
    #[error("{log} did not answer in time")]
    #[diagnostic(code(shared_log::timeout), help("Try again, with a longer timeout if the log is far away."))]
    Timeout {
        /// The name of the log.
        log: String,
    },
    /// It is not known whether an entry was appended.
    #[error("entry {number} may or may not have been appended: {why}")]
    #[diagnostic(
        code(shared_log::unknown),
        help("Read that entry when the log answers again: it tells who appended it.")
    )]
    Unknown {
        /// The number of the entry.
        number: u64,
        /// Why that is so.
        why: String,
    },
    /// The entries were removed.
    #[error("the log starts with entry {first}; those before were removed")]
    #[diagnostic(code(shared_log::truncated), help("Load a checkpoint, and read from the entry after it."))]
    Truncated {
        /// The first entry that is kept.
        first: u64,
    },
    /// An entry is not what was appended.
    #[error("entry {number} is damaged: {what}")]
    #[diagnostic(
        code(shared_log::damaged),
        help("Restore the entry from a backup, or start from a checkpoint that is later.")
    )]
    Damaged {
        /// The number of the entry.
        number: u64,
        /// What is wrong.
        what: String,
    },
    /// An append would leave a gap.
    #[error("entry {number} cannot be appended: entry {missing} is missing")]
    #[diagnostic(code(shared_log::gap), help("Append under the number after that of the last entry."))]
    Gap {
        /// The number that was asked for.
        number: u64,
        /// An earlier number that has no entry.
        missing: u64,
    },
    /// The address is wrong.
    #[error("{address} is no address of a shared log: {why}")]
    #[diagnostic(
        code(shared_log::bad_address),
        help("Use directory:/path, file:///path, memory://, s3://bucket/prefix or etcd://host:2379/prefix.")
    )]
    BadAddress {
        /// The address.
        address: String,
        /// What is wrong.
        why: String,
    },
    /// The name of a blob is wrong.
    #[error("{name:?} cannot be the name of a blob")]
    #[diagnostic(
        code(shared_log::bad_name),
        help("Use letters, digits, and . - _ /, and no part that starts with a dot.")
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// The log refuses, and will again.
    #[error("{log}: {why}")]
    #[diagnostic(code(shared_log::failed), help("See to the cause that the message names: space, rights or settings."))]
    Failed {
        /// The name of the log.
        log: String,
        /// What it says.
        why: String,
    },
}
