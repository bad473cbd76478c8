//! `::columns rel add|drop|rename|retype|key`, `:replace` with indices and `:create ... if absent`, on every engine.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use cozo::{DbInstance, ScriptMutability, format_error_as_json};
use serde_json::{Value, json};

use crate::common::{code, failure, number};
use crate::engines::SETTINGS;

const PEOPLE: &[&str] = &["?[id, name, age] <- [[1, 'Ada', '36'], [2, 'Bob', null], [3, 'Cy', '7']]
     :create person {id: Int => name: String, age: String?}"];

fn run(db: &DbInstance, scripts: &[&str]) {
    for script in scripts {
        db.run_default(script).unwrap_or_else(|error| panic!("{error:?}\n{script}"));
    }
}

fn rows(db: &DbInstance, script: &str) -> Value {
    let answer = db.run_default(script).unwrap_or_else(|error| panic!("{error:?}\n{script}"));
    answer.into_json()["rows"].clone()
}

fn message(db: &DbInstance, script: &str) -> String {
    let error = db.run_default(script).expect_err(script);
    format_error_as_json(error, Some(script))["display"].as_str().unwrap().to_string()
}

/// Runs a test on every engine. What it leaves must be sound, and come back when the database is opened again.
fn on_all_engines(prepare: &[&str], test: impl Fn(&DbInstance), after: impl Fn(&DbInstance)) {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let db = setting.open(folder.path()).unwrap();
        run(&db, prepare);
        test(&db);
        after(&db);
        assert_eq!(db.check().unwrap().problems, Vec::<String>::new(), "{setting}");
        drop(db);
        if setting.is_persistent() {
            after(&setting.open(folder.path()).unwrap());
        }
    }
}

#[test]
fn columns_are_added_with_defaults_values_and_nulls() {
    let test = |db: &DbInstance| {
        run(db, &["::columns person add { city: String default 'Ulm', note: String?, label: String = name ++ '!' }"]);
        run(db, &["?[id, name, label] <- [[4, 'Di', 'new']] :put person {id => name, label}"]);
        assert_eq!(failure(db, "::columns person add { size: Int }"), "query::column_needs_value");
        assert_eq!(failure(db, "::columns person add { name: String? }"), "query::column_exists");
        assert_eq!(failure(db, "::columns person add { x: Int = name }"), "eval::coercion_failed");
    };
    on_all_engines(PEOPLE, test, |db| {
        let expected = json!([
            [1, "Ada", "36", "Ulm", null, "Ada!"],
            [2, "Bob", null, "Ulm", null, "Bob!"],
            [3, "Cy", "7", "Ulm", null, "Cy!"],
            [4, "Di", null, "Ulm", null, "new"]
        ]);
        assert_eq!(rows(db, "?[i, n, a, c, o, l] := *person[i, n, a, c, o, l]"), expected);
    });
}

#[test]
fn columns_are_dropped_renamed_and_converted() {
    let test = |db: &DbInstance| {
        run(db, &["::columns person retype { age: Int? default 0 }"]);
        assert_eq!(rows(db, "?[id, age] := *person{id, age}"), json!([[1, 36], [2, null], [3, 7]]));
        run(db, &["::columns person retype { age: Float = (age ~ 10) / 2 }"]);
        run(db, &["::columns person rename id -> name, name -> id"].map(|_| "::columns person rename name -> called"));
        run(db, &["::columns person rename called -> tmp, age -> called, tmp -> age"]);
        run(
            db,
            &[
                "::columns person rename age -> called, called -> age",
                "::columns person rename age -> called, called -> age",
            ],
        );
        for (change, code) in [
            ("rename age -> called", "query::column_exists"),
            ("rename age -> x, called -> x", "query::column_exists"),
            ("rename age -> x, age -> y", "query::column_twice"),
            ("drop age, age", "query::column_twice"),
            ("key {age, age}", "query::column_twice"),
        ] {
            assert_eq!(failure(db, &format!("::columns person {change}")), code, "{change}");
        }
        run(db, &["::columns person drop age", "?[id] <- [[9]] :put person {id}"]);
        assert_eq!(failure(db, "::columns person drop age"), "query::column_not_found");
        assert_eq!(failure(db, "::columns person drop id"), "query::no_key_left");
        assert!(message(db, "::columns person drop cald").contains("did you mean `called`"));
    };
    on_all_engines(PEOPLE, test, |db| {
        let columns = json!([["id", true, 0, "Int", false], ["called", false, 1, "Float", true]]);
        assert_eq!(rows(db, "::columns person"), columns);
        assert_eq!(rows(db, "?[id, c] := *person{id, called: c}"), json!([[1, 18.0], [2, 5.0], [3, 3.5], [9, 0.0]]));
    });
}

