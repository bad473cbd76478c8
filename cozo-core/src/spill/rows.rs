//! Rows on disk: written once, in blocks, and read by ranges of row numbers.

use std::ops::Range;
use std::sync::Arc;

use super::block::{PADDING, decode, encode};
use super::error::SpillError;
use super::file::{BlockPlace, SpillFile};
use crate::storage::{BatchCursor, StorageError};
use crate::value::Batch;

/// The rows of a block, if their values are small.
const BLOCK_ROWS: usize = 1 << 13;

/// About the most bytes of the values of a block.
const BLOCK_BYTES: usize = 1 << 20;

/// Rows on disk. Clones share the blocks.
#[derive(Clone, Debug, Default)]
pub struct SpilledRows {
    width: usize,
    blocks: Vec<Block>,
    /// The number of all rows.
    len: usize,
    /// The size that the values have in memory.
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Block {
    file: Arc<SpillFile>,
    place: BlockPlace,
    /// The number of its first row.
    start: usize,
}

impl SpilledRows {
    /// No rows of so many columns.
    pub fn empty(width: usize) -> Self {
        SpilledRows { width, ..SpilledRows::default() }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// About how many bytes the values take in memory.
    pub fn memory_bytes(&self) -> usize {
        self.bytes
    }

    /// Appends the rows of another one.
    pub fn append(&mut self, other: SpilledRows) {
        let moved = other.blocks.into_iter().map(|block| Block { start: block.start + self.len, ..block });
        self.blocks.extend(moved);
        self.len += other.len;
        self.bytes += other.bytes;
    }

    /// Reads the rows of a range.
    pub fn read(&self, range: Range<usize>) -> SpillReader {
        SpillReader { rows: self.clone(), range, block: Batch::default(), start: 0, buffer: vec![] }
    }

    /// Reads all rows.
    pub fn read_all(&self) -> SpillReader {
        self.read(0..self.len)
    }

    /// The rows of the block that has row `row`, and the number of its first row.
    fn block_of(&self, row: usize, buffer: &mut Vec<u8>) -> Result<(Batch, usize), SpillError> {
        let nth = self.blocks.partition_point(|block| block.start <= row) - 1;
        let block = &self.blocks[nth];
        let end = self.blocks.get(nth + 1).map_or(self.len, |next| next.start);
        match &block.place {
            BlockPlace::Disk(extent) => block.file.read(extent, buffer, PADDING)?,
            BlockPlace::Memory(held) => {
                buffer.clear();
                buffer.extend_from_slice(&held.bytes);
                buffer.resize(held.bytes.len() + PADDING, 0);
            }
        }
        Ok((decode(buffer, end - block.start, self.width)?, block.start))
    }
}

/// Reads a range of rows in order.
pub struct SpillReader {
    rows: SpilledRows,
    /// The rows that are left.
    range: Range<usize>,
    /// The block read last,
    block: Batch,
    /// and the number of its first row.
    start: usize,
    buffer: Vec<u8>,
}

impl SpillReader {
    /// The next rows, at most so many; `None` after the last.
    pub fn next_rows(&mut self, max_rows: usize) -> Result<Option<Batch>, SpillError> {
        if self.range.is_empty() {
            return Ok(None);
        }
        let first = self.range.start;
        if !(self.start..self.start + self.block.len).contains(&first) {
            (self.block, self.start) = self.rows.block_of(first, &mut self.buffer)?;
        }
        let end = (self.start + self.block.len).min(self.range.end).min(first.saturating_add(max_rows));
        self.range.start = end;
        let part = first - self.start..end - self.start;
        Ok(Some(if part.len() == self.block.len { std::mem::take(&mut self.block) } else { self.block.slice(part) }))
    }

    /// The number of rows that are left.
    pub fn rows_left(&self) -> usize {
        self.range.len()
    }
}

impl BatchCursor for SpillReader {
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError> {
        self.next_rows(max_rows).map_err(|error| StorageError::Source(error.to_string()))
    }
}

/// Writes rows to disk.
#[derive(Debug)]
pub struct SpillWriter {
    file: Arc<SpillFile>,
    /// Rows that do not fill a block yet.
    pending: Batch,
    /// About the size of their large values.
    pending_bytes: usize,
    written: SpilledRows,
    buffer: Vec<u8>,
}

impl SpillWriter {
    /// Writes rows of so many columns into a file. Several writers may share the file.
    pub fn new(file: Arc<SpillFile>, width: usize) -> Self {
        SpillWriter {
            file,
            pending: Batch::empty(width),
            pending_bytes: 0,
            written: SpilledRows::empty(width),
            buffer: vec![],
        }
    }

    /// Appends rows.
    pub fn push(&mut self, rows: &Batch) -> Result<(), SpillError> {
        let mut start = 0;
        while start < rows.len {
            let mut end = (start + BLOCK_ROWS - self.pending.len).min(rows.len);
            let bytes_to = |end| rows.columns.iter().map(|column| column.large_bytes_within(start..end)).sum::<usize>();
            let mut bytes = bytes_to(end);
            while end > start + 1 && bytes > BLOCK_BYTES {
                end = start + (end - start) / 2;
                bytes = bytes_to(end);
            }
            self.pending_bytes += bytes;
            for (column, source) in self.pending.columns.iter_mut().zip(&rows.columns) {
                column.append_range(source, start..end);
            }
            self.pending.len += end - start;
            start = end;
            self.flush_if_full()?;
        }
        Ok(())
    }

    /// Appends some rows of a batch.
    pub fn push_some(&mut self, rows: &Batch, some: &[u32]) -> Result<(), SpillError> {
        let row_bytes = rows.large_bytes() / rows.len.max(1);
        for chunk in some.chunks((BLOCK_BYTES / row_bytes.max(1)).clamp(1, BLOCK_ROWS)) {
            for (column, source) in self.pending.columns.iter_mut().zip(&rows.columns) {
                column.append_take(source, chunk);
            }
            self.pending.len += chunk.len();
            self.pending_bytes += row_bytes * chunk.len();
            self.flush_if_full()?;
        }
        Ok(())
    }

    fn flush_if_full(&mut self) -> Result<(), SpillError> {
        let is_full = self.pending.len >= BLOCK_ROWS || self.pending_bytes >= BLOCK_BYTES;
        if is_full { self.flush() } else { Ok(()) }
    }

    /// Writes the rows that do not fill a block yet.
    fn flush(&mut self) -> Result<(), SpillError> {
        let width = self.pending.columns.len();
        let rows = std::mem::replace(&mut self.pending, Batch::empty(width));
        if rows.is_empty() {
            return Ok(());
        }
        self.pending_bytes = 0;
        self.buffer.clear();
        encode(&rows, &mut self.buffer)?;
        let place = self.file.append(&self.buffer)?;
        self.written.blocks.push(Block { file: self.file.clone(), place, start: self.written.len });
        self.written.len += rows.len;
        self.written.bytes += rows.memory_bytes();
        Ok(())
    }

    /// All rows.
    pub fn finish(mut self) -> Result<SpilledRows, SpillError> {
        self.flush()?;
        Ok(self.written)
    }
}
