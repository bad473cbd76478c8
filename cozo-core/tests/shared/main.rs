//! Databases that share a log: several processes as several instances, over a log in a folder.

#![allow(clippy::unwrap_used)]

mod bank;
mod histories;
mod killed;
mod life;
mod processes;
#[path = "../common/histories.rs"]
mod registers;
mod replication;

use std::path::Path;

use cozo::{DataValue, DbInstance};
use tempfile::TempDir;

/// A log in a folder, and a place for replicas.
struct Cluster {
    folder: TempDir,
}

impl Cluster {
    fn new() -> Self {
        Cluster { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// A replica of which reads begin at the end of the log.
    fn open(&self, engine: &str, name: &str) -> DbInstance {
        self.try_open(engine, name).unwrap()
    }

    fn try_open(&self, engine: &str, name: &str) -> miette::Result<DbInstance> {
        open_shared(engine, &self.path(name), &self.path("log"))
    }
}

fn open_shared(engine: &str, path: &Path, log: &Path) -> miette::Result<DbInstance> {
    DbInstance::new(engine, path, &format!(r#"{{"shared": {log:?}, "shared_reads": "latest"}}"#))
}

fn rows(db: &DbInstance, script: &str) -> Vec<Vec<DataValue>> {
    db.run_default(script).unwrap_or_else(|error| panic!("{script}: {error:?}")).rows
}

fn ints(db: &DbInstance, script: &str) -> Vec<i64> {
    rows(db, script).iter().flatten().map(|value| value.get_int().unwrap()).collect()
}

fn code(error: &miette::Report) -> String {
    error.code().map(|code| code.to_string()).unwrap_or_default()
}
