//! The class `CozoDbPy`.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cozo::{DataValue, DbInstance, Interrupt, Process, RelationSizes, ScriptMutability, Strictness};
use pyo3::exceptions::PyUserWarning;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::{callable, count, names, path, text, truth};
use crate::arrow::{self, ArrowResult, arrow_error};
use crate::changes::SharedChanges;
use crate::error::{BindingError, error, script_error};
use crate::fixed_rule::python_rule;
use crate::from_python::{named_values, relations};
use crate::interruptible::{interruptible, released};
use crate::stream::ResultStream;
use crate::to_python::rows_to_python;
use crate::transaction::{CozoDbMulTx, WeakTransaction};
use crate::{callbacks, ending, locked};

/// How long a call may take from its beginning to the start of its script, which can be stopped only then.
const MOMENT: Duration = Duration::from_millis(100);

/// A database. Threads may share it, and their scripts run at the same time.
#[pyclass(frozen, module = "cozo_embedded")]
pub struct CozoDbPy(Arc<Opened>);

/// What is open, for as long as it is. Its locks are taken with the interpreter's lock only, so that a forked process finds
/// them free.
pub struct Opened {
    process: Process,
    /// Nothing once it is closed.
    db: Mutex<Option<DbInstance>>,
    /// The transactions that may be open.
    transactions: Mutex<Vec<WeakTransaction>>,
}

impl Opened {
    fn new(db: DbInstance) -> Self {
        Opened { process: Process::current(), db: Mutex::new(Some(db)), transactions: Mutex::default() }
    }

    /// The database, for this process.
    fn handle(&self, py: Python<'_>) -> PyResult<DbInstance> {
        let db = locked(&self.db).clone().ok_or_else(|| BindingError::Closed.raise(py))?;
        db.check_process().map_err(|report| error(py, report))?;
        Ok(db)
    }

    /// Stops the scripts that run, undoes open transactions and lets go of the database; whether it was open. In a forked
    /// process it only is closed from then on.
    pub fn close(&self, py: Python<'_>) -> bool {
        let Some(db) = locked(&self.db).take() else { return false };
        let open = std::mem::take(&mut *locked(&self.transactions));
        if !self.process.is_current() {
            return true;
        }
        // A defect has been reported; the database is closed all the same.
        let _ = released(py, || {
            db.interrupt_all();
            // Those that have ended already say so.
            open.iter().filter_map(WeakTransaction::upgrade).for_each(|open| drop(locked(&open).abort()));
            db.interrupt_until_unused(MOMENT);
            drop(db);
        });
        true
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // Closing takes time, and callbacks may want the interpreter's lock meanwhile.
        if self.process.is_current() {
            Python::try_attach(|py| self.close(py));
        }
    }
}

impl CozoDbPy {
    /// Does something with the open database, without the interpreter's lock.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(DbInstance) -> cozo::Result<T> + Send) -> PyResult<T> {
        let db = self.0.handle(py)?;
        released(py, || work(db))?.map_err(|report| error(py, report))
    }

    /// Runs a script in one of the ways of the database; the result and the warnings.
    fn run_warned<T: Send + 'static>(
        &self,
        py: Python<'_>,
        query: &Bound<'_, PyAny>,
        params: &Bound<'_, PyAny>,
        immutable: &Bound<'_, PyAny>,
        run: impl FnOnce(&DbInstance, &str, Parameters, ScriptMutability, &Interrupt) -> cozo::Result<T> + Send + 'static,
    ) -> PyResult<(T, Vec<String>)> {
        let (db, query) = (self.0.handle(py)?, text(query, "the script")?);
        let (params, mutability) = (named_values(params, "the parameters")?, mutability(immutable)?);
        let (script, interrupt) = (query.clone(), Interrupt::default());
        let switch = interrupt.clone();
        let run = move || {
            let result = run(&db, &script, params, mutability, &interrupt);
            result.map(|result| (result, db.script_warnings(&script)))
        };
        interruptible(py, &switch, &query, run)?.map_err(|report| script_error(py, report, &query))
    }
}

type Parameters = BTreeMap<String, DataValue>;

fn mutability(immutable: &Bound<'_, PyAny>) -> PyResult<ScriptMutability> {
    let immutable = truth(immutable, "immutable")?;
    Ok(if immutable { ScriptMutability::Immutable } else { ScriptMutability::Mutable })
}

