//! Backups from every engine and into every engine, what is refused, and files of CozoDB 0.7.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{code, number, rows, run_with};
use crate::engines::{SETTINGS, Setting};
use cozo::{BackupProgress, DataValue, DbInstance, Interrupt, Strictness};

/// What fills the database of a test.
const SCRIPTS: &[&str] = &[
    "?[fr, to, since] := fr in int_range(300), to in int_range(10), since = if(to > 5, null, fr / 2)
     :create friends {fr: Int, to: Int => since: Float?}",
    "?[k, v] <- [[null, 1], [1, 1.0], [1.0, [1, [2]]], ['x', {'a': [1, 2.5]}], [to_uuid('00112233-4455-6677-8899-aabbccddeeff'), 'é'],
                 [[1, 'a'], -0.0], [true, to_float('NAN')], ['', decode_base64('AAECAw==')], [vec([1, 2.5]), json(null)]]
     :create anything {k => v}",
    "?[id, at, v] <- [[1, [10, true], 'a'], [1, [20, false], 'b'], [2, [5, true], 'c']] :create history {id: Int, at: Validity => v}",
    "::index create friends:since {since}",
    ":create log {a: Int, b: Int default 1 + 2}",
    "::set_triggers friends on put { ?[a] := _new[a, b, c] :put log {a} }",
    "::access_level read_only history",
    "::describe friends 'who knows whom'",
];

fn filled(setting: &Setting, folder: &Path) -> DbInstance {
    let db = setting.open(folder).unwrap();
    for script in SCRIPTS {
        rows(&db, script);
    }
    db
}

/// All that a database holds, as text, so that NaN equals itself.
fn contents(db: &DbInstance) -> String {
    let listed = rows(db, "::relations");
    let mut text: Vec<String> = vec![];
    for relation in &listed {
        let name = relation[0].get_str().unwrap();
        text.push(format!("{relation:?}"));
        // Indices are listed too, and compared with their relations by other means.
        for script in ["::columns", "::indices", "::show_triggers"].iter().filter(|_| !name.contains(':')) {
            text.push(format!("{script} {name}: {:?}", rows(db, &format!("{script} {name}"))));
        }
        let exported = db.export_relations([name].into_iter()).unwrap();
        text.push(format!("{name}: {:?} {:?}", exported[name].headers, exported[name].rows));
    }
    text.join("\n")
}

#[test]
fn backups_go_from_every_engine_into_every_engine() {
    let folder = tempfile::tempdir().unwrap();
    for (number_from, from) in SETTINGS.iter().enumerate() {
        let place = folder.path().join(number_from.to_string());
        std::fs::create_dir(&place).unwrap();
        let db = filled(from, &place);
        let file = place.join("backup.db");
        db.backup_db(&file).unwrap();
        let plain = rusqlite::Connection::open(&file).unwrap();
        let counted: i64 =
            plain.query_row("select count(*) from friends where since is null", [], |row| row.get(0)).unwrap();
        assert_eq!(counted, 1200, "any SQLite tool reads it");
        drop(plain);
        for (number_into, into) in SETTINGS.iter().enumerate() {
            let place = place.join(number_into.to_string());
            std::fs::create_dir(&place).unwrap();
            let restored = into.open(&place).unwrap();
            restored.restore_backup(&file).unwrap_or_else(|error| panic!("{from} into {into}: {error:?}"));
            assert_eq!(contents(&restored), contents(&db), "{from} into {into}");
            works_on(&restored);
            if into.is_persistent() {
                let before = contents(&restored);
                drop(restored);
                assert_eq!(contents(&into.open(&place).unwrap()), before, "{from} into {into}, opened again");
            }
        }
        let opened = DbInstance::new("sqlite", &file, "").unwrap();
        assert_eq!(contents(&opened), contents(&db), "a backup is a database");
    }
}

