//! Histories read as of a time. The visible version of a history is sought, and so is the end of a long history.

use super::engine::KvCursor;
use super::keys::RELATION_BYTES;
use super::lookup::matches;
use super::probes::Probes;
use crate::storage::codec::{RowReader, VALIDITY_BYTES, encode_validity};
use crate::storage::cursor::{BatchCursor, LookupCursor, Matches};
use crate::storage::error::StorageError;
use crate::storage::range::AsOf;
use crate::value::{Batch, Validity};

/// The number of versions passed one by one before a seek.
const STEPS: usize = 8;

/// Bytes above every validity.
const PAST_ALL: [u8; VALIDITY_BYTES] = [u8::MAX; VALIDITY_BYTES];

/// The first version that may be visible: the assertion at the time itself.
fn first_candidate(as_of: AsOf) -> [u8; VALIDITY_BYTES] {
    encode_validity(Validity::from((as_of.micros, true)))
}

/// Whether a version is an assertion, by its last byte.
fn asserts(key: &[u8]) -> bool {
    key.last() == Some(&0)
}

/// A key without its validity, and the validity.
fn split(key: &[u8]) -> Result<(&[u8], &[u8]), StorageError> {
    let history = key.len().checked_sub(VALIDITY_BYTES).filter(|len| *len >= RELATION_BYTES);
    let history = history.ok_or_else(|| StorageError::Damaged("a key is too short for a validity".to_string()))?;
    Ok(key.split_at(history))
}

/// A walk from history to history.
struct Walk<C> {
    cursor: C,
    candidate: [u8; VALIDITY_BYTES],
    /// The last history whose first version at or before the time has been read; empty if there is none.
    decided: Vec<u8>,
    target: Vec<u8>,
}

impl<C: KvCursor> Walk<C> {
    fn new(cursor: C, as_of: AsOf) -> Self {
        Walk { cursor, candidate: first_candidate(as_of), decided: vec![], target: vec![] }
    }

    /// Moves to the next visible row that begins with the prefix. Returns whether there is one. The cursor may be at the visible
    /// row before it.
    fn advance(&mut self, prefix: &[u8]) -> Result<bool, StorageError> {
        let mut steps = 0;
        while let Some((key, _)) = self.cursor.entry()? {
            if !key.starts_with(prefix) {
                break;
            }
            let (history, version) = split(key)?;
            let skip_to: &[u8] = if *history == self.decided {
                &PAST_ALL
            } else if *version < self.candidate[..] {
                &self.candidate
            } else {
                self.decided.clear();
                self.decided.extend_from_slice(history);
                steps = 0;
                if asserts(key) {
                    return Ok(true);
                }
                &PAST_ALL
            };
            steps += 1;
            if steps <= STEPS {
                self.cursor.next();
            } else {
                self.target.clear();
                self.target.extend_from_slice(history);
                self.target.extend_from_slice(skip_to);
                self.cursor.seek(&self.target);
                steps = 0;
            }
        }
        Ok(false)
    }

    /// Appends the row at the cursor.
    fn read(&self, rows: &mut RowReader) -> Result<(), StorageError> {
        match self.cursor.entry()? {
            Some((key, value)) => rows.read(&key[RELATION_BYTES..], value),
            None => Ok(()),
        }
    }
}

/// The visible rows of a range.
pub(super) struct HistoryScan<'a, C> {
    walk: Walk<C>,
    rows: RowReader<'a>,
}

impl<'a, C: KvCursor> HistoryScan<'a, C> {
    /// A scan from a cursor at the first row.
    pub fn new(cursor: C, rows: RowReader<'a>, as_of: AsOf) -> Self {
        HistoryScan { walk: Walk::new(cursor, as_of), rows }
    }
}

impl<C: KvCursor> BatchCursor for HistoryScan<'_, C> {
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError> {
        while self.rows.rows() < max_rows.max(1) && self.walk.advance(&[])? {
            self.walk.read(&mut self.rows)?;
        }
        Ok((self.rows.rows() > 0).then(|| self.rows.finish()))
    }
}

