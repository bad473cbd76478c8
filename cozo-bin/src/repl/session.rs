//! What the REPL does with one input.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cozo::{DataValue, DbInstance, Interrupt, NamedRows, ScriptMutability};
use serde_json::{Map, Value};

use super::meta::Meta;
use crate::error::{self, CliError};
use crate::output::{self, Strings};

/// More rows are counted, but not shown.
const MAX_SHOWN_ROWS: usize = 1000;

/// The state of the REPL between inputs.
pub struct Session {
    /// The database.
    pub db: DbInstance,
    /// The parameters of all scripts.
    pub parameters: BTreeMap<String, DataValue>,
    /// Where the next result goes.
    pub save: Option<PathBuf>,
    /// Set while something runs, so that Ctrl-C knows what to do.
    busy: Arc<AtomicBool>,
    /// Stops the script of the current input.
    interrupt: Interrupt,
}

impl Session {
    /// A session without parameters.
    pub fn new(db: DbInstance, busy: Arc<AtomicBool>, interrupt: Interrupt) -> Self {
        Session { db, parameters: BTreeMap::new(), save: None, busy, interrupt }
    }

    /// Runs an input and shows what comes out; only a broken standard output is an error.
    pub fn handle(&mut self, input: &str) -> miette::Result<()> {
        let input = input.trim();
        if input.is_empty() {
            return Ok(());
        }
        // A Ctrl-C that came after the end of the input before was not meant for this one.
        self.interrupt.rearm();
        self.busy.store(true, Ordering::Relaxed);
        let outcome = match Meta::parse(input) {
            Some(command) => command.and_then(|command| command.run(self)),
            None => self.run_script(input),
        };
        self.busy.store(false, Ordering::Relaxed);
        match outcome {
            Err(report) if error::is_broken_pipe(&report) => Err(report),
            Err(report) => {
                eprintln!("{}", cozo::diag::render_report(&report, output::wants_color(is_terminal())).trim_end());
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Runs a script and shows or saves its results.
    pub fn run_script(&mut self, script: &str) -> miette::Result<()> {
        let start = Instant::now();
        let (parameters, mutability) = (self.parameters.clone(), ScriptMutability::Mutable);
        let result = self.db.run_script_interruptible(script, parameters, mutability, &self.interrupt)?;
        let took = start.elapsed();
        if let Some(path) = self.save.take() {
            let text = as_objects(&result).to_string();
            fs::write(&path, text).map_err(CliError::writing(&path))?;
            let saved = output::summary(result.rows.len(), took);
            return Ok(output::line(format!("{saved}, saved to {}", path.display()))?);
        }
        for rows in result.flatten() {
            show(&rows)?;
            output::line(output::dim(&output::summary(rows.rows.len(), took)))?;
        }
        Ok(())
    }
}

fn is_terminal() -> bool {
    std::io::IsTerminal::is_terminal(&std::io::stderr())
}

fn show(rows: &NamedRows) -> Result<(), CliError> {
    if !rows.headers.is_empty() {
        output::table(rows, MAX_SHOWN_ROWS, Strings::Quoted)?;
    }
    match rows.rows.len().checked_sub(MAX_SHOWN_ROWS) {
        Some(hidden @ 1..) => {
            output::line(format!("… and {}; %save FILE keeps all", output::count(hidden, "more row")))
        }
        _ => Ok(()),
    }
}

/// The rows as a JSON array of objects.
fn as_objects(rows: &NamedRows) -> Value {
    let object = |row: &Vec<DataValue>| {
        let fields = rows.headers.iter().cloned().zip(row.iter().cloned().map(Value::from));
        Value::Object(fields.collect::<Map<_, _>>())
    };
    rows.rows.iter().map(object).collect()
}
