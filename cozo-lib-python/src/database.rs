//! The class `CozoDbPy`.

use std::ffi::CString;

use cozo::{DbInstance, Interrupt, ScriptMutability, Strictness};
use parking_lot::Mutex;
use pyo3::exceptions::{PyException, PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrow::{self, ArrowResult, arrow_error};
use crate::callbacks;
use crate::error::{closed, message_error, script_error};
use crate::fixed_rule::python_rule;
use crate::from_python::{named_values, relations};
use crate::interruptible::interruptible;
use crate::to_python::rows_to_python;
use crate::transaction::{CozoDbMulTx, WeakTransaction};

/// A database. Threads may share it, and their scripts run at the same time.
#[pyclass(frozen, module = "cozo_embedded")]
pub struct CozoDbPy {
    /// Nothing once it is closed.
    db: Mutex<Option<DbInstance>>,
    /// The transactions that may be open.
    transactions: Mutex<Vec<WeakTransaction>>,
}

impl CozoDbPy {
    fn open_handle(&self) -> PyResult<DbInstance> {
        self.db.lock().clone().ok_or_else(closed)
    }
}

#[pymethods]
impl CozoDbPy {
    /// Opens a database; `options` is the text of a JSON object.
    #[new]
    fn new(py: Python<'_>, engine: &str, path: &str, options: &str) -> PyResult<Self> {
        let db = py.detach(|| DbInstance::new_with_str(engine, path, options)).map_err(PyException::new_err)?;
        Ok(CozoDbPy { db: Mutex::new(Some(db)), transactions: Mutex::default() })
    }

    /// Runs a script: `{'headers': [...], 'rows': [[...]], 'next': None or such a dict}`.
    fn run_script<'py>(
        &self,
        py: Python<'py>,
        query: &str,
        params: &Bound<'py, PyDict>,
        immutable: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let db = self.open_handle()?;
        let params = named_values(params)?;
        let mutability = if immutable { ScriptMutability::Immutable } else { ScriptMutability::Mutable };
        let (script, interrupt) = (query.to_string(), Interrupt::default());
        let switch = interrupt.clone();
        let run = move || db.run_script_interruptible(&script, params, mutability, &interrupt);
        let result = interruptible(py, &switch, query, run)?;
        rows_to_python(py, result.map_err(|report| script_error(py, report, query))?)
    }

    /// Runs a script; the result as an Arrow table.
    fn run_script_arrow(
        &self,
        py: Python<'_>,
        query: &str,
        params: &Bound<'_, PyDict>,
        immutable: bool,
    ) -> PyResult<Py<ArrowResult>> {
        let db = self.open_handle()?;
        let params = named_values(params)?;
        let mutability = if immutable { ScriptMutability::Immutable } else { ScriptMutability::Mutable };
        let (script, interrupt) = (query.to_string(), Interrupt::default());
        let switch = interrupt.clone();
        let run = move || {
            let result = db.run_script_columns(&script, params, mutability, &interrupt);
            result.map(arrow::record_batches)
        };
        let result = interruptible(py, &switch, query, run)?.map_err(|report| script_error(py, report, query))?;
        ArrowResult::new(py, result.map_err(arrow_error)?)
    }

    /// Puts the rows of an Arrow table into a relation, or removes them where its name begins with '-'; all of them or none.
    fn import_arrow(&self, py: Python<'_>, relation: &str, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let db = self.open_handle()?;
        let columns = arrow::columns_of(data)?;
        py.detach(|| db.import_columns(relation, columns)).map_err(message_error)
    }

    /// The contents of relations: `{name: {'headers': [...], 'rows': [[...]], 'next': None}}`.
    fn export_relations<'py>(&self, py: Python<'py>, relations: Vec<String>) -> PyResult<Bound<'py, PyDict>> {
        let db = self.open_handle()?;
        let exported = py.detach(|| db.export_relations(relations.iter())).map_err(message_error)?;
        let dict = PyDict::new(py);
        exported.into_iter().try_for_each(|(name, rows)| dict.set_item(name, rows_to_python(py, rows)?))?;
        Ok(dict)
    }

    /// Puts rows into relations, or removes them where the name begins with '-'; all of them or none.
    fn import_relations(&self, py: Python<'_>, data: &Bound<'_, PyDict>) -> PyResult<()> {
        let db = self.open_handle()?;
        let data = relations(data)?;
        py.detach(|| db.import_relations(data)).map_err(message_error)
    }

    /// Writes everything into a new file.
    fn backup(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        let db = self.open_handle()?;
        py.detach(|| db.backup_db(path)).map_err(message_error)
    }

    /// Fills an empty database from a backup; warns of what could not be carried over.
    fn restore(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        let db = self.open_handle()?;
        let restore = || db.restore_with_progress(path, Strictness::EveryRow, |_| ());
        let left_behind = py.detach(restore).map_err(message_error)?;
        let category = py.get_type::<PyUserWarning>();
        let warn = |text: String| PyErr::warn(py, &category, &CString::new(text)?, 1);
        left_behind.into_iter().try_for_each(warn)
    }

    /// Puts the rows of some relations of a backup into those of the same names.
    fn import_from_backup(&self, py: Python<'_>, in_file: &str, relations: Vec<String>) -> PyResult<()> {
        let db = self.open_handle()?;
        py.detach(|| db.import_from_backup(in_file, &relations)).map_err(message_error)
    }

    /// Calls a function after every commit that changed a relation, on a thread of its own: with `'Put'` or `'Rm'`, the
    /// rows that are new (or the keys to be removed), and the rows that were there before. Gives a number for
    /// `unregister_callback`.
    fn register_callback(&self, py: Python<'_>, rel: &str, callback: Bound<'_, PyAny>) -> PyResult<u32> {
        let db = self.open_handle()?;
        if !callback.is_callable() {
            return Err(PyTypeError::new_err("the callback must be callable"));
        }
        let (id, changes) = py.detach(|| db.register_callback(rel, None));
        callbacks::serve(changes, callback.unbind())?;
        Ok(id)
    }

    /// Ends what `register_callback` began: after what was committed before, the function is called no more.
    fn unregister_callback(&self, py: Python<'_>, id: u32) -> bool {
        self.open_handle().is_ok_and(|db| py.detach(|| db.unregister_callback(id)))
    }

    /// Adds a fixed rule: `callback(inputs, options)` gets a list of rows for each input and the options as a dict, and
    /// gives rows of `arity` values.
    fn register_fixed_rule(&self, name: &str, arity: usize, callback: Py<PyAny>) -> PyResult<()> {
        let rule = python_rule(arity, callback);
        self.open_handle()?.register_fixed_rule(name.to_string(), rule).map_err(message_error)
    }

    /// Takes such a fixed rule away; whether there was one.
    fn unregister_fixed_rule(&self, name: &str) -> PyResult<bool> {
        let db = self.db.lock().clone();
        db.map_or(Ok(false), |db| db.unregister_fixed_rule(name).map_err(message_error))
    }

    /// Begins a transaction that spans several scripts.
    fn multi_transact(&self, py: Python<'_>, write: bool) -> PyResult<CozoDbMulTx> {
        let db = self.open_handle()?;
        let transaction = CozoDbMulTx::new(py.detach(|| db.multi_transaction(write)));
        let mut open = self.transactions.lock();
        open.retain(|other| other.strong_count() > 0);
        open.push(transaction.downgrade());
        Ok(transaction)
    }

    /// Stops the scripts that run, undoes open transactions and lets go of the database. True the first time.
    fn close(&self, py: Python<'_>) -> bool {
        let Some(db) = self.db.lock().take() else { return false };
        py.detach(|| {
            db.interrupt_all();
            let open = std::mem::take(&mut *self.transactions.lock());
            // Those that have ended already say so.
            open.iter().filter_map(WeakTransaction::upgrade).for_each(|open| drop(open.lock().abort()));
            drop(db);
        });
        true
    }
}
