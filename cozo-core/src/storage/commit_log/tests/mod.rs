//! The suite of all engines over SQLite with a log, and tests of a log when a process is killed, a file is damaged or an engine
//! fails.

#![allow(clippy::unwrap_used)]

mod losses;
mod outcomes;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;

use super::*;
use crate::schema::{BaseType, ColumnType};
use crate::storage::sqlite::SqliteStorage;
use crate::storage::tests::{self as suite, RELATION, Subject, creation, schema};
use crate::storage::{self, ChangeKind, KeyRange, RowChanges};
use crate::value::{Batch, DataValue};

fn options(text: &str) -> Options {
    Options::parse(text).unwrap()
}

/// Commits that wait until the database is closed, those that are applied all the time, and none.
const SIZES: [&str; 3] = [
    r#"{"cache_mb": 0, "commit_log_mb": 100}"#,
    r#"{"cache_mb": 0, "commit_log_mb": 0.002}"#,
    r#"{"cache_mb": 0, "commit_log_mb": 0}"#,
];

#[test]
fn an_engine_with_a_log_behaves_like_the_model() {
    for size in SIZES {
        let subject = || {
            let (folder, options) = (tempfile::tempdir().unwrap(), options(size));
            let open = move || storage::open("sqlite", &folder.path().join("db"), &options).unwrap();
            Subject { open: Box::new(open), exact: false, durable: true }
        };
        suite::run_all(subject, 16);
    }
}

/// A database in a folder of its own.
struct TestFolder(TempDir);

impl TestFolder {
    fn new() -> Self {
        TestFolder(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("db")
    }

    fn open(&self, text: &str) -> Logged {
        self.open_over(text, |storage| Box::new(storage))
    }

    fn open_over(&self, text: &str, over: impl FnOnce(SqliteStorage) -> Box<dyn Storage>) -> Logged {
        let place = Place::beside(&self.path());
        let storage =
            over(SqliteStorage::open(&self.path(), &Options { engine: Default::default(), ..options(text) }).unwrap());
        let leftover = Leftover::find(&place, false).unwrap();
        Logged::new(storage, place, leftover, None, &options(text)).unwrap()
    }

    /// The database after a process is killed after some commits. The commits are not applied before, however long it takes.
    fn killed_after(&self, logged: &Logged, commits: impl IntoIterator<Item = ChangeSet>) -> TestFolder {
        let _engine = logged.shared.engine.lock();
        commits.into_iter().for_each(|changes| drop(logged.commit(&mut [changes]).unwrap()));
        self.copy()
    }

    fn copy(&self) -> TestFolder {
        let copy = TestFolder::new();
        for file in fs::read_dir(self.0.path()).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), copy.0.path().join(file.file_name())).unwrap();
        }
        copy
    }

    /// The files of the log.
    fn logs(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.0.path()).unwrap().map(|file| file.unwrap().path());
        let mut logs: Vec<PathBuf> = files.filter(|path| path.to_str().unwrap().contains("-commits-")).collect();
        logs.sort();
        logs
    }
}

/// A log so large that its size never causes commits to be applied.
const PATIENT: &str = r#"{"commit_log_mb": 100}"#;

fn relation() -> ChangeSet {
    let of = |base| ColumnType { base, nullable: false };
    creation(&schema(1, vec![of(BaseType::Int), of(BaseType::String)]))
}

