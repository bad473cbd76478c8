//! Where sealed segments are stored: blobs in parts, and a manifest that lists them.
//!
//! ```text
//! doc:words:segments {segment, part => bytes}
//!   0, 0    manifest: [segment 1 with the deletions 3, segment 2]; the next number is 4
//!   1, 0..  a segment          a number stands for the same bytes for ever, so that
//!   2, 0..  a segment          they can be kept in memory under it
//!   3, 0..  deletions
//! ```
//!
//! All bytes have checksums, since not every engine has them, and a search would not notice a wrong number in a segment. What is damaged
//! counts as unreadable.

use super::error::SearchIndexError;
use super::segment::Segment;
use crate::budget::make_room;
use crate::schema::{SchemaRef, SearchIndex};
use crate::storage::{ChangeKind, KeyRange, Snapshot, StorageError};
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
    /// The CRC-32 of its bytes.
    checksum: u32,
}

impl Manifest {
    /// The manifest of an index that is ready. None if it is missing or cannot be read.
    pub fn read(segments: &SchemaRef, snapshot: &dyn Snapshot) -> Result<Option<Manifest>, SearchIndexError> {
        let mut place = [DataValue::Null];
        let found = unless_damaged(snapshot.get(segments.id, &key(0, 0), &[(2, 0)], &mut place))?;
        Ok(found.filter(|is_there| *is_there).and_then(|_| Manifest::from_bytes(place[0].get_bytes()?)))
    }

    /// A manifest of bytes that begin with their checksum.
    fn from_bytes(bytes: &[u8]) -> Option<Manifest> {
        let (checksum, bytes) = bytes.split_first_chunk::<4>()?;
        let is_whole = crc32fast::hash(bytes) == u32::from_le_bytes(*checksum);
        is_whole.then(|| rmp_serde::from_slice(bytes).ok()).flatten()
    }

    /// A new manifest in place of one that cannot be read. Removes the parts of all blobs, which have these keys, and uses their
    /// numbers no more.
    pub fn cleared(segments: &SchemaRef, parts: Batch, txn: &mut Transaction) -> Manifest {
        let last = (0..parts.len).filter_map(|row| parts.columns[0].get(row).get_int()).max().unwrap_or(0);
        txn.write_derived(segments, ChangeKind::Remove, parts);
        Manifest { last: u64::try_from(last).unwrap_or(0), segments: vec![] }
    }

    /// Writes the manifest.
    pub fn write(&self, segments: &SchemaRef, txn: &mut Transaction) {
        let numbers = rmp_serde::to_vec(self).expect("numbers can be written");
        let mut bytes = crc32fast::hash(&numbers).to_le_bytes().to_vec();
        bytes.extend_from_slice(&numbers);
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
        let blob = BlobEntry { number: self.last, bytes: bytes.len() as u64, checksum: crc32fast::hash(bytes) };
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
    /// Reads the blob. None if not all of it is there, or other bytes are.
    pub fn read(&self, segments: &SchemaRef, snapshot: &dyn Snapshot) -> Result<Option<Vec<u8>>, SearchIndexError> {
        make_room(self.bytes as usize)?;
        let mut bytes = Vec::with_capacity(self.bytes as usize);
        let range = KeyRange::prefix(vec![DataValue::from(self.number as i64)]);
        let Some(mut cursor) = unless_damaged(snapshot.scan(segments.id, &range, &[2], None))? else { return Ok(None) };
        loop {
            let Some(parts) = unless_damaged(cursor.next_batch(PARTS_READ))? else { return Ok(None) };
            let Some(parts) = parts else { break };
            for part in 0..parts.len {
                bytes.extend_from_slice(parts.columns[0].get(part).get_bytes().unwrap_or_default());
            }
        }
        let is_whole = bytes.len() as u64 == self.bytes && crc32fast::hash(&bytes) == self.checksum;
        Ok(is_whole.then_some(bytes))
    }

    /// Removes the blob.
    pub fn remove(&self, segments: &SchemaRef, txn: &mut Transaction) {
        let parts = (self.bytes as usize).div_ceil(PART_BYTES);
        let of_blob = Column::repeat(&DataValue::from(self.number as i64), parts);
        let columns = vec![of_blob, Column::ints((0..parts as i64).collect())];
        txn.write_derived(segments, ChangeKind::Remove, Batch { columns, len: parts });
    }
}

/// What was read. None if the engine finds it damaged.
fn unless_damaged<T>(read: Result<T, StorageError>) -> Result<Option<T>, StorageError> {
    match read {
        Err(StorageError::Damaged(_)) => Ok(None),
        read => read.map(Some),
    }
}

fn key(segment: i64, part: i64) -> [DataValue; 2] {
    [segment, part].map(DataValue::from)
}
