//! [`DbInstance`], the handle of a database: the API of hosts.
//!
//! A handle is a reference to [`Shared`], which has the [`Core`] (pipeline, caches, callbacks) and the list of [`Running`]
//! scripts. All clones refer to the same database. Dropping the last one stops all running scripts.
//!
//! The path of a script:
//!
//! ```text
//!  run_script ── run_script_as ─┬─ cached:  run_cached ─┐
//!                               └─ new text: run_new ───┴─ begin ── run_prepared ─┬─ Query:  run_query
//!                                   (parse)                                       ├─ Steps:  run_steps
//!                                                                                 ├─ System: sys::run
//!                                                                                 └─ then Core::commit
//! ```
//!
//! The result has the type that the caller wants, by [`ScriptResult`]: rows, columns, or rows without headers. Further calls
//! are methods in modules of their own: `relations`, `backups`, `check`, `extensions`, `json`, `statement`.
//!
//! Invariants:
//! - A script is on the list of running scripts from its beginning, so `::kill` and a closing database reach it.
//! - In a process forked from the one that opened the database, every call fails with `db::forked` or does nothing. Files,
//!   threads and perhaps locked locks belong to the other process, so nothing is closed or released there.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};

use super::multi::{MultiTransaction, TransactionPayload, serve};
use crate::budget::Interrupt;
use crate::clock::now_micros;
use crate::diag::show_in;
use crate::fork::Forked;
use crate::parse::ast::Script;
use crate::session::core::Core;
use crate::session::opening::{open_again, open_pipeline};
use crate::session::results::{NamedColumns, NamedRows, ResultStream, ScriptAnswer, ScriptResult};
use crate::session::run::{ScriptContext, run_query, run_steps};
use crate::session::running::{Entry, Running};
use crate::session::script::{CachedRef, CachedScript, CompiledScript};
use crate::session::sys;
use crate::storage::{self, Options, Storage};
use crate::txn::{Pipeline, Transaction, TxnError};
use crate::value::{DataValue, ValidityTs};

/// How often a query runs again while definitions of relations change under it.
const RUNS_AGAIN: usize = 16;

/// The interval of checks for other users of the database.
const GLANCE: Duration = Duration::from_millis(1);

/// Whether a script may write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScriptMutability {
    /// The script may write.
    Mutable,
    /// The script may write ephemeral relations only.
    Immutable,
}

/// A database. Clones are handles to the same database. Dropping the last one stops all running scripts.
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

/// The state that all handles of a database share.
struct Shared {
    core: Arc<Core>,
    running: Arc<Running>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.core.process.is_current() {
            self.running.close();
            self.core.close();
        } else {
            // Files and threads belong to another process. A leaked reference keeps them from being released here.
            std::mem::forget((self.core.clone(), self.running.clone()));
        }
    }
}

impl Default for DbInstance {
    /// An empty database in memory.
    fn default() -> Self {
        DbInstance::new("mem", "", "").expect("an empty engine in memory always opens")
    }
}

impl DbInstance {
    /// Opens a database.
    ///
    /// `engine` is `"mem"`, which stores everything in memory and ignores `path`; `"sqlite"`, with the path of a file; or, with
    /// the feature `storage-rocksdb`, `"rocksdb"`, with the path of a folder. `options` is a JSON object as text, or empty; see
    /// [`Options`].
    pub fn new(engine: &str, path: impl AsRef<Path>, options: &str) -> miette::Result<Self> {
        let options = Options::parse(options)?;
        open_again(|| DbInstance::over(storage::open(engine, path.as_ref(), &options)?, &options))
    }

    /// [`DbInstance::new`] with errors as text.
    pub fn new_with_str(engine: &str, path: &str, options: &str) -> Result<Self, String> {
        DbInstance::new(engine, path, options).map_err(|error| format!("{error:?}"))
    }

    pub(super) fn over(storage: Box<dyn Storage>, options: &Options) -> miette::Result<Self> {
        let core = Core::new(open_pipeline(storage, options)?, options);
        core.begin(options)?;
        Ok(DbInstance { shared: Arc::new(Shared { core: Arc::new(core), running: Arc::default() }) })
    }