fn put(rows: impl IntoIterator<Item = (i64, &'static str)>) -> ChangeSet {
    let rows: Vec<[DataValue; 2]> = rows.into_iter().map(|(key, text)| [key.into(), text.into()]).collect();
    let rows = Batch::from_rows(2, rows.iter().map(|row| &row[..]));
    ChangeSet::of_rows(vec![RowChanges::new(RELATION, ChangeKind::Put, rows)])
}

fn remove(key: i64) -> ChangeSet {
    let rows = suite::ints([key]);
    ChangeSet::of_rows(vec![RowChanges::new(RELATION, ChangeKind::Remove, rows)])
}

fn rows(snapshot: &dyn Snapshot) -> BTreeMap<i64, String> {
    let mut cursor = snapshot.scan(RELATION, &KeyRange::all(), &[0, 1], None).unwrap();
    let batches = std::iter::from_fn(|| cursor.next_batch(1000).unwrap());
    let rows: Vec<_> = batches.flat_map(|batch| batch.rows().collect::<Vec<_>>()).collect();
    rows.iter().map(|row| (row[0].get_int().unwrap(), row[1].get_str().unwrap().to_string())).collect()
}

fn texts<const N: usize>(rows: [(i64, &str); N]) -> BTreeMap<i64, String> {
    rows.into_iter().map(|(key, text)| (key, text.to_string())).collect()
}

/// A database with four commits in its log, after the process is killed before they are applied.
fn filled(folder: &TestFolder) -> (Logged, TestFolder) {
    let logged = folder.open(PATIENT);
    logged.commit(&mut [relation()]).unwrap();
    let commits = [put([(1, "a"), (2, "b")]), put([(3, "c")]), remove(1), put([(2, "d")])];
    let killed = folder.killed_after(&logged, commits);
    (logged, killed)
}

const AFTER_EACH: [&[(i64, &str)]; 5] =
    [&[], &[(1, "a"), (2, "b")], &[(1, "a"), (2, "b"), (3, "c")], &[(2, "b"), (3, "c")], &[(2, "d"), (3, "c")]];

/// The number of commits of [`filled`] in a database.
fn commits(killed: &TestFolder) -> Option<usize> {
    let found = rows(&*killed.open(PATIENT).snapshot());
    AFTER_EACH.iter().position(|rows| found.iter().map(|(key, text)| (*key, &**text)).eq(rows.iter().copied()))
}

/// The number of commits in the files of the log.
fn commits_in_files(folder: &TestFolder) -> usize {
    let count = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap();
        let mut count = 0;
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes[..file::HEAD]);
        let mut rest = &bytes[file::HEAD..];
        while let Some((record, after)) = record::first(rest, &hasher) {
            count += usize::from(matches!(record, record::Record::Commit(_)));
            rest = after;
        }
        assert!(rest.is_empty(), "{path:?}");
        count
    };
    folder.logs().iter().map(count).sum()
}

#[test]
fn commits_that_were_not_applied_are_there_after_a_kill_and_only_once() {
    let (_, killed) = filled(&TestFolder::new());
    assert_eq!(killed.logs().len(), 1);
    for _ in 0..2 {
        assert_eq!(commits(&killed), Some(4));
        assert_eq!(killed.logs(), Vec::<PathBuf>::new(), "what is applied is removed");
    }
}

#[test]
fn whole_records_before_a_torn_one_are_commits() {
    let (_, killed) = filled(&TestFolder::new());
    let whole = fs::metadata(&killed.logs()[0]).unwrap().len();
    let torn = |len| {
        let copy = killed.copy();
        fs::File::options().write(true).open(&copy.logs()[0]).unwrap().set_len(len).unwrap();
        commits(&copy).unwrap_or_else(|| panic!("{len} bytes of {whole} give none of the states"))
    };
    let mut seen: Vec<usize> = (0..=whole).map(torn).collect();
    assert!(seen.is_sorted(), "the longer, the more: {seen:?}");
    seen.dedup();
    assert_eq!(seen, [0, 1, 2, 3, 4]);
}

#[test]
fn nothing_after_a_damaged_byte_is_taken_for_a_commit() {
    let (_, killed) = filled(&TestFolder::new());
    let bytes = fs::read(&killed.logs()[0]).unwrap();
    for position in 0..bytes.len() {
        let (copy, mut damaged) = (killed.copy(), bytes.clone());
        damaged[position] ^= 0x10;
        fs::write(&copy.logs()[0], damaged).unwrap();
        assert!(matches!(commits(&copy), Some(0..4)), "byte {position} of {}", bytes.len());
    }
}

