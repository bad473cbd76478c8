//! Commits as records of bytes.
//!
//! ```text
//! 4 bytes  the length of what comes after these 8 bytes, little-endian
//! 4 bytes  the CRC-32 of the head of the file and of that, little-endian
//! for each group of changed rows:
//!     1 byte   0 for rows that are put, 1 for keys that are removed
//!     8 bytes  the relation, little-endian
//!     a batch  see the codec
//! ```

use crc32fast::Hasher;

use crate::schema::RelationId;
use crate::storage::codec::{decode_batch, encode_batch};
use crate::storage::{ChangeKind, ChangeSet, RowChanges, StorageError};

/// The bytes before the changes.
const FRAME: usize = 8;

/// The bytes before each batch.
const CHANGE_HEAD: usize = 9;

/// Writes the record of some changes over what is in the buffer. `head` has hashed the head of the file.
pub fn write(changes: &[ChangeSet], head: &Hasher, out: &mut Vec<u8>) -> Result<(), StorageError> {
    out.clear();
    out.resize(FRAME, 0);
    for rows in changes.iter().flat_map(|set| &set.rows).filter(|rows| !rows.rows.is_empty()) {
        out.push(u8::from(rows.kind == ChangeKind::Remove));
        out.extend_from_slice(&rows.relation.0.to_le_bytes());
        encode_batch(&rows.rows.batch(), out)?;
    }
    let len = u32::try_from(out.len() - FRAME).map_err(|_| StorageError::Unstorable("it is too large".to_string()))?;
    let sum = checksum(head, &out[FRAME..]);
    out[..4].copy_from_slice(&len.to_le_bytes());
    out[4..FRAME].copy_from_slice(&sum.to_le_bytes());
    Ok(())
}

fn checksum(head: &Hasher, changes: &[u8]) -> u32 {
    let mut hasher = head.clone();
    hasher.update(changes);
    hasher.finalize()
}

/// How many bytes from the beginning on are whole records; what follows was never a commit.
pub fn whole_records(bytes: &[u8], head: &Hasher) -> usize {
    let mut rest = bytes;
    while let Some((sum, changes, after)) = split(rest)
        && sum == checksum(head, changes)
    {
        rest = after;
    }
    bytes.len() - rest.len()
}

/// The checksum and the changes of the first record, and what comes after it.
fn split(bytes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk()?;
    let (sum, rest) = rest.split_first_chunk()?;
    let (changes, after) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
    Some((u32::from_le_bytes(*sum), changes, after))
}

/// Calls `take` with each change of whole records, in order.
pub fn read(bytes: &[u8], mut take: impl FnMut(RowChanges)) -> Result<(), StorageError> {
    let mut records = bytes;
    while let Some((_, mut record, after)) = split(records) {
        while !record.is_empty() {
            let (change, len) = read_change(record)?;
            take(change);
            record = &record[len..];
        }
        records = after;
    }
    Ok(())
}

/// The first change of a record, and its length.
fn read_change(record: &[u8]) -> Result<(RowChanges, usize), StorageError> {
    let damaged = || StorageError::Damaged("a record of the commit log has no changes".to_string());
    let (kind, rest) = record.split_first().ok_or_else(damaged)?;
    let (relation, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    let (rows, len) = decode_batch(rest)?;
    let kind = if *kind == 0 { ChangeKind::Put } else { ChangeKind::Remove };
    let relation = RelationId(u64::from_le_bytes(*relation));
    Ok((RowChanges::new(relation, kind, rows), CHANGE_HEAD + len))
}
