//! Look-ups: rows by their keys, or by the first columns of their keys.

use std::ops::Range;

use rayon::prelude::*;

use super::engine::{KvCursor, KvSnapshot};
use super::keys::{Keys, RELATION_BYTES};
use super::probes::Probes;
use crate::storage::codec::{RowCodec, RowReader};
use crate::storage::cursor::{LookupCursor, Matches};
use crate::storage::error::StorageError;
use crate::threads;

/// This many keys or more are looked up by several threads.
const PARALLEL_MIN_KEYS: usize = 256;

/// The look-up of rows by all of their key columns.
pub(super) struct PointLookup<'a, S> {
    bytes: &'a S,
    probes: Probes<'a>,
    codec: &'a RowCodec,
    columns: Vec<usize>,
    /// The next probe.
    next: usize,
    /// A lane for each thread used so far.
    lanes: Vec<Lane<'a>>,
}

/// The keys and rows of one thread.
struct Lane<'a> {
    keys: ProbeKeys,
    rows: RowReader<'a>,
    /// The probe of each row.
    found: Vec<u32>,
}

/// Probes as whole keys.
#[derive(Default)]
struct ProbeKeys {
    keys: Keys,
    /// The probe of each key.
    probe_of: Vec<u32>,
}

impl ProbeKeys {
    /// Encodes some probes. They replace the earlier ones.
    fn encode(&mut self, probes: &Probes, range: Range<usize>) -> Result<(), StorageError> {
        self.keys.clear();
        self.probe_of.clear();
        for probe in range {
            if probes.push(probe, &mut self.keys)? {
                self.probe_of.push(probe as u32);
            }
        }
        Ok(())
    }
}

/// For each probe of all key columns, whether there is a row.
pub(super) fn contained<S: KvSnapshot>(bytes: &S, probes: &Probes) -> Result<Vec<bool>, StorageError> {
    let (mut contained, mut encoded) = (vec![false; probes.len()], ProbeKeys::default());
    encoded.encode(probes, 0..probes.len())?;
    bytes.get_all(&encoded.keys, &mut |number, _| {
        contained[encoded.probe_of[number] as usize] = true;
        Ok(())
    })?;
    Ok(contained)
}

impl Lane<'_> {
    fn get<S: KvSnapshot>(&mut self, bytes: &S, probes: &Probes, range: Range<usize>) -> Result<(), StorageError> {
        self.keys.encode(probes, range)?;
        let (ProbeKeys { keys, probe_of }, rows, found) = (&self.keys, &mut self.rows, &mut self.found);
        bytes.get_all(keys, &mut |number, value| {
            found.push(probe_of[number]);
            rows.read(&keys.get(number)[RELATION_BYTES..], value)
        })
    }
}

impl<'a, S: KvSnapshot> PointLookup<'a, S> {
    pub fn new(bytes: &'a S, probes: Probes<'a>, codec: &'a RowCodec, columns: &[usize]) -> Self {
        PointLookup { bytes, probes, codec, columns: columns.to_vec(), next: 0, lanes: vec![] }
    }

    /// Gets the rows of the next probes, at most `count` of them.
    fn get(&mut self, count: usize) -> Result<(), StorageError> {
        let range = self.next..self.probes.len().min(self.next.saturating_add(count));
        self.next = range.end;
        let lanes = if range.len() < PARALLEL_MIN_KEYS { 1 } else { threads::count() };
        let (codec, columns) = (self.codec, &self.columns);
        let lane = || Lane { keys: ProbeKeys::default(), rows: RowReader::new(codec, columns), found: vec![] };
        self.lanes.resize_with(self.lanes.len().max(lanes), lane);
        let (bytes, probes, share) = (self.bytes, &self.probes, range.len().div_ceil(lanes));
        if let [lane] = &mut self.lanes[..lanes] {
            return lane.get(bytes, probes, range);
        }
        let part = |number: usize| (range.start + number * share).min(range.end);
        let lanes = self.lanes[..lanes].par_iter_mut().enumerate();
        lanes.try_for_each(|(number, lane)| lane.get(bytes, probes, part(number)..part(number + 1)))
    }
}

impl<S: KvSnapshot> LookupCursor for PointLookup<'_, S> {
    fn next_matches(&mut self, max_rows: usize) -> Result<Option<Matches>, StorageError> {
        let found = |lanes: &[Lane]| lanes.iter().map(|lane| lane.found.len()).sum::<usize>();
        while found(&self.lanes) == 0 && self.next < self.probes.len() {
            self.get(max_rows.max(1))?;
        }
        let mut all: Option<Matches> = None;
        for Lane { rows, found, .. } in &mut self.lanes {
            let Some(more) = matches(std::mem::take(found), rows) else { continue };
            match &mut all {
                None => all = Some(more),
                Some(all) => {
                    all.probe_rows.extend(more.probe_rows);
                    all.batch.append(&more.batch);
                }
            }
        }
        Ok(all)
    }
}

/// The rows read, if any.
pub(super) fn matches(probe_rows: Vec<u32>, rows: &mut RowReader) -> Option<Matches> {
    (!probe_rows.is_empty()).then(|| Matches { probe_rows, batch: rows.finish() })
}

/// The look-up of rows by some of their key columns.
pub(super) struct PrefixLookup<'a, C> {
    cursor: C,
    probes: Probes<'a>,
    rows: RowReader<'a>,
    /// The next probe.
    next: usize,
    /// The prefix of the keys of the current probe, which is the one before `next`.
    prefix: Vec<u8>,
    /// The prefix of the probe before the current one. The cursor is past its keys. Empty if the cursor has no position.
    passed: Vec<u8>,
    /// Whether the cursor is among the rows of the current probe.
    open: bool,
}

impl<'a, C: KvCursor> PrefixLookup<'a, C> {
    pub fn new(cursor: C, probes: Probes<'a>, rows: RowReader<'a>) -> Self {
        PrefixLookup { cursor, probes, rows, next: 0, prefix: vec![], passed: vec![], open: false }
    }

    /// Moves to the first row of a probe. Returns whether there is one.
    pub fn seek(&mut self, probe: usize) -> Result<bool, StorageError> {
        std::mem::swap(&mut self.passed, &mut self.prefix);
        self.prefix.clear();
        if !self.probes.write(probe, &mut self.prefix)? {
            // The cursor did not move.
            std::mem::swap(&mut self.passed, &mut self.prefix);
            return Ok(false);
        }
        // There are no keys between the rows of the passed prefix and the cursor.
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
