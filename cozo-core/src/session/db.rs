//! The handle of a database.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender};
use quick_cache::sync::Cache;
use serde_json::{Value, json};

use super::imperative::{Prepared, run_steps};
use super::query::run_query;
use super::running::Running;
use super::sys::{self, SystemContext};
use super::{MultiTransaction, NamedRows, SessionError, TransactionPayload, multi, transfer};
use crate::diag::{format_error_as_json, locate};
use crate::exec::Interrupt;
use crate::parse::parse_script;
use crate::storage::mem::MemStorage;
use crate::txn::{Catalog, Pipeline, Transaction};
use crate::value::DataValue;

/// How many scripts are kept compiled.
const CACHED_SCRIPTS: usize = 1000;

/// Longer scripts are not kept: they are data more often than queries.
const MAX_CACHED_SCRIPT_BYTES: usize = 64 * 1024;

/// Whether a script may write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScriptMutability {
    /// It may.
    Mutable,
    /// It may not; ephemeral relations excepted.
    Immutable,
}

/// A database. Clones are handles to the same one; when the last is dropped, whatever still runs is stopped.
///
/// ```
/// # fn main() -> miette::Result<()> {
/// use cozo::{DbInstance, ScriptMutability};
/// let db = DbInstance::new("mem", "", "")?;
/// let result = db.run_script("?[x] := x in [2, 1]", Default::default(), ScriptMutability::Immutable)?;
/// assert_eq!(result.rows.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct DbInstance {
    shared: Arc<Shared>,
}

/// What the handles of one database share.
struct Shared {
    pipeline: Arc<Pipeline>,
    scripts: Cache<Box<str>, Arc<Prepared>>,
    running: Arc<Running>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.running.close();
    }
}

impl Default for DbInstance {
    /// An empty database in memory.
    fn default() -> Self {
        DbInstance::over(Pipeline::new(Box::new(MemStorage::new()), Catalog::default()))
    }
}

impl DbInstance {
    /// Opens a database.
    ///
    /// `engine` is `"mem"`, which keeps everything in memory and ignores `path`. `options` is a JSON object as text, or
    /// empty; the mem engine has no options.
    pub fn new(engine: &str, path: impl AsRef<Path>, options: &str) -> miette::Result<Self> {
        check_options(options)?;
        match engine {
            "mem" => Ok(DbInstance::default()),
            "sqlite" | "rocksdb" => {
                let path = path.as_ref().display();
                Err(SessionError::NotYet(format!("the engine '{engine}' (asked for at '{path}')")).into())
            }
            other => Err(SessionError::UnknownEngine(other.to_string(), "mem").into()),
        }
    }

    /// [`DbInstance::new`] with errors as text.
    pub fn new_with_str(engine: &str, path: &str, options: &str) -> Result<Self, String> {
        DbInstance::new(engine, path, options).map_err(|error| format!("{error:?}"))
    }

    fn over(pipeline: Pipeline) -> Self {
        let shared = Shared {
            pipeline: Arc::new(pipeline),
            scripts: Cache::new(CACHED_SCRIPTS),
            running: Arc::new(Running::default()),
        };
        DbInstance { shared: Arc::new(shared) }
    }

    /// Runs a script.
    pub fn run_script(
        &self,
        payload: &str,
        params: BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
    ) -> miette::Result<NamedRows> {
        let run = self.run_uncontexted(payload, &params, mutability);
        run.map_err(|report| report.with_source_code(payload.to_string()))
    }

    /// Runs a script that may write, without parameters.
    pub fn run_default(&self, payload: &str) -> miette::Result<NamedRows> {
        self.run_script(payload, BTreeMap::new(), ScriptMutability::Mutable)
    }

    fn run_uncontexted(
        &self,
        source: &str,
        parameters: &BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
    ) -> miette::Result<NamedRows> {
        let script = self.prepared(source)?;
        let run = self.run_prepared(&script, parameters, mutability);
        run.map_err(|report| locate(report, script.place(source), "nothing of this was applied"))
    }

    fn run_prepared(
        &self,
        script: &Prepared,
        parameters: &BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
    ) -> miette::Result<NamedRows> {
        let entry = self.shared.running.enter();
        let write = mutability == ScriptMutability::Mutable && script.writes();
        let mut txn = Transaction::begin(&self.shared.pipeline, write);
        let context = self.context(parameters, &entry.interrupt);
        let rows = match script {
            Prepared::Query(query) => run_query(query, &mut txn, &context.query())?,
            Prepared::Steps(steps) => run_steps(steps, &mut txn, &context)?,
            Prepared::System(op) => sys::run(op, &mut txn, &context)?,
        };
        txn.commit()?;
        Ok(rows)
    }

