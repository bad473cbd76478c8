//! Several files of text as one table.

use std::path::PathBuf;

use indicatif::ProgressBar;

use super::reader::{Cell, DataFile, Record};
use crate::error::CliError;
use crate::format::FileFormat;

/// Files of CSV or JSON, whose records come one after the other.
pub struct TextFiles {
    parts: Vec<Part>,
    /// The names of the columns.
    pub headers: Vec<String>,
}

/// A file, and the place of each column in it.
struct Part {
    file: DataFile,
    columns: Vec<Option<usize>>,
}

/// A record, whose columns are those of all files.
pub struct FileRecord<'a> {
    part: &'a Part,
    record: Record,
}

impl FileRecord<'_> {
    /// The field of a column.
    pub fn cell(&self, column: usize) -> Cell<'_> {
        self.part.columns[column].map_or(Cell::Missing, |place| self.record.cell(place))
    }

    /// An error about it.
    pub fn bad(&self, reason: String) -> CliError {
        self.part.file.bad_record(self.record.place, reason)
    }
}

impl TextFiles {
    /// Finds out the columns. Files with a header must have the same ones, in any order.
    pub fn open(files: &[(PathBuf, FileFormat)], delimiter: Option<u8>, bar: &ProgressBar) -> miette::Result<Self> {
        let open = |(path, format): &(PathBuf, FileFormat)| DataFile::open(path, *format, delimiter, bar);
        let files: Vec<DataFile> = files.iter().map(open).collect::<Result<_, _>>()?;
        let first = files.iter().find(|file| file.has_header());
        let mut headers = first.map_or_else(Vec::new, |first| first.headers.clone());
        for file in &files {
            if let Some(first) = first.filter(|first| file.has_header() && !same_names(&first.headers, &file.headers)) {
                return Err(other_headers(&first.name(), &first.headers, &file.name(), &file.headers).into());
            }
            if !file.has_header() {
                let new: Vec<&String> = file.headers.iter().filter(|name| !headers.contains(name)).collect();
                headers.extend(new.into_iter().cloned());
            }
        }
        let part = |file: DataFile| {
            let place = |name: &String| file.headers.iter().position(|header| header == name);
            let columns = match file.headers == headers {
                true => (0..headers.len()).map(Some).collect(),
                false => headers.iter().map(place).collect(),
            };
            Part { file, columns }
        };
        Ok(TextFiles { parts: files.into_iter().map(part).collect(), headers: headers.clone() })
    }

    /// The path, to show.
    pub fn name(&self) -> String {
        names(self.parts.iter().map(|part| part.file.name()))
    }

    /// The records of all files from the first on; the bar follows.
    pub fn records(&self, bar: &ProgressBar) -> impl Iterator<Item = miette::Result<FileRecord<'_>>> + use<'_> {
        bar.set_position(0);
        let bar = bar.clone();
        self.parts.iter().flat_map(move |part| {
            let records: Box<dyn Iterator<Item = miette::Result<Record>>> = match part.file.records(&bar) {
                Ok(records) => records,
                Err(report) => Box::new(std::iter::once(Err(report))),
            };
            records.map(move |record| Ok(FileRecord { part, record: record? }))
        })
    }
}

/// The path of the first file, and how many follow.
pub fn names(mut files: impl ExactSizeIterator<Item = String>) -> String {
    let first = files.next().unwrap_or_default();
    if files.len() == 0 { first } else { format!("{first} and {} more", files.len()) }
}

/// The error for two files with different columns.
pub fn other_headers(first: &str, expected: &[String], path: &str, found: &[String]) -> CliError {
    CliError::OtherHeaders {
        path: path.to_string(),
        found: found.join(", "),
        first: first.to_string(),
        expected: expected.join(", "),
    }
}

/// Whether the names are the same, in any order. Names that come twice must stand at the same places.
fn same_names(first: &[String], second: &[String]) -> bool {
    let is_distinct = |names: &[String]| names.iter().enumerate().all(|(i, name)| !names[..i].contains(name));
    first == second
        || (first.len() == second.len() && is_distinct(first) && second.iter().all(|name| first.contains(name)))
}
