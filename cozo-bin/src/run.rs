//! `cozo run`: scripts from files, the command line or standard input.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use clap::error::ErrorKind;
use cozo::{DataValue, Interrupt, NamedRows, ScriptMutability};
use miette::Diagnostic;
use serde_json::Value;

use crate::args::{FileArguments, Format, RunArguments};
use crate::connection::Connection;
use crate::error::{self, CliError};
use crate::export::{self, Table};
use crate::format::{FileFormat, without_mark};
use crate::output;
use crate::table::Strings;
use crate::{import, load, signals};

/// Runs the scripts; where results are JSON, so is whatever goes wrong.
pub fn run(arguments: RunArguments) -> miette::Result<ExitCode> {
    let as_json = arguments.format == Format::Json;
    match run_all(arguments) {
        Err(report) if as_json && !error::is_broken_pipe(&report) => {
            output::line(cozo::format_error_as_json(report, None))?;
            Ok(signals::exit_code().map_or(ExitCode::FAILURE, ExitCode::from))
        }
        outcome => outcome,
    }
}

/// Runs the scripts one after the other; the first that fails ends it.
fn run_all(arguments: RunArguments) -> miette::Result<ExitCode> {
    let is_piped = arguments.files.is_empty() && arguments.scripts.is_empty();
    let piped = is_piped.then(script_from_stdin).transpose()?;
    let parameters = parameters(&arguments.parameters)?;
    let interrupt = signals::stop_work_on_signals(|| ());
    let connection = match arguments.server.connect()? {
        Some(server) => Connection::Remote(server),
        None => {
            let db = arguments.database.find()?.open()?;
            for load in &arguments.loads {
                let (target, file) = load::split(load)?;
                import::load_with_progress(&db, target, &[file.into()], &FileArguments::default(), &interrupt)?;
            }
            Connection::Local(db)
        }
    };
    let mutability = if arguments.immutable { ScriptMutability::Immutable } else { ScriptMutability::Mutable };
    let runner =
        Runner { connection: &connection, parameters, mutability, format: arguments.format, interrupt: &interrupt };
    let stdin = Path::new(STDIN);
    let piped = piped.into_iter().map(|script| runner.run(&script, Some(stdin)));
    let files = arguments.files.iter().map(|file| runner.run(&read_script(file)?, Some(file)));
    let scripts = arguments.scripts.iter().map(|script| runner.run(script, None));
    for succeeded in piped.chain(files).chain(scripts) {
        if !succeeded? {
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The script on standard input, where no other is named. Ends the program where there is none.
fn script_from_stdin() -> miette::Result<String> {
    let script = if io::stdin().is_terminal() { String::new() } else { read_script(Path::new(STDIN))? };
    if script.trim().is_empty() {
        let missing = "there is no script: name a FILE, write -e SCRIPT, or pipe one in; 'cozo repl' is for typing\n";
        clap::Error::raw(ErrorKind::MissingRequiredArgument, missing).exit();
    }
    Ok(script)
}

/// What stands for standard input.
pub const STDIN: &str = "-";

/// The first bytes of every SQLite file.
const SQLITE_MARK: &str = "SQLite format 3\0";

/// The text of a file, or of standard input for `-`.
pub fn read_script(path: &Path) -> miette::Result<String> {
    if path.as_os_str() == STDIN {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(CliError::Stream)?;
        return Ok(without_mark(&text).to_string());
    }
    // Who names a database without '--path' gets here, too.
    let no_script = |source| CliError::Script { path: path.display().to_string(), source };
    let text = std::fs::read_to_string(path).map_err(no_script)?;
    if text.starts_with(SQLITE_MARK) {
        return Err(no_script(io::Error::new(io::ErrorKind::InvalidData, "it is an SQLite file")).into());
    }
    Ok(without_mark(&text).to_string())
}

/// The text of a file, without its mark.
pub fn read_text(path: &Path) -> Result<String, CliError> {
    let text = std::fs::read_to_string(path).map_err(CliError::reading(path))?;
    Ok(without_mark(&text).to_string())
}

/// `NAME=JSON` a piece.
pub fn parameters(given: &[String]) -> Result<BTreeMap<String, DataValue>, CliError> {
    let parse = |given: &String| {
        let bad = |reason: String| CliError::Parameter { given: given.clone(), reason };
        let (name, json) = given.split_once('=').ok_or_else(|| bad("there is no '='".to_string()))?;
        let value: Value = serde_json::from_str(json).map_err(|error| bad(error.to_string()))?;
        Ok((name.trim_start_matches('$').to_string(), DataValue::from(value)))
    };
    given.iter().map(parse).collect()
}

/// Runs scripts and shows their results.
pub struct Runner<'a> {
    /// The database.
    pub connection: &'a Connection,
    /// The parameters of all scripts.
    pub parameters: BTreeMap<String, DataValue>,
    /// Whether they may write.
    pub mutability: ScriptMutability,
    /// How results are written.
    pub format: Format,
    /// Stops the script that runs.
    pub interrupt: &'a Interrupt,
}

impl Runner<'_> {
    /// Runs a script, until a signal stops it, and shows its result; whether all went well. A failure in JSON is a result like
    /// others. An error tells the file, if the script is from one.
    pub fn run(&self, script: &str, file: Option<&Path>) -> miette::Result<bool> {
        let stopped = "the script was not finished, and wrote nothing";
        let Runner { connection, mutability, format, interrupt, .. } = *self;
        let work = signals::work();
        if format == Format::Json {
            let mut result = connection.run_script_fold_err(script, self.parameters.clone(), mutability, interrupt)?;
            signals::check(interrupt, stopped)?;
            drop(work);
            if let (Some(file), Some(name)) = (file, result.get_mut("filename")) {
                *name = file.to_string_lossy().into();
            }
            output::line(&result)?;
            return Ok(result["ok"] == true);
        }
        let start = Instant::now();
        let result = connection.run_script(script, self.parameters.clone(), mutability, interrupt);
        let result = signals::explain(result, stopped).map_err(|report| match file {
            Some(file) => in_file(report, file, script),
            None => report,
        })?;
        let took = start.elapsed();
        drop(work);
        output::warn(&connection.script_warnings(script));
        for rows in result.flatten() {
            match format {
                Format::Csv => output::csv(&rows)?,
                Format::Jsonl => export::to_stdout(&Table::of_rows(&rows, interrupt), FileFormat::Jsonl)?,
                Format::Table | Format::Json => show(&rows, took)?,
            }
        }
        Ok(true)
    }
}

/// The report of an error in a script from a file: with the file, and the line that the error is about.
pub fn in_file(report: miette::Report, file: &Path, script: &str) -> miette::Report {
    if report.downcast_ref::<CliError>().is_some() {
        return report;
    }
    let name = if file.as_os_str() == STDIN { "standard input".to_string() } else { format!("'{}'", file.display()) };
    let before = first_label(report.as_ref()).and_then(|offset| script.get(..offset));
    let line = before.map_or(String::new(), |before| format!(", line {}", before.matches('\n').count() + 1));
    cozo::diag::wrap(report, format!("in {name}{line}"))
}

/// The place that an error is about, in bytes.
fn first_label(error: &dyn Diagnostic) -> Option<usize> {
    let inner = error.diagnostic_source().and_then(first_label);
    inner.or_else(|| error.labels()?.next().map(|label| label.offset()))
}

/// Writes a result as a table with its size and time.
pub fn show(rows: &NamedRows, took: std::time::Duration) -> Result<(), CliError> {
    if !rows.headers.is_empty() {
        output::table(rows, usize::MAX, Strings::Quoted)?;
    }
    output::line(output::dim(&output::summary(rows.rows.len(), took)))
}
