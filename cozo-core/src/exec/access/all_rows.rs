//! All rows of a relation that a join reads, in blocks.

use std::ops::Range;

use super::stored::Stored;
use super::tables::Tables;
use crate::exec::error::ExecError;
use crate::exec::rowset::table::Table;
use crate::exec::run::Run;
use crate::exec::thresholds::MAX_BATCH_ROWS;
use crate::plan::Source;
use crate::storage::KeyRange;
use crate::value::Batch;

/// The rows of a relation.
pub enum AllRows<'a> {
    /// Those of a derived table within a range.
    Table(&'a Table, Range<usize>),
    /// Those of a stored relation within a range of keys.
    Stored(Stored<'a>, KeyRange),
}

impl<'a> AllRows<'a> {
    /// The rows that the operator at a position reads. `keys` is the range of keys, for a stored relation.
    pub fn of(source: &Source, position: usize, keys: KeyRange, tables: &Tables<'a>, run: &'a Run<'a>) -> Self {
        match source {
            Source::Table(table) => AllRows::Table(&tables.tables[*table], (tables.range)(position, *table)),
            Source::Stored(read) => AllRows::Stored(Stored::of(read, run), keys),
        }
    }

    /// All rows of a source that is complete.
    pub fn whole(source: &Source, tables: &'a [Table], run: &'a Run<'a>) -> Self {
        match source {
            Source::Table(table) => AllRows::Table(&tables[*table], 0..tables[*table].len()),
            Source::Stored(read) => AllRows::Stored(Stored::of(read, run), KeyRange::all()),
        }
    }

    /// The number of rows, or a greater one.
    pub fn most_rows(&self) -> u64 {
        match self {
            AllRows::Table(_, range) => range.len() as u64,
            AllRows::Stored(stored, keys) => stored.most_rows(keys),
        }
    }

    /// Hands over columns of all rows, block by block.
    pub fn read(
        &self,
        columns: &[usize],
        run: &Run<'_>,
        mut take: impl FnMut(Batch) -> Result<(), ExecError>,
    ) -> Result<(), ExecError> {
        match self {
            AllRows::Table(table, range) => {
                let taken = |block: Batch| {
                    run.budget.check()?;
                    take(block)
                };
                table.read_columns(columns, range.clone(), taken)?;
            }
            AllRows::Stored(stored, keys) => {
                let mut cursor = stored.scan(keys, columns)?;
                while let Some(block) = cursor.next_batch(MAX_BATCH_ROWS)? {
                    run.budget.check()?;
                    take(block)?;
                }
            }
        }
        Ok(())
    }
}
