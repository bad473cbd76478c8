//! Tests of database files: their contents, their locks, and what other programs see of them.

use super::*;
use crate::schema::BaseType;
use crate::storage::Durability;
use crate::value::DataValue;

fn friends() -> SchemaRef {
    let of = |base, nullable| ColumnType { base, nullable };
    let columns = [
        ("fr", of(BaseType::String, false)),
        ("to", of(BaseType::Int, false)),
        ("since", of(BaseType::Float, true)),
        ("close", of(BaseType::Bool, true)),
        ("note", ColumnType::ANY),
        ("data", of(BaseType::Json, true)),
    ];
    relation(1, "friends", 2, &columns)
}

fn friends_rows() -> Vec<Tuple> {
    let json = DataValue::Json(crate::value::JsonData(serde_json::json!({"x": [1, -0.0]})));
    vec![
        vec!["ann".into(), 1.into(), 1.5.into(), true.into(), "hi".into(), json],
        vec!["bob".into(), 2.into(), DataValue::Null, DataValue::Null, 7.into(), DataValue::Null],
    ]
}

#[test]
fn any_program_reads_the_tables() {
    let file = TestFile::new();
    let storage = file.open().unwrap();
    storage.commit(&mut [created(&friends(), &friends_rows())]).unwrap();
    let read = || -> Vec<String> {
        let connection = file.plain();
        let columns =
            "fr || ' ' || \"to\" || ' ' || ifnull(since, 'never') || ' ' || ifnull(close, '?') || ' ' || note";
        let json = "ifnull(json_extract(data, '$.x[0]'), '-')";
        let query = format!("select {columns} || ' ' || {json} from friends");
        let mut statement = connection.prepare(&query).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let expected = ["ann 1 1.5 1 hi 1", "bob 2 never ? 7 -"];
    assert_eq!(read(), expected, "while it is open");
    drop(storage);
    assert_eq!(file.files(), [FILE, &format!("{FILE}-lock")], "the log is written back");
    assert_eq!(read(), expected);
    let application: i64 = file.plain().query_row("pragma application_id", [], |row| row.get(0)).unwrap();
    assert_ne!(application, 0);
    assert_eq!(all_rows(&file.open().unwrap(), &friends()), friends_rows());
}

/// Older versions did not use the row number for a key of a single integer.
#[test]
fn a_single_integer_key_is_the_row_number_and_older_tables_remain_usable() {
    let int = ColumnType { base: BaseType::Int, nullable: false };
    let schema = relation(1, "r", 1, &[("k", int), ("v", ColumnType::ANY)]);
    let row = |key: i64| vec![key.into(), format!("row {key}").into()];
    let rows: Vec<Tuple> = [i64::MIN, -1, 0, 7, i64::MAX].map(row).to_vec();
    let definition = |file: &TestFile| -> String {
        let query = "select sql from sqlite_schema where name = 'r'";
        file.plain().query_row(query, [], |row| row.get(0)).unwrap()
    };

    let file = TestFile::new();
    file.open().unwrap().commit(&mut [created(&schema, &rows)]).unwrap();
    assert!(!definition(&file).contains("without rowid"), "{}", definition(&file));
    assert_eq!(all_rows(&file.open().unwrap(), &schema), rows);

    let older = "create table older (k integer, v, primary key (k)) without rowid;
        insert into older select * from r; drop table r; alter table older rename to r;";
    file.plain().execute_batch(older).unwrap();
    let storage = file.open().unwrap();
    assert_eq!(all_rows(&storage, &schema), rows);
    storage.commit(&mut [put(&schema, &[row(7), row(8)])]).unwrap();
    drop(storage);
    assert_eq!(all_rows(&file.open().unwrap(), &schema), [&rows[..4], &[row(8)], &rows[4..]].concat());
    assert!(definition(&file).contains("without rowid"), "{}", definition(&file));
}

#[test]
fn commits_outlive_the_engine_with_either_durability() {
    for durability in [Durability::Os, Durability::Disk] {
        let file = TestFile::new();
        let open = || SqliteStorage::open(&file.path(), &Options { durability, ..Options::default() }).unwrap();
        let storage = open();
        storage.commit(&mut [created(&friends(), &friends_rows())]).unwrap();
        std::mem::forget(storage.snapshot());
        let copy = TestFile::new();
        // The files that a process leaves if it ends at this point.
        for name in [FILE, &format!("{FILE}-wal")] {
            std::fs::copy(file.folder.path().join(name), copy.folder.path().join(name)).unwrap();
        }
        assert_eq!(all_rows(&copy.open().unwrap(), &friends()), friends_rows());
    }
}

#[test]
fn a_database_is_open_for_writing_once() {
    let file = TestFile::new();
    let storage = file.open().unwrap();
    storage.commit(&mut [created(&friends(), &friends_rows())]).unwrap();
    assert!(matches!(file.open().err().unwrap(), StorageError::Locked(_)));

    let reader = file.open_to_read().unwrap();
    let more = vec![vec!["cid".into(), 3.into(), 2.5.into(), false.into(), DataValue::Null, DataValue::Null]];
    storage.commit(&mut [put(&friends(), &more)]).unwrap();
    assert_eq!(all_rows(&reader, &friends()), friends_rows(), "as it was when it was opened");
    assert_eq!(reader.opened().unwrap().definitions, [friends()]);
    assert!(matches!(reader.commit(&mut []).err().unwrap(), StorageError::ReadOnly));
    drop(reader);
    assert_eq!(all_rows(&file.open_to_read().unwrap(), &friends()).len(), 3);

    let snapshot = storage.snapshot();
    drop(storage);
    assert!(matches!(file.open().err().unwrap(), StorageError::Locked(_)), "a snapshot is in use");
    assert_eq!(rows_of(&*snapshot, &friends(), &KeyRange::all()).len(), 3);
    drop(snapshot);
    assert_eq!(all_rows(&file.open().unwrap(), &friends()).len(), 3);
}

#[test]
fn files_of_others_are_left_alone() {
    let sqlite = |sql: &'static str| move |file: &TestFile| file.plain().execute_batch(sql).unwrap();
    let text = |file: &TestFile| std::fs::write(file.path(), "id,name\n1,ann\n".repeat(100)).unwrap();
    let cozo = "create table cozo (k BLOB primary key, v BLOB); insert into cozo values (x'00', x'00');";
    type Make<'a> = &'a dyn Fn(&TestFile);
    let cases: [(Make, &str); 5] = [
        (&text, "no SQLite file"),
        (&sqlite("create table t (x); insert into t values (1);"), "another program"),
        (&sqlite(cozo), "CozoDB 0.7"),
        (&sqlite("create table cozo (k, v, w);"), "another program"),
        (&sqlite("pragma journal_mode = wal; create table t (x); insert into t values (1);"), "another program"),
    ];
    for (make, found) in cases {
        let file = TestFile::new();
        make(&file);
        let before = std::fs::read(file.path()).unwrap();
        for error in [file.open().err().unwrap(), file.open_to_read().err().unwrap()] {
            assert!(matches!(error, StorageError::NotADatabase { .. }), "{error}");
            assert!(error.to_string().contains(found), "{error}");
        }
        assert!(std::fs::read(file.path()).unwrap() == before, "{found}");
        assert_eq!(file.files(), [FILE]);
    }
    let file = TestFile::new();
    std::fs::create_dir(file.path()).unwrap();
    assert!(matches!(file.open().err().unwrap(), StorageError::NotADatabase { .. }));
}

#[test]
fn newer_formats_are_left_alone() {
    let file = TestFile::new();
    drop(file.open().unwrap());
    file.plain().execute_batch("pragma user_version = 99").unwrap();
    for error in [file.open().err().unwrap(), file.open_to_read().err().unwrap()] {
        assert!(matches!(error, StorageError::NewerFormat { found: 99, known: 1, .. }), "{error}");
    }
}

#[test]
fn empty_files_become_databases_and_bad_paths_are_errors() {
    let file = TestFile::new();
    assert!(matches!(file.open_to_read().err().unwrap(), StorageError::NotADatabase { .. }));
    assert!(file.files().is_empty());
    std::fs::write(file.path(), "").unwrap();
    file.open().unwrap().commit(&mut [created(&friends(), &friends_rows())]).unwrap();
    assert_eq!(all_rows(&file.open().unwrap(), &friends()), friends_rows());
    for path in ["", "/no/such/folder/db"] {
        assert!(matches!(SqliteStorage::open(path.as_ref(), &Options::default()), Err(StorageError::Engine { .. })));
    }
}

#[test]
fn a_missing_table_is_damage() {
    let file = TestFile::new();
    file.open().unwrap().commit(&mut [created(&friends(), &friends_rows())]).unwrap();
    file.plain().execute_batch("drop table friends").unwrap();
    assert!(matches!(file.open().err().unwrap(), StorageError::Damaged(_)));
}

#[test]
fn files_are_written_from_sorted_rows() {
    let file = TestFile::new();
    let mut writer = FileWriter::create(&file.path()).unwrap();
    writer.relation(&friends()).unwrap();
    for row in friends_rows() {
        writer.append(friends().id, &Batch::from_rows(6, [&row[..]])).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(file.files(), [FILE]);
    assert!(FileWriter::create(&file.path()).is_err(), "there is a file");
    let storage = file.open().unwrap();
    assert_eq!(storage.snapshot().row_count(friends().id), 2);
    assert_eq!(
        (storage.opened().unwrap().definitions, all_rows(&storage, &friends())),
        (vec![friends()], friends_rows())
    );

    let unfinished = TestFile::new();
    let mut writer = FileWriter::create(&unfinished.path()).unwrap();
    writer.relation(&friends()).unwrap();
    drop(writer);
    assert!(unfinished.files().is_empty());
}

#[cfg(unix)]
#[test]
fn a_file_of_two_names_is_not_opened_for_writing() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("db"), folder.path().join("link"));
    drop(SqliteStorage::open(&path, &Options::default()).unwrap());
    std::fs::hard_link(&path, &other).unwrap();
    for path in [&path, &other] {
        let refusal = SqliteStorage::open(path, &Options::default()).err().unwrap();
        assert!(
            matches!(&refusal, StorageError::NotADatabase { found, .. } if found.contains("hard link")),
            "{refusal}"
        );
    }
    std::fs::remove_file(&other).unwrap();
    drop(SqliteStorage::open(&path, &Options::default()).unwrap());
}

