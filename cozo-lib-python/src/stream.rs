//! The class `ResultStream`: a result that is read in batches.

use std::sync::Mutex;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use cozo::ResultStream as Rows;
use cozo::value::Batch;
use cozo::value::arrow::{ArrowTypes, Numbers};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyList};

use crate::arrow::{arrow_error, stream_capsule};
use crate::error::error;
use crate::interruptible::released;
use crate::locked;
use crate::to_python::row_tuples;

/// A result that is read in batches, as often as asked for. What exceeds the memory of its query is on disk until the object
/// goes.
#[pyclass(frozen, module = "cozo_embedded")]
pub struct ResultStream {
    rows: Rows,
    warnings: Vec<String>,
    /// The Arrow types of all rows, once they are known.
    types: PyOnceLock<ArrowTypes>,
}

impl ResultStream {
    pub fn new(rows: Rows, warnings: Vec<String>) -> Self {
        ResultStream { rows, warnings, types: PyOnceLock::new() }
    }

    /// The rows from the first on.
    fn rows_again(&self) -> Rows {
        self.rows.again()
    }

    /// Arrow has one type for a column of all batches, so all rows are looked at first.
    fn types(&self, py: Python<'_>) -> PyResult<ArrowTypes> {
        let find = || {
            let mut rows = self.rows_again();
            let mut types = ArrowTypes::new(rows.headers().len(), Numbers::Widened);
            while let Some(batch) = next_batch(py, || rows.next_batch())? {
                types.add(&batch);
            }
            types.declare_known(rows.types());
            PyResult::Ok(types)
        };
        self.types.get_or_try_init(py, find).cloned()
    }
}

/// The next rows. Ctrl-C is noticed between batches.
fn next_batch(py: Python<'_>, read: impl FnOnce() -> cozo::Result<Option<Batch>> + Send) -> PyResult<Option<Batch>> {
    py.check_signals()?;
    released(py, read)?.map_err(|report| error(py, report))
}

#[pymethods]
impl ResultStream {
    /// The names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.rows.headers().to_vec()
    }

    /// What the script probably does not mean, in words.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Lists of rows, some thousand each, from the first row on.
    fn batches(&self) -> RowBatches {
        RowBatches(Mutex::new(self.rows_again()))
    }

    /// The rows from the first on, as a capsule of Arrow's C stream interface, in batches of some thousand rows. Reads all rows
    /// once before, to find the types. `requested_schema` changes nothing.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let (rows, types) = (self.rows_again(), self.types(py)?);
        let schema = types.schema(rows.headers()).map_err(|refused| arrow_error(py, &refused))?;
        stream_capsule(py, ArrowBatches { rows, types, schema })
    }
}

/// What `ResultStream.batches` gives.
#[pyclass(frozen, module = "cozo_embedded")]
pub struct RowBatches(Mutex<Rows>);

#[pymethods]
impl RowBatches {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        // The thread that has the lock may wait for the interpreter's: so only threads without the interpreter's wait for this one.
        let batch = next_batch(py, || locked(&self.0).next_batch())?;
        batch.map(|batch| row_tuples(py, &batch)).transpose()
    }
}

/// The rows as batches of Arrow of one schema.
struct ArrowBatches {
    rows: Rows,
    types: ArrowTypes,
    schema: SchemaRef,
}

impl Iterator for ArrowBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.rows.next_batch().map_err(|report| ArrowError::ExternalError(report.to_string().into()));
        batch.and_then(|batch| batch.map(|batch| self.types.batch(self.rows.headers(), batch)).transpose()).transpose()
    }
}

impl RecordBatchReader for ArrowBatches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
