//! Entries of the shared log as bytes.
//!
//! ```text
//! 1 byte   the version of the format
//! 1 byte   0 for the first entry of a log, 1 for a group of transactions
//! 8 bytes  the time, in microseconds since the epoch
//! the rest, compressed:
//!   first entry: the identity of the log, as text
//!   group:       4 bytes  the number of change sets, and for each
//!                  4 bytes  the length of the definitions, and these as JSON; 0 if there are none
//!                  4 bytes  the number of changes of rows, and for each
//!                    1 byte  0 for rows put, 1 for keys removed; 8 bytes the relation; a batch, see the codec
//!              4 bytes  the number of hashes of keys, and 8 bytes for each
//! ```
//!
//! Numbers are little-endian. Relations and hashes of keys mean the same in every replica: the one because definitions travel
//! through the log, the other because [`hash_value`](crate::value::hash_value) depends on the value alone.

use serde::{Deserialize, Serialize};

use super::error::ReplicaError;
use crate::schema::{RelationId, SchemaRef};
use crate::storage::codec::{decode_batch, encode_batch};
use crate::storage::{ChangeKind, ChangeSet, RowChanges, StorageError};
use crate::value::SmallStr;

/// The version of the format, which also stands for how keys are hashed.
const FORMAT: u8 = 1;

/// The bytes before the compressed rest.
const HEAD: usize = 10;

/// An entry.
#[derive(Debug)]
pub struct LogEntry {
    /// When it was made, by the clock of its author, in microseconds since the epoch.
    pub micros: i64,
    /// What it says.
    pub content: Content,
}

/// What an entry says.
#[derive(Debug)]
pub enum Content {
    /// The log begins, with this identity.
    First(String),
    /// Transactions were committed.
    Group {
        /// Their changes, in order.
        changes: Vec<ChangeSet>,
        /// The hashes of the keys that they rely on.
        keys: Vec<u64>,
    },
}

/// What of a change set is not rows.
#[derive(Serialize, Deserialize)]
struct Definitions {
    created: Vec<SchemaRef>,
    dropped: Vec<RelationId>,
    definitions: Vec<(SmallStr, Option<SchemaRef>)>,
}

impl LogEntry {
    /// The first entry of a log.
    pub fn first(micros: i64, identity: &str) -> Vec<u8> {
        LogEntry::packed(micros, 0, identity.as_bytes())
    }

    /// The entry of a group of transactions.
    pub fn group<'c>(
        micros: i64,
        changes: impl ExactSizeIterator<Item = &'c ChangeSet>,
        keys: &[u64],
    ) -> Result<Vec<u8>, StorageError> {
        let mut out = length(changes.len())?.to_vec();
        changes.into_iter().try_for_each(|set| write_set(set, &mut out))?;
        out.extend_from_slice(&length(keys.len())?);
        keys.iter().for_each(|key| out.extend_from_slice(&key.to_le_bytes()));
        Ok(LogEntry::packed(micros, 1, &out))
    }

    fn packed(micros: i64, kind: u8, rest: &[u8]) -> Vec<u8> {
        let mut bytes = vec![FORMAT, kind];
        bytes.extend_from_slice(&micros.to_le_bytes());
        bytes.extend(lz4_flex::compress_prepend_size(rest));
        bytes
    }

    /// Reads the entry with a number.
    pub fn read(number: u64, bytes: &[u8]) -> Result<LogEntry, ReplicaError> {
        let damaged = |what: &str| ReplicaError::DamagedEntry { number, what: what.to_string() };
        let (head, rest) = bytes.split_first_chunk::<HEAD>().ok_or_else(|| damaged("it is too short"))?;
        if head[0] > FORMAT {
            return Err(ReplicaError::NewerFormat { number, found: head[0], known: FORMAT });
        }
        let micros = i64::from_le_bytes(std::array::from_fn(|byte| head[2 + byte]));
        let rest = lz4_flex::decompress_size_prepended(rest).map_err(|error| damaged(&error.to_string()))?;
        let content = match head[1] {
            0 => Content::First(String::from_utf8(rest).map_err(|_| damaged("the identity is no text"))?),
            1 => read_group(&rest).map_err(|error| damaged(&error.to_string()))?,
            _ => return Err(damaged("its kind is unknown")),
        };
        Ok(LogEntry { micros, content })
    }
}

fn length(len: usize) -> Result<[u8; 4], StorageError> {
    let len = u32::try_from(len).map_err(|_| StorageError::Unstorable("a transaction is too large".to_string()))?;
    Ok(len.to_le_bytes())
}

fn write_set(set: &ChangeSet, out: &mut Vec<u8>) -> Result<(), StorageError> {
    let definitions = match set.has_rows_alone() {
        true => vec![],
        false => {
            let (created, dropped) = (set.created.clone(), set.dropped.clone());
            let definitions = Definitions { created, dropped, definitions: set.definitions.clone() };
            serde_json::to_vec(&definitions).map_err(|error| StorageError::Unstorable(error.to_string()))?
        }
    };
    out.extend_from_slice(&length(definitions.len())?);
    out.extend_from_slice(&definitions);
    let count_at = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut count = 0;
    for rows in set.rows.iter().filter(|rows| !rows.rows.is_empty()) {
        for batch in rows.rows.batches() {
            out.push(u8::from(rows.kind == ChangeKind::Remove));
            out.extend_from_slice(&rows.relation.0.to_le_bytes());
            encode_batch(&*batch?, out)?;
            count += 1;
        }
    }
    out[count_at..count_at + 4].copy_from_slice(&length(count)?);
    Ok(())
}

