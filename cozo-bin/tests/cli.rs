//! The binary as its users meet it: arguments in, text and exit codes out.

mod support;

use serde_json::{Value, json};
use support::{cozo, cozo_with_input, scratch};

#[test]
fn results_come_in_each_format() {
    let script = "?[a, b, c] <- [[1, 'x', null], [2.0, [1, 'a'], {'k': 1}]]";
    let table = cozo(&["run", "-e", script]).succeeded();
    assert!(table.starts_with("┌─────┬──────────┬─────────┐\n│ a   ┆ b        ┆ c       │\n"), "{table}");
    assert!(table.contains("│ 2.0 ┆ [1, \"a\"] ┆ {\"k\":1} │"), "{table}");
    assert!(table.contains("\n2 rows in "), "{table}");

    let csv = cozo(&["run", "-e", script, "--format", "csv"]).succeeded();
    assert_eq!(csv, "a,b,c\n1,x,\n2.0,\"[1,\"\"a\"\"]\",\"{\"\"k\"\":1}\"\n");

    let json = cozo(&["run", "-e", script, "--format", "json"]).json();
    assert_eq!(json["ok"], true);
    assert_eq!(json["headers"], json!(["a", "b", "c"]));
    assert_eq!(json["rows"], json!([[1, "x", null], [2.0, [1, "a"], {"k": 1}]]));
}

#[test]
fn several_scripts_share_a_database_and_its_parameters() {
    let directory = scratch("several");
    let create = directory.file("create.cozo", "?[n] <- [[$n], [$n + 1]] :create r {n}");
    let count = directory.file("count.cozo", "?[count(n)] := *r{n}");
    let output =
        cozo(&["run", &create, &count, "-e", "?[n] := *r{n}", "--param", "n=4", "--format", "csv"]).succeeded();
    assert!(output.ends_with("count(n)\n2\nn\n4\n5\n"), "{output}");
}

#[test]
fn scripts_come_from_standard_input() {
    let output = cozo_with_input(&["run", "-", "--format", "csv", "--param", "x=\"é\""], "?[x] := x = $x").succeeded();
    assert_eq!(output, "x\né\n");
}

#[test]
fn a_script_may_be_piped_in_without_a_name() {
    assert_eq!(cozo_with_input(&["run", "--format", "csv"], "?[x] <- [[1]]").succeeded(), "x\n1\n");
    let outcome = cozo_with_input(&["run", "--format", "csv", "-e", "?[x] <- [[2]]"], "?[x] <- [[1]]");
    assert_eq!(outcome.succeeded(), "x\n2\n", "what is named comes alone");
    assert!(cozo_with_input(&["run"], "\n \n").stderr.contains("there is no script"));
}

#[test]
fn rows_may_be_json_lines() {
    let script = "?[a, b] <- [[1, 'x'], [2, null]]";
    let output = cozo(&["run", "-e", script, "-e", "?[c] := c in [[1.5]]", "--format", "jsonl"]).succeeded();
    assert_eq!(output, "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":null}\n{\"c\":[1.5]}\n");
    cozo(&["run", "-e", "?[x] := y", "--format", "jsonl"]).failed("eval::unbound");
}

#[test]
fn errors_name_the_file_and_the_line() {
    let directory = scratch("named");
    let file = directory.file("bad.cozo", "r[a] := a = 1\n\n?[a] := r[a], *nope{a}\n");
    let outcome = cozo(&["run", &file]);
    assert!(
        outcome.stderr.contains("query::relation_not_found") && outcome.stderr.contains("line 3"),
        "{}",
        outcome.stderr
    );
    outcome.failed("bad.cozo'");
    cozo_with_input(&["run"], "?[a] :=\n  a = ]").failed("in standard input, line 2");
    let error = cozo(&["run", &file, "--format", "json"]);
    let error: Value = serde_json::from_str(&error.stdout).expect("it is JSON");
    assert_eq!((&error["filename"], &error["code"]), (&json!(file), &json!("query::relation_not_found")));
    let outcome = cozo_with_input(&["repl"], &format!("%run {file}\n"));
    assert!(outcome.stderr.contains("line 3"), "{}", outcome.stderr);
}

