//! The size of the log, failing writes, compaction, and snapshots under commits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::wal::CheckpointMode;

use super::super::log::LogKeeper;
use super::*;
use crate::schema::BaseType;
use crate::value::DataValue;

fn table() -> SchemaRef {
    relation(1, "r", 1, &[("k", ColumnType { base: BaseType::Int, nullable: false }), ("v", ColumnType::ANY)])
}

/// Rows that fill some pages.
fn rows(first: i64, count: i64) -> Vec<Tuple> {
    rows_of_step(first, count, 0)
}

/// Rows that differ from step to step, since SQLite does not write unchanged rows.
fn rows_of_step(first: i64, count: i64, step: i64) -> Vec<Tuple> {
    (first..first + count).map(|i| vec![i.into(), format!("{step:01000}").into()]).collect()
}

fn pages_in_log(file: &TestFile) -> u64 {
    std::fs::metadata(file.folder.path().join(format!("{FILE}-wal"))).map_or(0, |log| log.len() / 4096)
}

fn open_with_short_log(file: &TestFile) -> SqliteStorage {
    let storage = file.open().unwrap();
    storage.with_writer(|connection, log| {
        connection.execute_batch("pragma journal_size_limit = 0").unwrap();
        *log = LogKeeper::new(200);
    });
    storage.commit(&mut [created(&table(), &[])]).unwrap();
    storage
}

/// Commits about 6 000 pages. Returns the greatest number of pages in the log.
fn commit_much(file: &TestFile, storage: &SqliteStorage) -> u64 {
    (0..400)
        .map(|step| {
            storage.before_commit();
            storage.commit(&mut [put(&table(), &rows_of_step(step % 7 * 50, 50, step + 1))]).unwrap();
            pages_in_log(file)
        })
        .max()
        .unwrap()
}

#[test]
fn the_log_is_written_back_beside_commits() {
    let file = TestFile::new();
    let storage = open_with_short_log(&file);
    storage.commit(&mut [put(&table(), &rows(0, 1000))]).unwrap();
    let is_written_back = || {
        storage.with_writer(|connection, _| {
            let (pages, written) = connection.wal_checkpoint_v2(None::<&str>, CheckpointMode::NOOP).unwrap();
            assert!(pages > 200, "{pages}");
            pages == written
        })
    };
    assert!(!is_written_back(), "nobody was asked to");
    storage.before_commit();
    let begin = Instant::now();
    while !is_written_back() {
        assert!(begin.elapsed() < Duration::from_secs(60), "nobody does it");
        std::thread::sleep(Duration::from_millis(1));
    }
    storage.before_commit();
    storage.commit(&mut [put(&table(), &rows(1000, 1))]).unwrap();
    assert!(pages_in_log(&file) < 100, "{}", pages_in_log(&file));
    assert_eq!(all_rows(&storage, &table()), rows(0, 1001));
}

#[test]
fn the_log_stays_short_while_the_newest_snapshot_is_read() {
    let file = TestFile::new();
    let storage = open_with_short_log(&file);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                all_rows(&storage, &table());
            }
        });
        let pages = commit_much(&file, &storage);
        done.store(true, Ordering::Relaxed);
        assert!(pages < 2000, "{pages}");
    });
}

#[test]
fn the_log_stays_short_while_there_is_always_an_old_snapshot() {
    let file = TestFile::new();
    let storage = open_with_short_log(&file);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut old = storage.snapshot();
            while !done.load(Ordering::Relaxed) {
                rows_of(&*old, &table(), &KeyRange::all());
                let next = storage.snapshot();
                rows_of(&*next, &table(), &KeyRange::all());
                old = next;
            }
        });
        let pages = commit_much(&file, &storage);
        done.store(true, Ordering::Relaxed);
        assert!(pages < 4000, "{pages}");
    });
}

#[test]
fn a_snapshot_that_is_held_is_kept_and_then_the_log_is_short_again() {
    let file = TestFile::new();
    let storage = open_with_short_log(&file);
    storage.commit(&mut [put(&table(), &rows(0, 3))]).unwrap();
    let held = storage.snapshot();
    let most = commit_much(&file, &storage);
    assert_eq!(rows_of(&*held, &table(), &KeyRange::all()), rows(0, 3));
    drop(held);
    for step in 0..5 {
        storage.before_commit();
        storage.commit(&mut [put(&table(), &rows_of_step(0, 300, step))]).unwrap();
    }
    assert!(pages_in_log(&file) < most / 2, "{} of {most}", pages_in_log(&file));
}

