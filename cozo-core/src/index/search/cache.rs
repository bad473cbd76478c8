//! The cache of sealed segments, which all transactions share.
//!
//! A number stands for the same segment for ever, so an entry is always valid. The least recently used give way when all together exceed the
//! budget. A search whose segments are not in the cache reads them.

use std::sync::Arc;

use super::segment::Segment;
use crate::schema::RelationId;
use crate::sync::Mutex;

/// Sealed segments by the relation that has them and their number.
pub struct SegmentCache {
    /// The most bytes of all segments.
    pub budget_bytes: usize,
    /// The least recently used first.
    segments: Mutex<Vec<(SegmentKey, Arc<Segment>)>>,
}

/// The relation that has a segment, and its number.
type SegmentKey = (RelationId, u64);

impl SegmentCache {
    /// An empty cache with a budget of bytes.
    pub fn new(budget_bytes: usize) -> Self {
        SegmentCache { budget_bytes, segments: Mutex::default() }
    }

    /// A segment.
    pub fn get(&self, relation: RelationId, number: u64) -> Option<Arc<Segment>> {
        find(&mut self.segments.lock(), &(relation, number))
    }

    /// Keeps a segment that is stored, or will be if its transaction commits.
    pub fn keep(&self, relation: RelationId, number: u64, segment: &Arc<Segment>) {
        let mut segments = self.segments.lock();
        segments.retain(|(key, _)| *key != (relation, number));
        segments.push(((relation, number), segment.clone()));
        let mut total: usize = segments.iter().map(|(_, segment)| segment.memory_bytes()).sum();
        segments.retain(|(_, segment)| {
            let stays = total <= self.budget_bytes;
            total -= if stays { 0 } else { segment.memory_bytes() };
            stays
        });
    }

    /// Forgets the segments of an index, but for those with these numbers.
    pub fn keep_only(&self, relation: RelationId, numbers: &[u64]) {
        let stays = |(of, number): &SegmentKey| *of != relation || numbers.contains(number);
        self.segments.lock().retain(|(key, _)| stays(key));
    }
}

/// The value of a key, which becomes the most recently used.
pub fn find<K: PartialEq, V: Clone>(entries: &mut [(K, V)], key: &K) -> Option<V> {
    let place = entries.iter().position(|(known, _)| known == key)?;
    entries[place..].rotate_left(1);
    entries.last().map(|(_, value)| value.clone())
}
