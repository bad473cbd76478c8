//! A cache of what is made of a relation's rows: indexes, graphs.
//!
//! An entry is valid for the [contents](ContentVersion) that the relation had when it was made: every change of the rows makes it
//! out of date. The least recently used entries give way when all together exceed the budget.

use super::content_version::ContentVersion;
use crate::schema::RelationId;
use crate::sync::Mutex;

/// The most entries: each look-up goes through all of them.
const MAX_ENTRIES: usize = 64;

/// A value in a cache.
pub trait CachedValue {
    /// About how much memory it takes. A value without memory never gives way to others.
    fn memory_bytes(&self) -> usize;
}

/// Values by the contents of a relation and a key.
pub struct ContentCache<K, V> {
    budget_bytes: usize,
    /// The entries, the most recently used last.
    entries: Mutex<Vec<Entry<K, V>>>,
}

struct Entry<K, V> {
    relation: RelationId,
    contents: ContentVersion,
    key: K,
    value: V,
}

impl<K: PartialEq, V: CachedValue> ContentCache<K, V> {
    /// An empty cache with a budget of bytes.
    pub fn new(budget_bytes: usize) -> Self {
        ContentCache { budget_bytes, entries: Mutex::default() }
    }

    /// The most bytes of all values.
    pub fn budget_bytes(&self) -> usize {
        self.budget_bytes
    }

    /// Reads or changes the value of a key, if it is there for these contents. It becomes the most recently used.
    pub fn with<R>(
        &self,
        (relation, contents): (RelationId, ContentVersion),
        key: &K,
        read: impl FnOnce(&mut V) -> R,
    ) -> Option<R> {
        let mut entries = self.entries.lock();
        let place = entries.iter().position(|entry| entry.relation == relation && entry.key == *key)?;
        entries[place..].rotate_left(1);
        entries.last_mut().filter(|entry| entry.contents == contents).map(|entry| read(&mut entry.value))
    }

    /// Adds a value, in place of the one of this key for any contents.
    pub fn put(&self, (relation, contents): (RelationId, ContentVersion), key: K, value: V) {
        let mut entries = self.entries.lock();
        entries.retain(|entry| entry.relation != relation || entry.key != key);
        if entries.len() >= MAX_ENTRIES {
            entries.remove(0);
        }
        entries.push(Entry { relation, contents, key, value });
    }

    /// Drops all values for other contents of the relation.
    pub fn drop_others(&self, (relation, contents): (RelationId, ContentVersion)) {
        self.entries.lock().retain(|entry| entry.relation != relation || entry.contents == contents);
    }

    /// Lets `shrink` make values smaller, and then drops the least recently used until the rest is within the budget.
    pub fn keep_within_budget(&self, shrink: impl FnMut(&mut V)) {
        let mut entries = self.entries.lock();
        entries.iter_mut().map(|entry| &mut entry.value).for_each(shrink);
        let mut total: usize = entries.iter().map(|entry| entry.value.memory_bytes()).sum();
        entries.retain(|entry| {
            let bytes = entry.value.memory_bytes();
            let stays = total <= self.budget_bytes || bytes == 0;
            total -= if stays { 0 } else { bytes };
            stays
        });
    }
}
