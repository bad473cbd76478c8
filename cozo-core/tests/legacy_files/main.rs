//! Files of CozoDB 0.7: the samples, other files, and damaged ones.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod damage;
mod recognise;
mod samples;

use std::path::{Path, PathBuf};

use cozo::Tuple;
use cozo::legacy::{LegacyFile, LegacyRelation, RowsRead};
use cozo::storage::{BatchCursor, StorageError};

/// The files in `tests/data/cozo-0.7`, each with its expected contents beside it; `make_samples.py` of the same release
/// wrote both.
const SAMPLES: [&str; 5] = ["types", "catalog", "bulk", "odd", "broken"];

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cozo-0.7").join(name).with_extension("db")
}

fn knows(function: &str) -> bool {
    cozo::expr::functions::find(function).is_some()
}

/// All rows of a relation, in batches of a number of rows that no relation has a multiple of.
fn rows_of(file: &LegacyFile, relation: &LegacyRelation) -> Result<(Vec<Tuple>, RowsRead), StorageError> {
    let mut cursor = file.rows(relation);
    let mut rows = Vec::new();
    while let Some(batch) = cursor.next_batch(37)? {
        assert!(batch.len > 0 && batch.len <= 37, "a batch has as many rows as were asked for, or fewer");
        rows.extend(batch.rows());
    }
    Ok((rows, cursor.read().clone()))
}

/// A copy of a sample to spoil, and the folder that it is deleted with.
fn copy_of(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.db");
    std::fs::write(&path, std::fs::read(sample(name)).unwrap()).unwrap();
    (folder, path)
}
