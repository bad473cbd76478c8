//! Opening the folder, also if RocksDB's own log is damaged or missing.
//!
//! RocksDB has a log, `000123.log`, of the writes that are in no table file yet. After a crash its last record may be torn, and
//! RocksDB skips it. Any other defect of the log is damage. Then the folder is opened with the writes before the damage, the log
//! is renamed, and there is a warning.
//!
//! While a memtable is written to a file, there are two logs. Each begins with what the one before it had, so that it is not
//! applied if writes before it are missing.
//!
//! | mode of RocksDB | a torn end of the last log | damage in the middle | a log is missing, or its end, and there is a later log |
//! |---|---|---|---|
//! | `TolerateCorruptedTailRecords` | skipped | an error | an error |
//! | `PointInTime` | skipped | all later writes are skipped, without a warning | the later log is skipped, without a warning |
//!
//! So the first mode looks for damage, reading only, and the second one opens.

use std::fs;
use std::path::{Path, PathBuf};

use ::rocksdb::{
    ColumnFamilyDescriptor, DB, DBRecoveryMode, DEFAULT_COLUMN_FAMILY_NAME, Error, ErrorKind, Options as Setup,
};

use super::evidence::Evidence;
use super::height::{self, Noted};
use super::{APPENDED_FILE, manifest, place};
use crate::storage::error::StorageError;

/// A log of no more bytes has no write, only what it says about the log before it: three numbers and the head of a record. Unit: bytes.
const EMPTY_LOG_BYTES: u64 = 42;

/// Opens the folder. Returns the problems found, in words.
pub(super) fn open(path: &Path, setup: Setup, read_only: bool) -> Result<(DB, Vec<String>), StorageError> {
    let (noted, has_log) = (height::read(path), has_log(path));
    if let Some(noted) = noted {
        manifest::check(path, noted.manifest)?;
    }
    let evidence = (!read_only).then(|| Evidence::gather(path));
    let (db, damage) = match open_with_all_files(path, &setup, read_only) {
        Ok(opened) => opened,
        Err(refusal) => {
            match evidence {
                // A file that could not be read or written for now is not damaged.
                Some(evidence) if refusal.kind() == ErrorKind::IOError => evidence.discard(),
                Some(evidence) => evidence.keep_what_is_gone(),
                None => {}
            }
            return Err(place::refusal(path, refusal));
        }
    };
    let mut warnings: Vec<String> = loss(&db, damage, noted, has_log).into_iter().collect();
    match (evidence, warnings.last_mut()) {
        (Some(evidence), None) => evidence.discard(),
        (Some(evidence), Some(warning)) => {
            let kept: Vec<String> = evidence.keep().iter().map(|name| format!("'{name}'")).collect();
            if !kept.is_empty() {
                *warning += &format!("; what it was opened from is kept as {}", kept.join(", "));
            }
        }
        (None, _) => {}
    }
    Ok((db, warnings))
}

/// The loss of an opened database, in words.
fn loss(db: &DB, damage: Option<Error>, noted: Option<Noted>, has_log: bool) -> Option<String> {
    if let Some(damage) = damage {
        return Some(format!(
            "the log of RocksDB is damaged or incomplete, and commits at its end are missing: {damage}"
        ));
    }
    let (noted, now) = (noted?, db.latest_sequence_number());
    if noted.number > now {
        let number = noted.number;
        return Some(format!(
            "RocksDB opened an earlier state of the database, and the last commits are missing: it has {now} writes of {number}"
        ));
    }
    let is_all = noted.is_closed && noted.number == now;
    (!has_log && !is_all)
        .then(|| "the log of RocksDB is not there, and the last commits may be missing with it".to_string())
}

/// Whether the folder has a log. An open database always has one.
fn has_log(path: &Path) -> bool {
    let files = fs::read_dir(path).into_iter().flatten().flatten();
    files.into_iter().any(|file| is_log(&file.path()))
}

fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "log")
}

