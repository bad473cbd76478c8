//! Files of more rows than a query may have in memory: the rows go to disk, and the answers are the same.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use cozo::DbInstance;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{failure, rows};

const ROWS: i64 = 300_000;

/// Rules that read the same 300,000 rows. The value is an integer in all of them but the last.
const RULES: [&str; 6] = [
    "ReadCsv(path: 'DIR/f.csv')",
    "ReadJsonLines(path: 'DIR/f.jsonl')",
    "JsonReader(url: 'file://DIR/f.jsonl', fields: ['id', 'name', 'value'])",
    "CsvReader(url: 'file://DIR/f.csv', types: ['Int', 'String', 'Float'])",
    // A delimiter that may be part of a number: such a file is not read line by line.
    "CsvReader(url: 'file://DIR/dashes.csv', types: ['Int', 'Any', 'Float'], delimiter: '-', has_headers: false)",
    "CsvReader(url: 'file://DIR/no_id.csv', types: ['String', 'Float'], prepend_index: true)",
];

fn files() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = ["f.csv", "f.jsonl", "dashes.csv", "no_id.csv"];
    let mut texts = ["id,name,value\n", "", "", "name,value\n"].map(String::from);
    for id in 0..ROWS {
        let (name, value) = (format!("the name {}", id % 1000), if id + 1 < ROWS { (id % 7) as f64 } else { 0.5 });
        texts[0] += &format!("{id},{name},{value}\n");
        texts[1] += &format!("{{\"id\": {id}, \"name\": \"{name}\", \"value\": {value}}}\n");
        texts[2] += &format!("{id}-\"{name}\"-{value}\n");
        texts[3] += &format!("{name},{value}\n");
    }
    files.iter().zip(texts).for_each(|(file, text)| std::fs::write(folder.path().join(file), text).unwrap());
    folder
}

fn db(options: &str) -> DbInstance {
    DbInstance::new("mem", "", options).unwrap()
}

const SMALL: &str = r#"{"query_memory_mb": 8}"#;

fn script(rule: &str, query: &str, folder: &Path) -> String {
    format!("r[id, name, value] <~ {rule}  {query}").replace("DIR", folder.to_str().unwrap())
}

fn answer(db: &DbInstance, script: &str) -> Value {
    rows(db, script).into_iter().map(|row| row.into_iter().map(Value::from).collect::<Value>()).collect()
}

#[test]
fn files_that_exceed_the_memory_give_the_same_answers() {
    let (folder, small, large) = (files(), db(SMALL), db(r#"{"query_memory_mb": 1024}"#));
    let sum = (0..ROWS - 1).map(|id| id % 7).sum::<i64>() as f64 + 0.5;
    let queries = [
        (
            "?[count(id), count_unique(name), sum(value), min(id), max(id)] := r[id, name, value]",
            json!([[ROWS, 1000, sum, 0, ROWS - 1]]),
        ),
        ("?[id, name, value] := r[id, name, value] :order -id :limit 1", json!([[ROWS - 1, "the name 999", 0.5]])),
        ("?[v] := r[299998, 'the name 998', value], v = value + 0.5", json!([[(ROWS - 2) as f64 % 7.0 + 0.5]])),
    ];
    for rule in RULES {
        for (query, expected) in &queries {
            let script = script(rule, query, folder.path());
            assert_eq!(answer(&large, &script), *expected, "with memory: {script}");
            assert_eq!(answer(&small, &script), *expected, "on disk: {script}");
        }
        let analyze = |db: &DbInstance| {
            let query = script(rule, "?[count(id)] := r[id, name, value]", folder.path());
            let analyzed = db.run_default(&format!("::explain analyze {{ {query} }}")).unwrap();
            let column = |name: &str| analyzed.headers.iter().position(|header| header == name).unwrap();
            let algo = analyzed.rows.iter().find(|row| row[column("op")] == "algo".into()).unwrap();
            [column("rows"), column("beyond_memory")].map(|column| Value::from(algo[column].clone()))
        };
        assert_eq!(analyze(&small), [json!(ROWS), json!("sorted runs")], "{rule}");
        assert_eq!(analyze(&large), [json!(ROWS), json!(null)], "{rule}");
    }
}

#[test]
fn what_is_read_is_stored_and_streamed() {
    let (folder, db) = (files(), db(SMALL));
    for (number, rule) in RULES.iter().enumerate() {
        let name = format!("stored{number}");
        let rule = rule.replace("DIR", folder.path().to_str().unwrap());
        db.run_default(&format!("?[id, name, value] <~ {rule} :create {name} {{id => name, value}}")).unwrap();
        let count = format!("?[count(id), max(id)] := *{name}{{id}}");
        assert_eq!(answer(&db, &count), json!([[ROWS, ROWS - 1]]), "{rule}");
    }
    // All rows of the first file, and half of those of the second, which are equal to some of the first.
    std::fs::copy(folder.path().join("f.csv"), folder.path().join("f.csv2")).unwrap();
    let rule = "ReadCsv(path: 'DIR/f.csv*', limit: 450000)";
    assert_eq!(answer(&db, &script(rule, "?[count(id)] := r[id, n, v]", folder.path())), json!([[ROWS]]));
    let first = script(rule, "?[id] := r[id, n, v] :limit 5 :offset 2", folder.path());
    assert_eq!(rows(&db, &first).len(), 5);
}

#[test]
fn large_values_are_read_a_few_at_a_time() {
    let (folder, db, text) = (tempfile::tempdir().unwrap(), db(r#"{"query_memory_mb": 16}"#), "x".repeat(100_000));
    let lines: String = (0..600).map(|id| format!("{{\"id\": {id}, \"name\": \"{text}\", \"value\": 0}}\n")).collect();
    std::fs::write(folder.path().join("f.jsonl"), lines).unwrap();
    let query = "?[count(id), sum(n)] := r[id, name, v], n = length(name)";
    for rule in &RULES[1..3] {
        assert_eq!(answer(&db, &script(rule, query, folder.path())), json!([[600, 60_000_000.0]]), "{rule}");
    }
}

#[test]
fn without_disk_it_is_an_error() {
    let folder = files();
    for (options, code) in [
        (r#"{"query_memory_mb": 4, "temp_limit_mb": 0.1}"#, "eval::out_of_disk"),
        (r#"{"query_memory_mb": 4, "temp_dir": "/no/such/folder"}"#, "eval::temp_files"),
    ] {
        let db = db(options);
        for rule in RULES {
            let script = script(rule, "?[count(id)] := r[id, n, v]", folder.path());
            assert_eq!(failure(&db, &script), code, "{options} {rule}");
        }
    }
    // One array is one value, which is in memory as a whole.
    let lines = std::fs::read_to_string(folder.path().join("f.jsonl")).unwrap();
    std::fs::write(folder.path().join("array.json"), format!("[{}]", lines.trim_end().replace('\n', ","))).unwrap();
    let rule = "JsonReader(url: 'file://DIR/array.json', fields: ['id', 'name', 'value'], json_lines: false)";
    let script = script(rule, "?[count(id)] := r[id, n, v]", folder.path());
    assert_eq!(failure(&db(SMALL), &script), "eval::out_of_memory");
    assert_eq!(answer(&db("{}"), &script), json!([[ROWS]]));
}
