//! Rows by their keys, or by the first columns of their keys.

use super::keys::{Keys, RELATION_BYTES};
use super::snapshot::Probes;
use super::{KvCursor, KvSnapshot};
use crate::storage::codec::RowReader;
use crate::storage::{LookupCursor, Matches, StorageError};

/// Gets rows by all of their key columns.
pub(super) struct PointLookup<'a, S> {
    bytes: &'a S,
    probes: Probes<'a>,
    rows: RowReader<'a>,
    /// The next probe.
    next: usize,
    keys: Keys,
    /// The probe of each key.
    probe_of: Vec<u32>,
}

impl<'a, S: KvSnapshot> PointLookup<'a, S> {
    pub fn new(bytes: &'a S, probes: Probes<'a>, rows: RowReader<'a>) -> Self {
        PointLookup { bytes, probes, rows, next: 0, keys: Keys::default(), probe_of: vec![] }
    }

    /// Encodes the next probes, at most so many.
    fn encode(&mut self, count: usize) -> Result<(), StorageError> {
        self.keys.clear();
        self.probe_of.clear();
        let end = self.probes.len().min(self.next.saturating_add(count));
        for probe in self.next..end {
            if self.probes.push(probe, &mut self.keys)? {
                self.probe_of.push(probe as u32);
            }
        }
        self.next = end;
        Ok(())
    }

    /// For each probe, whether there is a row.
    pub fn contains(mut self) -> Result<Vec<bool>, StorageError> {
        let mut contained = vec![false; self.probes.len()];
        self.encode(contained.len())?;
        self.bytes.get_all(&self.keys, &mut |number, _| {
            contained[self.probe_of[number] as usize] = true;
            Ok(())
        })?;
        Ok(contained)
    }
}

impl<S: KvSnapshot> LookupCursor for PointLookup<'_, S> {
    fn next_matches(&mut self, max_rows: usize) -> Result<Option<Matches>, StorageError> {
        let mut probe_rows = vec![];
        while probe_rows.len() < max_rows.max(1) && self.next < self.probes.len() {
            self.encode(max_rows.max(1) - probe_rows.len())?;
            let (rows, keys, probe_of) = (&mut self.rows, &self.keys, &self.probe_of);
            self.bytes.get_all(keys, &mut |number, value| {
                probe_rows.push(probe_of[number]);
                rows.read(&keys.get(number)[RELATION_BYTES..], value)
            })?;
        }
        Ok(matches(probe_rows, &mut self.rows))
    }
}

/// What was read, if anything.
pub(super) fn matches(probe_rows: Vec<u32>, rows: &mut RowReader) -> Option<Matches> {
    (!probe_rows.is_empty()).then(|| Matches { probe_rows, batch: rows.finish() })
}

/// Seeks the rows that begin with some of the key columns.
pub(super) struct PrefixLookup<'a, C> {
    cursor: C,
    probes: Probes<'a>,
    rows: RowReader<'a>,
    /// The next probe.
    next: usize,
    /// What the keys of the probe before the next begin with.
    prefix: Vec<u8>,
    /// What the keys of the probe before that one begin with; the cursor stands behind them. Empty if it stands nowhere.
    passed: Vec<u8>,
    /// Whether the cursor is among the rows of the probe before the next.
    open: bool,
}

impl<'a, C: KvCursor> PrefixLookup<'a, C> {
    pub fn new(cursor: C, probes: Probes<'a>, rows: RowReader<'a>) -> Self {
        PrefixLookup { cursor, probes, rows, next: 0, prefix: vec![], passed: vec![], open: false }
    }

    /// Moves to the first row of a probe, and says whether there is one.
    pub fn seek(&mut self, probe: usize) -> Result<bool, StorageError> {
        std::mem::swap(&mut self.passed, &mut self.prefix);
        self.prefix.clear();
        if !self.probes.write(probe, &mut self.prefix)? {
            // The cursor did not move.
            std::mem::swap(&mut self.passed, &mut self.prefix);
            return Ok(false);
        }
        // Between the rows of a smaller prefix and the cursor's place there is nothing.
        let ahead = !self.passed.is_empty() && self.passed < self.prefix;
        if !(ahead && self.cursor.entry()?.is_none_or(|(key, _)| key >= &self.prefix[..])) {
            self.cursor.seek(&self.prefix);
        }
        self.at_match()
    }

    fn at_match(&self) -> Result<bool, StorageError> {
        Ok(self.cursor.entry()?.is_some_and(|(key, _)| key.starts_with(&self.prefix)))
    }
}

impl<C: KvCursor> LookupCursor for PrefixLookup<'_, C> {
    fn next_matches(&mut self, max_rows: usize) -> Result<Option<Matches>, StorageError> {
        let mut probe_rows = vec![];
        while probe_rows.len() < max_rows.max(1) {
            if !self.open {
                if self.next == self.probes.len() {
                    break;
                }
                self.open = self.seek(self.next)?;
                self.next += 1;
                continue;
            }
            match self.cursor.entry()? {
                Some((key, value)) if key.starts_with(&self.prefix) => {
                    self.rows.read(&key[RELATION_BYTES..], value)?;
                    probe_rows.push(self.next as u32 - 1);
                    self.cursor.next();
                }
                _ => self.open = false,
            }
        }
        Ok(matches(probe_rows, &mut self.rows))
    }
}