    /// The problems found when the database was opened, in words: commits that are missing since a file is damaged or missing, and
    /// the name of the renamed file. Empty if there were none.
    pub fn warnings(&self) -> Vec<String> {
        self.pipeline().map(|pipeline| pipeline.warnings()).unwrap_or_default()
    }

    /// Runs a script.
    pub fn run_script(
        &self,
        payload: &str,
        params: BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
    ) -> miette::Result<NamedRows> {
        self.run_script_as(payload, params, mutability, None)
    }

    /// Runs a script that [`Interrupt::kill`] can stop from another thread. The interrupt stops this script only. Other ways to
    /// stop the script, such as `::kill`, set the same interrupt.
    pub fn run_script_interruptible(
        &self,
        payload: &str,
        params: BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
        interrupt: &Interrupt,
    ) -> miette::Result<NamedRows> {
        self.run_script_as(payload, params, mutability, Some(interrupt))
    }

    /// [`DbInstance::run_script_interruptible`] with the result as columns.
    ///
    /// ```
    /// # fn main() -> cozo::Result<()> {
    /// use cozo::ScriptMutability::Immutable;
    /// let db = cozo::DbInstance::default();
    /// let result = db.run_script_columns("?[x] := x in [2, 1]", Default::default(), Immutable, &Default::default())?;
    /// assert_eq!(result.rows.columns[0].as_dense_ints(), Some([1, 2].as_slice()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn run_script_columns(
        &self,
        payload: &str,
        params: BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
        interrupt: &Interrupt,
    ) -> miette::Result<NamedColumns> {
        self.run_script_as(payload, params, mutability, Some(interrupt))
    }

    /// Runs a script, and returns its result batch by batch. A result that exceeds the memory of a query is read from disk.
    pub fn run_script_stream(
        &self,
        payload: &str,
        params: BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
        interrupt: &Interrupt,
    ) -> miette::Result<ResultStream> {
        self.run_script_as(payload, params, mutability, Some(interrupt))
    }

    /// Runs a script, and returns its rows, or a stream of them if memory does not hold them.
    pub fn run_script_answer(
        &self,
        payload: &str,
        params: BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
        interrupt: &Interrupt,
    ) -> miette::Result<ScriptAnswer> {
        self.run_script_as(payload, params, mutability, Some(interrupt))
    }

    /// Runs a script. The result has the type that the caller wants.
    pub(super) fn run_script_as<R: ScriptResult>(
        &self,
        payload: &str,
        params: BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
        interrupt: Option<&Interrupt>,
    ) -> miette::Result<R> {
        let core = self.core()?;
        core.refresh()?;
        match core.scripts.find(payload) {
            Some(cached) => self.run_cached(&cached, &params, mutability, interrupt),
            None => self.run_new(payload, &params, mutability, interrupt),
        }
    }

    /// Runs a cached script.
    pub(super) fn run_cached<R: ScriptResult>(
        &self,
        cached: &CachedScript,
        params: &BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
        interrupt: Option<&Interrupt>,
    ) -> miette::Result<R> {
        let mut txn = self.begin(&cached.script, mutability);
        let entry = Running::enter(&*self.shared.running, interrupt, txn.began_micros());
        match self.run_prepared(&cached.script, &mut txn, params, &entry, None) {
            Err(report) => self.run_again(cached, txn, params, mutability, &entry, report),
            result => result,
        }
    }

    /// Runs a query again that failed because the definition of a relation has changed since it began. Any other error is the result.
    #[cold]
    fn run_again<R: ScriptResult>(
        &self,
        cached: &CachedScript,
        mut txn: Transaction,
        params: &BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
        entry: &Entry<&Running>,
        mut report: miette::Report,
    ) -> miette::Result<R> {
        for _ in 0..RUNS_AGAIN {
            let is_outdated = matches!(report.downcast_ref(), Some(TxnError::SchemaConflict(_)));
            if !(is_outdated && matches!(cached.script, CompiledScript::Query(_))) {
                break;
            }
            txn = self.begin(&cached.script, mutability);
            match self.run_prepared(&cached.script, &mut txn, params, entry, None) {
                Err(error) => report = error,
                result => return result,
            }
        }
        Err(self.failed(cached, txn, report))
    }

    /// Parses a script and runs it. It is on the list of running scripts while it is parsed, too.
    fn run_new<R: ScriptResult>(
        &self,
        payload: &str,
        params: &BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
        interrupt: Option<&Interrupt>,
    ) -> miette::Result<R> {
        let began = Instant::now();
        let core = self.core()?;
        let entry = Running::enter(&*self.shared.running, interrupt, now_micros());
        let parsed = core.parse(payload, entry.interrupt());
        let parsed = parsed.map_err(|report| show_in(report, payload))?;
        let mut txn = self.begin(&parsed.script, mutability);
        match self.run_prepared(&parsed.script, &mut txn, params, &entry, Some((began, parsed.bytes))) {
            Err(report) => self.run_again(&parsed, txn, params, mutability, &entry, report),
            result => result,
        }
    }

    /// Ends the transaction of a script with an error, which then shows the script. If a fixed rule has forked, the transaction is
    /// leaked, since locks that it needs may be locked for ever in this process.
    pub(super) fn failed(&self, script: &CachedScript, txn: Transaction, report: miette::Report) -> miette::Report {
        if !self.shared.core.process.is_current() {
            std::mem::forget(txn);
        }
        script.explain(report)
    }

    /// A script, from the cache or parsed now.
    pub(super) fn prepared(&self, source: &str) -> miette::Result<CachedRef<'_, CachedScript>> {
        let core = self.core()?;
        if let Some(script) = core.scripts.find(source) {
            return Ok(script);
        }
        let entry = Running::enter(&*self.shared.running, None, now_micros());
        core.parse(source, entry.interrupt()).map_err(|report| show_in(report, source))
    }

    /// Runs a script parsed by [`parse_script`](crate::parse::parse_script). `now` is the instant that `'NOW'` and `'ASSERT'`
    /// stand for. The syntax tree may change with any version.
    pub fn run_script_ast(
        &self,
        payload: Script,
        now: ValidityTs,
        mutability: ScriptMutability,
    ) -> miette::Result<NamedRows> {
        self.check_process()?;
        let script = CompiledScript::new(payload);
        let mut txn = self.begin(&script, mutability);
        txn.set_now(now.0.0);
        let entry = Running::enter(&*self.shared.running, None, txn.began_micros());
        self.run_prepared(&script, &mut txn, &BTreeMap::new(), &entry, None)
    }

    /// What a script that has run probably does not mean, though it is right: rules for `?` that name their columns differently, a write
    /// that nobody can see, a limit on a recursion that does not end, options that a fixed rule does not have. In words; empty for most.
    ///
    /// ```
    /// let db = cozo::DbInstance::default();
    /// let script = "?[x] <- [[1]] :create _kept {x}";
    /// assert!(db.run_default(script).is_ok());
    /// assert!(db.script_warnings(script)[0].contains("nobody can see"));
    /// ```
    pub fn script_warnings(&self, script: &str) -> Vec<String> {
        let core = &self.shared.core;
        if !core.has_warned.load(Ordering::Relaxed) || !core.process.is_current() {
            return vec![];
        }
        core.scripts.find(script).map_or(vec![], |script| script.warnings.clone())
    }

    /// Runs a script that may write, without parameters.
    pub fn run_default(&self, payload: &str) -> miette::Result<NamedRows> {
        self.run_script(payload, BTreeMap::new(), ScriptMutability::Mutable)
    }

    /// Fails with `db::forked` in a process forked from the one that opened the database, as all other calls do there. Calls that
    /// return no error do nothing there: a callback gets a channel that has ended.
    pub fn check_process(&self) -> miette::Result<()> {
        Ok(self.shared.core.process.check()?)
    }

    /// The list of running scripts.
    pub(super) fn running(&self) -> &Running {
        &self.shared.running
    }

    /// The parts of the database, for the process that opened it.
    #[inline]
    pub(super) fn core(&self) -> Result<&Arc<Core>, Forked> {
        let core = &self.shared.core;
        core.process.check().map(|()| core)
    }

    /// The versions of the database.
    pub(super) fn pipeline(&self) -> Result<&Arc<Pipeline>, Forked> {
        Ok(&self.core()?.pipeline)
    }

    /// A transaction for a script.
    pub(super) fn begin(&self, script: &CompiledScript, mutability: ScriptMutability) -> Transaction {
        let write = mutability == ScriptMutability::Mutable && script.writes();
        match write && script.begins_by_reading() {
            // Pinned at once, the transaction is registered only once.
            true => Transaction::begin_held(&self.shared.core.pipeline, true),
            false => Transaction::begin(&self.shared.core.pipeline, write),
        }
    }

    /// Runs a script in a transaction and commits it.
    pub(super) fn run_prepared<R: ScriptResult>(
        &self,
        script: &CompiledScript,
        txn: &mut Transaction,
        parameters: &BTreeMap<String, DataValue>,
        entry: &Entry<&Running>,
        new_script: Option<(Instant, usize)>,
    ) -> miette::Result<R> {
        let Shared { core, running } = &*self.shared;
        let (interrupt, script_number) = (entry.interrupt(), entry.number());
        let context = ScriptContext {
            parameters,
            interrupt,
            script: script_number,
            running,
            core,
            new_script,
            is_alone: matches!(script, CompiledScript::System(_)),
            run_system: sys::run,
        };
        let result = match script {
            CompiledScript::Query(query) => run_query(query, txn, &context.query())?,
            CompiledScript::Steps(steps, mentioned) => R::of_rows(run_steps(steps, mentioned, txn, &context)?)?,
            CompiledScript::System(op) => R::of_rows(sys::run(op, txn, &context)?)?,
        };
        core.commit(txn)?;
        Ok(result)
    }

    /// Begins a transaction that is held open over several scripts.
    pub fn multi_transaction(&self, write: bool) -> MultiTransaction {
        MultiTransaction::begin(self.shared.core.clone(), &self.shared.running, write)
    }

    /// Serves a transaction over channels on the calling thread, until it ends or the payloads do.
    pub fn run_multi_transaction(
        &self,
        write: bool,
        payloads: Receiver<TransactionPayload>,
        results: Sender<miette::Result<NamedRows>>,
    ) {
        let Shared { core, running } = &*self.shared;
        if let Err(forked) = core.process.check() {
            // The first payload is answered. It does not matter whether the answer arrives.
            let _ = payloads.recv().map(|_| results.send(Err(forked.into())));
            return;
        }
        let txn = Transaction::begin_held(&core.pipeline, write);
        let entry = Running::enter(running.clone(), Some(&Interrupt::default()), txn.began_micros());
        serve(core.clone(), txn, &entry, &payloads, &results);
    }

    /// Stops all running scripts. They fail with `eval::killed`.
    pub fn interrupt_all(&self) {
        if self.core().is_ok() {
            self.shared.running.kill_all();
        }
    }

    /// Stops all scripts, also those that begin meanwhile, until this handle is the only user of the database: no other
    /// handle, no held transaction and no thread of the database. Dropping the handle then closes the database before it
    /// returns. Returns false after `patience`.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let db = cozo::DbInstance::default();
    /// let held = db.multi_transaction(true);
    /// assert!(!db.interrupt_until_unused(Duration::from_millis(10)));
    /// drop(held);
    /// assert!(db.interrupt_until_unused(Duration::from_secs(60)));
    /// ```
    pub fn interrupt_until_unused(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let is_unused = || Arc::strong_count(&self.shared) == 1 && Arc::strong_count(&self.shared.core) == 1;
        while !is_unused() {
            if Instant::now() >= deadline {
                return false;
            }
            self.interrupt_all();
            std::thread::sleep(GLANCE);
        }
        true
    }
}