fn read_group(bytes: &[u8]) -> Result<Content, StorageError> {
    let mut rest = bytes;
    let count = take_length(&mut rest)?;
    let mut changes = vec![];
    for _ in 0..count {
        changes.push(read_set(&mut rest)?);
    }
    let count = take_length(&mut rest)?;
    if Some(rest.len()) != count.checked_mul(size_of::<u64>()) {
        return Err(short());
    }
    let keys = rest.chunks_exact(size_of::<u64>()).map(|key| u64::from_le_bytes(std::array::from_fn(|i| key[i])));
    Ok(Content::Group { changes, keys: keys.collect() })
}

fn read_set(rest: &mut &[u8]) -> Result<ChangeSet, StorageError> {
    let mut set = ChangeSet::default();
    let len = take_length(rest)?;
    let definitions = take(rest, len)?;
    if !definitions.is_empty() {
        let read: Definitions =
            serde_json::from_slice(definitions).map_err(|error| StorageError::Damaged(error.to_string()))?;
        (set.created, set.dropped, set.definitions) = (read.created, read.dropped, read.definitions);
    }
    for _ in 0..take_length(rest)? {
        let kind = if take(rest, 1)?[0] == 0 { ChangeKind::Put } else { ChangeKind::Remove };
        let relation = take(rest, size_of::<u64>())?;
        let relation = RelationId(u64::from_le_bytes(std::array::from_fn(|i| relation[i])));
        let (rows, len) = decode_batch(rest)?;
        take(rest, len)?;
        set.rows.push(RowChanges::new(relation, kind, rows));
    }
    Ok(set)
}

fn short() -> StorageError {
    StorageError::Damaged("its length is wrong".to_string())
}

fn take<'b>(rest: &mut &'b [u8], len: usize) -> Result<&'b [u8], StorageError> {
    let (taken, after) = rest.split_at_checked(len).ok_or_else(short)?;
    *rest = after;
    Ok(taken)
}

fn take_length(rest: &mut &[u8]) -> Result<usize, StorageError> {
    let len = take(rest, 4)?;
    Ok(u32::from_le_bytes(std::array::from_fn(|i| len[i])) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Batch, Column, DataValue, hash_value};

    fn group() -> Vec<u8> {
        let rows = Batch::new(
            vec![Column::ints(vec![1, 2]), ["a", "b"].iter().map(|text| DataValue::from(*text)).collect()],
            2,
        );
        let put = RowChanges::new(RelationId(7), ChangeKind::Put, rows);
        let keys = Batch::new(vec![Column::ints(vec![3])], 1);
        let removed = RowChanges::new(RelationId(8), ChangeKind::Remove, keys);
        let sets = [
            ChangeSet::of_rows(vec![put, removed]),
            ChangeSet { dropped: vec![RelationId(9)], ..ChangeSet::default() },
        ];
        LogEntry::group(5, sets.iter(), &[1, u64::MAX]).expect("it can be encoded")
    }

    #[test]
    fn entries_come_back() {
        let LogEntry { micros: 5, content: Content::Group { changes, keys } } =
            LogEntry::read(1, &group()).expect("it is whole")
        else {
            panic!("not a group")
        };
        assert_eq!(keys, [1, u64::MAX]);
        assert_eq!(changes[0].rows[0].relation, RelationId(7));
        assert_eq!(changes[0].rows[0].rows.len(), 2);
        assert_eq!(changes[0].rows[1].kind, ChangeKind::Remove);
        assert_eq!(changes[1].dropped, [RelationId(9)]);
        let first = LogEntry::read(1, &LogEntry::first(3, "abc")).expect("it is whole");
        assert!(matches!(first, LogEntry { micros: 3, content: Content::First(identity) } if identity == "abc"));
    }

    #[test]
    fn damage_is_an_error_wherever_it_is() {
        let whole = group();
        for len in 0..whole.len() {
            assert!(LogEntry::read(1, &whole[..len]).is_err(), "{len} bytes");
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x55;
            let _ = LogEntry::read(1, &bytes);
        }
        let mut newer = whole;
        newer[0] = FORMAT + 1;
        assert!(matches!(LogEntry::read(1, &newer), Err(ReplicaError::NewerFormat { number: 1, .. })));
    }

    /// If a hash changes, processes of two versions would not see each other's conflicts: then [`FORMAT`] must grow.
    #[test]
    fn hashes_of_keys_are_those_of_the_format() {
        let values = [DataValue::Null, true.into(), 1.into(), 1.5.into(), "key".into()];
        let hashes: Vec<u64> = values.iter().map(hash_value).collect();
        let known = [
            11_400_714_819_323_198_485,
            528_316_469_293_912_813,
            16_651_851_146_416_944_309,
            15_590_229_364_995_034_375,
            16_866_784_150_439_015_187,
        ];
        assert_eq!(hashes, known);
    }
}