    fn context<'a>(
        &'a self,
        parameters: &'a BTreeMap<String, DataValue>,
        interrupt: &'a Interrupt,
    ) -> SystemContext<'a> {
        SystemContext { parameters, interrupt, running: &self.shared.running }
    }

    /// The script, parsed now or before.
    fn prepared(&self, source: &str) -> miette::Result<Arc<Prepared>> {
        if let Some(script) = self.shared.scripts.get(source) {
            return Ok(script);
        }
        let script = Arc::new(Prepared::new(parse_script(source)?));
        if source.len() <= MAX_CACHED_SCRIPT_BYTES {
            self.shared.scripts.insert(source.into(), script.clone());
        }
        Ok(script)
    }

    /// Runs a script; the result or the error as JSON, with the seconds it took.
    pub fn run_script_fold_err(
        &self,
        payload: &str,
        params: BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
    ) -> Value {
        let start = std::time::Instant::now();
        match self.run_script(payload, params, mutability) {
            Ok(rows) => {
                let mut result = rows.into_json();
                result["ok"] = json!(true);
                result["took"] = json!(start.elapsed().as_secs_f64());
                result
            }
            Err(error) => format_error_as_json(error, Some(payload)),
        }
    }

    /// Runs a script with parameters as the text of a JSON object; the result or the error as the text of JSON.
    pub fn run_script_str(&self, payload: &str, params: &str, immutable: bool) -> String {
        let mutability = if immutable { ScriptMutability::Immutable } else { ScriptMutability::Mutable };
        let result = match json_parameters(params) {
            Ok(params) => self.run_script_fold_err(payload, params, mutability),
            Err(message) => json!({"ok": false, "message": message}),
        };
        result.to_string()
    }

    /// The contents of relations, all as of one moment.
    pub fn export_relations<I, T>(&self, relations: I) -> miette::Result<BTreeMap<String, NamedRows>>
    where
        I: Iterator<Item = T>,
        T: AsRef<str>,
    {
        transfer::export(&self.shared.pipeline, relations)
    }

    /// Exports `{"relations": [...]}`; `{"ok": true, "data": {...}}` or an error, as text.
    pub fn export_relations_str(&self, data: &str) -> String {
        let export = || -> miette::Result<Value> {
            let request: Value =
                serde_json::from_str(data).map_err(|error| SessionError::BadJson(error.to_string()))?;
            let names = request.get("relations").and_then(Value::as_array);
            let names = names.ok_or_else(|| SessionError::BadJson("expected {\"relations\": [...]}".to_string()))?;
            let exported = self.export_relations(names.iter().filter_map(Value::as_str))?;
            let data: serde_json::Map<String, Value> =
                exported.into_iter().map(|(name, rows)| (name, rows.into_json())).collect();
            Ok(json!({"ok": true, "data": data}))
        };
        export().unwrap_or_else(|error| format_error_as_json(error, None)).to_string()
    }

    /// Puts rows into relations, or removes them where the name begins with `-`; all of them or none.
    ///
    /// Every column of a relation must be among the headers (for removal every key column); other headers are ignored.
    pub fn import_relations(&self, data: BTreeMap<String, NamedRows>) -> miette::Result<()> {
        transfer::import(&self.shared.pipeline, data)
    }

    /// Imports from the text of JSON; the outcome as the text of JSON.
    pub fn import_relations_str(&self, data: &str) -> String {
        match self.import_relations_str_with_err(data) {
            Ok(()) => json!({"ok": true}).to_string(),
            Err(error) => format_error_as_json(error, None).to_string(),
        }
    }

    /// Imports from the text of JSON: `{"relation": {"headers": [...], "rows": [[...]]}, ...}`.
    pub fn import_relations_str_with_err(&self, data: &str) -> miette::Result<()> {
        let parsed: BTreeMap<String, Value> =
            serde_json::from_str(data).map_err(|error| SessionError::BadJson(error.to_string()))?;
        let rows = parsed.into_iter().map(|(name, rows)| Ok((name, NamedRows::from_json(&rows)?)));
        self.import_relations(rows.collect::<miette::Result<_>>()?)
    }

    /// Writes a backup file; not yet supported.
    pub fn backup_db(&self, _out_file: impl AsRef<Path>) -> miette::Result<()> {
        Err(SessionError::NotYet("backup".to_string()).into())
    }

    /// Restores a backup file; not yet supported.
    pub fn restore_backup(&self, _in_file: impl AsRef<Path>) -> miette::Result<()> {
        Err(SessionError::NotYet("restoring a backup".to_string()).into())
    }

    /// Imports relations from a backup file; not yet supported.
    pub fn import_from_backup(&self, _in_file: impl AsRef<Path>, _relations: &[String]) -> miette::Result<()> {
        Err(SessionError::NotYet("importing from a backup".to_string()).into())
    }

    /// Begins a transaction that is held open over several scripts.
    pub fn multi_transaction(&self, write: bool) -> MultiTransaction {
        MultiTransaction::begin(self.shared.pipeline.clone(), &self.shared.running, write)
    }

    /// Serves a transaction over channels on the calling thread, until it ends or the payloads do.
    pub fn run_multi_transaction(
        &self,
        write: bool,
        payloads: Receiver<TransactionPayload>,
        results: Sender<miette::Result<NamedRows>>,
    ) {
        let entry = self.shared.running.enter();
        multi::serve(&self.shared.pipeline, &entry, write, &payloads, &results);
    }

    /// Stops all scripts that run at the moment; they fail with `eval::killed`.
    pub fn interrupt_all(&self) {
        self.shared.running.kill_all();
    }
}

fn check_options(options: &str) -> Result<(), SessionError> {
    if options.trim().is_empty() {
        return Ok(());
    }
    let parsed: Value = serde_json::from_str(options).map_err(|error| SessionError::BadOptions(error.to_string()))?;
    match parsed.as_object() {
        None => Err(SessionError::BadOptions(format!("expected a JSON object, found {parsed}"))),
        Some(object) => match object.keys().next() {
            None => Ok(()),
            Some(unknown) => Err(SessionError::BadOptions(format!("unknown option '{unknown}'"))),
        },
    }
}

/// Parameters from the text of a JSON object; none from empty text.
fn json_parameters(params: &str) -> Result<BTreeMap<String, DataValue>, String> {
    if params.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    match serde_json::from_str::<Value>(params) {
        Ok(Value::Object(object)) => Ok(object.into_iter().map(|(name, value)| (name, value.into())).collect()),
        _ => Err("params argument is not a JSON map".to_string()),
    }
}
