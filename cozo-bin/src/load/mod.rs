//! Data files into stored relations.
//!
//! A relation that exists is filled as it is: the file needs its columns, in any order. One that does not is created,
//! by the given columns, or by what the file holds: a first pass finds the narrowest type for each column and the
//! shortest run of leading columns that tells all rows apart, which become the keys. Parquet and Arrow files that
//! `cozo export` made of a relation say themselves how it was declared. Several files are one table.
//!
//! Rows are committed batch by batch. If one does not fit, a relation that was created for the file is removed again, and
//! of one that was there the error says how many rows it got.

#[cfg(feature = "arrow")]
mod arrow;
mod files;
mod infer;
mod reader;
mod rename;
mod target;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cozo::data_file::files_of;
use cozo::{DataValue, DbInstance, Interrupt, NamedRows};
use indicatif::ProgressBar;

use crate::args::FileArguments;
use crate::error::CliError;
use crate::format::FileFormat;
use crate::{output, signals};
use files::{FileRecord, TextFiles};
use infer::Inferred;
use target::{Column, check_columns, columns_of, create, exists};
pub use target::{Target, split, takes_json};

/// Rows handed to the database at a time: enough to make a commit cheap, few enough to hold.
const BATCH_ROWS: usize = 10_000;

/// The key in the metadata of an Arrow field for the type that a relation declares.
#[cfg(feature = "arrow")]
pub const COLUMN_TYPE: &str = "cozo.column_type";

/// The key in the metadata of an Arrow schema for the number of key columns, which come first.
#[cfg(feature = "arrow")]
pub const KEYS: &str = "cozo.keys";

/// One or more files of rows.
trait TableFile {
    /// The path, to show.
    fn name(&self) -> String;

    /// The names of the columns.
    fn headers(&self) -> &[String];

    /// Gives the columns other names.
    fn rename(&mut self, names: Vec<String>);

    /// The columns of a relation for the file.
    fn columns(&self, bar: &ProgressBar) -> miette::Result<Inferred>;

    /// Puts all rows into the relation; `sources` are the places of its columns among the headers.
    fn fill(
        &self,
        db: &DbInstance,
        relation: &str,
        columns: &[Column],
        sources: &[usize],
        progress: &mut Progress<'_>,
    ) -> miette::Result<()>;
}

/// What watches over a load.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Shows how far it is.
    pub bar: &'a ProgressBar,
    /// Stops it.
    pub interrupt: &'a Interrupt,
}

/// How far it is.
struct Progress<'a> {
    rows: usize,
    watch: Watch<'a>,
}

impl Progress<'_> {
    /// Counts rows that are in the relation for good. Fails if no others are to follow.
    fn committed(&mut self, rows: usize) -> Result<(), CliError> {
        self.rows += rows;
        self.watch.bar.set_message(output::count(self.rows, "row"));
        signals::check(self.watch.interrupt, "the import was not finished")
    }
}

/// The files of a path, which may be a pattern.
pub fn expand(path: &Path) -> Result<Vec<PathBuf>, CliError> {
    let pattern = |error| CliError::Pattern { reason: cozo::data_file::PatternError::to_string(&error) };
    path.to_str().map_or_else(|| Ok(vec![path.to_path_buf()]), |text| files_of(text).map_err(pattern))
}

/// Loads files into a relation; the number of their records.
pub fn load(
    db: &DbInstance,
    target: Target<'_>,
    paths: &[PathBuf],
    options: &FileArguments,
    watch: Watch<'_>,
) -> miette::Result<usize> {
    let bar = watch.bar;
    let mut file = open(paths, options, bar)?;
    let names = rename::apply(file.headers(), &options.rename)?;
    note_renamed(file.headers(), &names);
    file.rename(names);
    let is_new = !exists(db, target.name)?;
    let made_of = match (is_new, target.columns) {
        (true, Some(columns)) => Some(columns.to_string()),
        (true, None) => Some(inferred(file.as_ref(), target.name, bar)?),
        (false, Some(columns)) => check_columns(db, target.name, columns).map(|()| None)?,
        (false, None) => None,
    };
    // Until here a signal may end the program as it likes: nothing is written.
    let _work = signals::work();
    if let Some(columns) = made_of {
        create(db, target.name, &columns)?;
    }
    let mut progress = Progress { rows: 0, watch };
    match fill(db, target.name, file.as_ref(), &mut progress) {
        Ok(()) => Ok(progress.rows),
        Err(report) if is_new => {
            db.run_default(&format!("::remove {}", target.name))?;
            signals::explain(Err(report), "nothing was imported")
        }
        Err(report) if progress.rows > 0 => {
            let rows = output::count(progress.rows, "row");
            Err(cozo::diag::wrap(
                report,
                format!("only the first {rows} of '{}' came to '{}'", file.name(), target.name),
            ))
        }
        Err(report) => Err(report),
    }
}