/// New relations, triggers and indices work after a restore.
fn works_on(db: &DbInstance) {
    rows(db, "?[a, b] <- [[1, 2]] :create new {a => b}");
    assert_eq!(number(db, "?[count(a)] := *new[a, b]"), 1);
    rows(db, "?[fr, to, since] <- [[1000, 1, 1077.5]] :put friends {fr, to => since}");
    assert_eq!(rows(db, "?[fr] := *friends:since{since: 1077.5, fr}"), [[DataValue::from(1000)]].map(Vec::from));
    assert_eq!(rows(db, "?[a, b] := *log[a, b]"), [[1000, 3].map(DataValue::from)].map(Vec::from));
    assert_eq!(number(db, "?[count(k)] := *anything[k, v]"), 9);
    assert_eq!(rows(db, "?[id] := *history{id @ 30}"), [[DataValue::from(2)]].map(Vec::from));
}

#[test]
fn what_cannot_be_restored_changes_nothing() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let source = filled(&SETTINGS[0], folder.path());
        source.backup_db(path("good.db")).unwrap();
        let good = std::fs::read(path("good.db")).unwrap();
        let db = setting.open(folder.path()).unwrap();
        for (name, bytes, expected) in [
            ("half.db", &good[..good.len() / 2], "storage::damaged"),
            ("header.db", &good[..100], "storage::damaged"),
            ("text.db", &b"no database at all, but long enough to be looked at"[..], "storage::not_a_database"),
            ("empty.db", &b""[..], "storage::not_a_database"),
        ] {
            std::fs::write(path(name), bytes).unwrap();
            let refused = db.restore_backup(path(name)).expect_err(name);
            assert_eq!(code(refused), expected, "{name}, {setting}");
        }
        rusqlite::Connection::open(path("other.db"))
            .unwrap()
            .execute_batch("create table t (a); insert into t values (1)")
            .unwrap();
        assert_eq!(code(db.restore_backup(path("other.db")).unwrap_err()), "storage::not_a_database");
        std::fs::write(path("newer.db"), &good).unwrap();
        rusqlite::Connection::open(path("newer.db")).unwrap().execute_batch("pragma user_version = 99").unwrap();
        assert_eq!(code(db.restore_backup(path("newer.db")).unwrap_err()), "storage::newer_format");
        assert_eq!(code(db.restore_backup(path("missing.db")).unwrap_err()), "backup::no_such_file");
        assert!(rows(&db, "::relations").is_empty(), "{setting}");
        rows(&db, ":create mine {a}");
        assert_eq!(code(db.restore_backup(path("good.db")).unwrap_err()), "backup::not_empty");
        assert_eq!(rows(&db, "::relations").len(), 1);
    }
}

#[test]
fn a_backup_never_writes_over_anything() {
    let folder = tempfile::tempdir().unwrap();
    let db = filled(&SETTINGS[0], folder.path());
    let path = |name: &str| folder.path().join(name);
    db.backup_db(path("backup.db")).unwrap();
    std::fs::write(path("notes.txt"), "mine").unwrap();
    for name in ["backup.db", "notes.txt", "."] {
        let before = std::fs::read(path(name)).ok();
        assert_eq!(code(db.backup_db(path(name)).expect_err(name)), "backup::target_exists", "{name}");
        assert_eq!(std::fs::read(path(name)).ok(), before);
    }
    assert_eq!(code(db.backup_db(path("no/such/folder.db")).unwrap_err()), "storage::engine");
    let left: Vec<PathBuf> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!left.iter().any(|path| path.to_string_lossy().contains("unfinished")), "{left:?}");
    drop(DbInstance::new("sqlite", path("fresh.db"), "").unwrap());
    db.backup_db(path("fresh.db")).unwrap();
}