/// Whether an error says only that a log ends before the log after it says, where all logs after it are without writes. A failed write
/// leaves a log so: RocksDB counts what was to be written, and begins a log that is used once all before it is in files.
fn is_torn_end(path: &Path, error: &Error) -> bool {
    let said: &str = error.as_ref();
    let number_in = |text: &str| text.split(|char: char| !char.is_ascii_digit()).next()?.parse::<u64>().ok();
    let Some(torn) = said.split_once(" the WAL of log number ").and_then(|(_, rest)| number_in(rest)) else {
        return false;
    };
    let is_without_writes = |file: fs::DirEntry| {
        let is_later = number_in(&file.file_name().to_string_lossy()).is_some_and(|number| number > torn);
        !is_later || file.metadata().is_ok_and(|file| file.len() <= EMPTY_LOG_BYTES)
    };
    let mut logs = fs::read_dir(path).into_iter().flatten().flatten().filter(|file| is_log(&file.path()));
    logs.all(is_without_writes)
}

/// Opens the folder. If the log is damaged, opens it with the writes before the damage, and returns the error too.
fn open_what_is_there(path: &Path, mut setup: Setup, read_only: bool) -> Result<(DB, Option<Error>), Error> {
    let mut damage = None;
    let is_there = path.join("CURRENT").exists();
    if !is_there || has_log(path) {
        // Each log names the one before it. A closed database without a log would be refused.
        setup = setup.get_options_from_string("track_and_verify_wals=true")?;
    }
    if is_there {
        setup.set_wal_recovery_mode(DBRecoveryMode::TolerateCorruptedTailRecords);
        // Other errors come again below, or are of a database that another process writes to.
        let is_damage = |error: &Error| error.kind() == ErrorKind::Corruption && !is_torn_end(path, error);
        damage = open_with(path, &setup, true).err().filter(is_damage);
    }
    setup.set_wal_recovery_mode(DBRecoveryMode::PointInTime);
    match open_with(path, &setup, read_only) {
        Ok(db) => Ok((db, damage)),
        // Another file than the log is damaged.
        Err(error) if error.kind() == ErrorKind::Corruption => Err(damage.unwrap_or(error)),
        Err(error) => Err(error),
    }
}

/// Opens the folder. A file of rows that RocksDB has removed, although its list of files has it, is restored. RocksDB does that if
/// it could not sync the list after it had added the file.
fn open_with_all_files(path: &Path, setup: &Setup, read_only: bool) -> Result<(DB, Option<Error>), Error> {
    let error = match open_what_is_there(path, setup.clone(), read_only) {
        Err(error) => error,
        opened => return opened,
    };
    let Some(missing) = missing_file(path, &error).filter(|_| !read_only) else { return Err(error) };
    if fs::hard_link(path.join(APPENDED_FILE), &missing).is_err() {
        return Err(error);
    }
    open_what_is_there(path, setup.clone(), read_only).inspect_err(|_| drop(fs::remove_file(missing)))
}

/// The missing file of rows that an error reports.
fn missing_file(path: &Path, error: &Error) -> Option<PathBuf> {
    let said: &str = error.as_ref();
    let (before, _) = said.split_once(".sst: No such file")?;
    let digits = before.rsplit(|char: char| !char.is_ascii_digit()).next()?;
    let file = path.join(format!("{digits}.sst"));
    (error.kind() == ErrorKind::Corruption && !digits.is_empty() && !file.exists()).then_some(file)
}

fn open_with(path: &Path, setup: &Setup, read_only: bool) -> Result<DB, Error> {
    // The family is opened by name, since only then there is a handle for getting several keys at once.
    let family = ColumnFamilyDescriptor::new(DEFAULT_COLUMN_FAMILY_NAME, setup.clone());
    match read_only {
        true => DB::open_cf_descriptors_read_only(setup, path, [family], false),
        false => DB::open_cf_descriptors(setup, path, [family]),
    }
}
