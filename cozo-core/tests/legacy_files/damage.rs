//! Damaged files: an error or a report, never a panic, and nothing that disappears.

use std::path::Path;

use cozo::DataValue;
use cozo::legacy::{LegacyFile, Remnant};
use cozo::storage::StorageError;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rusqlite::{Connection, params};

use super::{copy_of, knows, rows_of};

/// The key of a row: the id of its relation, then bytes in hexadecimal digits.
fn key_of(id: u64, rest: &str) -> Vec<u8> {
    let digits = |text: &str| -> Vec<u8> {
        let text = text.replace(' ', "");
        (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
    };
    [id.to_be_bytes().to_vec(), digits(rest)].concat()
}

/// The sample `types` with one more row.
fn with_row(key: &[u8], value: &[u8]) -> (tempfile::TempDir, LegacyFile) {
    let (folder, path) = copy_of("types");
    let connection = Connection::open(&path).unwrap();
    connection.execute("INSERT OR REPLACE INTO cozo VALUES (?, ?)", params![key, value]).unwrap();
    drop(connection);
    let file = LegacyFile::open(&path).unwrap();
    (folder, file)
}

/// `key_int {k: Int}` and `key_bytes {k: Bytes => n: Int}` of the sample `types`.
const KEY_INT: u64 = 2;
const KEY_BYTES: u64 = 5;

#[test]
fn rows_that_do_not_fit_are_reported() {
    let one_and_a_half = "05 bff8000000000000 10";
    let one_as_float = "05 bff0000000000000 10";
    for (key, reason) in [
        (key_of(KEY_INT, one_and_a_half), "column 'k': 1.5 of type Float does not fit the type Int"),
        (key_of(KEY_INT, one_as_float), "the key column 'k' of type Int holds a value of type Float"),
        (key_of(KEY_INT, "01"), "column 'k': null does not fit the type Int"),
        (key_of(KEY_INT, "0101"), "it has 2 key and 0 value columns, not 1 and 0"),
        (key_of(KEY_INT, ""), "it has 0 key and 0 value columns, not 1 and 0"),
    ] {
        let (_folder, file) = with_row(&key, &[]);
        let relation = file.relations().iter().find(|relation| relation.schema.id.0 == KEY_INT).unwrap();
        let report = file.report(&knows).unwrap();
        let counted = report.relations.iter().find(|counted| counted.name == relation.schema.name).unwrap();
        let (rows, read) = rows_of(&file, relation).unwrap();
        assert_eq!((read.rows + 1, read.refused), (counted.rows_in_file, 1));
        assert_eq!(rows.len() as u64, read.rows);
        assert_eq!(read.examples[0].reason, reason);
        let error = read.require_all(counted).unwrap_err().to_string();
        assert!(error.contains("relation 'key_int'") && error.contains(&read.examples[0].key), "{error}");
    }
}

#[test]
fn values_are_converted_and_counted() {
    let float: &[u8] =
        &[&KEY_BYTES.to_be_bytes()[..], b"\x91\x81\xa3Num\x81\xa5Float\xcb\x40\x08\0\0\0\0\0\0"].concat();
    let (_folder, file) = with_row(&key_of(KEY_BYTES, "07 0102000000000000 f9"), float);
    let relation = file.relations().iter().find(|relation| relation.schema.id.0 == KEY_BYTES).unwrap();
    let (rows, read) = rows_of(&file, relation).unwrap();
    assert!(rows.contains(&vec![DataValue::Bytes(vec![1, 2]), 3.into()]), "{rows:?}");
    assert_eq!((read.converted, read.refused), (1, 0));
}

#[test]
fn remnants_are_counted() {
    let (_folder, file) = with_row(&key_of(77, "01"), &[]);
    assert_eq!(file.report(&knows).unwrap().remnants, [Remnant { id: Some(77), rows: 1 }]);
    let (_folder, file) = with_row(&key_of(u64::MAX, "01"), &[]);
    assert_eq!(file.report(&knows).unwrap().remnants, [Remnant { id: Some(u64::MAX), rows: 1 }]);
    let (_folder, file) = with_row(&[9], &[]);
    assert_eq!(file.report(&knows).unwrap().remnants, [Remnant { id: None, rows: 1 }]);
}

#[test]
fn rows_under_a_shared_id_that_fit_none_or_several_are_refused() {
    let (_folder, path) = copy_of("broken");
    let connection = Connection::open(&path).unwrap();
    // 'twin' is defined as 'other' is, with the same id.
    let twin = "INSERT INTO cozo SELECT x'0000000000000000067477696e00000000fb', v FROM cozo
        WHERE k = x'0000000000000000066f74686572000000fc'";
    assert_eq!(connection.execute(twin, []).unwrap(), 1);
    connection.execute("INSERT INTO cozo VALUES (?, x'')", [key_of(2, "0101")]).unwrap();
    drop(connection);
    let file = LegacyFile::open(&path).unwrap();
    let report = file.report(&knows).unwrap();
    assert_eq!(report.warnings[0].message, "its definition gives it the name 'other'");
    let reasons = |name: &str| -> Vec<String> {
        let relation = file.relations().iter().find(|relation| relation.schema.name == name).unwrap();
        let read = rows_of(&file, relation).unwrap().1;
        read.examples.into_iter().map(|row| row.reason).collect()
    };
    let none = "it fits none of the relations that have this id";
    let several = |other: &str| format!("it may as well be a row of '{other}', which has the same id");
    assert_eq!(reasons("other"), [none.to_string(), several("twin")]);
    assert_eq!(reasons("twin"), [none.to_string(), several("other")]);
    assert_eq!(reasons("unreadable"), [none]);
}

#[test]
fn damage_names_the_relation_and_the_key() {
    for (key, value) in [
        (key_of(KEY_INT, "20"), &b""[..]),
        (key_of(KEY_INT, "05 bff0000000000000 00"), &b"\0\0\0"[..]),
        (key_of(KEY_INT, "05 bff0000000000000 00"), &b"\0\0\0\0\0\0\0\x02\x91"[..]),
    ] {
        let (_folder, file) = with_row(&key, value);
        let relation = file.relations().iter().find(|relation| relation.schema.id.0 == KEY_INT).unwrap();
        let Err(StorageError::Damaged(message)) = rows_of(&file, relation) else { panic!("{key:?}") };
        let digits: String = key[8..].iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(message.starts_with(&format!("relation 'key_int', key {digits}: ")), "{message}");
    }
}

#[test]
fn rows_that_are_not_found_by_their_keys_are_missed() {
    let (_folder, path) = copy_of("types");
    let connection = Connection::open(&path).unwrap();
    let root: i64 = connection
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_cozo_1'", [], |row| row.get(0))
        .unwrap();
    // Without its index the table takes a row that the index does not know.
    let hide = "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE type = 'index';
        UPDATE sqlite_schema SET sql = 'CREATE TABLE cozo (k BLOB, v BLOB)'";
    connection.execute_batch(hide).unwrap();
    drop(connection);
    let connection = Connection::open(&path).unwrap();
    connection.execute("INSERT INTO cozo VALUES (?, x'')", [key_of(KEY_INT, "05 40bff8000000000000 00")]).unwrap();
    let restore = format!(
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE cozo (k BLOB primary key, v BLOB)';
         INSERT INTO sqlite_schema VALUES ('index', 'sqlite_autoindex_cozo_1', 'cozo', {root}, NULL)"
    );
    connection.execute_batch(&restore).unwrap();
    drop(connection);
    let error = LegacyFile::open(&path).unwrap().report(&knows).unwrap_err();
    assert!(error.to_string().contains("by their keys"), "{error}");
}

/// Reads all that can be read; gives how many relations could not.
fn read_all(file: &LegacyFile) -> usize {
    let report = file.report(&knows).map(|report| report.relations);
    let outcome = |relation| rows_of(file, relation).map(|(rows, read)| assert_eq!(rows.len() as u64, read.rows));
    let failed = file.relations().iter().filter(|relation| outcome(*relation).is_err()).count();
    failed + usize::from(report.is_err())
}

/// One spoiled copy of some bytes.
fn spoiled(bytes: &[u8], random: &mut SmallRng) -> Vec<u8> {
    let mut spoiled = bytes.to_vec();
    match random.random_range(0..4) {
        0 => spoiled.truncate(random.random_range(0..=bytes.len())),
        1 => spoiled.insert(random.random_range(0..=bytes.len()), random.random()),
        _ if bytes.is_empty() => {}
        2 => spoiled[random.random_range(0..bytes.len())] = random.random(),
        _ => spoiled[random.random_range(0..bytes.len())] ^= 1 << random.random_range(0..8),
    }
    spoiled
}

/// Spoils a few rows of a file.
fn spoil_rows(path: &Path, random: &mut SmallRng) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA synchronous = OFF").unwrap();
    for _ in 0..random.random_range(1..4) {
        let sql = "SELECT rowid, k, v FROM cozo ORDER BY rowid LIMIT 1 OFFSET ? % (SELECT count(*) FROM cozo)";
        let row =
            connection.query_row(sql, [random.random::<u16>()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        let (rowid, key, value): (i64, Vec<u8>, Vec<u8>) = row.unwrap();
        let (column, bytes) = if random.random() { ("k", key) } else { ("v", value) };
        let sql = format!("UPDATE OR IGNORE cozo SET {column} = ? WHERE rowid = ?");
        connection.execute(&sql, params![spoiled(&bytes, random), rowid]).unwrap();
    }
}

#[test]
fn spoiled_rows_never_panic() {
    let mut random = SmallRng::seed_from_u64(7);
    let mut failures = 0;
    for name in ["types", "catalog", "odd", "broken"] {
        let (_folder, path) = copy_of(name);
        let sound = std::fs::read(&path).unwrap();
        for _ in 0..100 {
            std::fs::write(&path, &sound).unwrap();
            spoil_rows(&path, &mut random);
            failures += LegacyFile::open(&path).map_or(1, |file| read_all(&file));
        }
    }
    assert!(failures > 100, "spoiling shows: {failures}");
}

#[test]
fn spoiled_pages_never_panic() {
    let mut random = SmallRng::seed_from_u64(8);
    let (_folder, path) = copy_of("types");
    let sound = std::fs::read(&path).unwrap();
    let mut failures = 0;
    for round in 0..200 {
        let mut bytes = sound.clone();
        if round % 4 == 0 {
            bytes.truncate(random.random_range(0..bytes.len()));
        } else {
            let from = random.random_range(0..bytes.len() - 16);
            random.fill(&mut bytes[from..from + 16]);
        }
        std::fs::write(&path, bytes).unwrap();
        failures += LegacyFile::open(&path).map_or(1, |file| read_all(&file));
    }
    assert!(failures > 50, "spoiling shows: {failures}");
}
