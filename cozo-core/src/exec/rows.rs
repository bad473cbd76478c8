//! The rows of a query: one, many, or more than memory holds.

use crate::budget::make_room;
use crate::exec::error::ExecError;
use crate::exec::sorting::Merge;
use crate::value::{Batch, Tuple};

/// The rows of a query.
pub enum Rows {
    /// One row or none, and the bytes of its values, from a run on single values.
    One(Option<Tuple>, usize),
    /// Any number of rows, from a run on batches.
    Many(Batch),
    /// Rows that are partly on disk, from a run on batches.
    Stream(Box<RowStream>),
}

/// Rows in their final order, which are read once.
pub struct RowStream {
    merge: Merge,
    /// The rows wanted: where they begin, and how many they are.
    wanted: (usize, usize),
    /// The rows to leave out first.
    skip: usize,
    /// The rows to read after these.
    left: usize,
    /// Rows that were read to see whether there are any.
    ready: Option<Batch>,
    width: usize,
}

impl RowStream {
    /// The rows of a merge, `width` columns wide, from `offset` on and at most `limit` of them.
    pub fn new(merge: Merge, width: usize, offset: usize, limit: Option<usize>) -> Self {
        let left = limit.unwrap_or(usize::MAX);
        RowStream { merge, wanted: (offset, left), skip: offset, left, ready: None, width }
    }

    /// The same rows from their beginning.
    pub fn again(&self) -> Self {
        let (skip, left) = self.wanted;
        RowStream { merge: self.merge.again(), wanted: self.wanted, skip, left, ready: None, width: self.width }
    }

    /// Whether there are no rows, those left out included.
    pub fn is_empty(&mut self) -> Result<bool, ExecError> {
        if self.ready.is_none() {
            self.ready = self.merge.next_rows()?;
        }
        Ok(self.ready.is_none())
    }

    /// The next rows; `None` after the last.
    pub fn next_rows(&mut self) -> Result<Option<Batch>, ExecError> {
        loop {
            let next = match self.ready.take() {
                _ if self.left == 0 => None,
                None => self.merge.next_rows()?,
                ready => ready,
            };
            let Some(rows) = next else { return Ok(None) };
            let start = self.skip.min(rows.len);
            let end = start.saturating_add(self.left).min(rows.len);
            self.skip -= start;
            self.left -= end - start;
            if start < end {
                return Ok(Some(if end - start == rows.len { rows } else { rows.slice(start..end) }));
            }
        }
    }

    /// Goes on when the script of the query has ended. Its timeout and its kill no longer matter then.
    pub fn outlive_script(&mut self) {
        self.merge.outlive_script();
    }

    /// All rows in memory. Fails if there is not enough of it.
    pub fn collect(mut self) -> Result<Batch, ExecError> {
        let mut all = Batch::empty(self.width);
        while let Some(rows) = self.next_rows()? {
            make_room(rows.memory_bytes())?;
            all.append_all(rows);
        }
        Ok(all)
    }
}
