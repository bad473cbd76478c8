//! Keys as bytes: the keys of a relation's rows, ranges of keys, and lists of keys.

use crate::schema::RelationId;
use crate::storage::codec::{RowCodec, increment};
use crate::storage::error::StorageError;
use crate::storage::range::KeyRange;

/// The number of bytes of a relation's number. All keys of its rows begin with it.
pub const RELATION_BYTES: usize = 8;

/// The prefix of the keys of a relation.
pub(super) fn relation_prefix(relation: RelationId) -> [u8; RELATION_BYTES] {
    relation.0.to_be_bytes()
}

/// A range of keys as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// The first key that may be in the range.
    pub lower: Vec<u8>,
    /// The first key after the range.
    pub upper: Vec<u8>,
}

impl ByteRange {
    /// All keys that begin with some bytes.
    pub fn of_prefix(prefix: &[u8]) -> Self {
        let mut upper = prefix.to_vec();
        increment(&mut upper);
        ByteRange { lower: prefix.to_vec(), upper }
    }

    /// Every key.
    pub(super) fn all() -> Self {
        ByteRange { lower: vec![], upper: vec![u8::MAX; RELATION_BYTES + 1] }
    }

    /// All rows of a relation.
    pub(super) fn of_relation(relation: RelationId) -> Self {
        ByteRange::of_prefix(&relation_prefix(relation))
    }

    /// A range of rows; none if no row can be in it.
    pub(super) fn of_rows(
        relation: RelationId,
        codec: &RowCodec,
        range: &KeyRange,
    ) -> Result<Option<Self>, StorageError> {
        let mut lower = relation_prefix(relation).to_vec();
        if !codec.write_prefix_values(&range.prefix, &mut lower)? {
            return Ok(None);
        }
        let mut upper = lower.clone();
        match &range.upper {
            Some(bound) => codec.write_bound(range.prefix.len(), bound, &mut upper)?,
            None => increment(&mut upper),
        }
        if let Some(bound) = &range.lower {
            codec.write_bound(range.prefix.len(), bound, &mut lower)?;
        }
        Ok((lower < upper).then_some(ByteRange { lower, upper }))
    }
}

/// A list of keys in one buffer.
#[derive(Debug, Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    /// The number of keys.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A key by its number.
    pub fn get(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.bytes[start..self.ends[number]]
    }

    /// All keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        (0..self.len()).map(|number| self.get(number))
    }

    /// Whether the keys ascend.
    pub fn are_sorted(&self) -> bool {
        self.iter().is_sorted()
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Appends the key that `write` writes to the buffer, unless `write` returns `false`.
    pub fn push_with(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<bool, StorageError>,
    ) -> Result<bool, StorageError> {
        let start = self.bytes.len();
        let written = write(&mut self.bytes)?;
        if written {
            self.ends.push(self.bytes.len());
        } else {
            self.bytes.truncate(start);
        }
        Ok(written)
    }
}
