//! Parquet and Arrow IPC.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use cozo::value::Batch;
use cozo::value::arrow::{ArrowTypes, Numbers};
use indicatif::ProgressBar;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::table::{Declared, Table};
use crate::error::CliError;
use crate::format::FileFormat;
use crate::load::{COLUMN_TYPE, KEYS};
use crate::output;

/// Rows that are written at a time: enough for columns to pay, few enough to hold.
const BATCH_ROWS: usize = 65_536;

/// Writes all rows; how many there were.
pub fn write(table: &Table, format: FileFormat, out: impl Write + Send, bar: &ProgressBar) -> miette::Result<usize> {
    bar.set_message("looking at");
    let (types, declared) = (types(table, bar)?, table.declared());
    for column in types.lossy() {
        let column_type = declared.as_ref().map(|declared| declared.types[column].as_str());
        if let Some(change) = change_of(column_type) {
            output::note(format_args!("note: '{}' {change}", table.headers[column]));
        }
    }
    let schema = types.schema(&table.headers).map_err(CliError::arrow)?;
    let schema = declared.map_or(schema.clone(), |declared| with_declarations(&schema, &declared));
    bar.set_message("writing");
    let mut sink = Sink::new(format, out, &schema)?;
    let (mut waiting, mut rows) = (Batch::empty(table.headers.len()), 0);
    let mut write = |batch: Batch| {
        let batch = types.batch(&table.headers, batch).and_then(|batch| batch.with_schema(schema.clone()));
        sink.write(&batch.map_err(CliError::arrow)?)
    };
    for batch in table.batches()? {
        let batch = batch?;
        rows += batch.len;
        waiting.append(&batch);
        if waiting.len >= BATCH_ROWS {
            write(std::mem::replace(&mut waiting, Batch::empty(table.headers.len())))?;
            bar.set_position(rows as u64);
        }
    }
    if !waiting.is_empty() {
        write(waiting)?;
    }
    sink.finish()?;
    Ok(rows)
}

/// What all values are, by a look at each of them.
fn types(table: &Table, bar: &ProgressBar) -> miette::Result<ArrowTypes> {
    let mut types = ArrowTypes::new(table.headers.len(), Numbers::Kept);
    for batch in table.batches()? {
        let batch = batch?;
        types.add(&batch);
        bar.inc(batch.len as u64);
    }
    for (column, column_type) in table.declared().iter().flat_map(|declared| &declared.types).enumerate() {
        types.declare(column, column_type);
    }
    Ok(types)
}

/// What becomes of values that are written as JSON, which has fewer types, if an import does not undo it: it gives values the
/// types that their relation declares, down to the elements of lists.
fn change_of(column_type: Option<&str>) -> Option<&'static str> {
    match column_type {
        Some(declared) if !declared.contains("Any") => declared.contains("Float").then_some(
            "is written as JSON, which has no NaN and no infinities: they become null and text, which no import takes for Float",
        ),
        _ => Some("holds values of several types: bytes and UUIDs are written as text, vectors as lists"),
    }
}

/// The schema with what an import needs to make the same relation.
fn with_declarations(schema: &SchemaRef, declared: &Declared) -> SchemaRef {
    let field = |(field, column_type): (&Arc<Field>, &String)| {
        let mut metadata = field.metadata().clone();
        metadata.insert(COLUMN_TYPE.to_string(), column_type.clone());
        field.as_ref().clone().with_metadata(metadata)
    };
    let fields = schema.fields().iter().zip(&declared.types).map(field).collect::<Vec<_>>();
    let keys = HashMap::from([(KEYS.to_string(), declared.keys.to_string())]);
    Arc::new(Schema::new_with_metadata(fields, keys))
}

/// A file being written.
enum Sink<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    Arrow(Box<FileWriter<W>>),
}

impl<W: Write + Send> Sink<W> {
    fn new(format: FileFormat, out: W, schema: &SchemaRef) -> Result<Self, CliError> {
        if format == FileFormat::Arrow {
            return Ok(Sink::Arrow(Box::new(FileWriter::try_new(out, schema).map_err(CliError::arrow)?)));
        }
        let compression = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(compression).build();
        let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties));
        Ok(Sink::Parquet(Box::new(writer.map_err(parquet_error)?)))
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), CliError> {
        match self {
            Sink::Parquet(writer) => writer.write(batch).map_err(parquet_error),
            Sink::Arrow(writer) => writer.write(batch).map_err(CliError::arrow),
        }
    }

    fn finish(self) -> Result<(), CliError> {
        match self {
            Sink::Parquet(writer) => {
                let mut out = writer.into_inner().map_err(parquet_error)?;
                Ok(out.flush()?)
            }
            Sink::Arrow(writer) => {
                let mut out = writer.into_inner().map_err(CliError::arrow)?;
                Ok(out.flush()?)
            }
        }
    }
}

fn parquet_error(error: ParquetError) -> CliError {
    CliError::arrow(ArrowError::from(error))
}
