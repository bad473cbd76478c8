//! What the REPL does with one input.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cozo::{DataValue, Interrupt, NamedRows, ScriptMutability};
use serde_json::{Map, Value};

use super::input::says_nothing;
use super::meta::Meta;
use super::pager;
use crate::connection::Connection;
use crate::error::{self, CliError};
use crate::output::{self, Strings};
use crate::signals;

/// More rows are counted, but not shown.
const MAX_SHOWN_ROWS: usize = 1000;

/// More rows are not handed to the pager.
const MAX_PAGED_ROWS: usize = 20_000;

/// The state of the REPL between inputs.
pub struct Session {
    /// The database, here or on a server.
    pub connection: Connection,
    /// The parameters of all scripts.
    pub parameters: BTreeMap<String, DataValue>,
    /// Where the next result goes.
    pub save: Option<PathBuf>,
    /// Whether long results are shown by the pager.
    pub pages: bool,
    /// The first result of the script before, for those who want to see it otherwise.
    pub last: NamedRows,
    /// Whether what is written is gone when the shell ends.
    forgets: bool,
    /// Stops the script of the current input.
    interrupt: Interrupt,
}

impl Session {
    /// A session without parameters.
    pub fn new(connection: Connection, forgets: bool, interrupt: Interrupt) -> Self {
        let (parameters, last) = (BTreeMap::new(), NamedRows::default());
        Session { connection, parameters, save: None, pages: true, last, forgets, interrupt }
    }

    /// What would be lost if the shell ended now, for people.
    pub fn at_stake(&self) -> Option<String> {
        let relations = if self.forgets { self.connection.names("::relations").len() } else { 0 };
        let (is_are, them) = if relations == 1 { ("is", "it") } else { ("are", "them") };
        (relations > 0).then(|| {
            let relations = output::count(relations, "relation");
            format!("{relations} {is_are} in memory alone and would be lost; %backup FILE saves {them}")
        })
    }

    /// Runs an input and shows what comes out; only a standard output that takes nothing is an error.
    pub fn handle(&mut self, input: &str) -> miette::Result<()> {
        let input = input.trim();
        if says_nothing(input) {
            return Ok(());
        }
        // A Ctrl-C that came after the end of the input before was not meant for this one.
        self.interrupt.rearm();
        let work = signals::work();
        let outcome = match Meta::parse(input) {
            Some(command) => command.and_then(|command| command.run(self)),
            None => self.run_script(input),
        };
        drop(work);
        match outcome {
            Err(report) if error::is_of_stream(&report) => Err(report),
            Err(report) => {
                output::report(&report);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Runs a script and shows or saves its results.
    pub fn run_script(&mut self, script: &str) -> miette::Result<()> {
        let start = Instant::now();
        let result = self.result_of(script)?;
        let took = start.elapsed();
        let Some(path) = self.save.take() else { return self.show_all(result, took) };
        let text = as_objects(&result).to_string();
        if let Err(error) = fs::write(&path, text).map_err(CliError::writing(&path)) {
            // The script has run, perhaps for long, and has written what it writes: its result is not thrown away.
            self.show_all(result, took)?;
            return Err(error.into());
        }
        let saved = output::summary(result.rows.len(), took);
        Ok(output::line(format!("{saved}, saved to {}", path.display()))?)
    }

    /// Shows the results of a script, and keeps the first.
    fn show_all(&mut self, result: NamedRows, took: Duration) -> miette::Result<()> {
        let results = result.flatten();
        for rows in &results {
            self.show(rows)?;
            output::line(output::dim(&output::summary(rows.rows.len(), took)))?;
        }
        self.last = results.into_iter().next().unwrap_or_default();
        Ok(())
    }

    /// Runs a script with the parameters; Ctrl-C stops it.
    pub fn result_of(&self, script: &str) -> miette::Result<NamedRows> {
        self.connection.run_script(script, self.parameters.clone(), ScriptMutability::Mutable, &self.interrupt)
    }

    fn show(&self, rows: &NamedRows) -> Result<(), CliError> {
        let pages = self.pages && pager::is_possible();
        let limit = if pages { MAX_PAGED_ROWS } else { MAX_SHOWN_ROWS };
        if !rows.headers.is_empty() {
            pager::show(&output::table_text(rows, limit, Strings::Quoted), pages)?;
        }
        match rows.rows.len().checked_sub(limit) {
            Some(hidden @ 1..) => {
                output::line(format!("… and {}; %save FILE keeps all", output::count(hidden, "more row")))
            }
            _ => Ok(()),
        }
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
