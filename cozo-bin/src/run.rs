//! `cozo run`: scripts from files, the command line or standard input.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use cozo::{DataValue, Interrupt, NamedRows, ScriptMutability};
use serde_json::Value;

use crate::args::{Format, RunArguments};
use crate::connection::Connection;
use crate::error::{self, CliError};
use crate::format::without_mark;
use crate::output::{self, Strings};
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
    let parameters = parameters(&arguments.parameters)?;
    let interrupt = signals::stop_work_on_signals(|| ());
    let connection = match arguments.server.connect()? {
        Some(server) => Connection::Remote(server),
        None => {
            let db = arguments.database.find()?.open()?;
            for load in &arguments.loads {
                let (target, file) = load::split(load)?;
                import::load_with_progress(&db, target, file, None, &interrupt)?;
            }
            Connection::Local(db)
        }
    };
    let mutability = if arguments.immutable { ScriptMutability::Immutable } else { ScriptMutability::Mutable };
    let files = arguments.files.iter().map(|file| read_script(file));
    for script in files.chain(arguments.scripts.into_iter().map(Ok)) {
        let succeeded = run_one(&connection, &script?, parameters.clone(), mutability, arguments.format, &interrupt)?;
        if !succeeded {
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The first bytes of every SQLite file.
const SQLITE_MARK: &str = "SQLite format 3\0";

/// The text of a file, or of standard input for `-`.
fn read_script(path: &Path) -> miette::Result<String> {
    if path.as_os_str() == "-" {
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

/// Runs a script, until a signal stops it, and shows its result; whether all went well. A failure in JSON is a result like others.
pub fn run_one(
    connection: &Connection,
    script: &str,
    parameters: BTreeMap<String, DataValue>,
    mutability: ScriptMutability,
    format: Format,
    interrupt: &Interrupt,
) -> miette::Result<bool> {
    let stopped = "the script was not finished, and wrote nothing";
    let work = signals::work();
    if format == Format::Json {
        let result = connection.run_script_fold_err(script, parameters, mutability, interrupt)?;
        signals::check(interrupt, stopped)?;
        drop(work);
        output::line(&result)?;
        return Ok(result["ok"] == true);
    }
    let start = Instant::now();
    let result = connection.run_script(script, parameters, mutability, interrupt);
    let result = signals::explain(result, stopped)?;
    let took = start.elapsed();
    drop(work);
    for rows in result.flatten() {
        match format {
            Format::Csv => output::csv(&rows)?,
            _ => show(&rows, took)?,
        }
    }
    Ok(true)
}

/// Writes a result as a table with its size and time.
pub fn show(rows: &NamedRows, took: std::time::Duration) -> Result<(), CliError> {
    if !rows.headers.is_empty() {
        output::table(rows, usize::MAX, Strings::Quoted)?;
    }
    output::line(output::dim(&output::summary(rows.rows.len(), took)))
}
