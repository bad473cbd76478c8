//! What the REPL does with one input.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cozo::session::Written;
use cozo::{DataValue, Interrupt, NamedRows};

use super::habits::{self, Habit};
use super::input::{Role, says_nothing, without_end};
use super::meta::Meta;
use super::waiting::Waiting;
use super::{explained, files, pager, written};
use crate::connection::Connection;
use crate::error::{self, CliError};
use crate::table::{Expand, Look, Strings, layout};
use crate::{output, signals};

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
    /// Whether results have one column a line.
    pub expand: Expand,
    /// The first result of the script before, for those who want to see it otherwise.
    pub last: NamedRows,
    /// The query before, if it wrote nothing: options that follow continue it.
    query: Option<String>,
    /// Whether what is written is gone when the shell ends.
    forgets: bool,
    /// Stops the script of the current input.
    pub interrupt: Interrupt,
}

/// What is to happen after an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// The next input.
    Read,
    /// The end of the shell.
    Leave,
}

impl Session {
    /// A session without parameters.
    pub fn new(connection: Connection, forgets: bool, interrupt: Interrupt) -> Self {
        Session {
            connection,
            parameters: BTreeMap::new(),
            save: None,
            pages: true,
            expand: Expand::default(),
            last: NamedRows::default(),
            query: None,
            forgets,
            interrupt,
        }
    }

    /// What would be lost if the shell ended now, for people.
    pub fn at_stake(&self) -> Option<String> {
        (self.forgets && self.connection.has_rows()).then(|| {
            let relations = output::count(self.connection.names("::relations").len(), "relation");
            format!("{relations} would be lost: the database is in memory alone; %backup FILE saves it")
        })
    }

    /// Runs an input and shows what comes out; only a standard output that takes nothing is an error.
    pub fn handle(&mut self, input: &str) -> miette::Result<Next> {
        if says_nothing(input) {
            return Ok(Next::Read);
        }
        // A Ctrl-C that came after the end of the input before was not meant for this one.
        self.interrupt.rearm();
        let work = signals::work();
        let outcome = self.answer(input.trim_end());
        drop(work);
        match outcome {
            Err(report) if error::is_of_stream(&report) => Err(report),
            Err(report) => {
                output::report(&report);
                Ok(Next::Read)
            }
            Ok(next) => Ok(next),
        }
    }

    /// Does what an input says: a command, what another shell would do, or a script.
    fn answer(&mut self, input: &str) -> miette::Result<Next> {
        if let Some(command) = Meta::parse(input) {
            return command?.run(self).map(|()| Next::Read);
        }
        match habits::of(input, &self.connection) {
            Some(Habit::Leave) => return Ok(Next::Leave),
            Some(Habit::Script(script)) => self.show_result(&script)?,
            Some(Habit::Command(command)) => return self.answer(&command),
            Some(Habit::Advice(advice)) => output::line(advice)?,
            None => self.run_input(&without_end(input))?,
        }
        Ok(Next::Read)
    }

    /// Runs a script that was typed. Options alone continue the query before.
    fn run_input(&mut self, script: &str) -> miette::Result<()> {
        let (script, role) = match (Role::of(script), self.query.take()) {
            (Role::Options, Some(query)) => {
                let continued = format!("{query}\n{script}");
                output::line(output::dim("continues the query before"))?;
                // What fails may be typed again, for the same query.
                self.query = Some(query);
                let role = Role::of(&continued);
                (continued, role)
            }
            (role, query) => {
                self.query = query.filter(|_| role == Role::Create);
                (script.to_string(), role)
            }
        };
        self.run_script(&script)?;
        match role {
            Role::Query => self.query = Some(script),
            Role::Create => {}
            _ => self.query = None,
        }
        Ok(())
    }

    /// The input as the history keeps it: with the query that it continued.
    pub fn as_typed(&self, input: &str) -> String {
        match (Role::of(&without_end(input)), &self.query) {
            (Role::Options, Some(query)) => format!("{query}\n{}", input.trim_end()),
            _ => input.trim_end().to_string(),
        }
    }

    /// Runs a script and shows or saves its results.
    pub fn run_script(&mut self, script: &str) -> miette::Result<()> {
        let Some(path) = self.save.clone() else { return self.show_result(script) };
        let start = Instant::now();
        let (result, written) = self.result_of(script)?;
        let counts = written.and_then(|written| written::counts(&written, script));
        self.save = None;
        let took = start.elapsed();
        let rows = result.rows.len();
        if let Err(error) = files::save(&path, &result, &self.interrupt) {
            // The script has run, perhaps for long, and has written what it writes: its result is not thrown away.
            self.show_all(result, counts, took)?;
            return Err(error);
        }
        Ok(output::line(format!("{}, saved to {}", output::summary(rows, took), path.display()))?)
    }

    fn show_result(&mut self, script: &str) -> miette::Result<()> {
        let start = Instant::now();
        let (result, written) = self.result_of(script)?;
        let took = start.elapsed();
        self.show_all(result, written.and_then(|written| written::counts(&written, script)), took)
    }

    /// Shows the results of a script and how many rows it has written, and keeps the first result.
    fn show_all(&mut self, result: NamedRows, counts: Option<String>, took: Duration) -> miette::Result<()> {
        let results = result.flatten();
        for rows in &results {
            // A status says less than the numbers of rows.
            if counts.is_some() && written::is_status(rows) {
                continue;
            }
            self.show(rows)?;
            let noun = if self.is_tree(rows) { "operator" } else { "row" };
            let summary = format!("{} in {}", output::count(rows.rows.len(), noun), output::duration(took));
            output::line(output::dim(&summary))?;
        }
        if let Some(counts) = counts {
            output::line(output::dim(&format!("{counts} in {}", output::duration(took))))?;
        }
        self.last = results.into_iter().next().unwrap_or_default();
        Ok(())
    }

    /// Runs a script with the parameters, and says what it wrote; Ctrl-C stops it.
    pub fn result_of(&self, script: &str) -> miette::Result<(NamedRows, Option<Written>)> {
        let waiting = Waiting::begin();
        let result = self.connection.run_script_counted(script, self.parameters.clone(), &self.interrupt)?;
        drop(waiting);
        output::warn(&self.connection.script_warnings(script));
        Ok(result)
    }

    /// Whether the rows are shown as a tree.
    fn is_tree(&self, rows: &NamedRows) -> bool {
        self.expand != Expand::On && explained::is_plan(rows)
    }

    fn show(&self, rows: &NamedRows) -> Result<(), CliError> {
        let pages = self.pages && pager::is_possible();
        if self.is_tree(rows) {
            return pager::show(&explained::tree(rows), pages);
        }
        let limit = if pages { MAX_PAGED_ROWS } else { MAX_SHOWN_ROWS };
        if !rows.headers.is_empty() {
            let shown = layout(rows, Look { expand: self.expand, ..Look::of_terminal(limit, Strings::Quoted) });
            pager::show(&shown.text, pages)?;
            if let Some(hidden) = shown.hidden {
                output::line(output::dim(&format!("{hidden}; %expand on shows all, one column a line")))?;
            }
        }
        match rows.rows.len().checked_sub(limit) {
            Some(hidden @ 1..) => {
                output::line(format!("… and {}; %save FILE keeps all", output::count(hidden, "more row")))
            }
            _ => Ok(()),
        }
    }
}
