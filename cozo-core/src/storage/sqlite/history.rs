//! Histories read as of a time. The visible row of a history is found by seeking, and the rest of a long history is skipped so.

use rusqlite::Rows;
use rusqlite::types::Value;

use super::bounds::{Place, Range};
use super::error::failed;
use super::reading::{Reading, Rest};
use crate::storage::codec::{decode_any, encode_any};
use crate::storage::error::StorageError;
use crate::storage::range::AsOf;
use crate::value::{Batch, DataValue, Validity};

/// The number of rows of one history that are passed before a seek. A seek costs about as much as this many rows.
const MAX_PASSED: usize = 8;

/// A time to read histories at.
pub struct History {
    /// The Validity column: the last key column.
    column: usize,
    /// The stored form of the first validity that may be visible.
    from: Vec<u8>,
}

/// The history of the current row.
#[derive(Default)]
struct Current {
    key: Option<Vec<Value>>,
    /// Whether its deciding row, the first at or before the time, has been read.
    is_decided: bool,
    /// The number of consecutive rows that made no difference.
    passed: usize,
}

impl History {
    /// A history reader for a time.
    pub fn new(as_of: AsOf) -> Result<Self, StorageError> {
        let mut from = vec![];
        encode_any(&DataValue::Validity(Validity::from((as_of.micros, true))), &mut from)?;
        Ok(History { column: as_of.column, from })
    }

    /// The part of a range to read: a range of one history begins at its deciding row.
    pub fn begin(&self, range: Range) -> Range {
        match &range {
            Range::Prefix(values) if values.len() == self.column => {
                let place = self.counting(values);
                range.starting_at(place)
            }
            _ => range,
        }
    }

    /// Whether the range is within one history.
    fn is_single(&self, range: &Range) -> bool {
        match range {
            Range::Prefix(values) => values.len() >= self.column,
            Range::Between(lower, upper) => {
                upper.after && upper.values.len() == self.column && lower.values.starts_with(&upper.values)
            }
        }
    }

    /// The position of the deciding row of a history.
    fn counting(&self, history: &[Value]) -> Place {
        let values = history.iter().cloned().chain([Value::Blob(self.from.clone())]).collect();
        Place { values, after: false }
    }

    /// Appends visible rows until the batch has `max_rows`, or until a seek is faster than passing rows.
    pub fn fill(
        &self,
        reading: &Reading,
        mut rows: Rows,
        range: &Range,
        batch: &mut Batch,
        max_rows: usize,
    ) -> Result<Rest, StorageError> {
        let is_single = self.is_single(range);
        let mut current = Current::default();
        while let Some(row) = rows.next().map_err(failed("read rows"))? {
            if !matches!(&current.key, Some(key) if reading.has_key(row, key)?) {
                current = Current { key: Some(reading.key(row, self.column)?), ..Current::default() };
            }
            let validity = reading.last_key(row)?;
            current.passed += 1;
            if !current.is_decided && validity >= &self.from[..] {
                (current.is_decided, current.passed) = (true, 0);
                if asserts(validity)? {
                    reading.push(row, batch)?;
                }
                if is_single {
                    return Ok(Rest::Nothing);
                }
            }
            if batch.len == max_rows || current.passed == MAX_PASSED {
                return Ok(Rest::From(self.next_place(current)));
            }
        }
        Ok(Rest::Nothing)
    }

    fn next_place(&self, current: Current) -> Place {
        let history = current.key.unwrap_or_default();
        match current.is_decided {
            true => Place { values: history, after: true },
            false => self.counting(&history),
        }
    }
}

fn asserts(stored: &[u8]) -> Result<bool, StorageError> {
    match decode_any(stored)?.0 {
        DataValue::Validity(validity) => Ok(validity.asserts()),
        other => Err(StorageError::Damaged(format!("{other} is no Validity"))),
    }
}
