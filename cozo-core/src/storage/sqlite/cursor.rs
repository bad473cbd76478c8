//! Scans and look-ups.

use rusqlite::Connection;

use super::bounds::Range;
use super::reading::{Reading, Rest};
use super::snapshot::SqliteSnapshot;
use crate::storage::cursor::{BatchCursor, LookupCursor, Matches, probe_count};
use crate::storage::error::StorageError;
use crate::value::{Batch, Column};

/// The number of ranges or histories that are read before the connection is free for others.
const MAX_STEPS: usize = 500;

/// The rows of a range.
pub struct Scan<'s> {
    pub snapshot: &'s SqliteSnapshot,
    pub reading: Reading,
    /// The rest of the range.
    pub range: Option<Range>,
}

impl BatchCursor for Scan<'_> {
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError> {
        let mut batch = self.reading.empty_batch();
        let Scan { snapshot, reading, range } = self;
        while batch.len < max_rows && range.is_some() {
            snapshot.read(|connection| {
                for _ in 0..MAX_STEPS {
                    let Some(rows) = range.take_if(|_| batch.len < max_rows) else { break };
                    let mut statement = reading.prepare(connection, rows.shape())?;
                    if let Rest::From(place) = reading.fill(&mut statement, &rows, &mut batch, max_rows)? {
                        *range = Some(rows.starting_at(place));
                    }
                }
                Ok(())
            })?;
        }
        Ok((!batch.is_empty()).then_some(batch))
    }
}

/// The rows that begin with each of some prefixes.
pub struct Lookup<'s> {
    pub snapshot: &'s SqliteSnapshot,
    pub reading: Reading,
    pub prefixes: &'s [Column],
    /// The next prefix.
    pub next: usize,
    /// The rest of the rows of the prefix before `next`.
    pub range: Option<Range>,
}

impl Lookup<'_> {
    /// The range to read next: the rest of a prefix, or the next prefix that rows can have.
    fn next_range(&mut self) -> Result<Option<Range>, StorageError> {
        let count = probe_count(self.prefixes);
        while self.range.is_none() && self.next < count {
            let forms = self.reading.table().key_forms();
            let range = Range::of_probe(forms, self.prefixes, self.next)?;
            self.range = range.map(|range| self.reading.begin(range));
            self.next += 1;
        }
        Ok(self.range.take())
    }

    /// Continues reading with a connection. Returns `false` when there are no more rows, or the batch is full.
    fn read_some(
        &mut self,
        connection: &Connection,
        matches: &mut Matches,
        max_rows: usize,
    ) -> Result<bool, StorageError> {
        let mut prepared = None;
        for _ in 0..MAX_STEPS {
            if matches.batch.len >= max_rows {
                return Ok(false);
            }
            let Some(range) = self.next_range()? else { return Ok(false) };
            let shape = range.shape();
            let mut statement = match prepared.take() {
                Some((last, statement)) if last == shape => statement,
                _ => self.reading.prepare(connection, shape)?,
            };
            let rest = self.reading.fill(&mut statement, &range, &mut matches.batch, max_rows)?;
            matches.probe_rows.resize(matches.batch.len, self.next as u32 - 1);
            if let Rest::From(place) = rest {
                self.range = Some(range.starting_at(place));
            }
            prepared = Some((shape, statement));
        }
        Ok(true)
    }
}

impl LookupCursor for Lookup<'_> {
    fn next_matches(&mut self, max_rows: usize) -> Result<Option<Matches>, StorageError> {
        let mut matches = Matches { probe_rows: vec![], batch: self.reading.empty_batch() };
        let snapshot = self.snapshot;
        while snapshot.read(|connection| self.read_some(connection, &mut matches, max_rows))? {}
        Ok((!matches.batch.is_empty()).then_some(matches))
    }
}
