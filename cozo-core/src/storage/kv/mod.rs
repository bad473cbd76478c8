//! Storage over any engine of ordered bytes.
//!
//! An engine is a [`KvEngine`]. Its [`KvSnapshot`] has gets and [cursors](KvCursor), and its [`KvBatch`] collects changes that
//! are applied as one. [`KvStorage`] makes a [`Storage`](super::Storage) of it, by the encodings of [`codec`](super::codec).
//! A [`KvView`] is a snapshot of the relations: the engine's snapshot, and the codec and row count of each relation.
//!
//! ```text
//!  KvStorage::commit ──> Writer: change sets become one KvBatch ──> KvEngine::write ──> the next KvView is published
//!  KvView::scan, lookup ──> KvCursor or get_all ──> RowReader: bytes become columns
//! ```
//!
//! # Keys and values
//! ```text
//! 8 bytes of the relation's number, big-endian, then the key of the row        the value of the row
//! 8 bytes 0, 'd', the name of a relation                                       its definition as JSON
//! 8 bytes 0, 'f'                                                               the version of this format, as text
//! 8 bytes 0, 'l'                                                               the mark of the commit log, as text
//! 8 bytes 0, 'n', 8 bytes of a relation's number                               its number of rows, as text
//! ```
//! Invariant: the order of the keys' bytes is the order of the rows.
//!
//! # Numbers of rows
//! They are estimates. A commit looks up a few of the keys that it changes to see how many are new, and adds that share of its
//! rows. Later commits add the same share until a thousandth of the relation has changed. In a relation of less than a thousand
//! rows, commits of up to eight rows are counted exactly. The numbers are written when they have changed by an eighth and when
//! the database closes. So after a crash they are about right.
//!
//! # The life of a look-up
//! 1. A prefix is encoded. One with a value that its column cannot hold has no rows.
//! 2. Whole keys are read by gets, several at once. Other prefixes are sought by a cursor, which moves only if it is not there
//!    already.
//! 3. The bytes found are decoded into the requested columns only.
//!
//! # The life of a read as of a time
//! A key ends with its validity, newest first. So the version visible at a time is found by seeking the history followed by that
//! time. The end of the history is found by seeking the history followed by bytes above every validity. A few steps forward are
//! tried first, since most histories are short.

mod as_of;
mod catalog;
mod keys;
mod lookup;
mod partition;
mod scan;
mod snapshot;
mod storage;
#[cfg(test)]
mod tests;
mod write;

pub use catalog::FORMAT_VERSION;
pub use keys::{ByteRange, Keys, RELATION_BYTES};
pub use snapshot::KvView;
pub use storage::KvStorage;

use super::error::StorageError;

/// An engine that maps byte strings to byte strings, in the order of the keys.
pub trait KvEngine: Send + Sync + 'static {
    /// The contents at one moment.
    type Snapshot: KvSnapshot;
    /// A collection of changes.
    type Batch: KvBatch + Default;

    /// The traits of the engine, which never change.
    fn traits(&self) -> KvTraits;

    /// The path of the database, for errors.
    fn path(&self) -> String;

    /// The problems found when the database was opened, in words.
    fn warnings(&self) -> Vec<String> {
        vec![]
    }

    /// The contents after the last write.
    fn snapshot(&self) -> Self::Snapshot;

    /// Applies a batch, all or nothing, in the order in which it was filled. Called by one thread at a time.
    fn write(&self, batch: Self::Batch) -> Result<(), StorageError>;

    /// Adds keys with their values, all or nothing. The keys ascend, and the engine has no key yet between the first and the last
    /// key of a relation. It is meant for many keys. Called by one thread at a time.
    fn append(&self, _keys: &Keys, _values: &Keys) -> Result<(), StorageError> {
        unreachable!("an engine that appends nothing is not asked to")
    }

    /// Flushes all writes to files that need no log.
    fn flush(&self) -> Result<(), StorageError> {
        Ok(())
    }

    /// Called after a failed batch and a later successful one: makes sure that the failed one does not come back.
    fn settle(&self) -> Result<(), StorageError> {
        Ok(())
    }

    /// Gives back the space of removed and replaced values.
    fn compact(&self) -> Result<(), StorageError> {
        Ok(())
    }
}

/// The traits of an engine of ordered bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct KvTraits {
    /// The engine's name, as `DbInstance::new` takes it.
    pub name: &'static str,
    /// Values shorter than this number of bytes can be [appended](KvEngine::append); 0 if none can.
    pub appendable_bytes: usize,
    /// See [`EngineTraits::max_rows_in_place`](crate::storage::EngineTraits::max_rows_in_place).
    pub max_rows_in_place: usize,
}

/// Changes that are applied together.
pub trait KvBatch {
    /// Puts a value.
    fn put(&mut self, key: &[u8], value: &[u8]);

    /// Removes a key, if it exists.
    fn delete(&mut self, key: &[u8]);

    /// Removes all keys of a range.
    fn delete_range(&mut self, range: &ByteRange);
}

/// The contents at one moment. They never change.
pub trait KvSnapshot: Send + Sync + 'static {
    /// A cursor over a range.
    type Cursor<'a>: KvCursor
    where
        Self: 'a;

    /// Calls `found` with the number and the value of each key that exists, in the order of the numbers. The keys need not be
    /// sorted.
    fn get_all(&self, keys: &Keys, found: &mut OnFound) -> Result<(), StorageError>;

    /// A cursor over the keys of a range. It has no position until it is moved.
    fn cursor(&self, range: &ByteRange) -> Self::Cursor<'_>;

    /// The last key of a range.
    fn last_key(&self, range: &ByteRange) -> Result<Option<Vec<u8>>, StorageError>;

    /// The approximate size of a range in bytes; 0 if the engine does not know.
    fn approximate_bytes(&self, _range: &ByteRange) -> u64 {
        0
    }
}

/// A callback for the number and the value of each key that is found.
pub type OnFound<'a> = dyn FnMut(usize, &[u8]) -> Result<(), StorageError> + 'a;

/// A key and its value.
pub type Entry<'a> = (&'a [u8], &'a [u8]);

/// A position in a range of keys, or its end.
pub trait KvCursor {
    /// Moves to the first key of the range at or after `key`.
    fn seek(&mut self, key: &[u8]);

    /// Moves to the next key. At the end it does nothing.
    fn next(&mut self);

    /// The key and the value at the position; `None` at the end of the range.
    fn entry(&self) -> Result<Option<Entry<'_>>, StorageError>;
}