#[test]
fn a_backup_is_of_one_moment_while_others_write() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let db = setting.open(folder.path()).unwrap();
        rows(&db, "{:create one {a: Int}} {:create two {a: Int}}");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for n in 0.. {
                    run_with(&db, "{?[a] := a = $n :put one {a}} {?[a] := a = $n :put two {a}}", &[("n", n)]).unwrap();
                    if done.load(Ordering::Relaxed) && n > 20 {
                        break;
                    }
                }
            });
            for round in 0..5 {
                let file = folder.path().join(format!("{round}.db"));
                db.backup_db(&file).unwrap();
                let restored = DbInstance::default();
                restored.restore_backup(&file).unwrap();
                let count = |relation: &str| number(&restored, &format!("?[count(a)] := *{relation}[a]"));
                assert_eq!(count("one"), count("two"), "{setting}");
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}

#[test]
fn progress_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let db = filled(&SETTINGS[0], folder.path());
    let (file, mut seen) = (folder.path().join("backup.db"), vec![]);
    db.backup_with_progress(&file, |progress| seen.push(progress.clone())).unwrap();
    let total = 2 * 3000 + 9 + 3;
    assert!(seen.iter().all(|progress| progress.total_rows == total));
    assert!(seen.windows(2).all(|pair| pair[0].rows <= pair[1].rows));
    assert_eq!(seen.last().map(|progress| progress.rows), Some(total));
    assert!(seen.iter().any(|progress| progress.relation == "friends:since"));
    let mut rows = 0;
    let remarks = DbInstance::default()
        .restore_with_progress(&file, Strictness::EveryRow, |progress| rows = progress.rows)
        .unwrap();
    assert_eq!((rows, remarks.len()), (total, 0));
}

#[test]
fn a_backup_that_is_stopped_leaves_no_file_and_a_restore_no_rows() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let source = filled(&SETTINGS[0], folder.path());
        let file = folder.path().join("backup.db");
        let names = || {
            let entries = std::fs::read_dir(folder.path()).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let before = names();
        let interrupt = Interrupt::default();
        let stopped = source.backup_interruptible(&file, &interrupt, |_| interrupt.kill()).unwrap_err();
        assert_eq!((code(stopped).as_str(), names()), ("eval::killed", before), "{setting}");
        source.backup_db(&file).unwrap();

        let place = tempfile::tempdir().unwrap();
        let db = setting.open(place.path()).unwrap();
        let interrupt = Interrupt::default();
        let stop = |progress: &BackupProgress| {
            if progress.rows > 3000 {
                interrupt.kill();
            }
        };
        let stopped = db.restore_interruptible(&file, Strictness::EveryRow, &interrupt, stop).unwrap_err();
        assert_eq!(code(stopped), "eval::killed", "{setting}");
        assert!(rows(&db, "::relations").is_empty(), "{setting}");
        db.restore_backup(&file).unwrap();
        assert_eq!(contents(&db), contents(&source), "{setting}");
    }
}

#[test]
fn relations_are_imported_by_the_names_of_their_columns() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("backup.db");
        filled(&SETTINGS[0], folder.path()).backup_db(&file).unwrap();
        let db = setting.open(folder.path()).unwrap();
        let import = |names: &[&str]| {
            db.import_from_backup(&file, &names.iter().map(|name| name.to_string()).collect::<Vec<_>>())
        };
        rows(
            &db,
            "{:create friends {to: Int, fr: Int => since: Float?}} {:create anything {k => v}} {:create other {a}}",
        );
        rows(&db, "?[fr, to, since] <- [[1, 1, -1], [-1, -1, -1]] :put friends {fr, to => since}");
        import(&["friends", "anything"]).unwrap();
        assert_eq!(number(&db, "?[count(fr)] := *friends{fr}"), 3001);
        assert_eq!(rows(&db, "?[since] := *friends{fr: 1, to: 1, since}")[0][0], DataValue::from(0.5));
        assert_eq!(number(&db, "?[count(k)] := *anything{k}"), 9);
        rows(&db, "{:create log {a: String, b: Int}} {:create history {id: Int, at: Validity => w}}");
        rows(&db, "::index create anything:v {v}");
        for (names, expected) in [
            (&["friends", "nope"][..], "query::relation_not_found"),
            (&["friends", "other"], "backup::no_such_relation"),
            (&["anything"], "tx::bare_import_with_indices"),
            (&["anything:v"], "tx::import_into_index"),
        ] {
            assert_eq!(code(import(names).unwrap_err()), expected, "{names:?}");
        }
        assert!(import(&["history"]).is_err(), "a column is missing");
        rows(&db, "::access_level read_only friends");
        assert!(import(&["friends"]).is_err());
    }
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cozo-0.7").join(name)
}