#[test]
fn a_database_whose_making_was_cut_short_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let connection = Connection::open(path("making")).unwrap();
    connection.execute_batch("pragma page_size = 512; begin immediate; create table t (a)").unwrap();
    connection.cache_flush().unwrap();
    // As if the process were killed here: pages are written, and the journal says that there were none.
    for end in ["", "-journal"] {
        std::fs::copy(path(&format!("making{end}")), path(&format!("db{end}"))).unwrap();
    }
    assert!(std::fs::metadata(path("db")).unwrap().len() > 0);
    let storage = SqliteStorage::open(&path("db"), &Options::default()).unwrap();
    assert!(storage.opened().unwrap().definitions.is_empty());
}

/// SQLite would read the missing pages as zeros, and overwrite them.
#[test]
fn a_file_that_was_cut_off_is_refused_and_stays() {
    let file = TestFile::new();
    let schema = relation(1, "r", 1, &[("k", ColumnType::ANY)]);
    let rows: Vec<Tuple> = (0..5000).map(|key| vec![key.into()]).collect();
    file.open().unwrap().commit(&mut [created(&schema, &rows)]).unwrap();
    let whole = std::fs::read(file.path()).unwrap();
    for len in [whole.len() - 1, whole.len() - 4096, 4096, 4097] {
        std::fs::write(file.path(), &whole[..len]).unwrap();
        let refusal = file.open().err().expect("it is refused").to_string();
        assert!(refusal.contains(&format!("it has {len} bytes of {}", whole.len())), "{refusal}");
        assert_eq!(std::fs::read(file.path()).unwrap(), whole[..len]);
    }
    std::fs::write(file.path(), &whole).unwrap();
    assert_eq!(all_rows(&file.open().unwrap(), &schema), rows);
}
