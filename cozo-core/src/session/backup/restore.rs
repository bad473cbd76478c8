//! Reading a backup: into an empty database, or into relations of a database in use.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::error::BackupError;
use super::file::{BackupFile, Strictness};
use super::progress::{Meter, OnProgress};
use crate::budget::Interrupt;
use crate::index::search;
use crate::program::extractor;
use crate::schema::{SchemaRef, with_indices};
use crate::session::transfer;
use crate::txn::{Filler, Pipeline, Transaction};
use crate::value::Batch;

/// Fills an empty database from a backup. Returns what could not be carried over, in words.
pub fn restore(
    pipeline: &Arc<Pipeline>,
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
    remarks.extend(build_searches(&file, pipeline, interrupt, &mut meter)?);
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
    let mut remarks = vec![];
    for (table, into) in with_indices(relation).zip(with_indices(&created)) {
        meter.begins(table);
        remarks.extend(file.copy(relation, table, |batch| {
            meter.copied(batch.len)?;
            Ok(filler.put(into, batch)?)
        })?);
    }
    Ok(remarks)
}

/// Builds the search indices that a file of CozoDB 0.7 defines. Returns those that cannot be built, in words.
fn build_searches(
    file: &BackupFile,
    pipeline: &Arc<Pipeline>,
    interrupt: &Interrupt,
    meter: &mut Meter<'_>,
) -> Result<Vec<String>, BackupError> {
    let mut remarks = vec![];
    for relation in file.relations() {
        for (name, options) in file.searches_to_build(relation) {
            interrupt.check()?;
            let mut txn = Transaction::begin(pipeline, true);
            let Some(schema) = txn.catalog().find(&relation.name).cloned() else { continue };
            let index = txn.create_search(&schema, &name, options);
            meter.begins(&index.listing);
            let built = extractor(&schema, &index).map_err(|error| error.to_string()).and_then(|extractor| {
                search::build(&schema, &index, &extractor, &mut txn).map_err(|error| error.to_string())
            });
            match built {
                Ok(()) => txn.commit()?,
                Err(reason) => {
                    let kind = index.options.kind();
                    remarks.push(format!("'{}': the {kind} index '{name}' cannot be built: {reason}", relation.name));
                }
            }
        }
    }
    Ok(remarks)
}

/// Puts the rows of relations in a backup into the relations with the same names. The caller commits.
pub fn import(pipeline: &Arc<Pipeline>, path: &Path, relations: &[String]) -> miette::Result<Transaction> {
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
        file.copy(source, source, |batch| {
            all.append(&batch);
            Ok(())
        })?;
        let headers: Vec<String> = source.columns().map(|column| column.name.to_string()).collect();
        transfer::put_columns(&mut txn, &target, &headers, all)?;
    }
    Ok(txn)
}
