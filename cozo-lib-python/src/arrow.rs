//! Arrow through the PyCapsule interface: the class `ArrowResult`, and streams of others.

use std::ffi::CStr;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::ArrowError;
use arrow_schema::ffi::FFI_ArrowSchema;
use cozo::value::{Batch, Column, arrow};
use cozo::{NamedColumns, NamedRows};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

use crate::arguments::wrong_type;
use crate::error::BindingError;
use crate::interruptible::released;
use crate::to_python::row_tuples;

/// The names that the interface gives to its capsules.
const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";

/// A result as one Arrow table, which pyarrow, pandas, polars, DuckDB and others read as it stands.
#[pyclass(frozen, module = "cozo_embedded")]
pub struct ArrowResult {
    table: Table,
    next: Option<Py<ArrowResult>>,
    warnings: Vec<String>,
}

/// One result.
pub struct Table {
    batch: RecordBatch,
    /// The columns whose values Arrow does not keep as they are, by position: lists, objects, mixtures.
    exact: Vec<(usize, Column)>,
}

impl Table {
    fn new(headers: Vec<String>, rows: Batch, types: &[Option<String>]) -> Result<Table, ArrowError> {
        let columns = rows.columns.iter().enumerate();
        let exact = columns.filter(|(_, column)| matches!(column, Column::Any(_)));
        let exact = exact.map(|(position, column)| (position, column.clone())).collect();
        Ok(Table { batch: arrow::record_batch(headers, rows, types)?, exact })
    }

    /// All columns as they were.
    fn columns(&self) -> Result<Batch, String> {
        let mut rows = arrow::columns(&self.batch).map_err(|refusal| refusal.to_string())?;
        self.exact.iter().for_each(|(position, column)| rows.columns[*position] = column.clone());
        Ok(rows)
    }
}

/// A result and those that follow, first to last; made without the interpreter's lock.
pub fn tables(result: NamedColumns) -> Result<Vec<Table>, ArrowError> {
    let (mut tables, mut rest) = (vec![], Some(result));
    while let Some(result) = rest {
        tables.push(Table::new(result.headers, result.rows, &result.types)?);
        rest = result.next.map(|next| *next);
    }
    Ok(tables)
}

/// [`tables`] of rows.
pub fn tables_of_rows(result: NamedRows) -> Result<Vec<Table>, ArrowError> {
    let (mut tables, mut rest) = (vec![], Some(result));
    while let Some(result) = rest {
        let rows = Batch::from_rows(result.headers.len(), result.rows.iter().map(Vec::as_slice));
        tables.push(Table::new(result.headers, rows, &[])?);
        rest = result.next.map(|next| *next);
    }
    Ok(tables)
}

impl ArrowResult {
    /// The object of some rows. `types` has the types of columns without values.
    pub fn of_rows(
        py: Python<'_>,
        headers: Vec<String>,
        rows: Batch,
        types: &[Option<String>],
    ) -> PyResult<Py<ArrowResult>> {
        let table = Table::new(headers, rows, types).map_err(|error| arrow_error(py, &error))?;
        Py::new(py, ArrowResult { table, next: None, warnings: vec![] })
    }

    /// The object of a result and those that follow, each with the warnings of the script.
    pub fn new(py: Python<'_>, tables: Vec<Table>, warnings: Vec<String>) -> PyResult<Py<ArrowResult>> {
        let chained = |next: Option<Py<ArrowResult>>, table| {
            Py::new(py, ArrowResult { table, next, warnings: warnings.clone() }).map(Some)
        };
        let first = tables.into_iter().rev().try_fold(None, chained)?;
        first.ok_or_else(|| BindingError::Internal("a script without a result".to_string()).raise(py))
    }
}

#[pymethods]
impl ArrowResult {
    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.table.batch.num_rows()
    }

    /// The names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.table.batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// A further result, where a script returns several.
    #[getter]
    fn next(&self, py: Python<'_>) -> Option<Py<ArrowResult>> {
        self.next.as_ref().map(|next| next.clone_ref(py))
    }

    /// What the script probably does not mean, in words.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// The rows as tuples of the objects that `run_script` gives.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = released(py, || self.table.columns())?.map_err(|message| BindingError::Arrow(message).raise(py))?;
        row_tuples(py, &rows)
    }

    fn __len__(&self) -> usize {
        self.table.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        let columns = self
            .table
            .batch
            .schema_ref()
            .fields()
            .iter()
            .map(|field| format!("{}: {}", field.name(), field.data_type()));
        format!("<ArrowResult of {} rows: {}>", self.table.batch.num_rows(), columns.collect::<Vec<_>>().join(", "))
    }

    /// The columns' names and types, as a capsule of Arrow's C data interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&**self.table.batch.schema_ref());
        let schema = schema.map_err(|error| arrow_error(py, &error))?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    /// The table, as a capsule of Arrow's C stream interface. It has the types of `__arrow_c_schema__`, whatever types are
    /// asked for: the interface leaves that to who reads it.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.table.batch.clone())], self.table.batch.schema());
        stream_capsule(py, batches)
    }
}

/// Batches as a capsule of Arrow's C stream interface.
pub fn stream_capsule(
    py: Python<'_>,
    batches: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
}

/// The columns of a result as they were, or of an object with `__arrow_c_stream__`.
pub fn exact_columns_of(data: &Bound<'_, PyAny>) -> PyResult<Batch> {
    match data.cast::<ArrowResult>() {
        Ok(result) => result.get().table.columns().map_err(|message| BindingError::Arrow(message).raise(data.py())),
        Err(_) => columns_of(data).map(|columns| columns.rows),
    }
}

/// The columns of an object with `__arrow_c_stream__`.
pub fn columns_of(data: &Bound<'_, PyAny>) -> PyResult<NamedColumns> {
    let expected = "an Arrow table (have __arrow_c_stream__)";
    let method = data.getattr("__arrow_c_stream__").map_err(|_| wrong_type(data, "the data", expected))?;
    let raised = |raised: PyErr| BindingError::Unreadable { argument: "the data", raised: raised.to_string() };
    let capsule = method.call0().map_err(|error| raised(error).raise(data.py()))?;
    let reader = reader(capsule.cast::<PyCapsule>().map_err(|_| wrong_type(data, "the data", expected))?)?;
    released(data.py(), || columns(reader))?.map_err(|message| BindingError::Arrow(message).raise(data.py()))
}

/// Everything that a stream of batches has, or what is wrong with it.
fn columns(reader: impl RecordBatchReader) -> Result<NamedColumns, String> {
    let schema = reader.schema();
    let headers = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut rows = Batch::empty(schema.fields().len());
    for batch in reader {
        let more = arrow::columns(&batch.map_err(|error| error.to_string())?);
        let in_all = |refusal: arrow::Refusal| arrow::Refusal { row: refusal.row.map(|row| row + rows.len), ..refusal };
        let more = more.map_err(|refusal| in_all(refusal).to_string())?;
        match rows.is_empty() {
            true => rows = more,
            false => rows.append(&more),
        }
    }
    Ok(NamedColumns::new(headers, rows))
}

/// Takes the stream out of its capsule.
#[allow(unsafe_code)]
fn reader(capsule: &Bound<'_, PyCapsule>) -> PyResult<RecordBatchStreamReader> {
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name points to such a stream, says Arrow's PyCapsule interface.
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr()) };
    reader.map_err(|error| arrow_error(capsule.py(), &error))
}

/// The exception of what Arrow does not take.
pub fn arrow_error(py: Python<'_>, error: &ArrowError) -> PyErr {
    BindingError::Arrow(error.to_string()).raise(py)
}