#[test]
fn files_after_a_torn_one_are_not_applied() {
    let (folder, faults) = (TestFolder::new(), Arc::new(Faults::default()));
    let logged = folder.open_over(PATIENT, |storage| Box::new(Failing(storage, faults.clone())));
    logged.commit(&mut [relation()]).unwrap();
    Faults::set(&faults.commits, true);
    logged.commit(&mut [put([(1, "a")])]).unwrap();
    logged.commit(&mut [put([(2, "b")])]).unwrap();
    assert!(logged.shared.apply().is_err());
    let killed = folder.killed_after(&logged, [put([(3, "c")])]);
    assert_eq!(killed.logs().len(), 2);
    let (whole, torn) = (killed.copy(), killed);
    let first = fs::File::options().write(true).open(&torn.logs()[0]).unwrap();
    // The note at its end, and the last byte of the commit before it.
    first.set_len(first.metadata().unwrap().len() - 10).unwrap();
    assert_eq!(rows(&*whole.open(PATIENT).snapshot()), texts([(1, "a"), (2, "b"), (3, "c")]));
    assert_eq!(rows(&*torn.open(PATIENT).snapshot()), texts([(1, "a")]));
}

#[test]
fn a_log_that_was_applied_is_not_applied_again() {
    let folder = TestFolder::new();
    let (logged, before) = filled(&folder);
    logged.shared.apply().unwrap();
    let killed = folder.killed_after(&logged, [put([(2, "later")])]);
    // As if the process had been killed before it removed the file.
    let log = before.logs().remove(0);
    fs::copy(&log, killed.0.path().join(log.file_name().unwrap())).unwrap();
    assert_eq!(killed.logs().len(), 2);
    assert_eq!(rows(&*killed.open(PATIENT).snapshot()), texts([(2, "later"), (3, "c")]));
}

#[test]
fn the_log_of_another_session_is_not_applied() {
    let folder = TestFolder::new();
    drop(filled(&folder));
    let copy = fs::read(folder.path()).unwrap();
    let logged = folder.open(PATIENT);
    // The first commit of a session goes to the engine.
    logged.commit(&mut [put([(4, "e")])]).unwrap();
    let killed = folder.killed_after(&logged, [put([(5, "f")])]);
    assert_eq!(killed.logs().len(), 1);
    fs::remove_file(killed.0.path().join("db-wal")).unwrap();
    fs::write(killed.path(), copy).unwrap();
    assert_eq!(commits(&killed), Some(4));
}

