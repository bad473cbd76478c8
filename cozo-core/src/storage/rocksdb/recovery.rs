//! Opening the folder, also where RocksDB's own log is damaged or not there.
//!
//! RocksDB keeps what is in no table file yet in a log, `000123.log`. After a sudden end the last record of it may be torn, which
//! RocksDB leaves out. Anything else that is wrong with the log is damage: then the folder is opened with what comes before it, the
//! log stays under another name, and a warning tells.

use std::path::{Path, PathBuf};

use ::rocksdb::{
    ColumnFamilyDescriptor, DB, DBRecoveryMode, DEFAULT_COLUMN_FAMILY_NAME, Error, ErrorKind, Options as Setup,
};

use super::{NAME, place};
use crate::storage::StorageError;
use crate::storage::lost::{self, name_of};

/// Opens the folder; and what was found wrong, in words.
pub(super) fn open(path: &Path, mut setup: Setup, read_only: bool) -> Result<(DB, Vec<String>), StorageError> {
    setup.set_wal_recovery_mode(DBRecoveryMode::TolerateCorruptedTailRecords);
    setup.set_track_and_verify_wals_in_manifest(true);
    let refusal = match open_with(path, &setup, read_only) {
        Err(error) if error.kind() == ErrorKind::Corruption => error,
        opened => return Ok((opened.map_err(|error| place::refusal(path, error))?, vec![])),
    };
    // RocksDB removes the log once it has read what it can.
    let logs = if read_only { vec![] } else { copy_logs(path)? };
    setup.set_wal_recovery_mode(DBRecoveryMode::PointInTime);
    setup.set_track_and_verify_wals_in_manifest(false);
    match open_with(path, &setup, read_only) {
        Ok(db) => Ok((db, warnings(&refusal, &logs))),
        Err(_) => {
            // It is not the log that is damaged.
            logs.iter().for_each(|log| drop(std::fs::remove_file(log)));
            Err(place::refusal(path, refusal))
        }
    }
}

fn open_with(path: &Path, setup: &Setup, read_only: bool) -> Result<DB, Error> {
    // By name, since only then there is a handle for getting several keys at once.
    let family = ColumnFamilyDescriptor::new(DEFAULT_COLUMN_FAMILY_NAME, setup.clone());
    match read_only {
        true => DB::open_cf_descriptors_read_only(setup, path, [family], false),
        false => DB::open_cf_descriptors(setup, path, [family]),
    }
}

/// Copies RocksDB's own logs, and tells the names of the copies.
fn copy_logs(path: &Path) -> Result<Vec<PathBuf>, StorageError> {
    let copy = || -> std::io::Result<Vec<PathBuf>> {
        let mut copies = vec![];
        for entry in std::fs::read_dir(path)? {
            let file = entry?.path();
            if file.extension().is_some_and(|extension| extension == "log") {
                copies.push(lost::keep_bytes(&file, &std::fs::read(&file)?)?);
            }
        }
        Ok(copies)
    };
    copy().map_err(|error| StorageError::Engine {
        engine: NAME,
        action: "copy its damaged log",
        message: error.to_string(),
    })
}

fn warnings(refusal: &Error, logs: &[PathBuf]) -> Vec<String> {
    let kept: Vec<String> = logs.iter().map(|log| format!("'{}'", name_of(log))).collect();
    let kept = if kept.is_empty() { String::new() } else { format!("; the log is kept as {}", kept.join(", ")) };
    vec![format!("the log of RocksDB is damaged or incomplete, and commits at its end are missing: {refusal}{kept}")]
}
