//! `cozo import` of files as other programs write them.

mod support;

use support::{Outcome, Scratch, cozo, cozo_with_input, scratch};

/// Imports, and shows the relation `r` and its columns.
fn import(arguments: &[&str]) -> Outcome {
    let then = ["--then", "::columns r", "--then", "?[x, y] := *r{a: x, b: y}"];
    cozo(&[&["import", "r"], arguments, &then].concat())
}

/// The lines of tables without their frames.
fn cells(text: &str) -> Vec<String> {
    let rows = text.lines().filter(|line| line.starts_with('│'));
    rows.map(|line| line.split(['│', '┆']).map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join(" "))
        .collect()
}

/// The rows of `a` and `b`, of an import that went well.
fn rows(arguments: &[&str]) -> Vec<String> {
    let shown = cells(&import(arguments).succeeded());
    let start = shown.iter().position(|row| row == "x y").expect("the columns are there");
    shown[start + 1..].to_vec()
}

#[test]
fn delimiters_are_found() {
    let directory = scratch("import-delimiters");
    for (name, text) in [
        ("comma.csv", "a,b\n1,x\n2,y\n"),
        ("semicolon.csv", "a;b\n1;x\n2;y\n"),
        ("tab.csv", "a\tb\n1\tx\n2\ty\n"),
        ("tab.tsv", "a\tb\n1\tx\n2\ty\n"),
        ("bar.csv", "a|b\n1|x\n2|y\n"),
        ("mark.csv", "\u{feff}a;b\n1;x\n2;y\n"),
        ("quoted_mark.csv", "\u{feff}\"a\";\"b\"\n1;x\n2;y\n"),
        ("crlf.csv", "a;b\r\n1;x\r\n2;y\r\n"),
        ("empty_lines.csv", "\na;b\n\n1;x\n\n\n2;y\n\n"),
        ("no_last_line_end.csv", "b;a\nx;1\ny;2"),
    ] {
        assert_eq!(rows(&[&directory.file(name, text)]), ["1 \"x\"", "2 \"y\""], "{name}");
    }
    let quoted = directory.file("quoted.csv", "a;b\n1;\"x;y\n\"\"z\"\"\"\n");
    assert_eq!(rows(&[&quoted]), [r#"1 "x;y\n\"z\"""#]);
    let decimal_commas = directory.file("decimal.csv", "a;b\n1;2,5\n2;3,5\n");
    assert_eq!(rows(&[&decimal_commas]), [r#"1 "2,5""#, r#"2 "3,5""#]);
}

#[test]
fn a_given_delimiter_counts() {
    let directory = scratch("import-given-delimiter");
    let file = directory.file("r.csv", "a~b\n1~x\n");
    assert_eq!(rows(&[&file, "--delimiter", "~"]), ["1 \"x\""]);
    let tabs = directory.file("tabs.csv", "a\tb\n1\tx,y\n");
    assert_eq!(rows(&[&tabs, "--delimiter", "tab"]), ["1 \"x,y\""]);
    let blanks = directory.file("blanks.csv", "a b\n1 x\n");
    assert_eq!(rows(&[&blanks, "--delimiter", " "]), ["1 \"x\""]);
    let old_mac = directory.file("mac.csv", "a,b\r1,x\r");
    assert_eq!(rows(&[&old_mac]), ["1 \"x\""]);
    cozo(&["import", "r", &directory.file("mark.csv", "\u{feff}")]).failed("cli::no_columns");
    cozo(&["import", "r", &file, "--delimiter", "ab"]).refused();
    cozo(&["import", "r", &file, "--delimiter", "1"]).refused();
}

#[test]
fn odd_headers_are_renamed_on_demand() {
    let directory = scratch("import-rename");
    let file = directory.file("r.csv", "Order ID,1st,price (€),,Order ID\n1,2,3,4,5\n");
    let refused = cozo(&["import", "r", &file]);
    assert!(refused.stderr.contains("'Order ID', '1st', 'price (€)', '', 'Order ID'"), "{}", refused.stderr);
    assert!(refused.stderr.contains("--rename"), "{}", refused.stderr);
    refused.failed("cli::column_name");
    let query = "?[a, b, c, d, e] := *r{Order_ID: a, column_1st: b, price: c, column_4: d, Order_ID_2: e}";
    let renamed = cozo(&["import", "r", &file, "--then", query, "--rename"]);
    assert!(renamed.stderr.contains("'1st' to column_1st, 'price (€)' to price, '' to column_4"), "{}", renamed.stderr);
    assert_eq!(cells(&renamed.succeeded())[1], "1 2 3 4 5");
    let file = directory.file("two.csv", "Order ID,x\n1,y\n");
    assert_eq!(rows(&[&file, "--rename", "Order ID=a,x=b"]), ["1 \"y\""]);
    cozo(&["import", "r", &file, "--rename", "no=a"]).failed("cli::rename");
    cozo(&["import", "r", &file, "--rename", "x=1"]).failed("cli::rename");
    cozo(&["import", "r", &file, "--rename", "x=b"]).failed("cli::column_name");
}

#[test]
fn the_key_is_explained() {
    let directory = scratch("import-key");
    for (text, said) in [
        ("a,b\n1,x\n2,x\n", "r: key a, which tells all rows apart"),
        ("a,b,c\n1,x,1\n1,y,1\n", "r: key a, b: the first columns that tell all rows apart"),
        ("a,b\n1,x\n1,x\n", "r: all columns are the key, as some rows are the same"),
        ("a,b,c,d\n1,x,1,1\n1,x,1,2\n", "r: all columns are the key, as the first 3 do not tell all rows apart"),
    ] {
        let outcome = import(&[&directory.file("r.csv", text)]);
        assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    }
    let given = cozo(&["import", "r {a => b}", &directory.file("r.csv", "a,b\n1,x\n")]);
    assert!(!given.stderr.contains("key"), "{}", given.stderr);
}

/// A script that makes the relation `r`.
const MAKE: &str = "?[a, b] <- [[1, 'x'], [2, 'y']] :create r {a: Int => b: String}";

fn exported(directory: &Scratch, name: &str) -> String {
    let (database, file) = (directory.path("from.db"), directory.path(name));
    if !directory.names().contains(&"from.db".to_string()) {
        cozo(&["run", "--engine", "sqlite", "--path", &database, "-e", MAKE]).succeeded();
    }
    cozo(&["export", "r", &file, "--engine", "sqlite", "--path", &database]).succeeded();
    file
}

#[test]
fn text_is_compressed() {
    let directory = scratch("import-gzip");
    for name in ["r.csv.gz", "r.tsv.gz", "r.jsonl.gz", "r.json.gz", "R.CSV.GZ"] {
        let file = exported(&directory, name);
        let start = std::fs::read(&file).expect("the file is there");
        assert_eq!(start[..2], [0x1f, 0x8b], "{name}");
        assert_eq!(rows(&[&file]), ["1 \"x\"", "2 \"y\""], "{name}");
    }
    let bytes = std::fs::read(exported(&directory, "r.csv.gz")).expect("the file is there");
    let cut = directory.path("cut.csv.gz");
    std::fs::write(&cut, &bytes[..bytes.len() - 10]).expect("the file can be written");
    cozo(&["import", "r", &cut]).failed("cli::file");
    let database = directory.path("from.db");
    cozo(&["export", "r", &directory.path("r.parquet.gz"), "--path", &database]).failed("cli::compressed");
}

#[test]
fn several_files_are_one_table() {
    let directory = scratch("import-pattern");
    directory.file("1.csv", "a;b\n1;x\n");
    directory.file("2.csv", "b,a\ny,2\n");
    directory.file("10.csv", "a,b\n,z\n");
    let pattern = directory.path("*.csv");
    assert_eq!(rows(&[&pattern]), ["null \"z\"", "1 \"x\"", "2 \"y\""]);
    assert_eq!(rows(&[&directory.path("2.csv"), &directory.path("1.csv")]), ["1 \"x\"", "2 \"y\""]);
    cozo(&["import", "r", &directory.path("*.tsv")]).failed("cli::pattern");
    let ragged = directory.file("3.csv", "a,b\n7,x\n\n8\n");
    let failure = cozo(&["import", "r", &pattern]);
    let said = failure.stderr.replace("\n  │ ", "");
    assert!(said.contains("bad record 2 in") && said.contains("3.csv', line 4"), "{said}");
    std::fs::write(&ragged, "a,c\n7,x\n").expect("the file can be written");
    cozo(&["import", "r", &pattern]).failed("cli::other_headers");
    let lines = [directory.file("1.jsonl", "{\"a\": 1}\n"), directory.file("2.jsonl", "{\"b\": \"y\", \"a\": 2}\n")];
    assert_eq!(rows(&[&lines[0], &lines[1]]), ["1 null", "2 \"y\""]);
}

#[cfg(feature = "arrow")]
#[test]
fn parquet_is_read_by_pattern_and_in_scripts() {
    let directory = scratch("import-parquet");
    exported(&directory, "r1.parquet");
    std::fs::copy(directory.path("r1.parquet"), directory.path("r2.parquet")).expect("it can be copied");
    let pattern = directory.path("r?.parquet");
    assert_eq!(rows(&[&pattern]), ["1 \"x\"", "2 \"y\""]);
    let csv = directory.file("r.csv", "a,b\n1,x\n");
    cozo(&["import", "r", &pattern, &csv]).failed("cli::mixed_formats");
    let run = |call: &str| cells(&cozo(&["run", "-e", &call.replace("PATH", &pattern)]).succeeded());
    assert_eq!(run("?[b, a] <~ ReadParquet(path: 'PATH')"), ["b a", "\"x\" 1", "\"y\" 2"]);
    assert_eq!(run("?[k] <~ ReadParquet(path: 'PATH', columns: ['a'], limit: 1)"), ["k", "1"]);
    assert_eq!(
        run("r[x, y, z] <~ ReadParquet(path: 'PATH', columns: [1, 0, 'b'])  ?[count(x)] := r[x, y, x]"),
        ["count(x)", "2"]
    );
    let missing = format!("?[c] <~ ReadParquet(path: '{pattern}')");
    cozo(&["run", "-e", &missing]).failed("fixed_rule::bad_data");
    cozo(&["run", "-e", &format!("?[a] <~ ReadParquet(path: '{csv}')")]).failed("fixed_rule::cannot_read");
}

#[test]
fn the_shell_imports_alike() {
    let directory = scratch("import-shell");
    let file = directory.file("orders.csv", "Order ID;b\n1;x\n");
    let lines = format!("%import {file} --rename\n?[id] := *orders{{Order_ID: id}}\n%import {file} --nonsense\n");
    let outcome = cozo_with_input(&["repl"], &lines);
    assert!(cells(&outcome.stdout).contains(&"1".to_string()), "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stderr.contains("repl::usage"), "{}", outcome.stderr);
}
