//! Results as columns, batch by batch.

use std::sync::Arc;

use super::columns::{NamedColumns, ScriptResult};
use super::rows::NamedRows;
use crate::budget::Stop;
use crate::exec::{ExecError, MAX_BATCH_ROWS, RowStream};
use crate::schema::ColumnType;
use crate::value::Batch;

/// The result of a script, batch by batch. A result that exceeds the memory of its query is read from disk, so that it is never in
/// memory as a whole.
///
/// The script has ended, and its changes are committed, when there is a stream. Dropping the stream frees the disk.
///
/// ```
/// # fn main() -> cozo::Result<()> {
/// use cozo::{DbInstance, ScriptMutability::Immutable};
/// let db = DbInstance::new("mem", "", r#"{"query_memory_mb": 64}"#)?;
/// let script = "?[x, y] := x in int_range(2000), y in int_range(3)";
/// let mut stream = db.run_script_stream(script, Default::default(), Immutable, &Default::default())?;
/// let mut rows = 0;
/// while let Some(batch) = stream.next_batch()? {
///     rows += batch.len;
/// }
/// assert_eq!((stream.headers(), rows), (&["x".to_string(), "y".to_string()][..], 6000));
/// # Ok(())
/// # }
/// ```
pub struct ResultStream {
    headers: Vec<String>,
    types: Vec<Option<String>>,
    rows: Source,
    has_more: bool,
}

/// Where the rows are.
enum Source {
    /// In memory; those from a position on are left.
    Memory(Arc<Batch>, usize),
    /// On disk.
    Disk(Box<RowStream>),
}

impl ResultStream {
    /// A header for each column.
    pub fn headers(&self) -> &[String] {
        &self.headers
    }

    /// The types of the columns, as a script spells them, where the script says them; `None` elsewhere, or empty if it says none.
    pub fn types(&self) -> &[Option<String>] {
        &self.types
    }

    /// The next rows, some thousand of them, as columns in the order of the headers; `None` after the last. Fails if rows cannot be read
    /// from disk again.
    pub fn next_batch(&mut self) -> miette::Result<Option<Batch>> {
        match &mut self.rows {
            Source::Disk(rows) => Ok(rows.next_rows()?),
            Source::Memory(rows, start) => {
                let part = *start..rows.len.min(start.saturating_add(MAX_BATCH_ROWS));
                *start = part.end;
                Ok((!part.is_empty()).then(|| rows.slice(part)))
            }
        }
    }

    /// Whether the script has further results, which the stream leaves out.
    pub fn has_more(&self) -> bool {
        self.has_more
    }

    /// The same result from its first row on.
    pub fn again(&self) -> Self {
        let rows = match &self.rows {
            Source::Memory(rows, _) => Source::Memory(rows.clone(), 0),
            Source::Disk(rows) => Source::Disk(Box::new(rows.again())),
        };
        let (headers, types) = (self.headers.clone(), self.types.clone());
        ResultStream { headers, types, rows, has_more: self.has_more }
    }

    /// The rows that are left, in memory as a whole.
    pub fn collect(mut self) -> miette::Result<NamedColumns> {
        let mut rows = Batch::empty(self.headers.len());
        while let Some(batch) = self.next_batch()? {
            rows.append_all(batch);
        }
        Ok(NamedColumns { types: self.types, ..NamedColumns::new(self.headers, rows) })
    }
}

impl ScriptResult for ResultStream {
    fn of_columns(headers: Vec<String>, rows: Batch) -> Result<Self, Stop> {
        Ok(ResultStream { headers, types: vec![], rows: Source::Memory(Arc::new(rows), 0), has_more: false })
    }

    fn of_stream(headers: Vec<String>, mut rows: RowStream) -> Result<Self, ExecError> {
        rows.outlive_script();
        Ok(ResultStream { headers, types: vec![], rows: Source::Disk(Box::new(rows)), has_more: false })
    }

    /// Of several results, the first.
    fn of_rows(rows: NamedRows) -> Result<Self, Stop> {
        let result = NamedColumns::of_rows(rows)?;
        Ok(ResultStream { has_more: result.next.is_some(), ..ResultStream::of_columns(result.headers, result.rows)? })
    }

    fn with_types(mut self, types: impl FnOnce() -> Vec<Option<ColumnType>>) -> Self {
        self.types = types().into_iter().map(|known| known.map(|known| known.to_string())).collect();
        self
    }
}

/// The result of a script: rows in memory, or a stream of rows that memory does not hold.
pub enum ScriptAnswer {
    /// Rows in memory.
    Rows(NamedRows),
    /// More rows.
    Stream(ResultStream),
}

/// More rows stay columns: as rows of values they would take several times the memory. Unit: rows.
const MAX_ROWS_OF_VALUES: usize = 1 << 14;

impl ScriptResult for ScriptAnswer {
    fn of_columns(headers: Vec<String>, rows: Batch) -> Result<Self, Stop> {
        match rows.len > MAX_ROWS_OF_VALUES {
            true => ResultStream::of_columns(headers, rows).map(ScriptAnswer::Stream),
            false => NamedRows::of_columns(headers, rows).map(ScriptAnswer::Rows),
        }
    }

    fn of_stream(headers: Vec<String>, rows: RowStream) -> Result<Self, ExecError> {
        ResultStream::of_stream(headers, rows).map(ScriptAnswer::Stream)
    }

    fn of_rows(rows: NamedRows) -> Result<Self, Stop> {
        Ok(ScriptAnswer::Rows(rows))
    }
}
