//! Writing a partition: all relations as of one moment, into a folder that gets its name when it is complete.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use chrono::{SecondsFormat, Utc};
use cozo::storage::sync_name;
use cozo::{DbInstance, Interrupt, RelationReader};
use indicatif::ProgressBar;

use super::catalog::{PartitionCatalog, RelationEntry};
use super::error::PartitionError;
use super::names;
use super::part::{Parts, writing};
use crate::args::ExportArguments;
use crate::{output, signals};

/// Exports relations, and says on standard error how much and how fast.
pub fn export(folder: &Path, arguments: &ExportArguments, bar: &ProgressBar) -> miette::Result<ExitCode> {
    let db = arguments.database.find()?.open_existing()?;
    let start = Instant::now();
    let interrupt = signals::stop_work_on_signals(|| ());
    let work = signals::work();
    let writer = Writer { max_rows: arguments.part_rows as usize, interrupt: &interrupt, bar };
    let exported = NewFolder::create(folder).and_then(|folder| {
        let relations = writer.write(&db, &arguments.only, &folder.written)?;
        folder.complete()?;
        Ok(relations)
    });
    let relations = signals::explain(exported, "the export was not finished")?;
    drop(work);
    bar.finish_and_clear();
    let rows: u64 = relations.iter().map(|relation| relation.rows).sum();
    let (count, took) = (output::count(relations.len(), "relation"), start.elapsed());
    output::note(format_args!("exported: {count}, {}", output::summary_with_rate(rows as usize, took)));
    Ok(ExitCode::SUCCESS)
}

/// What writes relations.
struct Writer<'a> {
    /// The most rows of a part.
    max_rows: usize,
    interrupt: &'a Interrupt,
    bar: &'a ProgressBar,
}

impl Writer<'_> {
    /// Writes the relations of these names, or all, and the catalog.
    fn write(&self, db: &DbInstance, names: &[String], folder: &Path) -> miette::Result<Vec<RelationEntry>> {
        let mut names = names.to_vec();
        names.sort();
        names.dedup();
        let readers = db.read_relations((!names.is_empty()).then_some(&names))?;
        let snapshot_time = Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true);
        if names.is_empty() {
            note_hidden(db)?;
        }
        let known: Vec<&str> = readers.iter().map(|reader| reader.definition().name.as_str()).collect();
        let folders = names::folders(&known);
        let entries = readers.iter().zip(&folders).map(|(reader, of)| self.relation(reader, folder, of));
        let catalog = PartitionCatalog::new(snapshot_time, entries.collect::<miette::Result<_>>()?);
        catalog.write(folder)?;
        Ok(catalog.relations)
    }

    /// Writes the rows of a relation.
    fn relation(&self, reader: &RelationReader, root: &Path, folder: &str) -> miette::Result<RelationEntry> {
        let entry = RelationEntry::new(reader);
        self.bar.set_message(entry.name.clone());
        let mut parts = Parts::begin(reader, root, folder, self.max_rows)?;
        for batch in reader.batches()? {
            self.interrupt.check()?;
            let batch = batch?;
            parts.write(&batch)?;
            self.bar.inc(batch.len as u64);
        }
        let files = parts.finish()?;
        let path = root.join(folder);
        sync_name(&path.join("part")).map_err(writing(&path))?;
        Ok(RelationEntry { rows: files.iter().map(|file| file.rows).sum(), files, ..entry })
    }
}

/// Says which relations are left out, because nothing may read them.
fn note_hidden(db: &DbInstance) -> miette::Result<()> {
    let listed = db.run_script("::relations", Default::default(), cozo::ScriptMutability::Immutable)?;
    let hidden = listed.rows.iter().filter(|row| row.get(2).and_then(|level| level.get_str()) == Some("hidden"));
    let hidden: Vec<&str> = hidden.filter_map(|row| row.first()?.get_str()).collect();
    if !hidden.is_empty() {
        output::note(format_args!("note: left out, because their access level is hidden: {}", hidden.join(", ")));
    }
    Ok(())
}

/// A folder to be, under another name until it is complete.
struct NewFolder {
    written: PathBuf,
    complete: Option<PathBuf>,
}

impl NewFolder {
    fn create(folder: &Path) -> miette::Result<Self> {
        let is_free = match fs::read_dir(folder) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        if !is_free {
            return Err(PartitionError::NotEmpty(folder.display().to_string()).into());
        }
        // The other name is to be beside it, also if it is `.` or ends with a slash.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.components().collect());
        let mut written = folder.clone().into_os_string();
        written.push(".part");
        let written = PathBuf::from(written);
        match fs::create_dir(&written) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(PartitionError::Unfinished(written.display().to_string()).into());
            }
            created => created.map_err(writing(&written))?,
        }
        Ok(NewFolder { written, complete: Some(folder) })
    }

    /// Gives the folder its name.
    fn complete(mut self) -> miette::Result<()> {
        let Some(folder) = self.complete.clone() else { return Ok(()) };
        sync_name(&self.written.join(names::CATALOG)).map_err(writing(&self.written))?;
        if folder.exists() {
            // Some systems give no folder the name of another, even of an empty one.
            fs::remove_dir(&folder).map_err(writing(&folder))?;
        }
        fs::rename(&self.written, &folder).map_err(writing(&folder))?;
        self.complete = None;
        sync_name(&folder).map_err(writing(&folder))
    }
}

impl Drop for NewFolder {
    /// Removes what an error has left behind.
    fn drop(&mut self) {
        if self.complete.is_some() {
            let _ = fs::remove_dir_all(&self.written);
        }
    }
}
