//! `cozo export` and `cozo import`: relations and results through files.

mod support;

use serde_json::json;
use support::{Scratch, cozo, scratch};

/// Columns of all types, as a relation declares them.
const COLUMNS: &str = "k: Int, t: Validity => i: Int?, f: Float, s: String?, b: Bytes, o: Bool, u: Uuid, l: [Any], v: <F32; 2>, \
                       j: Json, a: Any?";

/// Rows of them, some of them awkward.
const ROWS: &str = r#"
?[k, t, i, f, s, b, o, u, l, v, j, a] <- [
    [1, [7, true], 9007199254740993, 1.0, "a,\"b\"\n", decode_base64("AP8="), true, to_uuid("f3b4958c-52a1-11e7-802a-010203040506"),
     [1, 2.5, "x", [null]], [1, 2.5], {"k": [1, 1.0, null]}, 1],
    [1, [-7, false], null, -0.5, null, decode_base64(""), false, to_uuid("00000000-0000-0000-0000-000000000000"),
     [], [-1, 0], json([1, "x"]), 1.5],
    [-2, [0, true], -1, to_float("NEG_INF"), "é", decode_base64("eA=="), true, to_uuid("f3b4958c-52a1-11e7-802a-010203040507"),
     [true], [0, 0], json("x"), {"k": 1}],
    [3, [1, true], 0, 1e300, "null", decode_base64("eA=="), true, to_uuid("f3b4958c-52a1-11e7-802a-010203040508"),
     ["1"], [0, 0], json(false), "x"],
    [4, [1, true], 0, 2.0, "1", decode_base64("eA=="), true, to_uuid("f3b4958c-52a1-11e7-802a-010203040508"),
     ["1"], [0, 0], json(1.0), null],
    [5, [1, true], 0, 2.0, "1", decode_base64("eA=="), true, to_uuid("f3b4958c-52a1-11e7-802a-010203040508"),
     ["1"], [0, 0], {}, [1, [2.0]]],
    [6, [1, true], 0, 2.0, "1", decode_base64("eA=="), true, to_uuid("f3b4958c-52a1-11e7-802a-010203040508"),
     ["1"], [0, 0], json("null"), "1"],
    [7, [1, true], 0, 2.0, "1", decode_base64("eA=="), true, to_uuid("f3b4958c-52a1-11e7-802a-010203040508"),
     ["1"], [0, 0], json("1"), "\"x\""]
]"#;

/// A database of SQLite in a directory.
fn database(directory: &Scratch, name: &str) -> [String; 4] {
    ["--engine", "sqlite", "--path", &directory.path(name)].map(str::to_string)
}

fn run(database: &[String; 4], arguments: &[&str]) -> support::Outcome {
    let database = database.iter().map(String::as_str);
    cozo(&arguments.iter().copied().chain(database).collect::<Vec<_>>())
}

/// The result of a script as values are written in scripts, without the time that it took.
fn shown(database: &[String; 4], script: &str) -> String {
    let table = run(database, &["run", "-e", script]).succeeded();
    table.lines().filter(|line| line.starts_with(['│', '╞'])).map(|line| format!("{line}\n")).collect()
}

const ALL: &str = "?[k, t, i, f, s, b, o, u, l, v, j, a] := *r{k, t, i, f, s, b, o, u, l, v, j, a}";

/// A database with the rows, and a script that shows that they are the same elsewhere.
fn filled(directory: &Scratch) -> [String; 4] {
    let from = database(directory, "from.db");
    run(&from, &["run", "-e", &format!("{ROWS} :create r {{{COLUMNS}}}")]).succeeded();
    from
}

#[test]
fn text_formats_keep_all_types_of_declared_columns() {
    let directory = scratch("export-text");
    let from = filled(&directory);
    for extension in ["csv", "tsv", "jsonl"] {
        let (file, to) = (directory.path(&format!("r.{extension}")), database(&directory, &format!("{extension}.db")));
        let outcome = run(&from, &["export", "r", &file]);
        assert!(outcome.stderr.starts_with("exported: 8 rows in "), "{}", outcome.stderr);
        outcome.succeeded();
        run(&to, &["import", &format!("r {{{COLUMNS}}}"), &file]).succeeded();
        assert_eq!(shown(&from, ALL), shown(&to, ALL), "{extension}");
    }
}

