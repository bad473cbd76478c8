//! Reading a partition: all its relations into a database, or none.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Schema};
use cozo::schema::RelationSchema;
use cozo::value::{Batch, arrow};
use cozo::{DbInstance, Interrupt, NewRelations, ScriptMutability};
use indicatif::ProgressBar;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::catalog::{FileEntry, PartitionCatalog, RelationEntry, bad};
use super::definition::definition;
use super::error::PartitionError;
use super::form::Form;
use super::names::CATALOG;
use crate::error::CliError;
use crate::{output, signals};

/// Rows that are read at a time.
const BATCH_ROWS: usize = 65_536;

/// A partition whose files are as its catalog says.
pub struct Partition {
    relations: Vec<(RelationEntry, RelationSchema)>,
    root: PathBuf,
}

impl Partition {
    /// Reads the catalog, and looks at the files of the relations of these names, or of all.
    pub fn open(root: &Path, names: &[String]) -> miette::Result<Self> {
        let entries = PartitionCatalog::read(root)?.select(names)?;
        let define = |entry: RelationEntry| match definition(&entry) {
            Ok(definition) => Ok((entry, definition)),
            Err(reason) => Err(bad(&root.join(CATALOG), reason)),
        };
        let relations = entries.into_iter().map(define).collect::<Result<Vec<_>, _>>()?;
        let partition = Partition { relations, root: root.to_path_buf() };
        for (entry, _) in &partition.relations {
            entry.files.iter().try_for_each(|file| partition.check(entry, file))?;
        }
        Ok(partition)
    }

    /// The number of all rows.
    pub fn rows(&self) -> u64 {
        self.relations.iter().map(|(entry, _)| entry.rows).sum()
    }

    /// Puts all relations into a database, which must not have them yet.
    pub fn import(&self, db: &DbInstance, interrupt: &Interrupt, bar: &ProgressBar) -> miette::Result<()> {
        let start = Instant::now();
        self.refuse_present(db)?;
        // Until here a signal may end the program as it likes: nothing is written.
        let work = signals::work();
        let imported = db.fill_relations(interrupt, |new| {
            for (entry, definition) in &self.relations {
                bar.set_message(entry.name.clone());
                self.fill(entry, definition, new, interrupt, bar)?;
            }
            bar.set_message("indices");
            Ok(())
        });
        signals::explain(imported, "nothing was imported")?;
        drop(work);
        bar.finish_and_clear();
        let (count, took) = (output::count(self.relations.len(), "relation"), start.elapsed());
        output::note(format_args!("imported: {count}, {}", output::summary_with_rate(self.rows() as usize, took)));
        Ok(())
    }

    /// Fails if the database has relations of these names.
    fn refuse_present(&self, db: &DbInstance) -> miette::Result<()> {
        let listed = db.run_script("::relations", BTreeMap::new(), ScriptMutability::Immutable)?;
        let present: BTreeSet<&str> = listed.rows.iter().filter_map(|row| row.first()?.get_str()).collect();
        let names = self.relations.iter().map(|(entry, _)| entry.name.as_str());
        let twice: Vec<&str> = names.filter(|name| present.contains(name)).collect();
        if twice.is_empty() { Ok(()) } else { Err(PartitionError::Exists(twice.join(", ")).into()) }
    }

    /// Creates a relation, and puts the rows of all its files into it.
    fn fill(
        &self,
        entry: &RelationEntry,
        definition: &RelationSchema,
        new: &mut NewRelations<'_, '_>,
        interrupt: &Interrupt,
        bar: &ProgressBar,
    ) -> miette::Result<()> {
        let mut relation = new.create(definition)?;
        for file in &entry.files {
            let path = self.path(file);
            for batch in open(&path)?.with_batch_size(BATCH_ROWS).build().map_err(|error| unreadable(&path, error))? {
                interrupt.check()?;
                let batch = rows(entry, &path, batch.map_err(|error| unreadable(&path, error))?)?;
                let len = batch.len as u64;
                relation.put(batch).map_err(|report| in_file(report, &path))?;
                bar.inc(len);
            }
        }
        let found = relation.finish()? as u64;
        if found != entry.rows {
            let path = entry.name.clone();
            return Err(PartitionError::OtherRows { path, expected: entry.rows, found }.into());
        }
        Ok(())
    }

    /// Refuses a file that has other columns or another number of rows than the catalog says.
    fn check(&self, entry: &RelationEntry, file: &FileEntry) -> miette::Result<()> {
        let path = self.path(file);
        let opened = open(&path)?;
        let found: Vec<&str> = opened.schema().fields().iter().map(|field| field.name().as_str()).collect();
        let expected: Vec<&str> = entry.columns().map(|column| column.name.as_str()).collect();
        let shown = path.display().to_string();
        if found.len() != expected.len() || !expected.iter().all(|name| found.contains(name)) {
            let (expected, found) = (expected.join(", "), found.join(", "));
            return Err(PartitionError::OtherColumns { path: shown, expected, found }.into());
        }
        let found = u64::try_from(opened.metadata().file_metadata().num_rows()).unwrap_or_default();
        if found != file.rows {
            return Err(PartitionError::OtherRows { path: shown, expected: file.rows, found }.into());
        }
        Ok(())
    }

    fn path(&self, file: &FileEntry) -> PathBuf {
        // The catalog was refused if a path leads out of the folder.
        self.root.join(file.place().unwrap_or_default())
    }
}

fn open(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>, CliError> {
    let file = File::open(path).map_err(CliError::reading(path))?;
    ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| unreadable(path, error))
}

fn unreadable(path: &Path, error: impl ToString) -> CliError {
    CliError::Unreadable { path: path.display().to_string(), reason: error.to_string() }
}

/// The report of rows that a relation does not take, with the file.
fn in_file(report: miette::Report, path: &Path) -> miette::Report {
    cozo::diag::wrap(report, format!("cannot import '{}'", path.display()))
}

/// The rows of a batch, in the order of the columns of the relation.
fn rows(entry: &RelationEntry, path: &Path, batch: RecordBatch) -> miette::Result<Batch> {
    let len = batch.num_rows();
    let headers: Vec<String> = batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect();
    let batch = without_metadata(&batch).map_err(|error| unreadable(path, error))?;
    let mut found = arrow::columns(&batch).map_err(|refusal| unreadable(path, refusal))?.columns;
    let decode = |column: &super::catalog::ColumnEntry| {
        let position = headers.iter().position(|header| *header == column.name);
        let values = position.map(|position| std::mem::take(&mut found[position])).unwrap_or_default();
        let form: Form = column.stored_as;
        form.decode(values).map_err(|reason| PartitionError::BadValue {
            path: path.display().to_string(),
            column: column.name.clone(),
            reason,
        })
    };
    let columns = entry.columns().map(decode).collect::<Result<Vec<_>, _>>()?;
    Ok(Batch::new(columns, len))
}

/// The batch with texts as texts: the catalog says what they stand for, even if another program has written the file anew.
fn without_metadata(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let plain = |field: &Arc<arrow_schema::Field>| field.as_ref().clone().with_metadata(HashMap::new());
    let fields: Vec<arrow_schema::Field> = batch.schema_ref().fields().iter().map(plain).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), batch.columns().to_vec(), &options)
}
