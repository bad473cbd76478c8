//! Parquet and Arrow IPC files, read batch by batch.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use cozo::value::{Batch, arrow};
use cozo::{DbInstance, NamedColumns};
use indicatif::ProgressBar;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::target::Column;
use super::{COLUMN_TYPE, KEYS, Progress, TableFile, infer};
use crate::error::CliError;
use crate::format::FileFormat;

/// Rows of a batch, where the file does not say.
const BATCH_ROWS: usize = 65_536;

/// The first bytes of Arrow IPC files with a footer; streams have none.
const MAGIC: &[u8] = b"ARROW1";

/// A file of Arrow's formats.
pub struct ArrowFile {
    path: PathBuf,
    format: FileFormat,
    schema: SchemaRef,
    headers: Vec<String>,
}

/// An open file.
struct Opened {
    schema: SchemaRef,
    /// How many batches there are, if the file says so.
    total: Option<u64>,
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>,
}

impl ArrowFile {
    /// Reads what the file says about itself.
    pub fn open(path: &Path, format: FileFormat) -> miette::Result<Self> {
        let schema = read(path, format)?.schema;
        let headers: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        match headers.is_empty() {
            true => Err(CliError::NoColumns(path.display().to_string()).into()),
            false => Ok(ArrowFile { path: path.to_path_buf(), format, schema, headers }),
        }
    }

    /// The rows from the first on; the bar, which is as long as the file, follows.
    fn batches(&self, bar: &ProgressBar) -> miette::Result<impl Iterator<Item = miette::Result<Batch>> + '_> {
        let Opened { total, batches, .. } = read(&self.path, self.format)?;
        let (bar, length) = (bar.clone(), bar.length().unwrap_or_default());
        let mut rows = 0;
        let columns = move |(done, batch): (u64, Result<RecordBatch, ArrowError>)| {
            let batch = batch.map_err(|error| unreadable(&self.path, error))?;
            if let Some((row, reason)) = lost_integer(&batch) {
                let (path, record) = (self.name(), rows + row as u64 + 1);
                return Err(CliError::Record { path, record, reason }.into());
            }
            rows += batch.num_rows() as u64;
            total.filter(|total| *total > 0).inspect(|total| bar.set_position(length * done / total));
            arrow::columns(&batch).map_err(|error| unreadable(&self.path, error).into())
        };
        Ok((0..).zip(batches).map(columns))
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

impl TableFile for ArrowFile {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn headers(&self) -> &[String] {
        &self.headers
    }

    fn columns(&self, bar: &ProgressBar) -> miette::Result<String> {
        match self.declared() {
            Some(declared) => Ok(declared),
            None => {
                bar.set_message("looking");
                infer::columns_of_batches(&self.name(), &self.headers, self.batches(bar)?)
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
        for batch in self.batches(progress.watch.bar)? {
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

/// The first integer that neither Int nor Float holds, by its row in the batch.
fn lost_integer(batch: &RecordBatch) -> Option<(usize, String)> {
    let is_lost = |text: &str| {
        text.parse::<i64>().is_err() && text.parse().is_ok_and(|float: f64| infer::loses_digits(text, float))
    };
    batch.columns().iter().zip(batch.schema_ref().fields()).find_map(|(array, field)| {
        // The text of an integer; of none that is seen to be an Int without it.
        let text: Box<dyn Fn(usize) -> Option<String> + '_> = match array.data_type() {
            DataType::UInt64 => {
                let values = array.as_primitive::<UInt64Type>();
                Box::new(move |row| {
                    Some(values.value(row))
                        .filter(|value| i64::try_from(*value).is_err())
                        .map(|value| value.to_string())
                })
            }
            DataType::Decimal128(..) => {
                let values = array.as_primitive::<Decimal128Type>();
                Box::new(move |row| Some(values.value_as_string(row)))
            }
            DataType::Decimal256(..) => {
                let values = array.as_primitive::<Decimal256Type>();
                Box::new(move |row| Some(values.value_as_string(row)))
            }
            _ => return None,
        };
        let mut texts = (0..array.len()).filter(|row| array.is_valid(*row)).filter_map(|row| Some((row, text(row)?)));
        let (row, text) = texts.find(|(_, text)| is_lost(text))?;
        let reason = "is beyond Int, and Float would not keep its digits: cast the column to strings";
        Some((row, format!("column '{}': {text} {reason}", field.name())))
    })
}

fn unreadable(path: &Path, error: impl ToString) -> CliError {
    CliError::Unreadable { path: path.display().to_string(), reason: error.to_string() }
}
