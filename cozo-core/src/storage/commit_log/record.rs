//! Commits as records of bytes.
//!
//! ```text
//! 4 bytes  the length of the rest after these 8 bytes, little-endian
//! 4 bytes  the CRC-32 of the head of the file and of the rest, little-endian
//! for each group of changed rows:
//!     1 byte   0 for rows put, 1 for keys removed
//!     8 bytes  the relation, little-endian
//!     a batch  see the codec
//! ```
//!
//! A record may also be a [`Note`], which changes nothing:
//! ```text
//! 1 byte   2
//! 8 bytes  the number of the engine's commits, little-endian
//! 8 bytes  the length of the sealed file before, little-endian; 0 if there is none to read
//!
//! 1 byte   3: the file is sealed, and there is another one after it
//! ```

use crc32fast::Hasher;

use crate::schema::RelationId;
use crate::storage::changes::{ChangeKind, ChangeSet, RowChanges};
use crate::storage::codec::{decode_batch, encode_batch};
use crate::storage::error::StorageError;

/// The bytes before the changes.
const FRAME: usize = 8;

/// The bytes before each batch.
const CHANGE_HEAD: usize = 9;

/// The first byte of a note.
const NOTE: u8 = 2;

/// The search for records behind damage ends after checksums of this many bytes, which take about a second.
const MAX_SEARCHED_BYTES: usize = 1 << 30;

/// The only byte of the note that ends a file.
const SEALED: u8 = 3;

/// The bytes of a note about the engine.
const NOTE_LEN: usize = 17;

/// A record about the engine and the other files, so that an opening notices what is missing there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The state when the note was written.
    Before {
        /// The number of the engine's commits in this session.
        commits: u64,
        /// The length of the sealed file before; 0 if there is none to read.
        previous_len: u64,
    },
    /// The file is sealed, and there is another one after it.
    Sealed,
}

/// Writes the record of some changes into a buffer, whose contents it replaces. `head` has hashed the head of the file.
pub fn write(changes: &[ChangeSet], head: &Hasher, out: &mut Vec<u8>) -> Result<(), StorageError> {
    out.clear();
    out.resize(FRAME, 0);
    for rows in changes.iter().flat_map(|set| &set.rows).filter(|rows| !rows.rows.is_empty()) {
        for batch in rows.rows.batches() {
            out.push(u8::from(rows.kind == ChangeKind::Remove));
            out.extend_from_slice(&rows.relation.0.to_le_bytes());
            encode_batch(&*batch?, out)?;
        }
    }
    let len = u32::try_from(out.len() - FRAME).map_err(|_| StorageError::Unstorable("it is too large".to_string()))?;
    finish(head, len, out);
    Ok(())
}

/// Writes the record of a note into a buffer, whose contents it replaces.
pub fn write_note(note: Note, head: &Hasher, out: &mut Vec<u8>) {
    out.clear();
    out.resize(FRAME, 0);
    match note {
        Note::Before { commits, previous_len } => {
            out.push(NOTE);
            out.extend_from_slice(&commits.to_le_bytes());
            out.extend_from_slice(&previous_len.to_le_bytes());
        }
        Note::Sealed => out.push(SEALED),
    }
    finish(head, (out.len() - FRAME) as u32, out);
}

/// Fills in the length and the checksum of a record.
fn finish(head: &Hasher, len: u32, out: &mut [u8]) {
    let sum = checksum(head, &out[FRAME..]);
    out[..4].copy_from_slice(&len.to_le_bytes());
    out[4..FRAME].copy_from_slice(&sum.to_le_bytes());
}

fn checksum(head: &Hasher, changes: &[u8]) -> u32 {
    let mut hasher = head.clone();
    hasher.update(changes);
    hasher.finalize()
}

/// A record of a file.
#[derive(Debug, PartialEq)]
pub enum Record<'b> {
    /// A commit, in the form that [`read`] accepts.
    Commit(&'b [u8]),
    /// A note.
    Note(Note),
}

/// The first record, if it is whole, and the bytes after it.
pub fn first<'b>(bytes: &'b [u8], head: &Hasher) -> Option<(Record<'b>, &'b [u8])> {
    let (sum, body, after) = split(bytes)?;
    if sum != checksum(head, body) {
        return None;
    }
    let record = note(body).map_or(Record::Commit(&bytes[..bytes.len() - after.len()]), Record::Note);
    Some((record, after))
}

fn note(body: &[u8]) -> Option<Note> {
    if body == [SEALED] {
        return Some(Note::Sealed);
    }
    let body: &[u8; NOTE_LEN] = body.try_into().ok().filter(|body: &&[u8; NOTE_LEN]| body[0] == NOTE)?;
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| body[at + byte]));
    Some(Note::Before { commits: number(1), previous_len: number(9) })
}

/// A lower bound of the number of commits after the point where reading ended. They may begin at any byte. After a torn write
/// there are none.
pub fn count_beyond(bytes: &[u8], head: &Hasher) -> usize {
    let (mut found, mut at, mut work) = (0, 1, 0);
    while at < bytes.len() && work < MAX_SEARCHED_BYTES {
        let Some((sum, body, _)) = split(&bytes[at..]).filter(|(_, body, _)| body.len() > CHANGE_HEAD) else {
            at += 1;
            continue;
        };
        work += body.len();
        if sum == checksum(head, body) {
            found += usize::from(note(body).is_none());
            at += FRAME + body.len();
        } else {
            at += 1;
        }
    }
    found
}

/// The checksum and the changes of the first record, and the bytes after it.
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
