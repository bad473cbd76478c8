//! Results and imports as columns, and the types that the result of a script may have.

use super::rows::NamedRows;
use crate::budget::{Stop, make_room};
use crate::value::{Batch, Tuple};

/// Columns under headers: the result of a script in the engine's own form, without a value for each cell.
///
/// The type of a column follows from its values, not from a declaration. Without rows, or with only nulls, it has no type.
#[derive(Clone, Debug, Default)]
pub struct NamedColumns {
    /// A header for each column.
    pub headers: Vec<String>,
    /// The columns, all of the same length.
    pub rows: Batch,
    /// A further result, if a script returns several.
    pub next: Option<Box<NamedColumns>>,
}

impl NamedColumns {
    /// Columns under headers.
    pub fn new(headers: Vec<String>, rows: Batch) -> Self {
        NamedColumns { headers, rows, next: None }
    }
}

/// A type for the result of a script.
pub trait ScriptResult: Sized {
    /// The result of a query that returns columns.
    fn of_columns(headers: Vec<String>, rows: Batch) -> Result<Self, Stop>;

    /// The result of any other statement.
    fn of_rows(rows: NamedRows) -> Result<Self, Stop>;

    /// The result of a query that returns one row or none.
    fn of_row(headers: &[String], row: Option<Tuple>) -> Result<Self, Stop> {
        Self::of_rows(NamedRows::new(headers.to_vec(), row.into_iter().collect()))
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

    fn of_rows(result: NamedRows) -> Result<Self, Stop> {
        make_room(result.memory_bytes())?;
        let rows = Batch::from_rows(result.headers.len(), result.rows.iter().map(Vec::as_slice));
        let next = result.next.map(|next| NamedColumns::of_rows(*next).map(Box::new)).transpose()?;
        Ok(NamedColumns { headers: result.headers, rows, next })
    }
}
