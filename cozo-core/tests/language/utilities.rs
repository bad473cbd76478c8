//! The fixed rules about data: sorting, reading CSV and JSON from files and web addresses.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use cozo::{DbInstance, format_error_as_json};
use serde_json::{Value, json};

use crate::common::{failure, rows, run_with};

fn answer(db: &DbInstance, script: &str) -> Value {
    rows(db, script).into_iter().map(|row| row.into_iter().map(Value::from).collect::<Value>()).collect()
}

/// A file that is there as long as this.
struct TempFile(PathBuf);

impl TempFile {
    fn new(content: impl AsRef<[u8]>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("cozo-utilities-{}-{number}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        TempFile(path)
    }

    fn url(&self) -> String {
        format!("file://{}", self.0.display())
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // What is left behind does no harm.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn rows_are_sorted_and_ranked() {
    let db = DbInstance::default();
    let sort = |input: &str, options: &str| {
        answer(&db, &format!("r[n, s] <- {input}  ?[] <~ ReorderSort(r[n, s], out: [n], {options})"))
    };
    let tied = "[['d', 1], ['b', 5], ['a', 5], ['c', 9]]";
    for (options, expected) in [
        ("sort_by: s", json!([[1, "d"], [2, "a"], [2, "b"], [4, "c"]])),
        ("sort_by: [s]", json!([[1, "d"], [2, "a"], [2, "b"], [4, "c"]])),
        ("sort_by: [s], break_ties: true", json!([[1, "d"], [2, "a"], [3, "b"], [4, "c"]])),
        ("sort_by: [s, n], take: 0", json!([[1, "d"], [2, "a"], [3, "b"], [4, "c"]])),
        ("sort_by: [s], descending: true", json!([[1, "c"], [2, "a"], [2, "b"], [4, "d"]])),
        ("sort_by: s, descending: true, break_ties: true", json!([[1, "c"], [2, "a"], [3, "b"], [4, "d"]])),
        ("sort_by: [-s], take: 1", json!([[1, "c"]])),
        ("sort_by: s, skip: 2", json!([[2, "b"], [4, "c"]])),
        ("sort_by: s, skip: 1, take: 2", json!([[2, "a"], [2, "b"]])),
        ("sort_by: s, skip: 4", json!([])),
        ("sort_by: s, skip: 9, take: 9", json!([])),
        ("sort_by: s, take: 2.0", json!([[1, "d"], [2, "a"]])),
        ("take: 9", json!([[1, "a"], [1, "b"], [1, "c"], [1, "d"]])),
        ("break_ties: true", json!([[1, "a"], [2, "b"], [3, "c"], [4, "d"]])),
        ("sort_by: null, break_ties: true", json!([[1, "a"], [2, "b"], [3, "c"], [4, "d"]])),
        ("sort_by: [], break_ties: true", json!([[1, "a"], [2, "b"], [3, "c"], [4, "d"]])),
        ("sort_by: s, unknown: 1, take: 1", json!([[1, "d"]])),
    ] {
        assert_eq!(sort(tied, options), expected, "{options}");
    }
    assert_eq!(sort("[]", "sort_by: s"), json!([]));
    assert_eq!(sort("[[1, 1.0], [2, 1], [3, 'x'], [4, null]]", "sort_by: s"), json!([[1, 4], [2, 2], [3, 1], [4, 3]]));
}

#[test]
fn sorting_evaluates_expressions_over_its_bindings() {
    let db = DbInstance::default();
    rows(&db, "?[k, v] <- [['x', 3], ['y', 1]] :create s {k => v}");
    let script = "?[i, o, c, d] <~ ReorderSort(*s{v: w, k}, out: [k ++ '!', 7, w + $p], sort_by: [w % 3, w])";
    let result = run_with(&db, script, &[("p", 10)]).unwrap();
    let expected = json!([[1, "x!", 7, 13], [2, "y!", 7, 11]]);
    assert_eq!(result.into_json()["rows"], expected);
    assert_eq!(answer(&db, "r[a] <- [[5]]  ?[i, x] <~ ReorderSort(r[], out: [1])"), json!([[1, 1]]));
    assert_eq!(answer(&db, "r[a] <- [[5], [6]]  ?[i] <~ ReorderSort(r[a], out: [], sort_by: a)"), json!([[1], [2]]));
    let many =
        "r[x] := x in int_range(50000)  s[i, x] <~ ReorderSort(r[x], out: [x], sort_by: -x)  ?[i, x] := s[i, x], x < 2";
    assert_eq!(answer(&db, many), json!([[49999, 1], [50000, 0]]));
}

#[test]
fn bad_options_of_sorting_are_refused() {
    let db = DbInstance::default();
    for (call, code) in [
        ("?[] <~ ReorderSort(out: [1])", "fixed_rule::not_enough_args"),
        ("?[i] <~ ReorderSort(r[v])", "parser::no_algo_arity"),
        ("?[i, v] <~ ReorderSort(r[v], out: v)", "parser::no_algo_arity"),
        ("?[i, v] <~ ReorderSort(r[v], out: [w])", "eval::bad_binding"),
        ("?[i, v] <~ ReorderSort(r[], out: [v])", "eval::bad_binding"),
        ("?[i, v] <~ ReorderSort(r[v, w], out: [w])", "eval::bad_binding"),
        ("?[i, v] <~ ReorderSort(r[v], out: [_])", "eval::bad_binding"),
        ("?[i, v] <~ ReorderSort(r[v], out: [v], sort_by: w)", "eval::bad_binding"),
        ("?[i, v] <~ ReorderSort(r[v], out: [v + 'x'])", "eval::throw"),
        ("?[i, v] <~ ReorderSort(r[v], out: [v], take: -1)", "fixed_rule::arg_wrong"),
        ("?[i, v] <~ ReorderSort(r[v], out: [v], skip: 'x')", "fixed_rule::arg_wrong"),
        ("?[i, v] <~ ReorderSort(r[v], out: [v], descending: 1)", "fixed_rule::arg_wrong"),
        ("?[i, v] <~ ReorderSort(r[v], out: [v], break_ties: null)", "fixed_rule::arg_wrong"),
        ("?[i, v] <~ ReorderSort(r[v], out: [v], take: v)", "eval::not_constant"),
        ("?[v] <~ ReorderSort(r[v], out: [v])", "parser::fixed_rule_head_arity_mismatch"),
    ] {
        assert_eq!(failure(&db, &format!("r[v] <- [[1]]  {call}")), code, "{call}");
    }
}

#[test]
fn csv_is_read_by_position_and_type() {
    let db = DbInstance::default();
    let uuid = "550e8400-e29b-41d4-a716-446655440000";
    let read = |content: &str, head: &str, options: &str| {
        let file = TempFile::new(content);
        answer(&db, &format!("?[{head}] <~ CsvReader(url: '{}', {options})", file.url()))
    };
    let table = format!("a,b,c,d\n1,x,2.5,{uuid}\n2.0, y ,3,{uuid}\n");
    assert_eq!(
        read(&table, "a, b, c, d", "types: ['Int', 'String', 'Float', 'Uuid']"),
        json!([[1, "x", 2.5, uuid], [2, " y ", 3.0, uuid]])
    );
    assert_eq!(read(&table, "", "types: ['Any']"), json!([["1"], ["2.0"]]), "further fields are left out");
    assert_eq!(read("a\n1\n2\n", "i, a", "types: ['Int'], prepend_index: true"), json!([[0, 1], [1, 2]]));
    assert_eq!(read("1\n2\n", "a", "types: ['Int'], has_headers: false"), json!([[1], [2]]));
    assert_eq!(read("a;b\n1;2\n", "a, b", "types: ['Int', 'Int'], delimiter: ';'"), json!([[1, 2]]));
    assert_eq!(read("a\tb\n1\t2\n", "a, b", "types: ['Int', 'Int'], delimiter: '\\t'"), json!([[1, 2]]));
    assert_eq!(
        read("a,b\r\n\"1\",\"x, \"\"y\"\"\nz\"\r\n", "a, b", "types: ['Int', 'String']"),
        json!([[1, "x, \"y\"\nz"]])
    );
    assert_eq!(
        read("a,b\n1\n,2\nx,3,4\n", "a, b", "types: ['Int?', 'String?']"),
        json!([[null, "2"], [null, "3"], [1, null]]),
        "missing or not of the type"
    );
    assert_eq!(read("a\n", "a", "types: ['Int']"), json!([]));
    assert_eq!(read("", "a", "types: ['Int']"), json!([]));
    assert_eq!(read("a\n9223372036854775807\n", "a", "types: ['Int']"), json!([[i64::MAX]]));
}

#[test]
fn csv_is_read_in_blocks_whatever_is_in_quotes() {
    let db = DbInstance::default();
    let rows = |content: &str| {
        let file = TempFile::new(content);
        let options = "types: ['Int?', 'String?', 'Float?'], prepend_index: true";
        answer(&db, &format!("?[i, a, b, c] <~ CsvReader(url: '{}', {options})", file.url()))
    };
    let many: String = (0..200_000).map(|i| format!("{},text {i},{}.5\n", i * 37 - 1000, i % 97)).collect();
    let bodies = [
        "",
        "1,2,3",
        "1,2,3\n",
        "\n\n1,2,3\n\n\r\n4,5,6",
        "1,2,3\r\n4,5,6\r\n",
        "1,2,3\r4,5,6\r",
        "1\n1,\n1,2\n1,2,\n1,2,3,\n1,2,3,4",
        ",,\n , x ,\n\t\n",
        "+7,é,1e3\n-7,\u{feff},-0\n007,a b,inf\n-,-,-\n--1,x,.5\n1-,x,5.",
        "9223372036854775807,,\n-9223372036854775808,,\n9223372036854775808,,\n000000000000000000000000001,,\n1.0,,\n1.5,,\n0x1,,",
        "999999999999999999,,\n1000000000000000000,,\n",
        &many,
    ];
    for body in bodies {
        let plain = rows(&format!("a,b,c\n{body}"));
        let shown = &body[..body.len().min(100)];
        assert_eq!(plain, rows(&format!("\"a\",b,c\n{body}")), "{shown:?}");
        assert_eq!(plain, rows(&format!("\u{feff}a,b,c\n{body}")), "{shown:?} after a byte order mark");
    }
    assert_eq!(rows(&format!("a,b,c\n{many}")).as_array().map(Vec::len), Some(200_000));
    let late = rows(&format!("a,b,c\n{many}1,\"x, \"\"y\"\"\n\",2\n{many}"));
    assert_eq!(late.as_array().map(Vec::len), Some(400_001));
    assert_eq!(
        (&late[200_000], &late[200_001]),
        (&json!([200_000, 1, "x, \"y\"\n", 2.0]), &json!([200_001, -1000, "text 0", 0.5]))
    );
    let quoted: String = (0..200_000).map(|i| format!("{i},\"a \"\"{i}\"\"\n,\n{i}\",\"{}.5\"\n", i % 97)).collect();
    let read = rows(&format!("\"a\nb\",b,c\n{quoted}"));
    assert_eq!(read.as_array().map(Vec::len), Some(200_000));
    for (i, row) in read.as_array().unwrap().iter().enumerate() {
        assert_eq!(
            row,
            &json!([i, i, format!("a \"{i}\"\n,\n{i}"), (i % 97) as f64 + 0.5]),
            "fields that go on to the next block"
        );
    }
    let long = "x".repeat(3 << 20);
    assert_eq!(rows(&format!("a,b,c\n{many}1,{long},2\n3,4,5"))[200_001], json!([200_001, 3, "4", 5.0]));
}

#[test]
fn csv_that_does_not_fit_says_where() {
    let db = DbInstance::default();
    let many: String = (0..200_000).map(|i| format!("{i}\n")).collect();
    for (content, place) in [
        ("a\n1\nx\n".to_string(), "row 1 (line 3), field 0"),
        ("\n\na\n\n1\n\nx\n".to_string(), "row 1 (line 7), field 0"),
        (format!("a\n{many}{many}x\n{many}"), "row 400000 (line 400002), field 0"),
        (format!("a\n{many}\"1\"\nx\n{many}"), "row 200001 (line 200003), field 0"),
    ] {
        let file = TempFile::new(&content);
        let script = format!("?[] <~ CsvReader(url: '{}', types: ['Int'])", file.url());
        let error = format_error_as_json(db.run_default(&script).unwrap_err(), None);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(place) && message.contains("\"x\""), "{message}");
    }
    let latin = [format!("a\n{many}").as_bytes(), b"\xe9\n"].concat();
    let file = TempFile::new(&latin);
    let script = format!("?[] <~ CsvReader(url: '{}', types: ['String'])", file.url());
    let error = format_error_as_json(db.run_default(&script).unwrap_err(), None);
    assert!(error["message"].as_str().unwrap().contains("line 200002"), "{error}");
}

#[test]
fn csv_that_does_not_fit_is_refused() {
    let db = DbInstance::default();
    for (content, options, code) in [
        ("a\nx\n", "types: ['Int']", "fixed_rule::bad_data"),
        ("a\n1.5\n", "types: ['Int']", "fixed_rule::bad_data"),
        ("a\nx\n", "types: ['Float']", "fixed_rule::bad_data"),
        ("a\nx\n", "types: ['Uuid']", "fixed_rule::bad_data"),
        ("a\nx\n", "types: ['String', 'String']", "fixed_rule::bad_data"),
        ("a\nx\n", "types: ['Bool']", "fixed_rule::arg_wrong"),
        ("a\nx\n", "types: ['[Int]']", "fixed_rule::arg_wrong"),
        ("a\nx\n", "types: ['nonsense']", "fixed_rule::arg_wrong"),
        ("a\nx\n", "types: [1]", "fixed_rule::arg_wrong"),
        ("a\nx\n", "types: 'Int'", "fixed_rule::arg_wrong"),
        ("a\nx\n", "types: ['String'], delimiter: ''", "fixed_rule::arg_wrong"),
        ("a\nx\n", "types: ['String'], delimiter: 'ab'", "fixed_rule::arg_wrong"),
        ("a\nx\n", "types: ['String'], delimiter: 'é'", "fixed_rule::arg_wrong"),
        ("a\nx\n", "types: ['String'], has_headers: 'no'", "fixed_rule::arg_wrong"),
        ("a\nx\n", "types: ['String'], prepend_index: 1", "fixed_rule::arg_wrong"),
        ("a\nx\n", "delimiter: ','", "fixed_rule::arg_not_found"),
    ] {
        let file = TempFile::new(content);
        let script = format!("?[] <~ CsvReader(url: '{}', {options})", file.url());
        assert_eq!(failure(&db, &script), code, "{options}");
    }
    let latin = TempFile::new(b"a\n\xe9\n");
    assert_eq!(
        failure(&db, &format!("?[] <~ CsvReader(url: '{}', types: ['String'])", latin.url())),
        "fixed_rule::bad_data"
    );
    assert_eq!(failure(&db, "?[] <~ CsvReader(types: ['String'])"), "fixed_rule::arg_not_found");
    for url in
        ["file:///no/such/file", "file:///", "/etc/hostname", "ftp://example.org/a.csv", "", "http://127.0.0.1:1/"]
    {
        let script = format!("?[] <~ CsvReader(url: '{url}', types: ['String'])");
        assert_eq!(failure(&db, &script), "fixed_rule::cannot_read", "{url}");
    }
}

#[test]
fn json_is_read_by_field() {
    let db = DbInstance::default();
    let read = |content: &str, head: &str, options: &str| {
        let file = TempFile::new(content);
        answer(&db, &format!("?[{head}] <~ JsonReader(url: '{}', {options})", file.url()))
    };
    let lines = "{\"a\": 1, \"b\": \"x\"}\n\n  \r\n{\"b\": null, \"a\": 2.5, \"c\": 0}\n";
    assert_eq!(read(lines, "a, b", "fields: ['a', 'b']"), json!([[1, "x"], [2.5, null]]));
    assert_eq!(read(lines, "i, a", "fields: ['a'], prepend_index: true"), json!([[0, 1], [1, 2.5]]));
    assert_eq!(read(lines, "a, again", "fields: ['a', 'a']"), json!([[1, 1], [2.5, 2.5]]));
    assert_eq!(read(lines, "c", "fields: ['c'], null_if_absent: true"), json!([[null], [0]]));
    assert_eq!(read("", "a", "fields: ['a']"), json!([]));
    let array = "[{\"a\": [1, {\"k\": 2}]}, {\"a\": {\"k\": [3]}}, {\"a\": true}]";
    let file = TempFile::new(array);
    let script = format!(
        "r[a] <~ JsonReader(url: '{}', fields: ['a'], json_lines: false)  ?[a, l, j] := r[a], l = is_list(a), j = is_json(a)",
        file.url()
    );
    assert_eq!(
        answer(&db, &script),
        json!([[true, false, false], [[1, {"k": 2}], true, false], [{"k": [3]}, false, true]])
    );
    assert_eq!(read("[]", "a", "fields: ['a'], json_lines: false"), json!([]));
}

#[test]
fn json_that_does_not_fit_is_refused() {
    let db = DbInstance::default();
    for (content, options, code) in [
        ("{\"a\": 1}\n{}\n", "fields: ['a']", "fixed_rule::bad_data"),
        ("{\"a\": 1}\nnonsense\n", "fields: ['a']", "fixed_rule::bad_data"),
        ("[1]\n", "fields: ['a']", "fixed_rule::bad_data"),
        ("{\"a\": 1}", "fields: ['a'], json_lines: false", "fixed_rule::bad_data"),
        ("[1]", "fields: ['a'], json_lines: false", "fixed_rule::bad_data"),
        ("[{}]", "fields: ['a'], json_lines: false", "fixed_rule::bad_data"),
        ("{}", "fields: 'a'", "fixed_rule::arg_wrong"),
        ("{}", "fields: [1]", "fixed_rule::arg_wrong"),
        ("{}", "fields: ['a'], json_lines: 'yes'", "fixed_rule::arg_wrong"),
        ("{}", "fields: ['a'], null_if_absent: 1", "fixed_rule::arg_wrong"),
        ("{}", "json_lines: true", "fixed_rule::arg_not_found"),
    ] {
        let file = TempFile::new(content);
        let script = format!("?[] <~ JsonReader(url: '{}', {options})", file.url());
        assert_eq!(failure(&db, &script), code, "{content} {options}");
    }
    assert_eq!(failure(&db, "?[] <~ JsonReader(fields: ['a'])"), "fixed_rule::arg_not_found");
    assert_eq!(failure(&db, "?[] <~ JsonReader(url: 'file:///no/such', fields: ['a'])"), "fixed_rule::cannot_read");
}

#[test]
fn files_are_read_anew_and_options_may_be_parameters() {
    let db = DbInstance::default();
    let file = TempFile::new("a\n1\n");
    let script = "?[] <~ CsvReader(url: $url, types: $types)";
    let run = |types: &[&str]| {
        let parameters = [
            ("url".to_string(), file.url().into()),
            ("types".to_string(), types.iter().map(ToString::to_string).collect::<Vec<_>>().into()),
        ];
        db.run_script(script, parameters.into(), cozo::ScriptMutability::Immutable).unwrap().into_json()["rows"].clone()
    };
    assert_eq!(run(&["Int"]), json!([[1]]));
    assert_eq!(run(&["String", "Int?"]), json!([["1", null]]), "the width follows the parameter");
    std::fs::write(&file.0, "a\n2\n").unwrap();
    assert_eq!(run(&["Int"]), json!([[2]]));
}

#[test]
fn a_database_may_forbid_files_and_the_web() {
    let db = DbInstance::default();
    let (csv, jsonl) = (TempFile::new("a\n1\n"), TempFile::new("{\"a\": 1}\n"));
    let scripts = [
        format!("?[a] <~ CsvReader(url: '{}', types: ['Int'])", csv.url()),
        format!("?[a] <~ JsonReader(url: '{}', fields: ['a'])", jsonl.url()),
    ];
    for script in &scripts {
        assert_eq!(answer(&db, script), json!([[1]]), "allowed at first");
    }
    db.clone().set_external_access(false);
    for script in &scripts {
        assert_eq!(failure(&db, script), "fixed_rule::access_denied", "also for a script that ran before");
        assert_eq!(failure(&db, &format!("{{{script}}}")), "fixed_rule::access_denied");
        let held = db.multi_transaction(true);
        assert!(held.run_script(script, Default::default()).is_err());
    }
    assert_eq!(answer(&db, "r[v] <- [[1]]  ?[i, v] <~ ReorderSort(r[v], out: [v])"), json!([[1, 1]]));
    db.set_external_access(true);
    assert_eq!(answer(&db, &scripts[0]), json!([[1]]));
}

#[cfg(unix)]
#[test]
fn an_endless_file_does_not_outlast_the_timeout() {
    let db = DbInstance::default();
    let script = "?[a] <~ JsonReader(url: 'file:///dev/zero', fields: ['a'], json_lines: false) :timeout 0.3";
    assert_eq!(failure(&db, script), "eval::killed");
}

#[cfg(feature = "requests")]
mod web {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    use super::*;