#[test]
fn files_of_cozodb_0_7_are_restored() {
    for setting in SETTINGS {
        for name in ["types", "catalog", "bulk", "odd"] {
            let folder = tempfile::tempdir().unwrap();
            let db = setting.open(folder.path()).unwrap();
            let before = std::fs::read(sample(&format!("{name}.db"))).unwrap();
            let restored = db.restore_with_progress(sample(&format!("{name}.db")), Strictness::EveryRow, |_| ());
            let remarks = restored.unwrap_or_else(|error| panic!("{name} into {setting}: {error:?}"));
            assert_eq!(std::fs::read(sample(&format!("{name}.db"))).unwrap(), before, "the file stays as it is");
            let text = std::fs::read_to_string(sample(&format!("{name}.json"))).unwrap();
            let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
            let relations = expected["relations"]
                .as_object()
                .unwrap_or_else(|| panic!("{name}: {:?}", expected.as_object().map(|o| o.keys().collect::<Vec<_>>())));
            assert!(!relations.is_empty());
            for (relation, data) in relations {
                let counted = db.export_relations([relation].into_iter()).map(|exported| exported[relation].rows.len());
                let listed = data["rows"].as_array().map(Vec::len);
                match counted {
                    Ok(counted) => assert_eq!(Some(counted), listed, "{name}/{relation} in {setting}"),
                    // Hidden relations are restored, and stay hidden.
                    Err(error) => assert_eq!(code(error), "tx::insufficient_access_level", "{name}/{relation}"),
                }
            }
            if name == "catalog" {
                assert_eq!(remarks, Vec::<String>::new(), "search indices are built");
                let kinds = rows(&db, "::indices docs").into_iter().map(|row| row[1].to_string()).collect::<Vec<_>>();
                assert!(kinds.contains(&"\"hnsw\"".to_string()), "{kinds:?}");
            }
            let report = db.check().unwrap();
            assert!(report.problems.is_empty(), "{name} in {setting}: {:#?}", report.problems);
        }
    }
}

#[test]
fn a_broken_file_of_cozodb_0_7_is_restored_as_far_as_it_fits_if_that_is_asked_for() {
    let db = DbInstance::default();
    let refused = db.restore_backup(sample("broken.db"));
    if let Err(error) = refused {
        assert_eq!(code(error), "storage::damaged");
        assert!(rows(&db, "::relations").is_empty());
        let remarks = db.restore_with_progress(sample("broken.db"), Strictness::WhatFits, |_| ()).unwrap();
        assert!(!remarks.is_empty());
    }
    assert!(!rows(&db, "::relations").is_empty());
}

#[test]
fn relations_are_imported_from_files_of_cozodb_0_7() {
    let db = DbInstance::default();
    let text = std::fs::read_to_string(sample("bulk.json")).unwrap();
    let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
    let (name, data) = expected["relations"].as_object().unwrap().iter().next().unwrap();
    let columns: Vec<&str> = data["headers"].as_array().unwrap().iter().filter_map(|header| header.as_str()).collect();
    rows(&db, &format!(":create {name} {{{}}}", columns.join(", ")));
    db.import_from_backup(sample("bulk.db"), std::slice::from_ref(name)).unwrap();
    let imported = db.export_relations([name].into_iter()).unwrap();
    assert_eq!(Some(imported[name].rows.len()), data["rows"].as_array().map(Vec::len));
}
