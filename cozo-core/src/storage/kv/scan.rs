//! Scans: the rows of a range, in key order.

use super::engine::KvCursor;
use super::keys::RELATION_BYTES;
use crate::storage::codec::RowReader;
use crate::storage::cursor::BatchCursor;
use crate::storage::error::StorageError;
use crate::value::Batch;

/// Reads the rows that a cursor passes.
pub(super) struct Scan<'a, C> {
    /// The cursor, at the next row.
    pub cursor: C,
    pub rows: RowReader<'a>,
}

impl<C: KvCursor> BatchCursor for Scan<'_, C> {
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError> {
        while self.rows.rows() < max_rows.max(1)
            && let Some((key, value)) = self.cursor.entry()?
        {
            self.rows.read(&key[RELATION_BYTES..], value)?;
            self.cursor.next();
        }
        Ok((self.rows.rows() > 0).then(|| self.rows.finish()))
    }
}
