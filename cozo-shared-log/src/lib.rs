//! A log that the processes of a cluster share. Each process keeps a replica and appends groups of transactions here.
//!
//! ```text
//! SharedLog (trait) <- Log: frames, lost answers, large entries, bounds
//!                       |
//!                     Medium (trait): files or keys by number, blobs by name
//!                       |          |            |
//!                   Directory   ObjectStore    Etcd        Faulty wraps any of them, in tests
//! ```
//!
//! The medium decides who has a number: it creates a file or key only if there is none. [`Log`](log::Log) does the rest once
//! for all media.

mod address;
mod directory;
mod error;
#[cfg(feature = "etcd")]
mod etcd;
#[cfg(feature = "etcd")]
mod etcd_client;
mod frame;
mod large;
mod log;
pub mod medium;
#[cfg(feature = "object-store")]
mod object_store;
#[cfg(feature = "testing")]
pub mod testing;

use std::{fmt::Debug, io::Read, time::Duration};

pub use address::{Options, open, open_medium};
pub use error::LogError;
pub use log::Log;

/// How an append ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// The entry is in the log under its number, and durable.
    Done,
    /// Another append has that number. Read it, and append at the next one.
    Taken,
}

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 1.
    pub number: u64,
    /// What was appended.
    pub bytes: Vec<u8>,
}

/// Which entries are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The number of the first entry that is kept; `last + 1` if there is none.
    pub first: u64,
    /// The number of the last entry; `first - 1` if there is none.
    pub last: u64,
}

/// A log that many processes append to and read.
///
/// All methods block, and all may be called by many threads and processes at once. A timeout bounds the whole call,
/// except that a request to a local file system is never broken off.
pub trait SharedLog: Send + Sync + Debug {
    /// What the log is, for messages: `directory /path`, `etcd://...`.
    fn name(&self) -> String;

    /// Appends an entry under a number, which is one more than the last.
    ///
    /// Of all appends of a number exactly one is [`Appended::Done`]; its entry is durable and never changes. After
    /// [`LogError::Unknown`] the entry may or may not be there. A number beyond the next one is [`LogError::Gap`].
    fn append(&self, number: u64, entry: &[u8], timeout: Duration) -> Result<Appended, LogError>;

    /// Entries from a number on, in order without a gap: about `most_bytes` of them, and at least one if there is one.
    ///
    /// [`LogError::Truncated`] if the first of them was removed, [`LogError::Damaged`] if a checksum is wrong.
    fn read(&self, from: u64, most_bytes: usize, timeout: Duration) -> Result<Vec<Entry>, LogError>;

    /// Which entries are kept.
    fn bounds(&self, timeout: Duration) -> Result<Bounds, LogError>;

    /// Returns the number of the last entry: at once if it is beyond `last`, otherwise when it is, or after the timeout.
    fn wait(&self, last: u64, timeout: Duration) -> Result<u64, LogError>;

    /// Removes entries before `first`, at most all there are. Reads of them then fail with [`LogError::Truncated`].
    fn truncate(&self, first: u64, timeout: Duration) -> Result<(), LogError>;

    /// Stores a blob under a name: whole or not at all. It replaces what has that name.
    ///
    /// Names consist of letters, digits, and `.`, `-`, `_`, `/`.
    fn put_blob(&self, name: &str, content: &mut dyn Read, timeout: Duration) -> Result<(), LogError>;

    /// The content of a blob, if there is one. The timeout bounds the opening, and then each read.
    fn get_blob(&self, name: &str, timeout: Duration) -> Result<Option<Box<dyn Read + Send>>, LogError>;

    /// The sorted names of the blobs that start with a prefix.
    fn list_blobs(&self, prefix: &str, timeout: Duration) -> Result<Vec<String>, LogError>;

    /// Removes a blob; it is no error if there is none.
    fn remove_blob(&self, name: &str, timeout: Duration) -> Result<(), LogError>;
}
