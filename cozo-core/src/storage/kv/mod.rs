//! Storage over any engine that keeps ordered bytes.
//!
//! An engine is a [`KvEngine`]: snapshots with cursors and gets, and batches of changes that are applied as one.
//! [`KvStorage`] makes a [`Storage`](super::Storage) of it, by the encodings of [`codec`](super::codec).
//!
//! # What is where
//! ```text
//! 8 bytes of the relation's number, big-endian, then the key of the row        the value of the row
//! 8 bytes 0, 'd', the name of a relation                                       its definition as JSON
//! 8 bytes 0, 'f'                                                               the version of all this, as text
//! 8 bytes 0, 'l'                                                               the mark of the commit log, as text
//! 8 bytes 0, 'n', 8 bytes of a relation's number                               how many rows it has, as text
//! ```
//!
//! # Numbers of rows
//! They are estimates. A commit looks up a few of the keys that it changes to see how many of them are new, and adds that
//! share of its rows; the next ones add the same share, until a thousandth of the relation has changed. Up to eight rows of
//! a relation of less than a thousand are counted exactly. The numbers are written when they have changed by an
//! eighth and when the database is closed, so that after a sudden end they are about right.
//!
//! # The life of a look-up
//! 1. A prefix is encoded; one with a value that its column cannot hold has no rows.
//! 2. Whole keys are got, several at once; others are sought by a cursor that only moves when it is not there already.
//! 3. The bytes found are decoded into the columns asked for, and no others.
//!
//! # The life of a read as of a time
//! A key ends with its validity, newest first. So the version visible at a time is sought as the history followed by
//! that time, and the end of the history as the history followed by what no validity is. Where histories are short a few
//! steps forward are tried first.

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

use super::StorageError;

/// An engine that keeps byte strings by byte strings, in their order.
pub trait KvEngine: Send + Sync + 'static {
    /// What reads see.
    type Snapshot: KvSnapshot;
    /// What writes are collected in.
    type Batch: KvBatch;

    /// The engine's name, as `DbInstance::new` takes it.
    fn name(&self) -> &'static str;

    /// Where the database is, for errors.
    fn path(&self) -> String;

    /// The contents as of the last write.
    fn snapshot(&self) -> Self::Snapshot;

    /// An empty batch.
    fn batch(&self) -> Self::Batch;

    /// Applies a batch, all or nothing, in the order in which it was filled. Called by one thread at a time.
    fn write(&self, batch: Self::Batch) -> Result<(), StorageError>;

    /// Values of fewer bytes can be [appended](KvEngine::append); 0 if none can.
    fn appendable_bytes(&self) -> usize {
        0
    }

    /// Adds keys with their values, all or nothing. The keys ascend, and between the first and the last of those of a relation
    /// there is nothing yet. Made for many; called by one thread at a time.
    fn append(&self, _keys: &Keys, _values: &Keys) -> Result<(), StorageError> {
        unreachable!("an engine that appends nothing is not asked to")
    }

    /// See [`Storage::max_rows_in_place`](crate::storage::Storage::max_rows_in_place).
    fn max_rows_in_place(&self) -> usize {
        0
    }

    /// Has all that was written in files which need no log.
    fn flush(&self) -> Result<(), StorageError> {
        Ok(())
    }

    /// After a batch that failed, and a later one that did not: makes sure that the failed one does not come back.
    fn settle(&self) -> Result<(), StorageError> {
        Ok(())
    }

    /// What was found wrong when the database was opened, in words.
    fn warnings(&self) -> Vec<String> {
        vec![]
    }

    /// Gives back the space of what was removed or replaced.
    fn compact(&self) -> Result<(), StorageError> {
        Ok(())
    }
}

/// Changes that are applied together.
pub trait KvBatch {
    /// Puts a value.
    fn put(&mut self, key: &[u8], value: &[u8]);

    /// Removes a key; it need not be there.
    fn delete(&mut self, key: &[u8]);

    /// Removes all keys of a range.
    fn delete_range(&mut self, range: &ByteRange);
}

/// The contents at one moment; they never change.
pub trait KvSnapshot: Send + Sync + 'static {
    /// Goes through a range.
    type Cursor<'a>: KvCursor
    where
        Self: 'a;

    /// Calls `found` with each key that is there, by its number, and its value, in the order of the numbers. The keys need
    /// not be sorted.
    fn get_all(&self, keys: &Keys, found: &mut OnFound) -> Result<(), StorageError>;

    /// A cursor over the keys of a range. It stands nowhere until it is moved.
    fn cursor(&self, range: &ByteRange) -> Self::Cursor<'_>;

    /// The last key of a range.
    fn last_key(&self, range: &ByteRange) -> Result<Option<Vec<u8>>, StorageError>;

    /// About how many bytes a range takes; 0 where the engine does not know.
    fn approximate_bytes(&self, _range: &ByteRange) -> u64 {
        0
    }
}

/// What is called with the number and the value of each key that is found.
pub type OnFound<'a> = dyn FnMut(usize, &[u8]) -> Result<(), StorageError> + 'a;

/// A key and its value.
pub type Entry<'a> = (&'a [u8], &'a [u8]);

/// A place in a range of keys, or its end.
pub trait KvCursor {
    /// Moves to the first key of the range that is at or after `key`.
    fn seek(&mut self, key: &[u8]);

    /// Moves to the next key; at the end, nowhere.
    fn next(&mut self);

    /// The key and the value where it stands; `None` at the end of the range.
    fn entry(&self) -> Result<Option<Entry<'_>>, StorageError>;
}