/// The look-up for prefixes of all key columns but the validity. One seek finds the visible version of each.
pub(super) struct VersionLookup<'a, C> {
    cursor: C,
    candidate: [u8; VALIDITY_BYTES],
    probes: Probes<'a>,
    rows: RowReader<'a>,
    /// The next probe.
    next: usize,
    prefix: Vec<u8>,
}

impl<'a, C: KvCursor> VersionLookup<'a, C> {
    pub fn new(cursor: C, probes: Probes<'a>, rows: RowReader<'a>, as_of: AsOf) -> Self {
        VersionLookup { cursor, candidate: first_candidate(as_of), probes, rows, next: 0, prefix: vec![] }
    }

    /// Moves to the visible version of a probe. Returns whether there is one.
    pub fn seek(&mut self, probe: usize) -> Result<bool, StorageError> {
        self.prefix.clear();
        if !self.probes.write(probe, &mut self.prefix)? {
            return Ok(false);
        }
        let history = self.prefix.len();
        self.prefix.extend_from_slice(&self.candidate);
        self.cursor.seek(&self.prefix);
        let found = self.cursor.entry()?;
        Ok(found.is_some_and(|(key, _)| key.starts_with(&self.prefix[..history]) && asserts(key)))
    }
}

impl<C: KvCursor> LookupCursor for VersionLookup<'_, C> {
    fn next_matches(&mut self, max_rows: usize) -> Result<Option<Matches>, StorageError> {
        let mut probe_rows = vec![];
        while probe_rows.len() < max_rows.max(1) && self.next < self.probes.len() {
            if self.seek(self.next)?
                && let Some((key, value)) = self.cursor.entry()?
            {
                self.rows.read(&key[RELATION_BYTES..], value)?;
                probe_rows.push(self.next as u32);
            }
            self.next += 1;
        }
        Ok(matches(probe_rows, &mut self.rows))
    }
}

/// The look-up for shorter prefixes. It finds the visible versions of all histories that begin with each.
pub(super) struct HistoryLookup<'a, C> {
    walk: Walk<C>,
    probes: Probes<'a>,
    rows: RowReader<'a>,
    /// The next probe.
    next: usize,
    /// The prefix of the keys of the current probe, which is the one before `next`.
    prefix: Vec<u8>,
    /// Whether the walk is at a visible row of the current probe.
    open: bool,
}

impl<'a, C: KvCursor> HistoryLookup<'a, C> {
    pub fn new(cursor: C, probes: Probes<'a>, rows: RowReader<'a>, as_of: AsOf) -> Self {
        HistoryLookup { walk: Walk::new(cursor, as_of), probes, rows, next: 0, prefix: vec![], open: false }
    }

    /// Moves to the first visible row of a probe. Returns whether there is one.
    pub fn seek(&mut self, probe: usize) -> Result<bool, StorageError> {
        self.prefix.clear();
        if !self.probes.write(probe, &mut self.prefix)? {
            return Ok(false);
        }
        self.walk.decided.clear();
        self.walk.cursor.seek(&self.prefix);
        self.walk.advance(&self.prefix)
    }
}

impl<C: KvCursor> LookupCursor for HistoryLookup<'_, C> {
    fn next_matches(&mut self, max_rows: usize) -> Result<Option<Matches>, StorageError> {
        let mut probe_rows = vec![];
        while probe_rows.len() < max_rows.max(1) {
            if self.open {
                self.walk.read(&mut self.rows)?;
                probe_rows.push(self.next as u32 - 1);
                self.open = self.walk.advance(&self.prefix)?;
            } else if self.next < self.probes.len() {
                self.open = self.seek(self.next)?;
                self.next += 1;
            } else {
                break;
            }
        }
        Ok(matches(probe_rows, &mut self.rows))
    }
}