#[test]
fn what_fails_is_undone_and_the_engine_goes_on() {
    let file = TestFile::new();
    let storage = file.open().unwrap();
    storage.commit(&mut [created(&table(), &rows(0, 10))]).unwrap();
    let limit = |pages: i64| {
        storage.with_writer(|connection, _| {
            connection.query_row(&format!("pragma max_page_count = {pages}"), [], |_| Ok(())).unwrap();
        });
    };
    limit(10);
    let other = relation(2, "other", 1, &[("k", ColumnType::ANY)]);
    let changes = [created(&other, &[vec![1.into()]]), put(&table(), &rows(5, 1000))];
    let error = storage.commit(&mut changes.clone()).err().unwrap();
    assert!(matches!(error, StorageError::Engine { .. }) && error.to_string().contains("full"), "{error}");
    let unchanged = |storage: &SqliteStorage| {
        assert_eq!(all_rows(storage, &table()), rows(0, 10));
        assert_eq!(storage.snapshot().row_count(table().id), 10);
        assert!(all_rows(storage, &other).is_empty());
        assert_eq!(storage.opened().unwrap().definitions, [table()]);
    };
    unchanged(&storage);
    limit(1_000_000);
    unchanged(&storage);
    drop(storage);
    let storage = file.open().unwrap();
    unchanged(&storage);
    storage.commit(&mut changes.clone()).unwrap();
    assert_eq!(storage.snapshot().row_count(table().id), 1005);
}

#[test]
fn numbers_of_rows_follow_changes() {
    let file = TestFile::new();
    let storage = file.open().unwrap();
    let key = |i: i64| vec![DataValue::from(i)];
    storage.commit(&mut [created(&table(), &rows(0, 1000)), put(&table(), &rows(500, 777))]).unwrap();
    let keys: Vec<Tuple> = (1200..1400).map(key).collect();
    let keys = Batch::from_rows(1, keys.iter().map(Vec::as_slice));
    let removed = RowChanges::new(table().id, ChangeKind::Remove, keys);
    storage.commit(&mut [ChangeSet::of_rows(vec![removed])]).unwrap();
    assert_eq!(storage.snapshot().row_count(table().id), 1200);
    drop(storage);
    assert_eq!(file.open().unwrap().snapshot().row_count(table().id), 1200);
}

#[test]
fn compaction_gives_space_back() {
    let file = TestFile::new();
    let storage = file.open().unwrap();
    storage.commit(&mut [created(&table(), &rows(0, 2000))]).unwrap();
    let held = storage.snapshot();
    let keys: Vec<Tuple> = (10..2000i64).map(|i| vec![i.into()]).collect();
    let rows_gone = Batch::from_rows(1, keys.iter().map(Vec::as_slice));
    let removed = RowChanges::new(table().id, ChangeKind::Remove, rows_gone);
    storage.commit(&mut [ChangeSet::of_rows(vec![removed])]).unwrap();
    storage.compact().unwrap();
    assert_eq!(rows_of(&*held, &table(), &KeyRange::all()).len(), 2000);
    drop(held);
    storage.compact().unwrap();
    let size = std::fs::metadata(file.path()).unwrap().len();
    assert!(size < 100_000 && pages_in_log(&file) == 0, "{size} {}", pages_in_log(&file));
    assert_eq!(all_rows(&storage, &table()), rows(0, 10));
    storage.commit(&mut [put(&table(), &rows(10, 1))]).unwrap();
}

#[test]
fn many_readers_see_whole_commits() {
    let file = TestFile::new();
    let storage = open_with_short_log(&file);
    let rows_of_commit = |step: i64| -> Vec<Tuple> { (0..20i64).map(|i| vec![i.into(), step.into()]).collect() };
    storage.commit(&mut [put(&table(), &rows_of_commit(0))]).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let snapshot = storage.snapshot();
                    let first = rows_of(&*snapshot, &table(), &KeyRange::all());
                    assert!(first.len() == 20 && first.iter().all(|row| row[1] == first[0][1]), "{first:?}");
                    assert_eq!(rows_of(&*snapshot, &table(), &KeyRange::all()), first);
                }
            });
        }
        (1..1000).for_each(|step| drop(storage.commit(&mut [put(&table(), &rows_of_commit(step))]).unwrap()));
        done.store(true, Ordering::Relaxed);
    });
}
