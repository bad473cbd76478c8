//! `cozo backup`, `cozo restore`, `cozo check` and `cozo compact`: looking after a database.

use std::process::ExitCode;
use std::time::Instant;

use cozo::{BackupProgress, DbInstance, Interrupt, Strictness};
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::{BackupArguments, CheckArguments, CompactArguments, RestoreArguments};
use crate::database::Database;
use crate::error::CliError;
use crate::{output, shared, signals};

/// Writes a backup.
pub fn backup(arguments: &BackupArguments) -> miette::Result<ExitCode> {
    let db = arguments.database.find()?.open_existing()?;
    with_progress("backed up", "no backup was written", |interrupt, report| {
        db.backup_interruptible(&arguments.file, interrupt, report)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Fills an empty database from a backup, and lists what could not be carried over.
pub fn restore(arguments: &RestoreArguments) -> miette::Result<ExitCode> {
    let (Some(file), None) = (&arguments.file, &arguments.at) else {
        let (address, database) = arguments.database.find_apart()?;
        return shared::restore(&database, &address, arguments.at.as_deref().unwrap_or_default());
    };
    let database = arguments.database.find()?;
    if database.forgets() {
        return Err(CliError::RestoreIntoNothing.into());
    }
    let is_new = database.is_new();
    let strictness = if arguments.what_fits { Strictness::WhatFits } else { Strictness::EveryRow };
    let remarks = with_progress("restored", "nothing was restored", |interrupt, report| {
        let restore = |db: DbInstance| db.restore_interruptible(file, strictness, interrupt, report);
        // The database is closed when this has ended.
        let outcome = database.open().and_then(restore);
        if is_new && outcome.is_err() {
            database.remove();
        }
        outcome
    })?;
    remarks.iter().for_each(|remark| output::note(format_args!("note: {remark}")));
    Ok(ExitCode::SUCCESS)
}

/// Reads a database to its end, and says what is wrong with it.
pub fn check(arguments: &CheckArguments) -> miette::Result<ExitCode> {
    let options = r#"{"read_only": true, "cache_mb": 0}"#;
    let db = Database::at(&arguments.path, arguments.engine.as_deref(), options)?.open_existing()?;
    let report = db.check()?;
    for (relation, rows) in &report.relations {
        output::line(format_args!("{relation}: {}", output::count(*rows as usize, "row")))?;
    }
    for problem in &report.problems {
        output::line(format_args!("problem: {problem}"))?;
    }
    match report.problems.len() {
        0 => output::line("no problems found")?,
        problems => output::line(format_args!("{} found", output::count(problems, "problem")))?,
    }
    Ok(if report.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Gives back the space of what was removed or replaced.
pub fn compact(arguments: &CompactArguments) -> miette::Result<ExitCode> {
    arguments.database.find_at(arguments.place.as_deref())?.open_existing()?.run_default("::compact")?;
    Ok(ExitCode::SUCCESS)
}

/// Does something with a bar of the rows done, until a signal stops it; nothing is drawn unless standard error is a terminal.
fn with_progress<T>(
    done: &str,
    if_stopped: &'static str,
    work: impl FnOnce(&Interrupt, &mut dyn FnMut(&BackupProgress)) -> miette::Result<T>,
) -> miette::Result<T> {
    let (bar, start, mut rows) = (ProgressBar::new(0), Instant::now(), 0);
    if let Ok(style) = ProgressStyle::with_template("{msg:16} [{wide_bar}] {human_pos}/{human_len} rows {per_sec}") {
        bar.set_style(style.progress_chars("=> "));
    }
    let interrupt = signals::stop_work_on_signals(|| ());
    let _work = signals::work();
    let outcome = work(&interrupt, &mut |progress: &BackupProgress| {
        rows = progress.rows as usize;
        bar.set_length(progress.total_rows);
        bar.set_position(progress.rows);
        bar.set_message(progress.relation.clone());
    });
    let outcome = signals::explain(outcome, if_stopped)?;
    bar.finish_and_clear();
    let took = start.elapsed();
    output::note(format_args!("{done}: {}", output::summary_with_rate(rows, took)));
    Ok(outcome)
}