#[test]
fn the_key_changes_if_it_tells_all_rows_apart() {
    let test = |db: &DbInstance| {
        run(db, &["?[id, name, age] <- [[4, 'Ada', 'x']] :put person {id => name, age}"]);
        assert_eq!(failure(db, "::columns person key { name }"), "query::key_not_unique");
        assert!(message(db, "::columns person key { name }").contains("1 rows of 'person'"));
        run(db, &["::columns person key { name, id }"]);
        assert_eq!(failure(db, "::columns person drop id"), "query::key_not_unique");
    };
    on_all_engines(PEOPLE, test, |db| {
        let expected = json!([["Ada", 1, "36"], ["Ada", 4, "x"], ["Bob", 2, null], ["Cy", 3, "7"]]);
        assert_eq!(rows(db, "?[a, b, c] := *person[a, b, c]"), expected);
        assert_eq!(rows(db, "?[id] := *person{name: 'Ada', id}"), json!([[1], [4]]));
    });
}

/// A relation with an index of each kind.
const SEARCHED: &[&str] = &[
    "?[id, title, v, year] <- [[1, 'red fox', [1, 0], 1999], [2, 'blue fox', [0, 1], 2001]]
     :create doc {id: Int => title: String, v: <F32; 2>, year: Int}",
    "::index create doc:by_year {year}",
    "::fts create doc:words {extractor: title, tokenizer: Simple}",
    "::hnsw create doc:near {dim: 2, fields: [v], m: 8, ef_construction: 20}",
    "::lsh create doc:like {extractor: title, tokenizer: Simple, n_gram: 1, target_threshold: 0.3, n_perm: 64}",
];

/// The answers of all its indices, for the documents 1 and 2.
fn assert_found(db: &DbInstance, key: &str) {
    let found = |search: &str| rows(db, &search.replace("KEY", key));
    assert_eq!(found("?[k] := *doc:by_year{year: 2001, KEY: k}"), json!([[2]]));
    assert_eq!(found("?[k] := ~doc:words{KEY: k | query: 'blue', k: 5}"), json!([[2]]));
    assert_eq!(found("?[k] := ~doc:near{KEY: k | query: vec([0, 1]), k: 1, ef: 10}"), json!([[2]]));
    assert_eq!(found("?[k] := ~doc:like{KEY: k | query: 'blue fox'}, k == 2"), json!([[2]]));
}

#[test]
fn indices_follow_changes_of_columns() {
    let test = |db: &DbInstance| {
        assert_found(db, "id");
        run(db, &["::columns doc add { seen: Bool default false }"]);
        assert_found(db, "id");
        run(db, &["::columns doc rename id -> number", "::columns doc drop seen"]);
        assert_found(db, "number");
        // Columns of indices stay, and so do names in their expressions.
        for change in ["drop year", "drop title", "drop v", "rename title -> text", "retype { v: <F64; 2> }"] {
            assert_eq!(failure(db, &format!("::columns doc {change}")), "tx::index_needs_column", "{change}");
        }
        run(db, &["::columns doc key { year, number }", "?[year, number] <- [[1999, 1]] :rm doc {year, number}"]);
        run(
            db,
            &["?[number, title, v, year] <- [[3, 'green fox', [-1, 0], 2003]] :put doc {year, number => title, v}"],
        );
    };
    on_all_engines(SEARCHED, test, |db| {
        assert_found(db, "number");
        assert_eq!(rows(db, "?[k] := ~doc:words{number: k | query: 'fox', k: 5}"), json!([[2], [3]]));
    });
}

#[test]
fn a_replaced_relation_keeps_its_indices_and_they_have_the_new_rows() {
    let test = |db: &DbInstance| {
        let replace = "?[id, title, v, year] <- [[2, 'blue hen', [0, 2], 2001], [5, 'red hen', [3, 0], 1980]]
            :replace doc {id: Int => year: Int, title: String, v: <F32; 2>}";
        run(db, &[replace]);
        assert_eq!(failure(db, "?[id, title] <- [[1, 'x']] :replace doc {id => title}"), "tx::index_needs_column");
    };
    on_all_engines(SEARCHED, test, |db| {
        assert_eq!(rows(db, "?[k] := ~doc:words{id: k | query: 'fox', k: 5}"), json!([]));
        assert_eq!(rows(db, "?[k] := ~doc:words{id: k | query: 'hen', k: 5}"), json!([[2], [5]]));
        assert_eq!(rows(db, "?[k] := ~doc:near{id: k | query: vec([3, 0]), k: 1, ef: 10}"), json!([[5]]));
        assert_eq!(rows(db, "?[k] := ~doc:like{id: k | query: 'red hen'}, k == 5"), json!([[5]]));
        assert_eq!(rows(db, "?[y, k] := *doc:by_year{year: y, id: k}"), json!([[1980, 5], [2001, 2]]));
    });
}

