//! Results and imports as columns, and the types that the result of a script may have.

use super::rows::NamedRows;
use crate::budget::{Stop, make_room};
use crate::exec::{ExecError, RowStream};
use crate::schema::ColumnType;
use crate::value::{Batch, Column, Tuple};

/// Columns under headers: the result of a script in the engine's own form, without a value for each cell.
///
/// The type of a column follows from its values. A column without values has one if the script says it.
#[derive(Clone, Debug, Default)]
pub struct NamedColumns {
    /// A header for each column.
    pub headers: Vec<String>,
    /// The columns, all of the same length.
    pub rows: Batch,
    /// The types of columns without values, as a script spells them, such as `Int?`; `None` where the script does not say it, and
    /// for columns with values. Empty if all columns have values.
    pub types: Vec<Option<String>>,
    /// A further result, if a script returns several.
    pub next: Option<Box<NamedColumns>>,
}

impl NamedColumns {
    /// Columns under headers.
    pub fn new(headers: Vec<String>, rows: Batch) -> Self {
        NamedColumns { headers, rows, types: vec![], next: None }
    }
}

/// A type for the result of a script.
pub trait ScriptResult: Sized {
    /// The result of a query that returns columns.
    fn of_columns(headers: Vec<String>, rows: Batch) -> Result<Self, Stop>;

    /// The result of a query whose rows exceed the memory. By default they are read into memory, which may fail.
    fn of_stream(headers: Vec<String>, rows: RowStream) -> Result<Self, ExecError> {
        Ok(Self::of_columns(headers, rows.collect()?)?)
    }

    /// The result of any other statement.
    fn of_rows(rows: NamedRows) -> Result<Self, Stop>;

    /// The result of a query that returns one row or none.
    fn of_row(headers: &[String], row: Option<Tuple>) -> Result<Self, Stop> {
        Self::of_rows(NamedRows::new(headers.to_vec(), row.into_iter().collect()))
    }

    /// The result with the types of its columns, where it needs them.
    fn with_types(self, _types: impl FnOnce() -> Vec<Option<ColumnType>>) -> Self {
        self
    }
}

/// Rows without headers.
impl ScriptResult for Vec<Tuple> {
    fn of_columns(headers: Vec<String>, rows: Batch) -> Result<Self, Stop> {
        Ok(NamedRows::from_batch(headers, &rows)?.rows)
    }

    fn of_rows(rows: NamedRows) -> Result<Self, Stop> {
        Ok(rows.rows)
    }

    fn of_row(_: &[String], row: Option<Tuple>) -> Result<Self, Stop> {
        Ok(row.into_iter().collect())
    }
}

impl ScriptResult for NamedRows {
    fn of_columns(headers: Vec<String>, rows: Batch) -> Result<Self, Stop> {
        NamedRows::from_batch(headers, &rows)
    }

    fn of_rows(rows: NamedRows) -> Result<Self, Stop> {
        Ok(rows)
    }
}

impl ScriptResult for NamedColumns {
    fn of_columns(headers: Vec<String>, rows: Batch) -> Result<Self, Stop> {
        Ok(NamedColumns::new(headers, rows))
    }

    fn with_types(mut self, types: impl FnOnce() -> Vec<Option<ColumnType>>) -> Self {
        let has_values = |column: &Column| !matches!(column, Column::Null(_));
        if !self.rows.columns.iter().all(has_values) {
            let types = types().into_iter().map(|known| known.map(|known| known.to_string()));
            self.types =
                types.zip(&self.rows.columns).map(|(known, column)| known.filter(|_| !has_values(column))).collect();
        }
        self
    }

    fn of_rows(result: NamedRows) -> Result<Self, Stop> {
        make_room(result.memory_bytes())?;
        let rows = Batch::from_rows(result.headers.len(), result.rows.iter().map(Vec::as_slice));
        let next = result.next.map(|next| NamedColumns::of_rows(*next).map(Box::new)).transpose()?;
        Ok(NamedColumns { headers: result.headers, rows, types: vec![], next })
    }
}
