//! What an engine of ordered bytes does.

use super::keys::{ByteRange, Keys};
use crate::storage::error::StorageError;

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

    /// Adds keys with their values, all or nothing: nothing if a value cannot be appended; returns whether it did. The keys ascend, and
    /// the engine has no key yet between the first and the last key of a relation. It is meant for many keys. Called by one thread at a
    /// time.
    fn append(&self, _pairs: &mut dyn KvPairs) -> Result<bool, StorageError> {
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

/// Keys with their values, one after the other.
pub trait KvPairs {
    /// Replaces the buffers by the next key and its value; returns whether there was one.
    fn next(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<bool, StorageError>;
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
