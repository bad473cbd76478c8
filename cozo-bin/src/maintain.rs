//! `cozo backup`, `cozo restore`, `cozo check` and `cozo compact`: looking after a database.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use cozo::{BackupProgress, DbInstance, Strictness};
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::{BackupArguments, CheckArguments, CompactArguments, MEM, RestoreArguments, must_exist};
use crate::error::CliError;
use crate::output;

/// Writes a backup.
pub fn backup(arguments: &BackupArguments) -> miette::Result<ExitCode> {
    let db = arguments.engine.open_existing()?;
    with_progress("backed up", |report| db.backup_with_progress(&arguments.file, report))?;
    Ok(ExitCode::SUCCESS)
}

/// Fills an empty database from a backup, and lists what could not be carried over.
pub fn restore(arguments: &RestoreArguments) -> miette::Result<ExitCode> {
    if arguments.engine.forgets() {
        return Err(CliError::RestoreIntoNothing.into());
    }
    let path = arguments.engine.path();
    let is_new = path.try_exists().is_ok_and(|exists| !exists);
    let db = arguments.engine.open()?;
    let strictness = if arguments.what_fits { Strictness::WhatFits } else { Strictness::EveryRow };
    let outcome = with_progress("restored", |report| db.restore_with_progress(&arguments.file, strictness, report));
    if is_new && outcome.is_err() {
        drop(db);
        remove_database(path);
    }
    for remark in outcome? {
        eprintln!("note: {remark}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads a database to its end, and says what is wrong with it.
pub fn check(arguments: &CheckArguments) -> miette::Result<ExitCode> {
    let path = &arguments.path;
    if arguments.engine.as_deref() == Some(MEM) {
        return Err(CliError::NothingInMem.into());
    }
    must_exist(path)?;
    let engine = arguments.engine.as_deref().map_or_else(|| engine_of(path), Ok)?;
    let db = DbInstance::new(engine, path, r#"{"read_only": true, "cache_mb": 0}"#)?;
    let report = db.check()?;
    for (relation, rows) in &report.relations {
        println!("{relation}: {}", output::count(*rows as usize, "row"));
    }
    for problem in &report.problems {
        println!("problem: {problem}");
    }
    match report.problems.len() {
        0 => println!("no problems found"),
        problems => println!("{} found", output::count(problems, "problem")),
    }
    Ok(if report.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Gives back the space of what was removed or replaced.
pub fn compact(arguments: &CompactArguments) -> miette::Result<ExitCode> {
    arguments.engine.open_existing()?.run_default("::compact")?;
    Ok(ExitCode::SUCCESS)
}

/// Removes a database that was made for nothing. What cannot be removed is left: why it was made for nothing matters more.
fn remove_database(path: &Path) {
    if path.is_dir() {
        let _ = std::fs::remove_dir_all(path);
        return;
    }
    // What SQLite and its engine put beside the file.
    for suffix in ["", "-wal", "-shm", "-lock"] {
        let mut file = path.as_os_str().to_owned();
        file.push(suffix);
        let _ = std::fs::remove_file(file);
    }
}

/// The engine that a path looks like: a folder or a file.
fn engine_of(path: &Path) -> Result<&'static str, CliError> {
    let metadata = std::fs::metadata(path).map_err(CliError::reading(path))?;
    Ok(if metadata.is_dir() { "rocksdb" } else { "sqlite" })
}

/// Does something with a bar of the rows done; nothing is drawn unless standard error is a terminal.
fn with_progress<T>(
    done: &str,
    work: impl FnOnce(&mut dyn FnMut(&BackupProgress)) -> miette::Result<T>,
) -> miette::Result<T> {
    let (bar, start, mut rows) = (ProgressBar::new(0), Instant::now(), 0);
    if let Ok(style) = ProgressStyle::with_template("{msg:16} [{wide_bar}] {human_pos}/{human_len} rows {per_sec}") {
        bar.set_style(style.progress_chars("=> "));
    }
    let outcome = work(&mut |progress: &BackupProgress| {
        rows = progress.rows as usize;
        bar.set_length(progress.total_rows);
        bar.set_position(progress.rows);
        bar.set_message(progress.relation.clone());
    })?;
    bar.finish_and_clear();
    let took = start.elapsed();
    eprintln!("{done}: {}", output::summary_with_rate(rows, took));
    Ok(outcome)
}