#[cfg(feature = "arrow")]
#[test]
fn arrow_formats_keep_all_types_and_the_declaration() {
    let directory = scratch("export-arrow");
    let from = filled(&directory);
    for extension in ["parquet", "arrow"] {
        let (file, to) = (directory.path(&format!("r.{extension}")), database(&directory, &format!("{extension}.db")));
        let outcome = run(&from, &["export", "r", &file]);
        assert!(!outcome.stderr.contains("note:"), "{}", outcome.stderr);
        outcome.succeeded();
        run(&to, &["import", "r", &file]).succeeded();
        assert_eq!(shown(&from, ALL), shown(&to, ALL), "{extension}");
        assert_eq!(shown(&from, "::columns r"), shown(&to, "::columns r"), "{extension}");
        // A second time, into a relation that is there.
        run(&to, &["import", "r", &file]).succeeded();
        assert_eq!(shown(&from, ALL), shown(&to, ALL), "{extension}");
    }
}

#[cfg(feature = "arrow")]
#[test]
fn results_find_types_and_keys_on_the_way_back() {
    let directory = scratch("export-results");
    let to = database(&directory, "to.db");
    let script = "?[a, b, u, v, m] <- [[1, 'x', to_uuid('f3b4958c-52a1-11e7-802a-010203040506'), vec([1, 2]), 1], \
                  [1, 'y', null, vec([3, 4]), $m]]";
    for (name, mixed, note) in [("a.parquet", "2", false), ("b.arrow", "2.5", false)] {
        let file = directory.path(name);
        let outcome = cozo(&["export", "--script", script, "--param", &format!("m={mixed}"), &file]);
        assert_eq!(outcome.stderr.contains("note: 'm'"), note, "{}", outcome.stderr);
        outcome.succeeded();
        run(&to, &["run", "-e", "?[x] <- [[1]]"]).succeeded();
        let relation = &name[..1];
        run(&to, &["import", relation, &file]).succeeded();
        let columns = run(&to, &["run", "--format", "json", "-e", &format!("::columns {relation}")]).json();
        let types = columns["rows"].as_array().expect("rows").iter().map(|row| json!([row[0], row[1], row[3]]));
        let last = if mixed == "2" { "Int" } else { "Float" };
        let expected = json!([
            ["a", true, "Int"],
            ["b", true, "String"],
            ["u", false, "Uuid?"],
            ["v", false, "<F32;2>"],
            ["m", false, last]
        ]);
        assert_eq!(types.collect::<serde_json::Value>(), expected);
    }
    let shown = shown(&to, "?[u, v, m] := *b{a, b, u, v, m}");
    assert!(shown.contains("to_uuid(\"f3b4958c-52a1-11e7-802a-010203040506\")") && shown.contains("2.5"), "{shown}");
    let lossy = "?[a] <- [[1], [decode_base64('eA==')]]";
    let outcome = cozo(&["export", "--script", lossy, &directory.path("lossy.parquet")]);
    assert!(outcome.stderr.contains("note: 'a' holds values of several types"), "{}", outcome.stderr);
}

#[cfg(feature = "arrow")]
#[test]
fn notes_say_what_an_import_does_not_undo() {
    let directory = scratch("export-notes");
    let from = database(&directory, "from.db");
    for (column_type, value, note) in [
        ("[Bytes]", "[decode_base64('eA==')]", None),
        ("[Uuid]", "[to_uuid('f3b4958c-52a1-11e7-802a-010203040506')]", None),
        ("[Json]", "[json([1]), json('x')]", None),
        ("[<F32; 2>]", "[vec([1, 2])]", None),
        ("[Float]", "[1.5]", None),
        ("[Float]", "[to_float('NAN')]", Some("note: 'v' is written as JSON, which has no NaN")),
        ("(Int, Float)", "[1, to_float('INF')]", Some("note: 'v' is written as JSON, which has no NaN")),
        ("[Any]", "[1, decode_base64('eA==')]", Some("note: 'v' holds values of several types")),
    ] {
        let create = format!("?[k, v] <- [[1, {value}]] :create r {{k: Int => v: {column_type}}}");
        run(&from, &["run", "-e", &create]).succeeded();
        let file = directory.path("r.parquet");
        let outcome = run(&from, &["export", "r", &file]);
        match note {
            Some(note) => assert!(outcome.stderr.contains(note), "{}", outcome.stderr),
            None => {
                assert!(!outcome.stderr.contains("note:"), "{column_type}: {}", outcome.stderr);
                let to = database(&directory, "to.db");
                run(&to, &["import", "r", &file]).succeeded();
                let script = "?[k, v] := *r{k, v}";
                assert_eq!(shown(&from, script), shown(&to, script), "{column_type}");
                run(&to, &["run", "-e", "::remove r"]).succeeded();
            }
        }
        outcome.succeeded();
        run(&from, &["run", "-e", "::remove r"]).succeeded();
    }
}

