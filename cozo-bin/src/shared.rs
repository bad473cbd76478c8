//! `cozo log`, `cozo checkpoint` and `cozo restore --at`: the log that processes share.

use std::process::ExitCode;

use chrono::{DateTime, Local, SecondsFormat, Utc};
use cozo::{EntrySummary, PointInTime};

use crate::args::{CheckpointArguments, LogArguments};
use crate::database::Database;
use crate::error::CliError;
use crate::output;

/// Shows the entries of a log, and verifies their checksums.
pub fn log(arguments: &LogArguments) -> miette::Result<ExitCode> {
    let (mut entries, mut failed) = (0, None);
    let is_enough = |entries: usize| arguments.limit.is_some_and(|limit| entries >= limit);
    cozo::read_shared_log(&arguments.address, arguments.from, |entry| {
        if is_enough(entries) {
            return false;
        }
        entries += 1;
        if !arguments.quiet {
            failed = output::line(format_args!("{}", line(&entry))).err();
        }
        failed.is_none() && !is_enough(entries)
    })?;
    failed.map_or(Ok(()), Err)?;
    output::note(format_args!(
        "{} read, each with the right checksum",
        if entries == 1 { "1 entry".to_string() } else { format!("{entries} entries") }
    ));
    Ok(ExitCode::SUCCESS)
}

/// An entry in one line.
fn line(entry: &EntrySummary) -> String {
    let EntrySummary { number, bytes, transactions, .. } = entry;
    let what = match transactions {
        0 => "the log begins".to_string(),
        transactions => {
            let (put, removed) = entry.rows.values().fold((0, 0), |(a, b), (put, removed)| (a + put, b + removed));
            let rows = [(put, "put"), (removed, "removed")];
            let rows = rows
                .iter()
                .filter(|(rows, _)| *rows > 0)
                .map(|(rows, how)| format!(", {} {how}", output::count(*rows, "row")));
            let names: String = entry
                .definitions
                .iter()
                .map(|(name, id)| match id {
                    Some(_) => format!(", defines {name}"),
                    None => format!(", drops {name}"),
                })
                .collect();
            output::count(*transactions, "transaction") + &rows.collect::<String>() + &names
        }
    };
    format!("{number}  {}  {what} ({bytes} bytes)", time(entry.micros))
}

fn time(micros: i64) -> String {
    match DateTime::<Utc>::from_timestamp_micros(micros) {
        Some(time) => time.with_timezone(&Local).to_rfc3339_opts(SecondsFormat::Micros, false),
        None => format!("{micros} us"),
    }
}

/// Stores the contents of a database in its log, and removes the entries before if that is asked for.
pub fn checkpoint(arguments: &CheckpointArguments) -> miette::Result<ExitCode> {
    let db = arguments.database.find()?.open()?;
    let number = db.checkpoint()?;
    output::note(format_args!("the log has a checkpoint of entry {number}"));
    if arguments.truncate {
        let mut old = db.checkpoints()?.into_iter().filter(|old| old + arguments.keep <= number);
        match old.next_back() {
            Some(old) => {
                db.truncate_log(old)?;
                output::note(format_args!("the entries up to {old} were removed"));
            }
            None => output::note(format_args!(
                "nothing was removed: no checkpoint is {} or more entries older",
                arguments.keep
            )),
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Fills a new database with what a log had at a point in time.
pub fn restore(database: &Database, address: &str, at: &str) -> miette::Result<ExitCode> {
    if database.forgets() {
        return Err(CliError::RestoreIntoNothing.into());
    }
    let is_new = database.is_new();
    let restored = database.restore_from_log(address, point(at)?);
    if is_new && restored.is_err() {
        database.remove();
    }
    let (number, micros) = restored?;
    let of = micros.map_or_else(String::new, |micros| format!(" of {}", time(micros)));
    output::note(format_args!("restored: the state after entry {number}{of}"));
    Ok(ExitCode::SUCCESS)
}

/// A point in time: the number of an entry, or a time with its zone.
fn point(text: &str) -> Result<PointInTime, CliError> {
    if let Ok(number) = text.parse() {
        return Ok(PointInTime::Sequence(number));
    }
    let time = DateTime::parse_from_rfc3339(text).map_err(|_| CliError::NoPointInTime(text.to_string()))?;
    Ok(PointInTime::Micros(time.timestamp_micros()))
}
