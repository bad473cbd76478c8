//! Where sealed segments are stored: blobs in parts, and a manifest that lists them.
//!
//! ```text
//! doc:words:segments {segment, part => bytes}
//!   0, 0    manifest: [segment 1 with the deletions 3, segment 2]; the next number is 4
//!   1, 0..  a segment          a number stands for the same bytes for ever, so that
//!   2, 0..  a segment          they can be kept in memory under it
//!   3, 0..  deletions
//! ```

use super::error::SearchIndexError;
use super::segment::Segment;
use crate::budget::make_room;
use crate::schema::{SchemaRef, SearchIndex};
use crate::storage::{ChangeKind, KeyRange, Snapshot};
use crate::txn::Transaction;
use crate::value::{Batch, Column, DataValue};

/// The bytes of a part.
const PART_BYTES: usize = 64 << 10;

/// The parts that are read at once.
const PARTS_READ: usize = 16;

/// The sealed segments of an index.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Manifest {
    /// The number of the last blob.
    last: u64,
    /// The segments, the oldest first.
    pub segments: Vec<SegmentEntry>,
}

/// A sealed segment.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SegmentEntry {
    /// Its blob.
    pub blob: BlobEntry,
    /// Its rows.
    pub docs: u32,
    /// The blob with its rows that have changed since.
    pub deletions: Option<BlobEntry>,
    /// How many of its rows have changed since.
    pub deleted: u32,
}

/// A blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct BlobEntry {
    /// Its number. It is never used again.
    pub number: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

impl Manifest {
    /// The manifest of an index. None if it cannot be read.
    pub fn read(segments: &SchemaRef, snapshot: &dyn Snapshot) -> Result<Option<Manifest>, SearchIndexError> {
        let mut place = [DataValue::Null];
        if !snapshot.get(segments.id, &key(0, 0), &[(2, 0)], &mut place)? {
            return Ok(Some(Manifest::default()));
        }
        Ok(place[0].get_bytes().and_then(|bytes| rmp_serde::from_slice(bytes).ok()))
    }

    /// Writes the manifest.
    pub fn write(&self, segments: &SchemaRef, txn: &mut Transaction) {
        let bytes = rmp_serde::to_vec(self).expect("numbers can be written");
        let row = key(0, 0).into_iter().chain([DataValue::Bytes(bytes)]);
        let columns = row.map(|value| Column::repeat(&value, 1)).collect();
        txn.write_derived(segments, ChangeKind::Put, Batch { columns, len: 1 });
    }

    /// Writes a new segment.
    pub fn add(
        &mut self,
        segment: &Segment,
        segments: &SchemaRef,
        txn: &mut Transaction,
    ) -> Result<BlobEntry, SearchIndexError> {
        let blob = self.write_blob(segments, &segment.to_bytes(), txn)?;
        self.segments.push(SegmentEntry { blob, docs: segment.len() as u32, deletions: None, deleted: 0 });
        Ok(blob)
    }

    /// Writes a new blob.
    pub fn write_blob(
        &mut self,
        segments: &SchemaRef,
        bytes: &[u8],
        txn: &mut Transaction,
    ) -> Result<BlobEntry, SearchIndexError> {
        self.last += 1;
        let blob = BlobEntry { number: self.last, bytes: bytes.len() as u64 };
        make_room(bytes.len())?;
        let parts: Vec<DataValue> = bytes.chunks(PART_BYTES).map(|part| DataValue::Bytes(part.to_vec())).collect();
        let numbers = (0..parts.len() as i64).collect();
        let of_blob = Column::repeat(&DataValue::from(blob.number as i64), parts.len());
        let len = parts.len();
        let columns = vec![of_blob, Column::ints(numbers), Column::Any(parts)];
        txn.write_derived(segments, ChangeKind::Put, Batch { columns, len });
        Ok(blob)
    }
}

/// How much an index holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchStatistics {
    /// The sealed segments.
    pub segments: usize,
    /// Their rows.
    pub sealed: u64,
    /// Those of them that have changed since.
    pub dead: u64,
    /// The rows that changed since they were sealed, or never were.
    pub tail: u64,
    /// The size of the segments.
    pub bytes: u64,
}

impl SearchStatistics {
    /// How much an index of vectors or texts holds.
    pub fn of(index: &SearchIndex, snapshot: &dyn Snapshot) -> Result<Self, SearchIndexError> {
        let [changed, segments] = &index.stored;
        let manifest = Manifest::read(segments, snapshot)?.unwrap_or_default();
        let mut all = SearchStatistics { tail: snapshot.row_count(changed.id), ..Default::default() };
        for entry in &manifest.segments {
            all.segments += 1;
            all.sealed += u64::from(entry.docs);
            all.dead += u64::from(entry.deleted);
            all.bytes += entry.blob.bytes + entry.deletions.map_or(0, |blob| blob.bytes);
        }
        Ok(all)
    }
}

impl BlobEntry {
    /// Reads the blob. None if not all of it is there.
    pub fn read(&self, segments: &SchemaRef, snapshot: &dyn Snapshot) -> Result<Option<Vec<u8>>, SearchIndexError> {
        make_room(self.bytes as usize)?;
        let mut bytes = Vec::with_capacity(self.bytes as usize);
        let range = KeyRange::prefix(vec![DataValue::from(self.number as i64)]);
        let mut cursor = snapshot.scan(segments.id, &range, &[2], None)?;
        while let Some(parts) = cursor.next_batch(PARTS_READ)? {
            for part in 0..parts.len {
                bytes.extend_from_slice(parts.columns[0].get(part).get_bytes().unwrap_or_default());
            }
        }
        Ok((bytes.len() as u64 == self.bytes).then_some(bytes))
    }

    /// Removes the blob.
    pub fn remove(&self, segments: &SchemaRef, txn: &mut Transaction) {
        let parts = (self.bytes as usize).div_ceil(PART_BYTES);
        let of_blob = Column::repeat(&DataValue::from(self.number as i64), parts);
        let columns = vec![of_blob, Column::ints((0..parts as i64).collect())];
        txn.write_derived(segments, ChangeKind::Remove, Batch { columns, len: parts });
    }
}

fn key(segment: i64, part: i64) -> [DataValue; 2] {
    [segment, part].map(DataValue::from)
}