#[test]
fn standard_output_takes_text() {
    let script = "?[a, b] <- [[1, 'x'], [2, null]]";
    assert_eq!(cozo(&["export", "--script", script, "-"]).succeeded(), "a,b\n1,x\n2,\n");
    let lines = cozo(&["export", "--script", script, "-", "--format", "jsonl"]).succeeded();
    assert_eq!(lines, "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":null}\n");
    #[cfg(feature = "arrow")]
    cozo(&["export", "--script", script, "-", "--format", "parquet"]).failed("cli::not_to_stdout");
}

#[test]
fn exports_that_fail_leave_nothing() {
    let directory = scratch("export-fails");
    let file = directory.file("kept.csv", "old");
    cozo(&["export", "nope", &file]).failed("query::relation_not_found");
    cozo(&["export", "--script", "?[a] := a = 1 / 'x'", &file]).failed("eval::");
    cozo(&["export", "--script", "?[a] <- [[1]] :create r {a}", &file]).failed("query::read_only");
    cozo(&["export", "r", &directory.path("r.xlsx")]).failed("cli::data_format");
    cozo(&["export", "--script", "?[a] <- [[1]]", &directory.path("no/such/directory.csv")]).failed("cli::file");
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "old");
    assert!(!std::path::Path::new(&format!("{file}.part")).exists());
    assert_eq!(cozo(&["export", "r", "--script", "?[a] <- [[1]]", &file]).code, 2);
    assert_eq!(cozo(&["export", &file]).code, 2);
}

#[cfg(feature = "arrow")]
#[test]
fn files_that_are_not_what_they_say_are_refused() {
    let directory = scratch("import-bad");
    let good = directory.path("good.parquet");
    cozo(&["export", "--script", "?[a] <- [[1], [2]]", &good]).succeeded();
    let bytes = std::fs::read(&good).expect("it was written");
    let cut = directory.path("cut.parquet");
    std::fs::write(&cut, &bytes[..bytes.len() - 9]).expect("it can be written");
    for file in [
        cut,
        directory.file("text.parquet", "a,b\n1,2\n"),
        directory.file("empty.arrow", ""),
        directory.file("text.arrow", "ARROW1 is not enough"),
    ] {
        cozo(&["import", "r", &file]).failed("cli::unreadable");
    }
    let renamed = directory.path("data.bin");
    std::fs::copy(&good, &renamed).expect("it can be copied");
    cozo(&["import", "r", &renamed]).failed("cli::data_format");
    cozo(&["import", "r", &renamed, "--format", "parquet", "--then", "?[a] := *r{a}"]).succeeded();
    cozo(&["import", "r {b: Int}", &good]).failed("cli::missing_column");
    cozo(&["import", "r {a: Bool}", &good]).failed("r");
}

/// Rows of which only the first batch fits.
fn numbers(directory: &Scratch) -> String {
    let lines: String = (0..10_000).map(|n| format!("{n}\n")).collect();
    directory.file("numbers.csv", &format!("n\n{lines}x\n"))
}

#[test]
fn a_relation_is_not_half_made() {
    let directory = scratch("import-half");
    let to = database(&directory, "to.db");
    run(&to, &["import", "r {n: Int}", &numbers(&directory)]).failed("cli::bad_record");
    let relations = run(&to, &["run", "--format", "json", "-e", "::relations"]).json();
    assert_eq!(relations["rows"], json!([]));
}

#[test]
fn rows_that_came_before_an_error_are_counted() {
    let directory = scratch("import-counted");
    let to = database(&directory, "to.db");
    run(&to, &["run", "-e", ":create r {n: Int}"]).succeeded();
    let outcome = run(&to, &["import", "r", &numbers(&directory)]);
    assert!(outcome.stderr.contains("only the first 10,000 rows of"), "{}", outcome.stderr);
    outcome.failed("bad record 10001");
    let count = run(&to, &["run", "--format", "json", "-e", "?[count(n)] := *r{n}"]).json();
    assert_eq!(count["rows"], json!([[10_000]]));
}

