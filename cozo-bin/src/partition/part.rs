//! A relation as Parquet files of a limited number of rows.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};

use arrow_schema::{ArrowError, SchemaRef};
use cozo::RelationReader;
use cozo::value::Batch;
use cozo::value::arrow::{ArrowTypes, Numbers};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::catalog::FileEntry;
use super::error::PartitionError;
use super::form::Form;
use crate::error::CliError;

/// Rows that become columns of Arrow at a time.
const BATCH_ROWS: usize = 65_536;

/// Fewer rows do, if they have so many bytes. It is far below what one array of Arrow takes.
const BATCH_BYTES: usize = 64 << 20;

/// The bytes of a group of rows, which are in memory until the group is written.
const GROUP_BYTES: usize = 128 << 20;

/// A relation that is written as parts.
pub struct Parts<'a> {
    headers: Vec<String>,
    forms: Vec<Form>,
    types: ArrowTypes,
    schema: SchemaRef,
    /// The folder of the partition, and in it that of the relation.
    root: &'a Path,
    folder: &'a str,
    max_rows: usize,
    open: OpenPart,
    done: Vec<FileEntry>,
}

/// The part that is written to.
struct OpenPart {
    path: PathBuf,
    writer: ArrowWriter<BufWriter<File>>,
    rows: usize,
    /// Rows that are not written yet.
    waiting: Batch,
}

impl<'a> Parts<'a> {
    /// Begins the first part, which is there even without rows: it shows the columns.
    pub fn begin(reader: &RelationReader, root: &'a Path, folder: &'a str, max_rows: usize) -> miette::Result<Self> {
        let columns = reader.definition().columns();
        let forms: Vec<Form> = columns.clone().map(|column| Form::of(&column.column_type)).collect();
        let mut types = ArrowTypes::new(forms.len(), Numbers::Kept);
        for (number, (column, form)) in columns.zip(&forms).enumerate() {
            types.declare(number, &form.stored_type(&column.column_type));
        }
        let headers = reader.headers();
        let schema = types.schema(&headers).map_err(CliError::arrow)?;
        let path = root.join(folder);
        std::fs::create_dir(&path).map_err(writing(&path))?;
        let open = OpenPart::create(&path, 0, &schema)?;
        Ok(Parts { headers, forms, types, schema, root, folder, max_rows, open, done: vec![] })
    }

    /// Writes rows, and begins another part where one is full.
    pub fn write(&mut self, batch: &Batch) -> miette::Result<()> {
        let mut from = 0;
        while from < batch.len {
            if self.open.all_rows() == self.max_rows {
                self.next()?;
            }
            let rows = (batch.len - from).min(self.max_rows - self.open.all_rows());
            self.open.waiting.append_all(batch.slice(from..from + rows));
            from += rows;
            if self.open.waiting.len >= BATCH_ROWS || self.open.waiting.memory_bytes() >= BATCH_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Ends the last part. Returns all parts.
    pub fn finish(mut self) -> miette::Result<Vec<FileEntry>> {
        self.flush()?;
        self.done.push(self.open.finish(self.folder)?);
        Ok(self.done)
    }

    fn next(&mut self) -> miette::Result<()> {
        self.flush()?;
        let next = OpenPart::create(&self.root.join(self.folder), self.done.len() + 1, &self.schema)?;
        self.done.push(std::mem::replace(&mut self.open, next).finish(self.folder)?);
        Ok(())
    }

    /// Writes the rows that wait.
    fn flush(&mut self) -> miette::Result<()> {
        let waiting = std::mem::replace(&mut self.open.waiting, Batch::empty(self.forms.len()));
        if waiting.is_empty() {
            return Ok(());
        }
        let Batch { columns, len } = waiting;
        let columns = columns.into_iter().zip(&self.forms).map(|(column, form)| form.encode(column)).collect();
        let batch = self.types.batch(&self.headers, Batch::new(columns, len));
        let batch = batch.and_then(|batch| batch.with_schema(self.schema.clone())).map_err(CliError::arrow)?;
        let OpenPart { path, writer, rows, .. } = &mut self.open;
        *rows += len;
        writer.write(&batch).map_err(|error| failed(path, error))?;
        if writer.in_progress_size() >= GROUP_BYTES {
            writer.flush().map_err(|error| failed(path, error))?;
        }
        Ok(())
    }
}

impl OpenPart {
    fn create(folder: &Path, number: usize, schema: &SchemaRef) -> miette::Result<Self> {
        let path = folder.join(format!("part-{number:05}.parquet"));
        let file = BufWriter::new(File::create(&path).map_err(writing(&path))?);
        let compression = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(compression).build();
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties));
        let writer = writer.map_err(|error| failed(&path, error))?;
        Ok(OpenPart { path, writer, rows: 0, waiting: Batch::empty(schema.fields().len()) })
    }

    fn all_rows(&self) -> usize {
        self.rows + self.waiting.len
    }

    /// Ends the file, and sees to it that it survives a loss of power.
    fn finish(self, folder: &str) -> miette::Result<FileEntry> {
        let file = self.writer.into_inner().map_err(|error| failed(&self.path, error))?;
        let file = file.into_inner().map_err(|error| writing(&self.path)(error.into_error()))?;
        file.sync_all().map_err(writing(&self.path))?;
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        Ok(FileEntry { path: format!("{folder}/{name}"), rows: self.rows as u64 })
    }
}

/// The error about a file that cannot be written.
pub fn writing(path: &Path) -> impl FnOnce(io::Error) -> miette::Report + use<> {
    let path = path.to_path_buf();
    move |source| match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            PartitionError::NoSpace { path: path.display().to_string(), source }.into()
        }
        _ => CliError::writing(&path)(source).into(),
    }
}

/// The same where Parquet has wrapped the error of the file.
fn failed(path: &Path, error: ParquetError) -> miette::Report {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(source) => writing(path)(*source),
            Err(source) => CliError::arrow(ArrowError::ExternalError(source)).into(),
        },
        error => CliError::arrow(ArrowError::from(error)).into(),
    }
}
