//! Writing a backup.

use std::path::Path;

use super::error::BackupError;
use super::file;
use super::progress::{Meter, OnProgress};
use crate::budget::Interrupt;
use crate::schema::{SchemaRef, with_indices};
use crate::storage::copy;
use crate::storage::sqlite::FileWriter;
use crate::txn::{Pipeline, Version};

/// Writes a backup. The file must not exist, or be an empty database.
pub fn write(
    pipeline: &Pipeline,
    path: &Path,
    interrupt: &Interrupt,
    on_progress: OnProgress<'_>,
) -> miette::Result<()> {
    file::require_free(path)?;
    write_version(&pipeline.current(), path, interrupt, on_progress)
}

/// Writes a backup of a version.
pub fn write_version(
    version: &Version,
    path: &Path,
    interrupt: &Interrupt,
    on_progress: OnProgress<'_>,
) -> miette::Result<()> {
    let all: Vec<SchemaRef> = version.catalog.iter().cloned().collect();
    let total = all.iter().flat_map(with_indices).map(|table| version.snapshot.row_count(table.id)).sum();
    let mut meter = Meter::new(total, interrupt, on_progress);
    let unfinished = file::beside(path)?;
    let mut writer = FileWriter::create(&unfinished)?;
    for schema in &all {
        writer.relation(schema)?;
        for table in with_indices(schema) {
            meter.begins(table);
            copy(&*version.snapshot, table, |batch| {
                writer.append(table.id, &batch)?;
                Ok::<(), BackupError>(meter.copied(batch.len)?)
            })?;
        }
    }
    writer.finish()?;
    Ok(file::move_to(unfinished, path)?)
}
