//! `cozo import`: a data file into a stored relation, with a progress bar.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use cozo::DbInstance;
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::ImportArguments;
use crate::error::CliError;
use crate::format::FileFormat;
use crate::load::{self, Target};
use crate::{output, run};

/// Loads the file, then runs the scripts that shall follow.
pub fn run(arguments: &ImportArguments) -> miette::Result<ExitCode> {
    let target = Target::parse(&arguments.relation)?;
    let db = arguments.engine.open()?;
    load_with_progress(&db, target, &arguments.file, arguments.format)?;
    if arguments.engine.forgets() && arguments.then.is_empty() {
        eprintln!("note: the mem engine keeps nothing after this program; query the data with --then SCRIPT");
    }
    for script in &arguments.then {
        let start = Instant::now();
        let result = db.run_default(script)?;
        let took = start.elapsed();
        result.flatten().iter().try_for_each(|rows| run::show(rows, took))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Loads a file and says on standard error how much came and how fast: results own standard output.
pub fn load_with_progress(
    db: &DbInstance,
    target: Target<'_>,
    file: &Path,
    format: Option<FileFormat>,
) -> miette::Result<()> {
    let size = std::fs::metadata(file).map_err(CliError::reading(file))?.len();
    let bar = progress_bar(size);
    let start = Instant::now();
    let rows = load::load(db, target, file, format, &bar)?;
    let took = start.elapsed();
    bar.finish_and_clear();
    eprintln!("{}: {}", target.name, output::summary_with_rate(rows, took));
    Ok(())
}

/// A bar over the bytes of the file; nothing is drawn unless standard error is a terminal.
fn progress_bar(size: u64) -> ProgressBar {
    let bar = ProgressBar::new(size);
    let template = "{msg:16} [{wide_bar}] {bytes}/{total_bytes} {bytes_per_sec}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}
