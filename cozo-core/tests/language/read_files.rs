//! `ReadCsv` and `ReadJsonLines`: files whose types are found out. `ReadParquet` is tested by the command line, which has it built in.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::path::{Path, PathBuf};

use cozo::{DbInstance, format_error_as_json};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{failure, rows};

/// A folder of files, which are there as long as this.
struct Files(TempDir);

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let files_of_test = Files(TempDir::new().unwrap());
        files.iter().for_each(|(name, text)| std::fs::write(files_of_test.path(name), text).unwrap());
        files_of_test
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::new(self.0.path()).join(name)
    }

    /// A script with the folder in place of `DIR`.
    fn script(&self, script: &str) -> String {
        script.replace("DIR", self.0.path().to_str().unwrap())
    }

    fn read(&self, script: &str) -> Value {
        let db = DbInstance::default();
        rows(&db, &self.script(script))
            .into_iter()
            .map(|row| row.into_iter().map(Value::from).collect::<Value>())
            .collect()
    }
}

#[test]
fn columns_of_csv_are_chosen_by_the_head() {
    let files = Files::new(&[("f.csv", "\u{feff}id;Full Name;score\r\n1;Ann;1\r\n2;;2.5\r\n\r\n3;\"x;y\";\r\n")]);
    for (script, expected) in [
        ("?[id, score] <~ ReadCsv(path: 'DIR/f.csv')", json!([[1, 1.0], [2, 2.5], [3, null]])),
        ("?[score, id] <~ ReadCsv(path: 'file://DIR/f.csv', limit: 1)", json!([[1, 1]])),
        (
            "?[n, i] <~ ReadCsv(path: 'DIR/f.csv', columns: ['Full Name', 'id'])",
            json!([[null, 2], ["Ann", 1], ["x;y", 3]]),
        ),
        ("?[n] <~ ReadCsv(path: 'DIR/f.csv', columns: [0])", json!([[1], [2], [3]])),
        ("?[] <~ ReadCsv(path: 'DIR/f.csv', columns: ['id', 'id'], limit: 2)", json!([[1, 1], [2, 2]])),
        (
            "?[a, b, c] <~ ReadCsv(path: 'DIR/f.csv', has_headers: false, limit: 1)",
            json!([["id", "Full Name", "score"]]),
        ),
        ("?[id] <~ ReadCsv(path: 'DIR/f.csv', limit: 0)", json!([])),
        ("r[id, score] <~ ReadCsv(path: 'DIR/f.csv')  ?[sum(s)] := r[i, s], is_float(s)", json!([[3.5]])),
    ] {
        assert_eq!(files.read(script), expected, "{script}");
    }
}

#[test]
fn types_of_csv_are_the_narrowest() {
    let files = Files::new(&[("f.csv", "a|b|c|d|e\n1|true|007|1|9007199254740993\n2|false|1|x|1\n")]);
    let script = "?[a, b, c, d, e] <~ ReadCsv(path: 'DIR/f.csv')";
    let expected = json!([[1, true, "007", "1", 9_007_199_254_740_993_i64], [2, false, "1", "x", 1]]);
    assert_eq!(files.read(script), expected);
    let files = Files::new(&[("f.csv", "a~b\n1,5~2\n"), ("f.tsv", "a,b\tc\n1,5\t2\n")]);
    assert_eq!(files.read("?[a, b] <~ ReadCsv(path: 'DIR/f.csv', delimiter: '~')"), json!([["1,5", 2]]));
    assert_eq!(files.read("?[c] <~ ReadCsv(path: 'DIR/f.tsv')"), json!([[2]]));
}

#[test]
fn several_files_are_one_table() {
    let files = Files::new(&[("1.csv", "a,b\n1,x\n"), ("2.csv", "b;a\ny;2.5\n"), ("3.txt", "no\n")]);
    assert_eq!(files.read("?[a, b] <~ ReadCsv(path: 'DIR/*.csv')"), json!([[1.0, "x"], [2.5, "y"]]));
    assert_eq!(files.read("?[a] <~ ReadCsv(path: 'DIR/*.csv', limit: 1)"), json!([[1]]));
    let files = Files::new(&[("1.jsonl", "{\"a\": 1}\n"), ("2.jsonl", "\n{\"a\": 2, \"b\": [1]}")]);
    assert_eq!(files.read("?[a, b] <~ ReadJsonLines(path: 'DIR/?.jsonl')"), json!([[1, null], [2, [1]]]));
}

#[test]
fn compressed_files_are_read() {
    let files = Files::new(&[]);
    for (name, text) in [("f.csv.gz", "a,b\n1,x\n"), ("f.jsonl.gz", "{\"a\": 1}\n")] {
        let mut file = GzEncoder::new(std::fs::File::create(files.path(name)).unwrap(), Compression::default());
        file.write_all(text.as_bytes()).unwrap();
        file.finish().unwrap();
    }
    assert_eq!(files.read("?[a, b] <~ ReadCsv(path: 'DIR/f.csv.gz')"), json!([[1, "x"]]));
    assert_eq!(files.read("?[a] <~ ReadJsonLines(path: 'DIR/f.jsonl.gz')"), json!([[1]]));
    assert_eq!(files.read("?[a] <~ CsvReader(url: 'file://DIR/f.csv.gz', types: ['Int'])"), json!([[1]]));
}