    /// Serves one answer to one request; if `stall`, the connection stays open after it.
    fn serve(answer: String, stall: bool) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _): (TcpStream, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            assert!(stream.read(&mut request).unwrap() > 0);
            stream.write_all(answer.as_bytes()).unwrap();
            if stall {
                std::thread::sleep(Duration::from_secs(60));
            }
        });
        format!("http://{address}/data")
    }

    fn ok(body: &str) -> String {
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
    }

    #[test]
    fn web_addresses_are_read() {
        let db = DbInstance::default();
        let url = serve(ok("a,b\n1,x\n"), false);
        assert_eq!(
            answer(&db, &format!("?[a, b] <~ CsvReader(url: '{url}', types: ['Int', 'String'])")),
            json!([[1, "x"]])
        );
        let url = serve(ok("{\"a\": 1}\n{\"a\": 2}"), false);
        assert_eq!(answer(&db, &format!("?[a] <~ JsonReader(url: '{url}', fields: ['a'])")), json!([[1], [2]]));
        let url = serve("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_string(), false);
        let script = format!("?[a] <~ JsonReader(url: '{url}', fields: ['a'])");
        let error = format_error_as_json(db.run_default(&script).unwrap_err(), None);
        assert_eq!(error["code"], "fixed_rule::cannot_read");
        assert!(error["message"].as_str().unwrap().contains("404"), "{error}");
        let url = serve("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na\n1\n".to_string(), false);
        let script = format!("?[a] <~ CsvReader(url: '{url}', types: ['Int'])");
        assert_eq!(failure(&db, &script), "fixed_rule::cannot_read", "an answer that ends too early");
    }

    #[test]
    fn a_server_that_stalls_does_not_outlast_the_timeout() {
        let db = DbInstance::default();
        for (part, options) in [("", "CsvReader(types: ['Int'],"), ("{\"a\": 1}\n", "JsonReader(fields: ['a'],")] {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
            let url = serve(if part.is_empty() { String::new() } else { format!("{head}{part}") }, true);
            let start = Instant::now();
            assert_eq!(failure(&db, &format!("?[a] <~ {options} url: '{url}') :timeout 0.3")), "eval::killed");
            assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        }
    }
}
