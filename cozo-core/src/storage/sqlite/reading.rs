//! Reading the rows of a range, some at a time.
//!
//! A statement is never left open between two calls. The next call continues with the keys after the last one returned. So no
//! lock is held meanwhile, and a connection serves any number of cursors.

use std::sync::Arc;

use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection, Row, Rows};

use super::bounds::{Place, Range, Shape};
use super::column_encoding::owned_value;
use super::error::failed;
use super::history::History;
use super::table::Table;
use crate::storage::error::StorageError;
use crate::value::Batch;

/// A way of reading a table: its columns, and perhaps a time.
pub struct Reading {
    table: Arc<Table>,
    /// The requested columns, followed by the other key columns.
    selected: Vec<usize>,
    /// The position of each key column in `selected`.
    key_places: Vec<usize>,
    /// The number of requested columns.
    wanted: usize,
    /// The time at which histories are read, if only visible rows are.
    history: Option<History>,
    /// The last statement.
    sql: Option<(Shape, String)>,
}

/// Whether a range has more rows.
#[derive(Debug, PartialEq)]
pub enum Rest {
    /// There may be more rows, from this position on.
    From(Place),
    /// There are no more rows.
    Nothing,
}

impl Reading {
    /// Reads some columns of a table.
    pub fn new(table: &Arc<Table>, columns: &[usize], history: Option<History>) -> Self {
        let mut selected = columns.to_vec();
        let mut place_of = |key: usize| match selected.iter().position(|column| *column == key) {
            Some(place) => place,
            None => {
                selected.push(key);
                selected.len() - 1
            }
        };
        let key_places = (0..table.shape.keys).map(&mut place_of).collect();
        Reading { table: table.clone(), selected, key_places, wanted: columns.len(), history, sql: None }
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// No rows yet.
    pub fn empty_batch(&self) -> Batch {
        let column = |column: &usize| self.table.forms[*column].column();
        Batch { columns: self.selected[..self.wanted].iter().map(column).collect(), len: 0 }
    }

    /// The part of a range to read. A range within one history begins at its deciding row.
    pub fn begin(&self, range: Range) -> Range {
        match &self.history {
            Some(history) => history.begin(range),
            None => range,
        }
    }

    /// The statement for ranges of this shape.
    pub fn prepare<'c>(
        &mut self,
        connection: &'c Connection,
        shape: Shape,
    ) -> Result<CachedStatement<'c>, StorageError> {
        if self.sql.as_ref().is_none_or(|(last, _)| *last != shape) {
            self.sql = Some((shape, self.table.selection(&self.selected, shape)));
        }
        let sql = self.sql.as_ref().map_or("", |(_, sql)| sql);
        connection.prepare_cached(sql).map_err(failed("read rows"))
    }

    /// Appends rows of a range until the batch has `max_rows`. The statement is that of the range's shape.
    pub fn fill(
        &self,
        statement: &mut CachedStatement,
        range: &Range,
        batch: &mut Batch,
        max_rows: usize,
    ) -> Result<Rest, StorageError> {
        bind(statement, range)?;
        let rows = statement.raw_query();
        match &self.history {
            None => self.fill_plainly(rows, range, batch, max_rows),
            Some(history) => history.fill(self, rows, range, batch, max_rows),
        }
    }

    /// Whether a range has any row. The statement is that of the range's shape.
    pub fn has_rows(statement: &mut CachedStatement, range: &Range) -> Result<bool, StorageError> {
        bind(statement, range)?;
        let first = statement.raw_query().next().map(|row| row.is_some());
        first.map_err(failed("read rows"))
    }

    fn fill_plainly(
        &self,
        mut rows: Rows,
        range: &Range,
        batch: &mut Batch,
        max_rows: usize,
    ) -> Result<Rest, StorageError> {
        let is_whole_key = matches!(range, Range::Prefix(values) if values.len() == self.table.shape.keys);
        while let Some(row) = rows.next().map_err(failed("read rows"))? {
            self.push(row, batch)?;
            if is_whole_key {
                return Ok(Rest::Nothing);
            }
            if batch.len == max_rows {
                return Ok(Rest::From(Place { values: self.key(row, self.table.shape.keys)?, after: true }));
            }
        }
        Ok(Rest::Nothing)
    }

    /// Appends a row.
    pub fn push(&self, row: &Row, batch: &mut Batch) -> Result<(), StorageError> {
        for (i, column) in batch.columns.iter_mut().enumerate() {
            let stored = row.get_ref(i).map_err(failed("read rows"))?;
            self.table.forms[self.selected[i]].read(stored, column)?;
        }
        batch.len += 1;
        Ok(())
    }

    /// The first key columns of a row.
    pub fn key(&self, row: &Row, width: usize) -> Result<Vec<Value>, StorageError> {
        let places = self.key_places[..width].iter();
        places.map(|place| row.get_ref(*place).map(owned_value).map_err(failed("read rows"))).collect()
    }

    /// Whether the row has these as its first key columns.
    pub fn has_key(&self, row: &Row, key: &[Value]) -> Result<bool, StorageError> {
        for (place, value) in self.key_places.iter().zip(key) {
            if row.get_ref(*place).map_err(failed("read rows"))? != value.into() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The bytes of the row's last key column.
    pub fn last_key<'r>(&self, row: &'r Row) -> Result<&'r [u8], StorageError> {
        let place = self.key_places[self.table.shape.keys - 1];
        let stored = row.get_ref(place).map_err(failed("read rows"))?;
        stored.as_blob().map_err(|_| StorageError::Damaged("a Validity is no blob".to_string()))
    }
}

fn bind(statement: &mut CachedStatement, range: &Range) -> Result<(), StorageError> {
    for (i, value) in range.parameters().enumerate() {
        statement.raw_bind_parameter(i + 1, value).map_err(failed("read rows"))?;
    }
    Ok(())
}