#[test]
fn errors_are_reports_on_standard_error() {
    let outcome = cozo(&["run", "-e", "?[x] := x = $n"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
    for part in ["parser::param_not_found", "?[x] := x = $n", "──", "help:"] {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    assert!(!outcome.stderr.contains('\u{1b}'), "no color where there is no terminal");
    cozo(&["run", "-e", "?[x] <- [[1]] :create r {x}", "--immutable"]).failed("query::read_only");
    cozo(&["run", "-e", "?[x] := x = $n", "--param", "n=zz"]).failed("cli::parameter");
    cozo(&["run", "no such file"]).failed("No such file");
    cozo(&["run", "--engine", "nonsense", "-e", "?[x] <- [[1]]"]).failed("db::unknown_engine");
    assert_eq!(cozo(&["run"]).code, 2);
}

#[cfg(not(feature = "server"))]
#[test]
fn a_build_without_the_server_says_so() {
    for arguments in
        [&["server"][..], &["server", "app.db"], &["server", "-p", "app.db", "--port", "0"], &["server", "--help"]]
    {
        let outcome = cozo(arguments);
        assert!(outcome.stderr.contains("--features server"), "{}", outcome.stderr);
        outcome.failed("cli::without_server");
    }
    assert!(!cozo(&["--help"]).succeeded().contains("server"), "it is not listed");
}

#[test]
fn the_first_failure_ends_a_run() {
    let outcome = cozo(&["run", "-e", "?[x] := y", "-e", "?[x] <- [[1]]", "--format", "csv"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
}

#[test]
fn errors_are_json_where_results_are() {
    let outcome = cozo(&["run", "-e", "?[x] := *nope{x}", "--format", "json"]);
    let error: Value = serde_json::from_str(&outcome.stdout).expect("it is JSON");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (1, ""));
    assert_eq!((&error["ok"], &error["code"]), (&json!(false), &json!("query::relation_not_found")));
    let outcome = cozo(&["run", "no such file", "--format", "json"]);
    assert!(outcome.code == 1 && outcome.stdout.contains("\"cli::file\""), "{}", outcome.stdout);
}

const PEOPLE: &str = "id,name,score,active,code\n1,Ann,1.5,true,007\n2,,2,false,008\n3,\"a,b\",,true,009\n";

/// Imports a file and answers a script with JSON through `cozo run --load`.
fn loaded(load: &str, script: &str) -> Value {
    cozo(&["run", "--load", load, "-e", script, "--format", "json"]).json()
}

#[test]
fn csv_finds_its_types_nulls_and_keys() {
    let directory = scratch("csv");
    let load = format!("person={}", directory.file("people.csv", PEOPLE));
    let columns = loaded(&load, "::columns person");
    let expected = json!([
        ["id", true, 0, "Int", false],
        ["name", false, 1, "String?", false],
        ["score", false, 2, "Float?", false],
        ["active", false, 3, "Bool", false],
        ["code", false, 4, "String", false],
    ]);
    assert_eq!(columns["rows"], expected);
    let rows = loaded(&load, "?[id, name, score, active, code] := *person[id, name, score, active, code]");
    let expected = json!([[1, "Ann", 1.5, true, "007"], [2, null, 2.0, false, "008"], [3, "a,b", null, true, "009"]]);
    assert_eq!(rows["rows"], expected);
}

#[test]
fn columns_may_be_given() {
    let directory = scratch("given");
    let file = directory.file("people.csv", PEOPLE);
    let load = format!("p {{code: String, id: Int => name: String}}={file}");
    let rows = loaded(&load, "?[code, id, name] := *p[code, id, name]");
    assert_eq!(rows["rows"], json!([["007", 1, "Ann"], ["008", 2, ""], ["009", 3, "a,b"]]));
    cozo(&["import", "p {id: Int => zip: String}", &file]).failed("cli::missing_column");
    cozo(&["import", "p {name: Int}", &file]).failed("'Ann' is no Int");
}

#[test]
fn json_lines_find_their_types_nulls_and_keys() {
    let directory = scratch("jsonl");
    let lines =
        "{\"src\":1,\"dst\":2,\"w\":1}\n\n{\"src\":1,\"dst\":3,\"w\":2.5,\"tags\":[\"x\"]}\n{\"dst\":4,\"src\":2}\n";
    let file = directory.file("edges.jsonl", lines);
    let outcome =
        cozo(&["import", "edge", &file, "--then", "::columns edge", "--then", "?[s, w, t] := *edge[s, _, w, t]"]);
    let said = "edge: key src, dst: the first columns that tell all rows apart\nedge: 3 rows in ";
    assert!(outcome.stderr.starts_with(said), "{}", outcome.stderr);
    let table = outcome.succeeded();
    for (column, key, column_type) in
        [("src", true, "Int"), ("dst", true, "Int"), ("w", false, "Float?"), ("tags", false, "Any?")]
    {
        let line = table.lines().find(|line| line.contains(&format!("\"{column}\""))).expect("the column is listed");
        assert!(line.contains(&key.to_string()) && line.contains(&format!("\"{column_type}\"")), "{line}");
    }
    assert!(table.contains("│ 1 ┆  2.5 ┆ [\"x\"] │"), "{table}");
    assert!(table.contains("│ 2 ┆ null ┆ null  │"), "{table}");
}

#[test]
fn given_columns_are_those_of_the_relation() {
    let directory = scratch("schema");
    let (file, path) = (directory.file("kv.csv", "k,v\n1,a\n"), directory.path("kv.db"));
    let import = |relation: &str| cozo(&["import", relation, &file, "--engine", "sqlite", "-p", &path]);
    import("t {k: Int => v: String").failed("cli::columns");
    import("t {k: Int => v: }").failed("parser::");
    import("t {k: Int => v: String}").succeeded();
    import("t { k : Int=>v:String }").succeeded();
    import("t").succeeded();
    import("t {k: Int => v: String").failed("cli::columns");
    import("t {k: Int => v: }").failed("parser::");
    for other in ["t {k: Int, v: String}", "t {k: Int => v: String?}", "t {k: Int}", "t {k: Int => w: String}"] {
        let outcome = import(other);
        assert!(outcome.stderr.contains("it has {k: Int => v: String}"), "{}", outcome.stderr);
        outcome.failed("cli::other_columns");
    }
}

#[test]
fn relations_have_names() {
    let directory = scratch("names");
    let file = directory.file("kv.csv", "k,v\n1,a\n");
    for name in ["_t", "", "bad name", "2t", "t {k: Int} {v: Int"] {
        let outcome = cozo(&["import", name, &file]);
        assert!(!outcome.stderr.contains(":create"), "{}", outcome.stderr);
        outcome.failed("cli::");
    }
    cozo(&["import", "_t", &file]).failed("'_t' is not the name of a relation");
    cozo(&["import", "t:idx", &file]).failed("cli::is_index");
    cozo(&["run", "--load", &format!("bad name={file}"), "-e", "?[x] <- [[1]]"]).failed("cli::relation_name");
    cozo(&["import", "city.trip_2", &file, "--then", "?[v] := *city.trip_2{v}"]).succeeded();
}

#[test]
fn text_may_begin_with_a_byte_order_mark() {
    let directory = scratch("mark");
    for (name, text) in [("m.csv", "\u{feff}k\n1\n"), ("m.jsonl", "\u{feff}{\"k\":1}\n")] {
        let load = format!("t={}", directory.file(name, text));
        assert_eq!(loaded(&load, "?[k] := *t{k}")["rows"], json!([[1]]), "{name}");
    }
    let script = "\u{feff}?[k] <- [[1]]";
    let file = directory.file("m.cozo", script);
    assert_eq!(cozo(&["run", &file, "--format", "csv"]).succeeded(), "k\n1\n");
    assert_eq!(cozo_with_input(&["run", "-", "--format", "csv"], script).succeeded(), "k\n1\n");
    let outcome = cozo_with_input(&["repl"], &format!("%run {file}\n"));
    assert!(outcome.stdout.contains("│ 1 │"), "{}", outcome.stderr);
}

#[test]
fn quotes_must_be_closed() {
    let directory = scratch("quotes");
    for (text, record) in [
        ("k,v\n1,\"a\n2,b\n3,c\n", 1),
        ("k,v\n1,a\n\"2,b\n3,c", 2),
        ("k,v\n1,a\n2,\"\n", 2),
        ("k,\"v\n1,a\n", 0),
        ("k\n1\n\"", 2),
    ] {
        let file = directory.file("open.csv", text);
        for relation in ["t", "t {k: String}"] {
            let outcome = cozo(&["import", relation, &file]);
            assert!(outcome.stderr.contains(&format!("bad record {record} in ")), "{text} {}", outcome.stderr);
            outcome.failed("a quote begins here");
        }
    }
    for text in ["k,v\n1,\"a\n\"\"2,b\"\n2,\"\"", "k,v\r\n1,a\r\n2,\"b\"\r\n", "k,v\n\n1,\"\"\n2,b\n\n\n"] {
        let load = format!("t={}", directory.file("closed.csv", text));
        assert_eq!(loaded(&load, "?[k] := *t{k}")["rows"], json!([[1], [2]]), "{text}");
    }
}

/// The types and the rows that `id` gets from a file.
fn ids(load: &str) -> (Value, Value) {
    let rows = loaded(load, "?[id] := *t{id}")["rows"].clone();
    (loaded(load, "::columns t")["rows"][0][3].clone(), rows)
}

#[test]
fn numbers_that_no_float_holds_keep_their_digits() {
    let directory = scratch("digits");
    let beyond = directory.file("beyond.csv", "id,v\n12345678901234567890,a\n12345678901234567891,b\n");
    let expected = json!([["12345678901234567890"], ["12345678901234567891"]]);
    assert_eq!(ids(&format!("t={beyond}")), (json!("String"), expected));
    let mixed = directory.file("mixed.csv", "id\n9007199254740993\n9007199254740992\n0.5\n");
    let expected = json!([["0.5"], ["9007199254740992"], ["9007199254740993"]]);
    assert_eq!(ids(&format!("t={mixed}")), (json!("String"), expected));
    let lines = "{\"id\":9007199254740993}\n{\"id\":9007199254740992}\n{\"id\":0.5}\n";
    let (column_type, rows) = ids(&format!("t={}", directory.file("mixed.jsonl", lines)));
    assert_eq!((column_type, rows.as_array().map(Vec::len)), (json!("Any"), Some(3)));
    let lines = directory.file("beyond.jsonl", "{\"id\":1}\n{\"id\":12345678901234567891}\n");
    let outcome = cozo(&["import", "t", &lines]);
    assert!(outcome.stderr.contains("bad record 2"), "{}", outcome.stderr);
    outcome.failed("column 'id': 12345678901234567891 is beyond Int");
    for (lost, text) in [
        ("18446744073709551617", "18446744073709551617"),
        ("-18446744073709551617", "[1, -18446744073709551617]"),
        ("99999999999999999999", r#"{"a": [{"b": 99999999999999999999}]}"#),
    ] {
        let lines = directory.file("beyond.jsonl", &format!("{{\"id\":{text}}}\n"));
        cozo(&["import", "t", &lines]).failed(&format!("column 'id': {lost} is beyond Int"));
        cozo(&["import", "t {id: Any}", &lines]).failed(&format!("column 'id': {lost} is beyond Int"));
    }
    let lines = directory.file("floats.jsonl", "{\"id\":123456789012345680000}\n");
    assert_eq!(ids(&format!("t {{id: Float}}={lines}")), (json!("Float"), json!([[123_456_789_012_345_680_000.0]])));
    let any = directory.file("any.csv", "id\n18446744073709551617\n7\n");
    assert_eq!(ids(&format!("t {{id: Any}}={any}")), (json!("Any"), json!([[7], ["18446744073709551617"]])));
    let nested = directory.file("nested.csv", "id\n\"[1, 18446744073709551617]\"\n");
    cozo(&["import", "t {id: Any}", &nested]).failed("18446744073709551617 is beyond Int");
}

#[test]
fn one_number_written_twice_tells_no_rows_apart() {
    let directory = scratch("twice");
    for numbers in ["1.0,a\n1,b\n", "0.1,a\n0.10000000000000000001,b\n", "0,a\n-0,b\n"] {
        let load = format!("t={}", directory.file("twice.csv", &format!("id,v\n{numbers}")));
        let rows = loaded(&load, "?[v] := *t{v}");
        assert_eq!(rows["rows"], json!([["a"], ["b"]]), "{numbers}");
    }
}

#[test]
fn large_files_go_in_batches_and_lose_nothing() {
    let directory = scratch("large");
    let lines: String = (0..25_001).map(|n| format!("{},{}\n", n % 7, n)).collect();
    let file = directory.file("numbers.csv", &format!("a,b\n{lines}"));
    let rows = loaded(&format!("number={file}"), "?[count(b), sum(b), max(a)] := *number{a, b}");
    assert_eq!(rows["rows"], json!([[25_001, 312_512_500.0, 6]]));
}

#[test]
fn data_files_that_cannot_be_read_are_refused() {
    let directory = scratch("refused");
    cozo(&["import", "r", &directory.file("x.xlsx", "")]).failed("cli::data_format");
    cozo(&["import", "r", &directory.file("empty.csv", "")]).failed("cli::no_columns");
    cozo(&["import", "r", &directory.file("ragged.csv", "a,b\n1\n")]).failed("cli::bad_record");
    cozo(&["import", "r", &directory.file("names.csv", "a b\n1\n")]).failed("cli::column_name");
    cozo(&["import", "r", &directory.file("bad.jsonl", "{}\n[1]\n")]).failed("bad record 2");
    cozo(&["run", "--load", "r", "-e", "?[x] <- [[1]]"]).failed("cli::load");
}

#[test]
fn what_reads_makes_no_database() {
    let directory = scratch("reads");
    let (typo, copy) = (directory.path("typo.db"), directory.path("copy.db"));
    let damaged = directory.file("damaged.db", "this is no database, and has nothing in it that could be one");
    for arguments in [
        &["backup", &copy, "-e", "mem", "-p", &damaged][..],
        &["backup", &copy],
        &["compact", "-e", "mem", "-p", &damaged],
        &["export", "r", "-", "--engine", "mem", "-p", &damaged],
        &["check", "-e", "mem", &damaged],
    ] {
        cozo(arguments).failed("cli::nothing_in_mem");
    }
    for arguments in
        [&["backup", &copy, "-p", &damaged][..], &["compact", &damaged], &["export", "r", "-", "-p", &damaged]]
    {
        cozo(arguments).failed("storage::not_a_database");
    }
    for engine in ["sqlite", "rocksdb"] {
        for arguments in [
            &["backup", &copy, "-e", engine, "-p", &typo][..],
            &["compact", "-e", engine, "-p", &typo],
            &["export", "r", "-", "--engine", engine, "-p", &typo],
            &["check", "-e", engine, &typo],
            &["check", &typo],
        ] {
            cozo(arguments).failed("cli::no_database");
        }
    }
    assert_eq!(directory.names(), ["damaged.db"]);
}

/// SQLite's log is written back when a database is closed, so that the file alone is the whole of it.
#[test]
fn databases_are_closed_at_the_end() {
    let directory = scratch("closed");
    let (file, path) = (directory.file("kv.csv", "k,v\n1,a\n"), directory.path("kv.db"));
    let query = "?[k] := *t{k}";
    let place = ["--engine", "sqlite", "-p", &path];
    for (arguments, input, code) in [
        (&["import", "t", &file][..], "", 0),
        (&["import", "t", &file, "--then", query], "", 0),
        (&["import", "t", &directory.path("missing.csv")], "", 1),
        (&["run", "-e", query, "-e", "?[x] := *nope{x}"], "", 1),
        (&["run", "--load", &format!("t={file}"), "-e", query], "", 0),
        (&["export", "t", "-"], "", 0),
        (&["backup", &directory.path("backup.db")], "", 0),
        (&["compact"], "", 0),
        (&["repl"], &format!("{query}\n?[x] := y\n"), 0),
    ] {
        let outcome = cozo_with_input(&[arguments, &place].concat(), input);
        assert_eq!(outcome.code, code, "{arguments:?}: {}", outcome.stderr);
        let left = directory.names().into_iter().find(|name| name.starts_with("kv.db-") && name != "kv.db-lock");
        assert_eq!(left, None, "{arguments:?}");
    }
}

#[test]
fn a_restore_that_fails_leaves_no_database() {
    let directory = scratch("restore-fails");
    let damaged = directory.file("damaged.db", "this is no database, and has nothing in it that could be one");
    let (kept, missing) = (directory.path("kept.db"), directory.path("missing.db"));
    cozo(&["run", "--engine", "sqlite", "-p", &kept, "-e", "?[a] <- [[1]] :create r {a}"]).succeeded();
    let before = directory.names();
    for backup in [&damaged, &missing] {
        assert_eq!(cozo(&["restore", backup, "-e", "sqlite", "-p", &directory.path("new.db")]).code, 1);
        #[cfg(feature = "storage-rocksdb")]
        assert_eq!(cozo(&["restore", backup, "-e", "rocksdb", "-p", &directory.path("new.rocks")]).code, 1);
        assert_eq!(cozo(&["restore", backup, "-e", "sqlite", "-p", &kept]).code, 1);
    }
    assert_eq!(directory.names(), before);
    let rows = cozo(&["run", "--engine", "sqlite", "-p", &kept, "-e", "?[a] := *r{a}", "--format", "csv"]).succeeded();
    assert_eq!(rows, "a\n1\n");
}

#[test]
fn a_script_that_probably_means_something_else_is_warned_of() {
    let warned = cozo(&["run", "--engine", "mem", "--script", "?[x] <- [[1]] :create _kept {x}"]);
    assert_eq!(warned.code, 0);
    assert!(warned.stderr.contains("warning: '_kept' ends with this script"), "{}", warned.stderr);
}

#[test]
fn plans_are_tables_or_json() {
    let first = ":create edge {from: Int, to: Int}";
    let script = "?[to] := *edge{from: $x, to}";
    let plan = |more: &[&str]| cozo(&[&["plan", "--first", first, "-e", script, "--param", "x=1"], more].concat());
    let table = plan(&[]).succeeded();
    assert!(table.contains("stored_prefix") && table.contains(":edge"), "{table}");
    let json: Value = serde_json::from_str(&plan(&["--json"]).succeeded()).expect("it is JSON");
    assert_eq!((&json["format"], &json["version"]), (&json!("cozo-plan"), &json!(1)));
    assert_eq!(json["components"][0]["rules"][0]["operators"][0]["on"][0]["value"]["constant"]["value"], 1);
    let sized = plan(&["--json", "--sizes", r#"{"edge": {"rows": 5}}"#]).succeeded();
    assert!(sized.contains("\"cozo-plan\""), "{sized}");
    assert!(plan(&["--json", "--sizes", r#"{"edge": 5}"#]).stderr.contains("plan::bad_sizes"));
    let several = cozo(&["plan", "--json", "-e", "::relations"]);
    assert!(several.stderr.contains("plan::not_one_query"), "{}", several.stderr);
}