#[test]
fn a_change_that_breaks_a_trigger_is_refused() {
    let db = DbInstance::default();
    run(&db, PEOPLE);
    run(
        &db,
        &[
            ":create log {id => age}",
            ":create other {k}",
            "::set_triggers person on put { ?[id, age] := _new[id, _, age] :put log {id => age} }",
            "::set_triggers other on put { ?[id, age] := *person{id, age} :put log {id => age} }",
        ],
    );
    for change in ["rename age -> years", "drop name", "add { extra: Int? }", "key {name, id}"] {
        assert_eq!(failure(&db, &format!("::columns person {change}")), "query::trigger_breaks", "{change}");
    }
    assert_eq!(rows(&db, "::columns person").as_array().unwrap().len(), 3);
    // Triggers go on, and a change sets off none.
    run(&db, &["::columns person retype { name: String = uppercase(name) }"]);
    assert_eq!(rows(&db, "?[id] := *log{id}"), json!([]));
    run(&db, &["?[id, name, age] <- [[7, 'Eve', '1']] :put person {id => name, age}"]);
    assert_eq!(rows(&db, "?[id, age] := *log{id, age}"), json!([[7, "1"]]));
}

#[test]
fn a_change_within_a_script_is_part_of_it() {
    let db = DbInstance::default();
    run(&db, PEOPLE);
    let script = "{ ?[id, name] <- [[8, 'Flo']] :put person {id => name} }
        { ::columns person add { size: Int = id * 2 } }
        { ?[size] := *person{id: 8, size} }";
    assert_eq!(rows(&db, script), json!([[16]]));
    let failing = "{ ::columns person drop age } { ?[x] := x = 1 + 'a' }";
    db.run_default(failing).unwrap_err();
    assert_eq!(rows(&db, "?[age] := *person{id: 1, age}"), json!([["36"]]));
    let read_only = db.run_script("::columns person drop age", Default::default(), ScriptMutability::Immutable);
    assert_eq!(code(read_only.unwrap_err()), "query::read_only");
    run(&db, &["::access_level protected person"]);
    assert_eq!(failure(&db, "::columns person drop age"), "tx::insufficient_access_level");
}

#[test]
fn a_relation_is_created_unless_it_is_there() {
    on_all_engines(
        &[],
        |db| {
            let create = "?[k, v] <- [[1, 'a']] :create r {k => v} if absent";
            run(db, &[create, "?[k, v] <- [[1, 'b']] :put r {k => v}", create, ":create r {k} if absent"]);
            assert_eq!(failure(db, "?[k] <- [[1]] :put r {k} if absent"), "parser::pest");
            assert_eq!(failure(db, "?[k, v] <- [[1, 'a']] :create r {k => v}"), "eval::stored_relation_conflict");
        },
        |db| assert_eq!(rows(db, "?[k, v] := *r[k, v]"), json!([[1, "b"]])),
    );
}

/// Writers put rows all the time while columns are added and dropped: no writer fails, and no row is lost.
#[test]
fn columns_change_while_others_write() {
    let db = DbInstance::default();
    run(&db, &["?[k, v] := k in int_range(2000), v = k :create r {k: Int => v: Int}", "::index create r:by_v {v}"]);
    let (stop, written) = (AtomicBool::new(false), AtomicI64::new(0));
    std::thread::scope(|scope| {
        let mut writers = vec![];
        for writer in 0..2_i64 {
            let (db, stop, written) = (&db, &stop, &written);
            writers.push(scope.spawn(move || {
                for n in (0..).take_while(|_| !stop.load(Ordering::SeqCst)) {
                    let key = 10_000 + 2 * n + writer;
                    let script = format!("?[k, v] <- [[{key}, {n}]] :put r {{k => v}}");
                    db.run_default(&script).unwrap_or_else(|error| panic!("{error:?}"));
                    written.fetch_add(1, Ordering::SeqCst);
                }
            }));
        }
        for _ in 0..6 {
            let before = written.load(Ordering::SeqCst);
            run(&db, &["::columns r add { w: Int default 5 }", "::columns r drop w"]);
            while written.load(Ordering::SeqCst) < before + 10 && !writers.iter().any(|writer| writer.is_finished()) {
                std::thread::yield_now();
            }
        }
        stop.store(true, Ordering::SeqCst);
    });
    assert_eq!(number(&db, "?[count(k)] := *r{k}"), 2000 + written.load(Ordering::SeqCst));
    assert_eq!(number(&db, "?[count(k)] := *r:by_v{k, v}"), 2000 + written.load(Ordering::SeqCst));
    assert_eq!(db.check().unwrap().problems, Vec::<String>::new());
}
