//! The class `CozoDbMulTx`.

use std::sync::{Arc, Weak};

use cozo::{Interrupt, MultiTransaction};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{message_error, script_error};
use crate::from_python::named_values;
use crate::interruptible::interruptible;
use crate::to_python::rows_to_python;

/// A transaction that spans several scripts. Letting go of it undoes everything.
#[pyclass(frozen, module = "cozo_embedded")]
pub struct CozoDbMulTx {
    /// One thing at a time: an outcome must not reach the thread that asked for another.
    transaction: Arc<Mutex<MultiTransaction>>,
    /// Stops the query that runs.
    switch: Interrupt,
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
        CozoDbMulTx { switch: transaction.interrupt(), transaction: Arc::new(Mutex::new(transaction)) }
    }
}

impl Drop for CozoDbMulTx {
    fn drop(&mut self) {
        // Once this is gone, so is its hold on the database. Should a query that was interrupted still run, it ends by itself.
        if let Some(transaction) = self.transaction.try_lock() {
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
        query: &str,
        params: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let params = named_values(params)?;
        let (transaction, script) = (self.transaction.clone(), query.to_string());
        let run = move || transaction.lock().run_script(&script, params);
        let result = interruptible(py, &self.switch, query, run)?;
        rows_to_python(py, result.map_err(|report| script_error(py, report, query))?)
    }

    /// Makes the writes lasting; an exception means that nothing was written.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.transaction.lock().commit()).map_err(message_error)
    }

    /// Undoes everything.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.transaction.lock().abort()).map_err(message_error)
    }
}
