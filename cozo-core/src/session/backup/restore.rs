//! Reading a backup: into an empty database, or into relations of a database in use.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::error::BackupError;
use super::file::{BackupFile, Strictness};
use super::progress::{Meter, OnProgress};
use crate::budget::Interrupt;
use crate::schema::{IndexDefinition, SchemaRef};
use crate::session::transfer;
use crate::txn::{Filler, Pipeline, Transaction};
use crate::value::Batch;

/// Fills an empty database from a backup. Returns what could not be carried over, in words.
pub fn restore(
    pipeline: &Pipeline,
    path: &Path,
    strictness: Strictness,
    interrupt: &Interrupt,
    on_progress: OnProgress<'_>,
) -> miette::Result<Vec<String>> {
    let file = BackupFile::open(path, strictness)?;
    let mut meter = Meter::new(file.total_rows(), interrupt, on_progress);
    let mut remarks = vec![];
    pipeline.fill(|filler| {
        for relation in file.relations() {
            remarks.extend(restore_one(&file, relation, filler, &mut meter)?);
        }
        Ok::<(), BackupError>(())
    })?;
    remarks.extend(file.not_carried_over());
    Ok(remarks)
}

fn restore_one(
    file: &BackupFile,
    relation: &SchemaRef,
    filler: &mut Filler<'_>,
    meter: &mut Meter<'_>,
) -> Result<Vec<String>, BackupError> {
    let created = filler.create(relation)?;
    let mut fill = |index: Option<&IndexDefinition>, into: &SchemaRef| {
        meter.begins(index.map_or(relation, |index| &index.schema));
        file.copy(relation, index, |batch| {
            meter.copied(batch.len)?;
            Ok(filler.put(into, batch)?)
        })
    };
    let remarks = fill(None, &created)?;
    for (index, into) in relation.indices.iter().zip(&created.indices) {
        fill(Some(index), &into.schema)?;
    }
    Ok(remarks)
}

/// Puts the rows of relations in a backup into the relations with the same names; all of them or none.
pub fn import(pipeline: &Arc<Pipeline>, path: &Path, relations: &[String]) -> miette::Result<()> {
    let file = BackupFile::open(path, Strictness::EveryRow)?;
    let mut txn = Transaction::begin(pipeline, true);
    for name in relations.iter().collect::<BTreeSet<_>>() {
        let target = transfer::target(&txn, name)?;
        if let Some(index) = target.indices.first() {
            return Err(BackupError::Indexed { relation: name.clone(), index: index.schema.name.to_string() }.into());
        }
        let Some(source) = file.relations().iter().find(|relation| relation.name == name.as_str()) else {
            let known: Vec<&str> = file.relations().iter().map(|relation| relation.name.as_str()).collect();
            return Err(BackupError::NotInBackup { relation: name.clone(), known: known.join(", ") }.into());
        };
        let mut all = Batch::empty(source.arity());
        file.copy(source, None, |batch| {
            all.append(&batch);
            Ok(())
        })?;
        let headers: Vec<String> = source.columns().map(|column| column.name.to_string()).collect();
        transfer::put_columns(&mut txn, &target, &headers, all)?;
    }
    Ok(txn.commit()?)
}