#[test]
fn who_reads_only_sees_the_log_and_leaves_it() {
    let (_, killed) = filled(&TestFolder::new());
    let logs = killed.logs();
    let reader = killed.open(r#"{"read_only": true}"#);
    assert_eq!(rows(&*reader.snapshot()), texts([(2, "d"), (3, "c")]));
    assert!(matches!(reader.commit(&mut [remove(2)]), Err(StorageError::ReadOnly)));
    drop(reader);
    assert_eq!(killed.logs(), logs);
    assert_eq!(commits(&killed), Some(4));
}

#[test]
fn snapshots_stay_as_they_are_when_commits_are_applied() {
    let folder = TestFolder::new();
    let (logged, _) = filled(&folder);
    let before = logged.snapshot();
    logged.commit(&mut [put([(9, "more")])]).unwrap();
    let newest = logged.snapshot();
    logged.shared.apply().unwrap();
    logged.commit(&mut [put([(2, "later")])]).unwrap();
    logged.shared.apply().unwrap();
    assert_eq!(rows(&*before), texts([(2, "d"), (3, "c")]));
    assert_eq!(rows(&*newest), texts([(2, "d"), (3, "c"), (9, "more")]));
    assert_eq!(rows(&*logged.snapshot()), texts([(2, "later"), (3, "c"), (9, "more")]));
}

#[test]
fn commits_of_many_rows_and_definitions_come_after_what_is_in_the_log() {
    let folder = TestFolder::new();
    let (logged, _) = filled(&folder);
    let many = (2..=MAX_ROWS as i64 + 2).map(|key| (key, "many"));
    logged.commit(&mut [put(many)]).unwrap();
    let killed = folder.killed_after(&logged, []);
    assert_eq!(commits_in_files(&killed), 0);
    let found = rows(&*killed.open(PATIENT).snapshot());
    assert_eq!((found.len(), &*found[&2], &*found[&3]), (MAX_ROWS + 1, "many", "many"));
}

/// An engine that fails on demand.
struct Failing(SqliteStorage, Arc<Faults>);

/// The ways in which the engine fails.
#[derive(Default)]
struct Faults {
    /// Commits fail, and nothing is written.
    commits: AtomicBool,
    /// Commits are written, and fail nevertheless.
    acknowledgements: AtomicBool,
    /// Nothing can be settled.
    settling: AtomicBool,
}

impl Faults {
    fn set(fault: &AtomicBool, happens: bool) {
        fault.store(happens, Ordering::Relaxed);
    }

    fn fail_if(fault: &AtomicBool) -> Result<(), StorageError> {
        match fault.load(Ordering::Relaxed) {
            true => Err(StorageError::Engine { engine: "test", action: "write", message: "full".to_string() }),
            false => Ok(()),
        }
    }
}

impl Storage for Failing {
    fn opened(&self) -> Result<Opened, StorageError> {
        self.0.opened()
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        self.0.snapshot()
    }

    fn commit(&self, changes: &mut [ChangeSet]) -> Result<Arc<dyn Snapshot>, StorageError> {
        Faults::fail_if(&self.1.commits)?;
        let snapshot = self.0.commit(changes)?;
        Faults::fail_if(&self.1.acknowledgements).map(|()| snapshot)
    }

    fn settle(&self) -> Result<(), StorageError> {
        Faults::fail_if(&self.1.settling)?;
        self.0.settle()
    }
}

#[test]
fn an_engine_that_fails_costs_nothing_that_was_acknowledged() {
    let (folder, faults) = (TestFolder::new(), Arc::new(Faults::default()));
    let text = r#"{"commit_log_mb": 0.001}"#;
    let logged = folder.open_over(text, |storage| Box::new(Failing(storage, faults.clone())));
    logged.commit(&mut [relation()]).unwrap();
    Faults::set(&faults.commits, true);
    let mut expected = BTreeMap::new();
    let refusal = (0..).find_map(|key| {
        logged.before_commit();
        let outcome = logged.commit(&mut [put([(key, "kept")])]);
        if outcome.is_ok() {
            expected.insert(key, "kept".to_string());
        }
        outcome.err()
    });
    assert!(matches!(refusal, Some(StorageError::Engine { engine: "test", .. })), "{refusal:?}");
    assert!(expected.len() > 5, "the log takes commits for a while");
    assert_eq!(rows(&*logged.snapshot()), expected);
    assert_eq!(rows(&*folder.killed_after(&logged, []).open(text).snapshot()), expected);
    Faults::set(&faults.commits, false);
    logged.commit(&mut [put([(1000, "again")])]).unwrap();
    expected.insert(1000, "again".to_string());
    assert_eq!(rows(&*logged.snapshot()), expected);
    drop(logged);
    assert_eq!(rows(&*folder.open(text).snapshot()), expected);
}

#[test]
fn the_thread_applies_commits_soon_by_itself() {
    let folder = TestFolder::new();
    let (logged, _) = filled(&folder);
    let is_applied = || logged.shared.state.lock().bytes == 0;
    let begin = std::time::Instant::now();
    while !is_applied() {
        assert!(begin.elapsed() < Duration::from_secs(60), "nothing is applied");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(rows(&*logged.shared.base.snapshot()), texts([(2, "d"), (3, "c")]));
}

#[test]
fn commits_of_large_values_go_to_the_engine() {
    let folder = TestFolder::new();
    let (logged, _) = filled(&folder);
    let large: &str = "x".repeat(MAX_BYTES).leak();
    let killed = folder.killed_after(&logged, []);
    logged.commit(&mut [put([(2, large)])]).unwrap();
    assert_eq!(commits_in_files(&folder), 0);
    assert_eq!(rows(&*logged.snapshot())[&2], large);
    assert_eq!(commits(&killed), Some(4));
}

#[cfg(unix)]
#[test]
fn files_of_any_name_are_found() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let place = Place::beside(&folder.path().join(std::ffi::OsStr::from_bytes(b"\xff")));
    file::LogFile::create(&place, 1, 42, true).unwrap();
    assert_eq!(file::numbers(&place).unwrap(), [42]);
}
