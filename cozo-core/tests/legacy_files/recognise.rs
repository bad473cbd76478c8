//! What a path holds, and that nothing is changed by looking.

use std::path::Path;

use cozo::legacy::{FileKind, LegacyFile, recognise};
use cozo::storage::StorageError;
use rusqlite::Connection;

use super::{copy_of, knows, rows_of};

const LAST_ID: &str = "x'000000000000000001'";
const VERSION: &str = "x'00000000000000000106 53544f524147455f ff 56455253494f4e00 fe'";

/// What a file is that SQL was run in.
fn kind_after(sql: &str) -> FileKind {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.db");
    Connection::open(&path).unwrap().execute_batch(&sql.replace("VERSION", &VERSION.replace(' ', ""))).unwrap();
    let kind = recognise(&path).unwrap();
    assert_eq!(LegacyFile::open(&path).is_ok(), kind == FileKind::Cozo07);
    kind
}

#[test]
fn each_kind_of_file_is_recognised() {
    let table = "CREATE TABLE cozo ( k BLOB primary key, v BLOB )";
    for (sql, kind) in [
        (format!("{table}; INSERT INTO cozo VALUES (VERSION, x'00')"), FileKind::Cozo07),
        (format!("CREATE TABLE mine (x); {table}; INSERT INTO cozo VALUES (VERSION, x'00')"), FileKind::Cozo07),
        (format!("{table}; INSERT INTO cozo VALUES (VERSION, x'01')"), FileKind::UnknownVersion("01".to_string())),
        (format!("{table}; INSERT INTO cozo VALUES ({LAST_ID}, x'0000000000000003')"), FileKind::TooOld),
        (table.to_string(), FileKind::CutShort),
        (format!("{table}; INSERT INTO cozo VALUES (x'00', x'00')"), FileKind::OtherSqlite),
        ("CREATE TABLE other (k BLOB primary key, v BLOB)".to_string(), FileKind::OtherSqlite),
        ("CREATE TABLE cozo (k BLOB primary key, v BLOB, w)".to_string(), FileKind::OtherSqlite),
        ("CREATE TABLE cozo (k TEXT primary key, v BLOB)".to_string(), FileKind::OtherSqlite),
        ("CREATE TABLE cozo (k BLOB, v BLOB)".to_string(), FileKind::OtherSqlite),
        ("CREATE VIEW cozo AS SELECT x'00' AS k, x'00' AS v".to_string(), FileKind::OtherSqlite),
    ] {
        assert_eq!(kind_after(&sql), kind, "{sql}");
    }
}

#[test]
fn what_is_no_sqlite_file_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let refusal = |path: &Path| match LegacyFile::open(path).err().unwrap() {
        StorageError::NotADatabase { found, help, .. } => format!("{found}: {help}"),
        other => panic!("{other:?}"),
    };
    assert!(matches!(recognise(&path), Err(StorageError::Engine { action: "open a file", .. })));
    assert!(refusal(folder.path()).starts_with("a directory: "));
    std::fs::write(&path, "").unwrap();
    assert!(refusal(&path).starts_with("an empty file: "));
    std::fs::write(&path, "SQLite format 2").unwrap();
    assert!(refusal(&path).starts_with("a file of another kind: "));
    std::fs::write(&path, "SQLite format 3\0 and nothing that is one").unwrap();
    assert!(matches!(recognise(&path), Err(StorageError::Damaged(_))), "{:?}", recognise(&path));
    std::fs::create_dir(folder.path().join("data")).unwrap();
    std::fs::write(folder.path().join("manifest"), "").unwrap();
    assert_eq!(recognise(folder.path()).unwrap(), FileKind::RocksDb);
    assert!(refusal(folder.path()).contains("make a backup with CozoDB 0.7"));
}

/// The names and contents of the files in a folder.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.map(|path| (path.display().to_string(), std::fs::read(path).unwrap())).collect();
    files.sort();
    files
}

/// Reads everything of a file; gives the number of rows of `old`.
fn rows_of_old(path: &Path) -> u64 {
    let file = LegacyFile::open(path).unwrap();
    file.report(&knows).unwrap();
    let read = file.relations().iter().map(|relation| (&relation.schema.name, rows_of(&file, relation).unwrap().1));
    read.filter(|(name, _)| *name == "old").map(|(_, read)| read.rows).sum()
}

#[test]
fn reading_changes_nothing() {
    let (folder, path) = copy_of("broken");
    let before = contents(folder.path());
    assert_eq!(rows_of_old(&path), 2);
    assert!(contents(folder.path()) == before);
}

#[test]
fn an_unfinished_write_is_rolled_back_in_a_copy() {
    let (folder, path) = copy_of("broken");
    // Pages go to the file before the end of a transaction when the cache is full.
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA cache_size = 2; PRAGMA synchronous = OFF; BEGIN; DELETE FROM cozo").unwrap();
    connection
        .execute_batch(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
             INSERT INTO cozo SELECT cast(i AS BLOB), zeroblob(100) FROM n",
        )
        .unwrap();
    // What a killed process leaves behind.
    let killed = tempfile::tempdir().unwrap();
    for (file, bytes) in contents(folder.path()) {
        std::fs::write(killed.path().join(Path::new(&file).file_name().unwrap()), bytes).unwrap();
    }
    drop(connection);
    let (path, before) = (killed.path().join("copy.db"), contents(killed.path()));
    assert_eq!(before.len(), 2, "there is a journal");
    assert!(before[0].1 != std::fs::read(super::sample("broken")).unwrap(), "the file is half written");
    assert_eq!(rows_of_old(&path), 2);
    assert!(contents(killed.path()) == before);
}

#[test]
fn a_log_beside_the_file_is_read_and_left_alone() {
    let (folder, path) = copy_of("broken");
    let connection = Connection::open(&path).unwrap();
    let mode: String = connection.query_row("PRAGMA journal_mode = wal", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    connection
        .execute("DELETE FROM cozo WHERE k = (SELECT max(k) FROM cozo WHERE k < x'0000000000000002')", [])
        .unwrap();
    let before = contents(folder.path());
    assert!(before.len() > 1, "there is a log");
    assert_eq!(rows_of_old(&path), 2, "the row that was deleted is one of 'fresh'");
    assert!(contents(folder.path()) == before);
}
