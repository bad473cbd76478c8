//! The class `CozoDbMulTx`.

use std::sync::{Arc, Mutex, Weak};

use cozo::{Interrupt, MultiTransaction, Process};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::text;
use crate::arrow::{self, ArrowResult, arrow_error};
use crate::error::{error, script_error};
use crate::from_python::named_values;
use crate::interruptible::{interruptible, released};
use crate::locked;
use crate::to_python::rows_to_python;

/// A transaction that spans several scripts. Letting go of it undoes everything.
#[pyclass(frozen, module = "cozo_embedded")]
pub struct CozoDbMulTx {
    /// One thing at a time: an outcome must not reach the thread that asked for another.
    transaction: Arc<Mutex<MultiTransaction>>,
    /// Stops the query that runs.
    switch: Interrupt,
    /// The process that may use it: in another one a thread that is not there may have the lock.
    process: Process,
}

/// A transaction that its database knows of as long as somebody has it.
pub type WeakTransaction = Weak<Mutex<MultiTransaction>>;

impl CozoDbMulTx {
    /// What its database keeps of it.
    pub fn downgrade(&self) -> WeakTransaction {
        Arc::downgrade(&self.transaction)
    }

    /// The object of a transaction.
    pub fn new(transaction: MultiTransaction) -> Self {
        let switch = transaction.interrupt();
        CozoDbMulTx { switch, transaction: Arc::new(Mutex::new(transaction)), process: Process::current() }
    }

    fn check_process(&self, py: Python<'_>) -> PyResult<()> {
        self.process.check().map_err(|forked| error(py, forked.into()))
    }

    /// Ends it in one way or the other.
    fn end(&self, py: Python<'_>, end: impl FnOnce(&MultiTransaction) -> cozo::Result<()> + Send) -> PyResult<()> {
        self.check_process(py)?;
        released(py, || end(&locked(&self.transaction)))?.map_err(|report| error(py, report))
    }
}

impl Drop for CozoDbMulTx {
    fn drop(&mut self) {
        if !self.process.is_current() {
            std::mem::forget(self.transaction.clone());
            return;
        }
        // Once this is gone, so is its hold on the database. Should a query that was interrupted still run, it ends by itself.
        if let Ok(transaction) = self.transaction.try_lock() {
            drop(transaction.abort());
        }
    }
}

#[pymethods]
impl CozoDbMulTx {
    /// Runs a single query. If it fails, it leaves no trace, and the transaction goes on.
    fn run_script<'py>(
        &self,
        py: Python<'py>,
        query: &Bound<'py, PyAny>,
        params: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.check_process(py)?;
        let (query, params) = (text(query, "the script")?, named_values(params, "the parameters")?);
        let (transaction, script) = (self.transaction.clone(), query.clone());
        let run = move || locked(&transaction).run_script(&script, params);
        let result = interruptible(py, &self.switch, &query, run)?;
        rows_to_python(py, result.map_err(|report| script_error(py, report, &query))?)
    }

    /// Runs a single query; the result as an Arrow table.
    fn run_script_arrow(
        &self,
        py: Python<'_>,
        query: &Bound<'_, PyAny>,
        params: &Bound<'_, PyAny>,
    ) -> PyResult<Py<ArrowResult>> {
        self.check_process(py)?;
        let (query, params) = (text(query, "the script")?, named_values(params, "the parameters")?);
        let (transaction, script) = (self.transaction.clone(), query.clone());
        let run = move || locked(&transaction).run_script(&script, params).map(arrow::tables_of_rows);
        let result = interruptible(py, &self.switch, &query, run)?;
        let tables = result.map_err(|report| script_error(py, report, &query))?;
        ArrowResult::new(py, tables.map_err(|error| arrow_error(py, &error))?, vec![])
    }

    /// Makes the writes lasting; an exception says by its code whether nothing was written.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.end(py, MultiTransaction::commit)
    }

    /// Undoes everything.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        self.end(py, MultiTransaction::abort)
    }
}