#[test]
fn json_lines_are_read_by_field() {
    let files = Files::new(&[("f.jsonl", "\u{feff}{\"a\": 1, \"b c\": \"x\"}\r\n\n{\"a\": 2.5, \"z\": null}\n")]);
    assert_eq!(files.read("?[a] <~ ReadJsonLines(path: 'DIR/f.jsonl')"), json!([[1.0], [2.5]]));
    let named = "?[x, y] <~ ReadJsonLines(path: 'DIR/f.jsonl', columns: ['b c', 'a'], limit: 1)";
    assert_eq!(files.read(named), json!([["x", 1]]));
}

#[test]
fn what_cannot_be_read_is_refused() {
    let db = DbInstance::default();
    let files = Files::new(&[
        ("f.csv", "a,b\n1,x\n\n2\n"),
        ("open.csv", "a,b\n1,\"x\n2,y\n"),
        ("empty.csv", ""),
        ("windows.csv", "a,b\r\n\r\n1,x\r\n2\r\n"),
        ("f.jsonl", "{\"a\": 1}\n[1]\n"),
        ("cut.jsonl", "{\"a\": 1}\n{\"a\":2\n"),
        ("large.jsonl", "{\"a\": 18446744073709551617}\n"),
    ]);
    std::fs::write(files.path("latin.csv"), b"a,b\n1,caf\xe9\n").unwrap();
    for (call, code, said) in [
        ("?[a] <~ ReadCsv(path: 'DIR/f.csv')", "fixed_rule::bad_data", "line 4"),
        ("?[a] <~ ReadCsv(path: 'DIR/open.csv')", "fixed_rule::bad_data", "line 2"),
        ("?[a] <~ ReadCsv(path: 'DIR/windows.csv')", "fixed_rule::bad_data", "line 4"),
        ("?[a] <~ ReadCsv(path: 'DIR/latin.csv')", "fixed_rule::bad_data", "field 2"),
        ("?[a] <~ ReadCsv(path: 'DIR/empty.csv')", "fixed_rule::bad_data", "names of the columns"),
        ("?[a, c] <~ ReadCsv(path: 'DIR/f.csv')", "fixed_rule::bad_data", "a, b"),
        ("?[a] <~ ReadCsv(path: 'DIR/f.csv', columns: [2])", "fixed_rule::bad_data", "2"),
        ("?[a] <~ ReadCsv(path: 'DIR/f.csv', columns: ['a'], has_headers: false)", "fixed_rule::bad_data", "2 fields"),
        ("?[a] <~ ReadCsv(path: 'DIR/f.csv', columns: 'a')", "fixed_rule::arg_wrong", "columns"),
        ("?[a] <~ ReadCsv(path: 'DIR/f.csv', delimiter: 'ab')", "fixed_rule::arg_wrong", "delimiter"),
        ("?[a] <~ ReadCsv(path: 'DIR/f.csv', limit: -1)", "fixed_rule::arg_wrong", "limit"),
        ("?[] <~ ReadCsv(path: 'DIR/f.csv')", "fixed_rule::arg_not_found", "columns"),
        ("?[a] <~ ReadCsv(path: 'DIR/*.txt')", "fixed_rule::cannot_read", "no file fits"),
        ("?[a] <~ ReadCsv(path: 'DIR/no.csv')", "fixed_rule::cannot_read", "no.csv"),
        ("?[a] <~ ReadJsonLines(path: 'DIR/f.jsonl')", "fixed_rule::bad_data", "line 2"),
        ("?[a] <~ ReadJsonLines(path: 'DIR/cut.jsonl')", "fixed_rule::bad_data", "line 2 of"),
        (
            "?[a] <~ ReadJsonLines(path: 'DIR/cut.jsonl')",
            "fixed_rule::bad_data",
            "EOF while parsing an object at column 6",
        ),
        ("?[a] <~ ReadJsonLines(path: 'DIR/large.jsonl')", "fixed_rule::bad_data", "beyond Int"),
        ("?[b] <~ ReadJsonLines(path: 'DIR/f.jsonl', limit: 1)", "fixed_rule::bad_data", "'b'"),
        ("?[b] <~ ReadJsonLines(path: 'DIR/f.jsonl', columns: [0])", "fixed_rule::arg_wrong", "columns"),
    ] {
        let script = files.script(call);
        assert_eq!(failure(&db, &script), code, "{call}");
        let error = format_error_as_json(db.run_default(&script).unwrap_err(), None);
        assert!(error["message"].as_str().unwrap().contains(said), "{call}: {error}");
    }
}

#[test]
fn files_are_read_where_that_is_allowed() {
    let db = DbInstance::default();
    db.set_external_access(false);
    for rule in ["ReadCsv", "ReadJsonLines", "ReadParquet"] {
        let script = format!("?[a] <~ {rule}(path: '/no/such/file')");
        let external = failure(&db, "?[a] <~ CsvReader(url: 'file:///no/such/file', types: ['Int'])");
        assert_eq!(failure(&db, &script), external, "{rule}");
    }
}
