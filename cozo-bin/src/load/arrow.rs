//! Parquet and Arrow IPC files, read batch by batch.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};
use cozo::value::Batch;
use cozo::value::arrow::{self, Refusal};
use cozo::{DbInstance, NamedColumns};
use indicatif::ProgressBar;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::files::{names, other_headers};
use super::infer::{self, Inferred};
use super::target::Column;
use super::{COLUMN_TYPE, KEYS, Progress, TableFile};
use crate::error::CliError;
use crate::format::FileFormat;

/// Rows of a batch, where the file does not say.
const BATCH_ROWS: usize = 65_536;

/// The first bytes of Arrow IPC files with a footer; streams have none.
const MAGIC: &[u8] = b"ARROW1";

/// Files of Arrow's formats, which have the same columns.
pub struct ArrowFiles {
    parts: Vec<Part>,
    schema: SchemaRef,
    headers: Vec<String>,
}

/// A file.
struct Part {
    path: PathBuf,
    format: FileFormat,
    /// The bytes of all files before it, and its own.
    before: u64,
    bytes: u64,
}

/// An open file.
struct Opened {
    schema: SchemaRef,
    /// How many batches there are, if the file says so.
    total: Option<u64>,
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>,
}

impl ArrowFiles {
    /// Reads what the files say about themselves.
    pub fn open(files: Vec<(PathBuf, FileFormat)>) -> miette::Result<Self> {
        let mut opened: Option<ArrowFiles> = None;
        let mut before = 0;
        for (path, format) in files {
            let schema = read(&path, format)?.schema;
            let headers: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
            if headers.is_empty() {
                return Err(CliError::NoColumns(path.display().to_string()).into());
            }
            let bytes = std::fs::metadata(&path).map_err(CliError::reading(&path))?.len();
            let part = Part { path, format, before, bytes };
            before += bytes;
            match &mut opened {
                None => opened = Some(ArrowFiles { parts: vec![part], schema, headers }),
                Some(first) if first.headers == headers => first.parts.push(part),
                Some(first) => return Err(other_headers(&first.name(), &first.headers, &part.name(), &headers).into()),
            }
        }
        Ok(opened.ok_or(CliError::NoColumns(String::new()))?)
    }

    /// The rows of all files from the first on; the bar, which is as long as all files, follows.
    fn batches(&self, bar: &ProgressBar) -> impl Iterator<Item = miette::Result<Batch>> + use<'_> {
        let bar = bar.clone();
        self.parts.iter().flat_map(move |part| -> Batches<'_> {
            match part.batches(&bar) {
                Ok(batches) => batches,
                Err(report) => Box::new(std::iter::once(Err(report))),
            }
        })
    }

    /// What the file says about the columns of the relation that it comes from. The file may come from anywhere: what it
    /// says must not be more than columns.
    fn declared(&self) -> Option<String> {
        let is_type = |text: &String| text.chars().all(|c| c.is_alphanumeric() || " ?[]()<>;,".contains(c));
        let column_type =
            |field: &arrow_schema::FieldRef| field.metadata().get(COLUMN_TYPE).filter(|text| is_type(text)).cloned();
        let types: Vec<String> = self.schema.fields().iter().map(column_type).collect::<Option<_>>()?;
        let keys: usize = self.schema.metadata().get(KEYS)?.parse().ok()?;
        let fits = keys <= types.len() && self.headers.iter().all(|header| infer::is_name(header));
        fits.then(|| infer::declaration(&self.headers, &types, keys))
    }
}

/// The rows of a file.
type Batches<'a> = Box<dyn Iterator<Item = miette::Result<Batch>> + 'a>;

impl Part {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn batches(&self, bar: &ProgressBar) -> miette::Result<Batches<'_>> {
        let Opened { total, batches, .. } = read(&self.path, self.format)?;
        let bar = bar.clone();
        let mut rows = 0;
        let columns = move |(done, batch): (u64, Result<RecordBatch, ArrowError>)| {
            let batch = batch.map_err(|error| unreadable(&self.path, error))?;
            let before = rows;
            rows += batch.num_rows() as u64;
            let position = |total: &u64| bar.set_position(self.before + self.bytes * done / total);
            total.filter(|total| *total > 0).inspect(position);
            let refused = |Refusal { row, reason }| match row {
                Some(row) => {
                    let record = before + row as u64 + 1;
                    CliError::Record { path: self.name(), record, line: String::new(), reason }
                }
                None => unreadable(&self.path, reason),
            };
            Ok(arrow::columns(&batch).map_err(refused)?)
        };
        Ok(Box::new((0..).zip(batches).map(columns)))
    }
}

impl TableFile for ArrowFiles {
    fn name(&self) -> String {
        names(self.parts.iter().map(Part::name))
    }

    fn headers(&self) -> &[String] {
        &self.headers
    }

    fn rename(&mut self, names: Vec<String>) {
        self.headers = names;
    }

    fn columns(&self, bar: &ProgressBar) -> miette::Result<Inferred> {
        match self.declared() {
            Some(declaration) => Ok(Inferred { declaration, key: None }),
            None => {
                bar.set_message("looking");
                infer::columns_of_batches(&self.name(), &self.headers, self.batches(bar))
            }
        }
    }

    fn fill(
        &self,
        db: &DbInstance,
        relation: &str,
        _: &[Column],
        _: &[usize],
        progress: &mut Progress<'_>,
    ) -> miette::Result<()> {
        for batch in self.batches(progress.watch.bar) {
            let rows = batch?;
            let len = rows.len;
            db.import_columns(relation, NamedColumns::new(self.headers.clone(), rows))?;
            progress.committed(len)?;
        }
        Ok(())
    }
}

fn read(path: &Path, format: FileFormat) -> Result<Opened, CliError> {
    let mut file = File::open(path).map_err(CliError::reading(path))?;
    let bad = |error: ArrowError| unreadable(path, error);
    if format == FileFormat::Parquet {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| bad(error.into()))?;
        let schema = builder.schema().clone();
        let rows = u64::try_from(builder.metadata().file_metadata().num_rows()).ok();
        let total = rows.map(|rows| rows.div_ceil(BATCH_ROWS as u64));
        let reader = builder.with_batch_size(BATCH_ROWS).build().map_err(|error| bad(error.into()))?;
        return Ok(Opened { schema, total, batches: Box::new(reader) });
    }
    let mut start = vec![];
    file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start).map_err(CliError::reading(path))?;
    file.rewind().map_err(CliError::reading(path))?;
    let reader = BufReader::new(file);
    if start == MAGIC {
        let reader = FileReader::try_new(reader, None).map_err(bad)?;
        let total = Some(reader.num_batches() as u64);
        return Ok(Opened { schema: reader.schema(), total, batches: Box::new(reader) });
    }
    let reader = StreamReader::try_new(reader, None).map_err(bad)?;
    Ok(Opened { schema: reader.schema(), total: None, batches: Box::new(reader) })
}

fn unreadable(path: &Path, error: impl ToString) -> CliError {
    CliError::Unreadable { path: path.display().to_string(), reason: error.to_string() }
}
