//! Results as rows of values, with headers.

use std::sync::OnceLock;

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::allocator;
use crate::budget::{Budget, Stop, make_room};
use crate::session::error::SessionError;
use crate::threads;
use crate::value::{Batch, Column, DataValue, Tuple, allocated};

/// Rows of values under headers: the result of a script, or the contents of a relation.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct NamedRows {
    /// A header for each column.
    pub headers: Vec<String>,
    /// The rows, each as long as the headers.
    pub rows: Vec<Tuple>,
    /// A further result, if a script returns several.
    pub next: Option<Box<NamedRows>>,
}

/// Results of at least this many rows are made by several threads, since most of their memory is new. Smaller results are made and
/// dropped faster in the heap of one thread.
const PARALLEL_MIN_ROWS: usize = 1 << 19;

/// The approximate size of a result that is dropped and whose memory the next query requests again.
const USUAL_RESULT_BYTES: usize = 4 << 20;

/// Makes the program's allocator retain the memory of a result for the next one.
///
/// glibc returns free memory at the end of its heap to the system from 128 KB on, so each page of the next result causes a page
/// fault. Once a large block was freed, glibc raises that limit to twice its size, so one is allocated and freed here. No page
/// of it is touched, and other allocators are not affected. mimalloc has a setting of its own.
pub fn keep_memory_of_results() {
    allocator::keep_freed_memory();
    drop(std::hint::black_box(Vec::<u8>::with_capacity(USUAL_RESULT_BYTES)));
}

impl NamedRows {
    /// Rows under headers.
    pub fn new(headers: Vec<String>, rows: Vec<Tuple>) -> Self {
        NamedRows { headers, rows, next: None }
    }

    /// The result of an operation without rows.
    pub(crate) fn status(text: &str) -> Self {
        NamedRows::new(vec!["status".to_string()], vec![vec![DataValue::from(text)]])
    }

    /// Columns as rows. Their memory is reserved first.
    pub(crate) fn from_batch(headers: Vec<String>, batch: &Batch) -> Result<Self, Stop> {
        make_room(row_bytes(batch, batch.columns.len()))?;
        Ok(NamedRows::new(headers, rows_of(batch)?))
    }

    /// The approximate size of the rows, without further results.
    pub(crate) fn memory_bytes(&self) -> usize {
        let row = |row: &Tuple| size_of::<Tuple>() + row.iter().map(DataValue::memory_bytes).sum::<usize>();
        self.rows.iter().map(row).sum()
    }

    /// Whether a further result follows.
    pub fn has_more(&self) -> bool {
        self.next.is_some()
    }

    /// This result and the following ones, separately.
    pub fn flatten(self) -> Vec<Self> {
        let mut all = vec![];
        let mut current = Some(self);
        while let Some(mut rows) = current {
            current = rows.next.take().map(|next| *next);
            all.push(rows);
        }
        all
    }

    /// Results as a chain, each the `next` of the one before. It is the inverse of [`NamedRows::flatten`].
    pub fn chained(results: Vec<Self>) -> Self {
        let chain = |next: Option<Box<Self>>, rows: Self| Some(Box::new(NamedRows { next, ..rows }));
        results.into_iter().rev().fold(None, chain).map_or_else(Default::default, |rows| *rows)
    }

    /// `{"headers": [...], "rows": [[...]], "next": null}`, the values as the API writes them.
    pub fn into_json(self) -> Value {
        let next = self.next.map_or(Value::Null, |next| next.into_json());
        let rows: Vec<Value> = self.rows.into_iter().map(|row| row.into_iter().map(Value::from).collect()).collect();
        json!({"headers": self.headers, "rows": rows, "next": next})
    }

    /// Reads `{"headers": [...], "rows": [[...]]}`.
    pub fn from_json(value: &Value) -> miette::Result<Self> {
        let bad =
            |what: &str| SessionError::BadJson(format!("expected {{\"headers\": [...], \"rows\": [[...]]}}: {what}"));
        let headers = value.get("headers").and_then(Value::as_array).ok_or_else(|| bad("no list 'headers'"))?;
        let header =
            |header: &Value| header.as_str().map(str::to_string).ok_or_else(|| bad("a header is not a string"));
        let headers = headers.iter().map(header).collect::<Result<_, _>>()?;
        let rows = value.get("rows").and_then(Value::as_array).ok_or_else(|| bad("no list 'rows'"))?;
        let row = |row: &Value| {
            let cells = row.as_array().ok_or_else(|| bad("a row is not a list"))?;
            Ok::<Tuple, SessionError>(cells.iter().map(DataValue::from).collect())
        };
        Ok(NamedRows::new(headers, rows.iter().map(row).collect::<Result<_, _>>()?))
    }

    /// A script and its parameters that apply an operation such as `put` to a relation with these rows.
    pub fn into_payload(self, relation: &str, op: &str) -> (String, std::collections::BTreeMap<String, DataValue>) {
        let columns = self.headers.join(", ");
        let script = format!("?[{columns}] <- $data :{op} {relation} {{ {columns} }}");
        let data = DataValue::List(self.rows.into_iter().map(DataValue::List).collect());
        (script, [("data".to_string(), data)].into())
    }
}

/// The approximate size of a batch as rows of `width` values.
pub fn row_bytes(batch: &Batch, width: usize) -> usize {
    let row = size_of::<Tuple>() + allocated(width * size_of::<DataValue>());
    batch.len.saturating_mul(row).saturating_add(batch.large_bytes())
}

/// The number of rows made between two checks of the budget.
const ROWS_PER_CHECK: usize = 4096;

/// The rows of a batch. Once the script must stop, the remaining rows are empty, and all are dropped.
fn rows_of(batch: &Batch) -> Result<Vec<Tuple>, Stop> {
    let (stopped, budget) = (OnceLock::new(), Budget::current());
    let must_stop = |row: usize| {
        if row.is_multiple_of(ROWS_PER_CHECK)
            && let Some(Err(stop)) = budget.as_ref().map(Budget::check)
        {
            let _ = stopped.set(stop);
        }
        stopped.get().is_some()
    };
    let single_ints = batch.columns.first().filter(|_| batch.columns.len() == 1).and_then(Column::as_dense_ints);
    let row = |row: usize| match single_ints {
        _ if must_stop(row) => vec![],
        Some(values) => vec![DataValue::from(values[row])],
        None => batch.row(row),
    };
    let rows = match batch.len {
        0..PARALLEL_MIN_ROWS => (0..batch.len).map(row).collect(),
        len => {
            threads::ready();
            (0..len).into_par_iter().with_min_len(PARALLEL_MIN_ROWS / 2).map(row).collect()
        }
    };
    stopped.into_inner().map_or(Ok(rows), Err)
}

impl IntoIterator for NamedRows {
    type Item = Tuple;
    type IntoIter = std::vec::IntoIter<Tuple>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.into_iter()
    }
}
