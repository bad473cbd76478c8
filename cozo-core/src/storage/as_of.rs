//! Histories read [as of a time](AsOf), by plain reads of all versions. It serves engines that do not seek in histories.

use super::cursor::{BatchCursor, LookupCursor, Matches};
use super::error::StorageError;
use super::range::AsOf;
use super::range::KeyRange;
use super::traits::Snapshot;
use crate::schema::RelationId;
use crate::value::{Batch, Column, DataValue};

/// [`Snapshot::scan`] as of a time, by reading all versions.
pub fn scan<'a, S: Snapshot + ?Sized>(
    snapshot: &'a S,
    relation: RelationId,
    range: &KeyRange,
    columns: &[usize],
    as_of: AsOf,
) -> Result<Box<dyn BatchCursor + 'a>, StorageError> {
    let rows = snapshot.scan(relation, range, &with_key(columns, as_of), None)?;
    Ok(Box::new(VisibleScan { rows, filter: Filter { as_of, decided: None } }))
}

/// [`Snapshot::lookup`] as of a time, by reading all versions.
pub fn lookup<'a, S: Snapshot + ?Sized>(
    snapshot: &'a S,
    relation: RelationId,
    prefixes: &'a [Column],
    columns: &[usize],
    as_of: AsOf,
) -> Result<Box<dyn LookupCursor + 'a>, StorageError> {
    let matches = snapshot.lookup(relation, prefixes, &with_key(columns, as_of), None)?;
    Ok(Box::new(VisibleLookup { matches, filter: Filter { as_of, decided: None } }))
}

/// The key columns, followed by the requested columns.
fn with_key(columns: &[usize], as_of: AsOf) -> Vec<usize> {
    (0..=as_of.column).chain(columns.iter().copied()).collect()
}

/// Selects the visible rows among rows in key order.
struct Filter {
    as_of: AsOf,
    /// The last history whose deciding row has been read: its probe, and its key without the Validity as a batch of one row.
    decided: Option<(u32, Batch)>,
}

impl Filter {
    /// The visible rows of a batch, without its leading key columns. `probe` distinguishes two look-ups of the same prefix.
    fn visible(&mut self, batch: &Batch, probe: impl Fn(usize) -> u32) -> (Vec<u32>, Batch) {
        let (key, rest) = batch.columns.split_at(self.as_of.column + 1);
        let (validities, key) = key.split_last().expect("the key has a Validity column");
        let mut visible = vec![];
        for row in 0..batch.len {
            let DataValue::Validity(validity) = validities.get(row) else { continue };
            if validity.micros() > self.as_of.micros || self.is_decided(key, row, probe(row)) {
                continue;
            }
            let history = key.iter().map(|column| column.slice(row..row + 1)).collect();
            self.decided = Some((probe(row), Batch::new(history, 1)));
            if validity.asserts() {
                visible.push(row as u32);
            }
        }
        let columns = rest.iter().map(|column| column.take(&visible)).collect();
        let batch = Batch { columns, len: visible.len() };
        (visible, batch)
    }

    fn is_decided(&self, key: &[Column], row: usize, probe: u32) -> bool {
        let same_key = |decided: &Batch| key.iter().zip(&decided.columns).all(|(a, b)| a.equals_at(row, b, 0));
        self.decided.as_ref().is_some_and(|(of, decided)| *of == probe && same_key(decided))
    }
}

struct VisibleScan<'a> {
    rows: Box<dyn BatchCursor + 'a>,
    filter: Filter,
}

impl BatchCursor for VisibleScan<'_> {
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError> {
        while let Some(rows) = self.rows.next_batch(max_rows)? {
            let (_, batch) = self.filter.visible(&rows, |_| 0);
            if !batch.is_empty() {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }
}

struct VisibleLookup<'a> {
    matches: Box<dyn LookupCursor + 'a>,
    filter: Filter,
}

impl LookupCursor for VisibleLookup<'_> {
    fn next_matches(&mut self, max_rows: usize) -> Result<Option<Matches>, StorageError> {
        while let Some(Matches { probe_rows, batch }) = self.matches.next_matches(max_rows)? {
            let (visible, batch) = self.filter.visible(&batch, |row| probe_rows[row]);
            if !batch.is_empty() {
                let probe_rows = visible.iter().map(|row| probe_rows[*row as usize]).collect();
                return Ok(Some(Matches { probe_rows, batch }));
            }
        }
        Ok(None)
    }
}