/// Gives them to Python's `warnings`.
fn warn(py: Python<'_>, texts: Vec<String>) -> PyResult<()> {
    let category = py.get_type::<PyUserWarning>();
    texts.into_iter().try_for_each(|text| PyErr::warn(py, &category, &CString::new(text)?, 1))
}

#[pymethods]
impl CozoDbPy {
    /// Opens a database. What is missing of it, such as commits in a damaged log, is told by a `UserWarning`;
    /// `options` is the text of a JSON object.
    #[new]
    fn new(
        py: Python<'_>,
        engine: &Bound<'_, PyAny>,
        path: &Bound<'_, PyAny>,
        options: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (engine, options) = (text(engine, "the engine")?, text(options, "the options")?);
        let path = self::path(path, "the path")?;
        let opened = released(py, || DbInstance::new(&engine, path, &options))?;
        let db = opened.map_err(|report| error(py, report))?;
        warn(py, db.warnings())?;
        let opened = Arc::new(Opened::new(db));
        ending::note(Arc::downgrade(&opened));
        Ok(CozoDbPy(opened))
    }

    /// Runs a script: `{'headers': [...], 'rows': [[...]], 'next': None or such a dict}`. What the script probably does not
    /// mean stands under `warnings`, as a list of str; without a warning there is no such key.
    fn run_script<'py>(
        &self,
        py: Python<'py>,
        query: &Bound<'py, PyAny>,
        params: &Bound<'py, PyAny>,
        immutable: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (rows, warnings) = self.run_warned(py, query, params, immutable, DbInstance::run_script_interruptible)?;
        let dict = rows_to_python(py, rows)?;
        if !warnings.is_empty() {
            dict.set_item(intern!(py, "warnings"), warnings)?;
        }
        Ok(dict)
    }

    /// Runs a script; the result as an Arrow table.
    fn run_script_arrow(
        &self,
        py: Python<'_>,
        query: &Bound<'_, PyAny>,
        params: &Bound<'_, PyAny>,
        immutable: &Bound<'_, PyAny>,
    ) -> PyResult<Py<ArrowResult>> {
        let run = |db: &DbInstance, script: &str, params, mutability, interrupt: &Interrupt| {
            db.run_script_columns(script, params, mutability, interrupt).map(arrow::tables)
        };
        let (tables, warnings) = self.run_warned(py, query, params, immutable, run)?;
        ArrowResult::new(py, tables.map_err(|error| arrow_error(py, &error))?, warnings)
    }

    /// Runs a script; the result, of several the first, is read in batches, and is not in memory as a whole if it exceeds
    /// that of its query.
    fn run_script_stream(
        &self,
        py: Python<'_>,
        query: &Bound<'_, PyAny>,
        params: &Bound<'_, PyAny>,
        immutable: &Bound<'_, PyAny>,
    ) -> PyResult<ResultStream> {
        let (rows, warnings) = self.run_warned(py, query, params, immutable, DbInstance::run_script_stream)?;
        Ok(ResultStream::new(rows, warnings))
    }

    /// The plan of a script as the text of a JSON object; the script is not run. `sizes` is the text of a JSON object with sizes of
    /// relations.
    fn plan_json(
        &self,
        py: Python<'_>,
        query: &Bound<'_, PyAny>,
        params: &Bound<'_, PyAny>,
        sizes: &Bound<'_, PyAny>,
    ) -> PyResult<String> {
        let (db, query) = (self.0.handle(py)?, text(query, "the script")?);
        let (params, sizes) = (named_values(params, "the parameters")?, text(sizes, "the sizes")?);
        let plan = || {
            let sizes = RelationSizes::parse(&serde_json::from_str(&sizes).unwrap_or_default())?;
            db.plan_json(&query, params, &sizes)
        };
        let planned = released(py, plan)?.map_err(|report| script_error(py, report, &query))?;
        Ok(planned.to_string())
    }

    /// Puts the rows of an Arrow table into a relation, or removes them where its name begins with '-'; all of them or none.
    fn import_arrow(&self, py: Python<'_>, relation: &Bound<'_, PyAny>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.handle(py)?;
        let (relation, columns) = (text(relation, "the name of the relation")?, arrow::columns_of(data)?);
        self.with(py, |db| db.import_columns(&relation, columns))
    }

    /// The contents of relations: `{name: {'headers': [...], 'rows': [[...]], 'next': None}}`.
    fn export_relations<'py>(&self, py: Python<'py>, relations: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        self.0.handle(py)?;
        let relations = names(relations, "the relations")?;
        let exported = self.with(py, |db| db.export_relations(relations.iter()))?;
        let dict = PyDict::new(py);
        exported.into_iter().try_for_each(|(name, rows)| dict.set_item(name, rows_to_python(py, rows)?))?;
        Ok(dict)
    }

    /// Puts rows into relations, or removes them where the name begins with '-'; all of them or none.
    fn import_relations(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.handle(py)?;
        let data = relations(data)?;
        self.with(py, |db| db.import_relations(data))
    }

    /// Writes everything into a new file.
    fn backup(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        let path = self::path(path, "the path")?;
        self.with(py, |db| db.backup_db(path))
    }

    /// Fills an empty database from a backup; warns of what could not be carried over.
    fn restore(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        let path = self::path(path, "the path")?;
        let left_behind = self.with(py, |db| db.restore_with_progress(path, Strictness::EveryRow, |_| ()))?;
        warn(py, left_behind)
    }

    /// Puts the rows of some relations of a backup into those of the same names.
    fn import_from_backup(
        &self,
        py: Python<'_>,
        in_file: &Bound<'_, PyAny>,
        relations: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (path, relations) = (path(in_file, "the path")?, names(relations, "the relations")?);
        self.with(py, |db| db.import_from_backup(path, &relations))
    }

    /// Calls a function after every commit that changed a relation, on a thread of its own: with `'Put'` or `'Rm'`, the
    /// rows that are new (or the keys to be removed), and the rows that were there before. Gives a number for
    /// `unregister_callback`.
    fn register_callback(&self, py: Python<'_>, rel: &Bound<'_, PyAny>, callback: &Bound<'_, PyAny>) -> PyResult<u32> {
        let (db, rel) = (self.0.handle(py)?, text(rel, "the name of the relation")?);
        let callback = callable(callback, "the callback")?.clone().unbind();
        let (id, changes) = released(py, || db.register_callback(&rel, None))?;
        callbacks::serve(changes, callback).map_err(|error| {
            db.unregister_callback(id);
            BindingError::NoThread(error.to_string()).raise(py)
        })?;
        Ok(id)
    }

    /// Ends what `register_callback` began; whether there was such a callback.
    fn unregister_callback(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let id = count(id, "the number of the callback")?;
        let db = locked(&self.0.db).clone();
        db.map_or(Ok(false), |_| self.with(py, |db| Ok(db.unregister_callback(id))))
    }

    /// The changes of a relation by all processes of the shared log: those after a position that a change had, or from now on.
    fn shared_changes(
        &self,
        py: Python<'_>,
        rel: &Bound<'_, PyAny>,
        after: &Bound<'_, PyAny>,
    ) -> PyResult<SharedChanges> {
        let rel = text(rel, "the name of the relation")?;
        let after = if after.is_none() { None } else { Some(text(after, "the position")?) };
        let begin = |db: DbInstance| {
            let after = after.map(|after| after.parse()).transpose()?;
            db.shared_changes(&rel, after)
        };
        self.with(py, begin).map(SharedChanges::new)
    }

    /// Adds a fixed rule: `callback(inputs, options)` gets a list of rows for each input and the options as a dict, and
    /// gives rows of `arity` values.
    fn register_fixed_rule(
        &self,
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        arity: &Bound<'_, PyAny>,
        callback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (db, name) = (self.0.handle(py)?, text(name, "the name of the rule")?);
        let arity = count(arity, "the length of the rows")? as usize;
        let rule = python_rule(arity, callable(callback, "the rule")?.clone().unbind());
        db.register_fixed_rule(name, rule).map_err(|report| error(py, report))
    }

    /// Takes such a fixed rule away; whether there was one.
    fn unregister_fixed_rule(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let name = text(name, "the name of the rule")?;
        let db = locked(&self.0.db).clone();
        db.map_or(Ok(false), |db| db.unregister_fixed_rule(&name).map_err(|report| error(py, report)))
    }

    /// Begins a transaction that spans several scripts.
    fn multi_transact(&self, py: Python<'_>, write: &Bound<'_, PyAny>) -> PyResult<CozoDbMulTx> {
        let (db, write) = (self.0.handle(py)?, truth(write, "write")?);
        let transaction = CozoDbMulTx::new(released(py, || db.multi_transaction(write))?);
        let mut open = locked(&self.0.transactions);
        open.retain(|other| other.strong_count() > 0);
        open.push(transaction.downgrade());
        Ok(transaction)
    }

    /// Stops the scripts that run, undoes open transactions and lets go of the database. True the first time.
    fn close(&self, py: Python<'_>) -> bool {
        self.0.close(py)
    }
}
