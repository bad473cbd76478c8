//! Sequences of rows: the results of scans and look-ups.

use super::error::StorageError;
use crate::value::{Batch, Column};

/// A sequence of batches.
pub trait BatchCursor {
    /// The next rows, about `max_rows` of them and never many more; `None` after the last.
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError>;
}

/// A sequence of matches.
pub trait LookupCursor {
    /// The next matches, about `max_rows` of them and never many more; `None` after the last.
    fn next_matches(&mut self, max_rows: usize) -> Result<Option<Matches>, StorageError>;

    /// For each of `probes` rows of prefixes, whether it has a match.
    fn found(&mut self, probes: usize) -> Result<Vec<bool>, StorageError> {
        let mut found = vec![false; probes];
        while let Some(matches) = self.next_matches(probes)? {
            matches.probe_rows.iter().for_each(|row| found[*row as usize] = true);
        }
        Ok(found)
    }
}

/// Rows found by a look-up.
#[derive(Debug, Default)]
pub struct Matches {
    /// For each match the row of the prefixes that it belongs to, ascending.
    pub probe_rows: Vec<u32>,
    /// The columns asked for.
    pub batch: Batch,
}

/// The cursor of a relation that does not exist: it has no rows.
pub struct Nothing;

impl BatchCursor for Nothing {
    fn next_batch(&mut self, _: usize) -> Result<Option<Batch>, StorageError> {
        Ok(None)
    }
}

impl LookupCursor for Nothing {
    fn next_matches(&mut self, _: usize) -> Result<Option<Matches>, StorageError> {
        Ok(None)
    }
}

/// The number of prefixes of a look-up.
pub fn probe_count(prefixes: &[Column]) -> usize {
    prefixes.first().map_or(0, Column::len)
}