#[cfg(feature = "arrow")]
#[test]
fn many_rows_go_in_batches_and_lose_nothing() {
    let directory = scratch("export-large");
    let from = database(&directory, "from.db");
    let fill = "?[n, text] := n in int_range(70001), text = concat('row ', to_string(n % 1000)) :create r {n: Int => text: String}";
    run(&from, &["run", "-e", fill]).succeeded();
    let sums = "?[count(n), sum(n), count_unique(text)] := *r{n, text}";
    for extension in ["parquet", "arrow", "jsonl"] {
        let (file, to) = (directory.path(&format!("r.{extension}")), database(&directory, &format!("{extension}.db")));
        run(&from, &["export", "r", &file]).succeeded();
        run(&to, &["import", "r", &file]).succeeded();
        assert_eq!(shown(&from, sums), shown(&to, sums));
    }
}

#[cfg(feature = "arrow")]
#[test]
fn a_file_cannot_smuggle_in_a_script() {
    use std::collections::HashMap;
    use std::sync::Arc;

    use arrow_array::{Int64Array, RecordBatch};
    use arrow_schema::{DataType, Field, Schema};

    let directory = scratch("import-foreign");
    let metadata = HashMap::from([("cozo.column_type".to_string(), "Int} ?[x] <- [[1]] :create evil {x".to_string())]);
    let field = Field::new("a", DataType::Int64, false).with_metadata(metadata);
    let keys = HashMap::from([("cozo.keys".to_string(), "1".to_string())]);
    let schema = Arc::new(Schema::new_with_metadata(vec![field], keys));
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(vec![5]))]).expect("a batch");
    let path = directory.path("a.arrows");
    let file = std::fs::File::create(&path).expect("it can be written");
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(file, &schema).expect("a writer");
    writer.write(&batch).and_then(|()| writer.finish()).expect("it is written");
    let relations =
        cozo(&["run", "--load", &format!("r={path}"), "--format", "json", "-e", "?[a] := *r{a}", "-e", "::relations"]);
    let lines = relations.succeeded();
    assert!(lines.contains("[[5]]") && !lines.contains("evil"), "{lines}");
}

#[cfg(feature = "arrow")]
#[test]
fn integers_that_no_float_holds_are_refused() {
    use std::sync::Arc;

    use arrow_array::{RecordBatch, UInt64Array};
    use arrow_schema::{DataType, Field, Schema};

    let directory = scratch("import-unsigned");
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::UInt64, false)]));
    for (name, last, is_held) in [("held.parquet", 1 << 63, true), ("lost.parquet", (1 << 63) + 1, false)] {
        let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(UInt64Array::from(vec![7, last]))]);
        let path = directory.path(name);
        let file = std::fs::File::create(&path).expect("it can be written");
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, schema.clone(), None).expect("a writer");
        writer.write(&batch.expect("a batch")).expect("it is written");
        writer.close().expect("it is finished");
        let outcome = cozo(&["import", "t", &path]);
        match is_held {
            true => drop(outcome.succeeded()),
            false => outcome.failed("column 'id': 9223372036854775809 is beyond Int"),
        }
    }
}

/// A result that exceeds the memory of a query goes to the file batch by batch.
#[test]
fn a_result_larger_than_the_memory_is_exported() {
    let directory = scratch("export-beyond-memory");
    let from = database(&directory, "from.db");
    let fill = "?[id, value] := x in int_range(300), y in int_range(1000), id = x * 1000 + y, value = id % 7 :create fact {id => value}";
    run(&from, &["run", "-e", fill]).succeeded();
    let script = "?[value, id, text] := *fact{id, value}, text = concat('number ', to_string(id)) :order -value, id";
    let file = directory.path("large.csv");
    run(&from, &["export", "--script", script, &file, "-c", r#"{"query_memory_mb": 12, "cache_mb": 4}"#]).succeeded();
    let text = std::fs::read_to_string(&file).expect("it was written");
    let mut ids: Vec<i64> = (0..300_000).collect();
    ids.sort_by_key(|id| (-(id % 7), *id));
    let expected = ids.iter().map(|id| format!("{},{id},number {id}", id % 7));
    assert!(std::iter::once("value,id,text".to_string()).chain(expected).eq(text.lines()));
}

#[cfg(not(feature = "arrow"))]
#[test]
fn a_build_without_parquet_says_so() {
    let folder = scratch("export-no-parquet").path("out");
    cozo(&["export", "--partition", &folder]).failed("cli::without_arrow");
    cozo(&["import", "--partition", &folder]).failed("cli::without_arrow");
}
