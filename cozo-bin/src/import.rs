//! `cozo import`: data files into a stored relation, or a partition into new ones, with a progress bar.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use cozo::{DbInstance, Interrupt, ScriptMutability};
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::{FileArguments, Format, ImportArguments};
use crate::connection::Connection;
use crate::error::CliError;
use crate::load::{self, Target};
#[cfg(feature = "arrow")]
use crate::partition::Partition;
use crate::run::Runner;
use crate::{output, signals};

/// Loads the files, then runs the scripts that shall follow.
pub fn run(arguments: &ImportArguments) -> miette::Result<ExitCode> {
    let source = Source::of(arguments)?;
    let database = arguments.database.find()?;
    #[cfg(feature = "arrow")]
    let is_new = database.is_new();
    let db = database.open()?;
    let interrupt = signals::stop_work_on_signals(|| ());
    match source {
        Source::Files(target) => {
            load_with_progress(&db, target, &arguments.files, &arguments.reading, &interrupt)?;
        }
        #[cfg(feature = "arrow")]
        Source::Partition(partition) => {
            let imported = partition.import(&db, &interrupt, &rows_bar(partition.rows()));
            if is_new && imported.is_err() {
                drop(db);
                database.remove();
                return imported.map(|()| ExitCode::FAILURE);
            }
            imported?;
        }
    }
    if database.forgets() && arguments.then.is_empty() {
        output::note("note: the mem engine keeps nothing after this program; query the data with --then SCRIPT");
    }
    let connection = Connection::Local(db);
    let runner = Runner {
        connection: &connection,
        parameters: BTreeMap::new(),
        mutability: ScriptMutability::Mutable,
        format: Format::Table,
        interrupt: &interrupt,
    };
    arguments.then.iter().try_for_each(|script| runner.run(script, None).map(drop))?;
    Ok(ExitCode::SUCCESS)
}

/// What is imported. It is looked at before a database is made for it.
enum Source<'a> {
    Files(Target<'a>),
    #[cfg(feature = "arrow")]
    Partition(Partition),
}

impl<'a> Source<'a> {
    fn of(arguments: &'a ImportArguments) -> miette::Result<Self> {
        match &arguments.partition {
            #[cfg(feature = "arrow")]
            Some(folder) => Ok(Source::Partition(Partition::open(folder, &arguments.only)?)),
            #[cfg(not(feature = "arrow"))]
            Some(_) => Err(CliError::WithoutArrow.into()),
            None => Ok(Source::Files(Target::parse(arguments.relation.as_deref().unwrap_or_default())?)),
        }
    }
}

/// Loads files and says on standard error how much came and how fast: results own standard output.
pub fn load_with_progress(
    db: &DbInstance,
    target: Target<'_>,
    paths: &[PathBuf],
    options: &FileArguments,
    interrupt: &Interrupt,
) -> miette::Result<()> {
    let expanded: Vec<Vec<PathBuf>> = paths.iter().map(|path| load::expand(path)).collect::<Result<_, _>>()?;
    let files = expanded.concat();
    let size = |file: &PathBuf| Ok(std::fs::metadata(file).map_err(CliError::reading(file))?.len());
    let sizes: Vec<u64> = files.iter().map(size).collect::<Result<_, CliError>>()?;
    let bar = progress_bar(sizes.iter().sum());
    let start = Instant::now();
    let rows = load::load(db, target, &files, options, load::Watch { bar: &bar, interrupt })?;
    let took = start.elapsed();
    bar.finish_and_clear();
    output::note(format_args!("{}: {}", target.name, output::summary_with_rate(rows, took)));
    Ok(())
}

/// A bar over the bytes of the files; nothing is drawn unless standard error is a terminal.
fn progress_bar(size: u64) -> ProgressBar {
    let bar = ProgressBar::new(size);
    let template = "{msg:16} [{wide_bar}] {bytes}/{total_bytes} {bytes_per_sec}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}

/// A bar over the rows of a partition.
#[cfg(feature = "arrow")]
fn rows_bar(rows: u64) -> ProgressBar {
    let bar = ProgressBar::new(rows);
    if let Ok(style) = ProgressStyle::with_template("{msg:16} [{wide_bar}] {human_pos}/{human_len} rows {per_sec}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}