/// The columns of the file as between braces. Says which became the key.
fn inferred(file: &dyn TableFile, relation: &str, bar: &ProgressBar) -> miette::Result<String> {
    let Inferred { declaration, key } = file.columns(bar)?;
    if let Some(key) = key {
        output::note(format_args!("{relation}: {key}"));
    }
    Ok(declaration)
}

fn note_renamed(old: &[String], new: &[String]) {
    let changed = old.iter().zip(new).filter(|(old, new)| old != new);
    let renamed: Vec<String> = changed.map(|(old, new)| format!("'{old}' to {new}")).collect();
    if !renamed.is_empty() {
        output::note(format_args!("renamed {}", renamed.join(", ")));
    }
}

fn open(paths: &[PathBuf], options: &FileArguments, bar: &ProgressBar) -> miette::Result<Box<dyn TableFile>> {
    let format = |path: &PathBuf| Ok((path.clone(), FileFormat::of(options.format, path)?));
    let files: Vec<(PathBuf, FileFormat)> = paths.iter().map(format).collect::<Result<_, CliError>>()?;
    if files.iter().all(|(_, format)| format.is_text()) {
        return Ok(Box::new(TextFiles::open(&files, options.delimiter, bar)?));
    }
    if files.iter().any(|(_, format)| format.is_text()) {
        return Err(CliError::MixedFormats.into());
    }
    #[cfg(feature = "arrow")]
    return Ok(Box::new(arrow::ArrowFiles::open(files)?));
    #[cfg(not(feature = "arrow"))]
    Err(CliError::WithoutArrow.into())
}

fn fill(db: &DbInstance, relation: &str, file: &dyn TableFile, progress: &mut Progress<'_>) -> miette::Result<()> {
    let columns = columns_of(db, relation)?;
    let sources = sources(file, relation, &columns)?;
    progress.watch.bar.set_message("loading");
    progress.watch.bar.set_position(0);
    file.fill(db, relation, &columns, &sources, progress)
}

/// Where each column of the relation stands in the file.
fn sources(file: &dyn TableFile, relation: &str, columns: &[Column]) -> Result<Vec<usize>, CliError> {
    let position = |column: &Column| {
        let missing = || CliError::MissingColumn {
            path: file.name(),
            relation: relation.to_string(),
            column: column.name.clone(),
            found: file.headers().join(", "),
        };
        file.headers().iter().position(|header| *header == column.name).ok_or_else(missing)
    };
    columns.iter().map(position).collect()
}

impl TableFile for TextFiles {
    fn name(&self) -> String {
        TextFiles::name(self)
    }

    fn headers(&self) -> &[String] {
        &self.headers
    }

    fn rename(&mut self, names: Vec<String>) {
        self.headers = names;
    }

    fn columns(&self, bar: &ProgressBar) -> miette::Result<Inferred> {
        infer::columns(self, bar)
    }

    fn fill(
        &self,
        db: &DbInstance,
        relation: &str,
        columns: &[Column],
        sources: &[usize],
        progress: &mut Progress<'_>,
    ) -> miette::Result<()> {
        let headers: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let mut records = self.records(progress.watch.bar);
        loop {
            let mut rows = Vec::with_capacity(BATCH_ROWS);
            for record in records.by_ref().take(BATCH_ROWS) {
                let record = record?;
                rows.push(row(&record, columns, sources).map_err(|reason| record.bad(reason))?);
            }
            let len = rows.len();
            if len == 0 {
                return Ok(());
            }
            db.import_relations(BTreeMap::from([(relation.to_string(), NamedRows::new(headers.clone(), rows))]))?;
            progress.committed(len)?;
        }
    }
}

/// The values of a record in the order of the relation's columns.
fn row(record: &FileRecord<'_>, columns: &[Column], sources: &[usize]) -> Result<Vec<DataValue>, String> {
    let value = |(column, source): (&Column, &usize)| {
        let cell = record.cell(*source);
        column.kind.convert(cell, column.nullable).map_err(|reason| format!("column '{}': {reason}", column.name))
    };
    columns.iter().zip(sources).map(value).collect()
}
