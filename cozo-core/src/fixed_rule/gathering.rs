//! The rows that a rule reads, which may be more than memory holds.
//!
//! ```text
//!  push, end_row -> Gathering    up to the rule's share: a batch in memory          -> finish
//!                                beyond it:  Overflow::take, in any order           -> the rule's result
//!                                            Kept, in their order, to be read again -> convert, and gather
//! ```

use std::fmt::Debug;
use std::sync::Arc;

use super::{Call, FixedRuleError, Poison};
use crate::spill::{SpillError, SpillFile, SpillWriter, SpilledRows};
use crate::value::{Batch, Column};

/// The disk, for rows that exceed a rule's share of the memory.
pub trait Overflow: Debug + Sync {
    /// The bytes that the rows of the rule may take in memory.
    fn share_bytes(&self) -> usize;

    /// Takes rows of the result, in any order. Some may be equal.
    fn take(&self, rows: Batch) -> Result<(), FixedRuleError>;

    /// A file for rows that are read again.
    fn file(&self) -> Arc<SpillFile>;
}

/// Rows that are pushed one by one are gathered in pieces of so many rows,
const PIECE_ROWS: usize = 2048;

/// or of so many bytes.
const PIECE_BYTES: usize = 1 << 18;

/// Gathers rows.
pub struct Gathering<'a> {
    call: &'a Call<'a>,
    /// Whether rows begin with their number from 0.
    numbered: bool,
    /// The number of rows in `rows` and beyond it.
    len: usize,
    /// The rows in memory.
    rows: Batch,
    /// Their bytes.
    bytes: usize,
    /// Holds the charge for them.
    poison: Poison,
    beyond: Beyond,
    /// Rows that make no piece yet, and their bytes.
    pending: Batch,
    pending_bytes: usize,
}

/// Where rows beyond the share go.
enum Beyond {
    /// They are part of the result.
    Result { has_some: bool },
    /// They are kept in their order.
    Kept(Option<SpillWriter>),
}

/// Rows in their order, in memory or on disk.
pub enum Kept {
    /// The poison holds the charge for the rows.
    Memory(Batch, Poison),
    Disk(SpilledRows),
}

impl<'a> Gathering<'a> {
    /// Gathers rows of so many columns as the result of a call. If they are `numbered`, a first column is added.
    pub fn result(call: &'a Call<'a>, width: usize, numbered: bool) -> Self {
        let rows = Batch::empty(width + usize::from(numbered));
        let beyond = Beyond::Result { has_some: false };
        let (poison, pending) = (call.poison.for_a_while(), Batch::empty(width));
        Gathering { call, numbered, len: 0, rows, bytes: 0, poison, beyond, pending, pending_bytes: 0 }
    }

    /// Gathers rows that are read again before they are the result.
    pub fn kept(call: &'a Call<'a>, width: usize) -> Self {
        Gathering { beyond: Beyond::Kept(None), ..Gathering::result(call, width, false) }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.len + self.pending.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns of the next row, to which one value each is pushed before [`Gathering::end_row`].
    pub fn next_row(&mut self) -> &mut [Column] {
        &mut self.pending.columns
    }

    /// Ends a row whose values take so many bytes.
    pub fn end_row(&mut self, bytes: usize) -> Result<(), FixedRuleError> {
        self.pending.len += 1;
        self.pending_bytes += bytes;
        let is_piece = self.pending.len >= PIECE_ROWS || self.pending_bytes >= PIECE_BYTES;
        if is_piece { self.push_pending() } else { Ok(()) }
    }

    fn push_pending(&mut self) -> Result<(), FixedRuleError> {
        self.pending_bytes = 0;
        let width = self.pending.columns.len();
        let piece = std::mem::replace(&mut self.pending, Batch::empty(width));
        self.push_piece(piece)
    }

    /// Appends rows.
    pub fn push(&mut self, rows: Batch) -> Result<(), FixedRuleError> {
        self.push_pending()?;
        self.push_piece(rows)
    }

    fn push_piece(&mut self, mut rows: Batch) -> Result<(), FixedRuleError> {
        if rows.is_empty() {
            return Ok(());
        }
        if self.numbered {
            let numbers = self.len as i64..(self.len + rows.len) as i64;
            rows.columns.insert(0, Column::ints(numbers.collect()));
        }
        self.len += rows.len;
        match (self.call.overflow, &mut self.beyond) {
            (Some(overflow), Beyond::Result { has_some: true }) => return overflow.take(rows),
            (Some(_), Beyond::Kept(Some(writer))) => return writer.push(&rows).map_err(refused),
            _ => {}
        }
        let bytes = rows.memory_bytes();
        self.poison.make_room(bytes)?;
        self.bytes += bytes;
        self.rows.append_all(rows);
        match self.call.overflow.filter(|overflow| self.bytes > overflow.share_bytes()) {
            Some(overflow) => self.move_out(overflow),
            None => Ok(()),
        }
    }

    /// Moves the rows in memory to disk.
    fn move_out(&mut self, overflow: &dyn Overflow) -> Result<(), FixedRuleError> {
        let width = self.rows.columns.len();
        let rows = std::mem::replace(&mut self.rows, Batch::empty(width));
        match &mut self.beyond {
            Beyond::Result { has_some } => {
                *has_some = true;
                overflow.take(rows)?;
            }
            Beyond::Kept(writer) => {
                writer.insert(SpillWriter::new(overflow.file(), width)).push(&rows).map_err(refused)?;
            }
        }
        self.bytes = 0;
        self.poison = self.call.poison.for_a_while();
        Ok(())
    }

    /// Reserves memory for so many more rows, unless that exceeds the share. Otherwise many rows would be copied each time that
    /// the columns grow.
    pub fn expect(&mut self, rows: usize) {
        let row_bytes = self.bytes / self.rows.len.max(1);
        let may_fit = |overflow: &dyn Overflow| rows.saturating_mul(row_bytes) <= overflow.share_bytes();
        if !self.rows.is_empty() && self.call.overflow.is_none_or(may_fit) {
            self.rows.columns.iter_mut().for_each(|column| column.try_reserve(rows));
        }
    }

    /// The rows of the result that are in memory.
    pub fn finish(mut self) -> Result<Batch, FixedRuleError> {
        self.push_pending()?;
        Ok(self.rows)
    }

    /// All rows that were kept.
    pub fn into_kept(mut self) -> Result<Kept, FixedRuleError> {
        self.push_pending()?;
        Ok(match self.beyond {
            Beyond::Kept(Some(writer)) => Kept::Disk(writer.finish().map_err(refused)?),
            _ => Kept::Memory(self.rows, self.poison),
        })
    }
}

impl Kept {
    /// The result of a call: these rows, converted piece by piece.
    pub fn converted(
        self,
        call: &Call<'_>,
        convert: impl Fn(Batch) -> Result<Batch, FixedRuleError>,
    ) -> Result<Batch, FixedRuleError> {
        let width = match &self {
            Kept::Memory(rows, _) => rows.columns.len(),
            Kept::Disk(rows) => rows.width(),
        };
        let mut result = Gathering::result(call, width, false);
        match self {
            Kept::Memory(rows, _charge) => result.push(convert(rows)?)?,
            Kept::Disk(rows) => {
                let mut reader = rows.read_all();
                while let Some(rows) = reader.next_rows(usize::MAX).map_err(refused)? {
                    call.poison.check()?;
                    result.push(convert(rows)?)?;
                }
            }
        }
        result.finish()
    }
}

fn refused(error: SpillError) -> FixedRuleError {
    miette::Report::from(error).into()
}
