//! `cozo export`: a stored relation or the result of a script into a file, with a progress bar.
//!
//! A relation is read batch by batch, as of one moment. The formats of Arrow have one type a column, so that a first pass finds the
//! types that hold all values. A file appears under its name when it is complete.

#[cfg(feature = "arrow")]
mod arrow;
mod table;
mod text;

pub use table::Table;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use cozo::data_file::is_gzip;
use cozo::{DbInstance, Interrupt};
use flate2::Compression;
use flate2::write::GzEncoder;
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::ExportArguments;
use crate::error::CliError;
use crate::format::FileFormat;
use crate::{output, run, signals};

/// Exports, and says on standard error how much and how fast.
pub fn run(arguments: &ExportArguments) -> miette::Result<ExitCode> {
    match (&arguments.partition, &arguments.file) {
        #[cfg(feature = "arrow")]
        (Some(folder), _) => crate::partition::export(folder, arguments, &progress_bar()),
        #[cfg(not(feature = "arrow"))]
        (Some(_), _) => Err(CliError::WithoutArrow.into()),
        // Without a folder there is a file: the arguments are refused otherwise.
        (None, file) => one(arguments, file.as_deref().unwrap_or(Path::new("-"))),
    }
}

/// Exports into one file.
fn one(arguments: &ExportArguments, path: &Path) -> miette::Result<ExitCode> {
    let to_stdout = path.as_os_str() == "-";
    let format = match arguments.format {
        None if to_stdout => FileFormat::Csv,
        asked => FileFormat::of(asked, path)?,
    };
    if to_stdout && !format.is_text() {
        return Err(CliError::NotToStdout.into());
    }
    let db = arguments.database.find()?.open_to_read()?;
    let start = Instant::now();
    let interrupt = signals::stop_work_on_signals(|| ());
    let work = signals::work();
    let bar = progress_bar();
    let write_to =
        |out: Box<dyn Write + Send>| write_named(&table(&db, arguments, &interrupt)?, format, path, out, &bar);
    let exported = match to_stdout {
        true => write_to(Box::new(BufWriter::new(io::stdout()))),
        false => Target::new(path).fill(|file| write_to(Box::new(BufWriter::new(file)))),
    };
    let rows = signals::explain(exported, "the export was not finished")?;
    drop(work);
    bar.finish_and_clear();
    let took = start.elapsed();
    output::note(format_args!("exported: {}", output::summary_with_rate(rows, took)));
    Ok(ExitCode::SUCCESS)
}

/// Writes all rows to a file, with a count on standard error where that is a terminal; how many there were.
pub fn to_file(table: &Table, format: FileFormat, path: &Path) -> miette::Result<usize> {
    let bar = progress_bar();
    let rows = Target::new(path).fill(|file| write_named(table, format, path, BufWriter::new(file), &bar))?;
    bar.finish_and_clear();
    Ok(rows)
}

/// Writes all rows to standard output, in a format of text.
pub fn to_stdout(table: &Table, format: FileFormat) -> miette::Result<()> {
    write(table, format, BufWriter::new(io::stdout()), &ProgressBar::hidden()).map(drop)
}

/// What is to be exported.
fn table(db: &DbInstance, arguments: &ExportArguments, interrupt: &Interrupt) -> miette::Result<Table> {
    match (&arguments.relation, &arguments.script) {
        (Some(relation), _) => Table::of_relation(db, relation, interrupt),
        (None, script) => {
            let parameters = run::parameters(&arguments.parameters)?;
            Table::of_script(db, script.as_deref().unwrap_or_default(), parameters, interrupt)
        }
    }
}

/// Writes all rows of a file, compressed if its name says so; how many there were.
fn write_named(
    table: &Table,
    format: FileFormat,
    path: &Path,
    out: impl Write + Send,
    bar: &ProgressBar,
) -> miette::Result<usize> {
    if !is_gzip(&path.to_string_lossy()) {
        return write(table, format, out, bar);
    }
    let mut compressed = GzEncoder::new(out, Compression::default());
    let rows = write(table, format, &mut compressed, bar)?;
    let mut out = compressed.finish().map_err(CliError::Stream)?;
    out.flush().map_err(CliError::Stream)?;
    Ok(rows)
}

/// Writes all rows; how many there were.
fn write(table: &Table, format: FileFormat, out: impl Write + Send, bar: &ProgressBar) -> miette::Result<usize> {
    match format {
        FileFormat::Csv => text::separated(table, b',', out, bar),
        FileFormat::Tsv => text::separated(table, b'\t', out, bar),
        FileFormat::Jsonl => text::json_lines(table, out, bar),
        FileFormat::Json => text::json_array(table, out, bar),
        #[cfg(feature = "arrow")]
        FileFormat::Parquet | FileFormat::Arrow => arrow::write(table, format, out, bar),
        #[cfg(not(feature = "arrow"))]
        FileFormat::Parquet | FileFormat::Arrow => Err(CliError::WithoutArrow.into()),
    }
}

/// A file to be, under another name until it is complete.
struct Target {
    written: PathBuf,
    complete: Option<PathBuf>,
}

impl Target {
    /// What is there already and is no file, such as a pipe, is written to as it is.
    fn new(path: &Path) -> Self {
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Target { written: path.to_path_buf(), complete: None };
        }
        let mut written = path.to_path_buf().into_os_string();
        written.push(".part");
        Target { written: written.into(), complete: Some(path.to_path_buf()) }
    }

    /// Writes the file, and gives it its name if that went well.
    fn fill<T>(mut self, write: impl FnOnce(File) -> miette::Result<T>) -> miette::Result<T> {
        let file = File::create(&self.written).map_err(CliError::writing(&self.written))?;
        let written = write(file).map_err(|report| about_file(report, &self.written))?;
        if let Some(complete) = self.complete.take() {
            fs::rename(&self.written, &complete).map_err(CliError::writing(&complete))?;
        }
        Ok(written)
    }
}

/// The report of an error about a file, where it is about the stream that the file was written through.
fn about_file(report: miette::Report, path: &Path) -> miette::Report {
    match report.downcast::<CliError>() {
        Ok(CliError::Stream(error)) => CliError::writing(path)(error).into(),
        Ok(other) => other.into(),
        Err(report) => report,
    }
}

impl Drop for Target {
    /// Removes what an error has left behind.
    fn drop(&mut self) {
        if self.complete.is_some() {
            let _ = fs::remove_file(&self.written);
        }
    }
}

/// A count of rows; nothing is drawn unless standard error is a terminal.
fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::no_length();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {human_pos} rows {per_sec}") {
        bar.set_style(style);
    }
    bar
}
