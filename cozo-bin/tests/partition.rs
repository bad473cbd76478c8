//! `cozo export --partition` and `cozo import --partition`: relations through folders of Parquet files.

#![cfg(feature = "arrow")]

mod support;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::{Outcome, Scratch, cozo, scratch};

/// Relations with values of all types, and what belongs to relations.
const SCRIPTS: &[&str] = &[
    r#"?[k, t, i, f, s, b, o, u, j, v, w, l, p] <- [
        [1, [7, true], 9223372036854775807, 1.0, "a,\"b\"\n", decode_base64("AP8="), true,
         to_uuid("f3b4958c-52a1-11e7-802a-010203040506"), {"k": [1, 1.0, null]}, [1, 2.5], vec([0.1, 1e300], "F64"),
         [1, null], [1, "x"]],
        [2, [-7, false], -9223372036854775807 - 1, to_float("NAN"), "", decode_base64(""), false,
         to_uuid("00000000-0000-0000-0000-000000000000"), json([1, "x"]), [-1, 0], vec([to_float("NAN"), -0.0], "F64"),
         [], [2, ""]],
        [3, [9007199254740993, true], 0, -0.0, "null", decode_base64("eA=="), true,
         to_uuid("ffffffff-ffff-ffff-ffff-ffffffffffff"), json(null), [0, 0], vec([0, 0], "F64"), [3], [3, "y"]],
        [4, [0, true], 0, to_float("NEG_INF"), "é", decode_base64("eA=="), true,
         to_uuid("f3b4958c-52a1-11e7-802a-010203040507"), json("x"), [0, 0], vec([0, 0], "F64"), [3], [3, "y"]],
        [5, [0, false], null, null, null, null, null, null, null, null, null, null, null]
     ] :create typed {k: Int, t: Validity => i: Int?, f: Float?, s: String?, b: Bytes?, o: Bool?, u: Uuid?, j: Json?,
                      v: <F32; 2>?, w: <F64; 2>?, l: [Int?]?, p: (Int, String)?}"#,
    r#"?[k, v] <- [[null, 1], [1, 1.0], [1.0, [1, [2.0]]], [0, -0.0], [-0.0, to_float("NAN")], ["x", {"a": [1, 2.5]}],
        [to_uuid("f3b4958c-52a1-11e7-802a-010203040506"), "é"], [[1, "a"], {"$json": "x"}], [true, to_float("INF")],
        ["", decode_base64("AAECAw==")], [vec([1, 2.5]), json(null)], [vec([1, 2.5], "F64"), json([1])],
        [{"k": null}, validity(5, false)], [9007199254740993, 9007199254740993], [9007199254740993.0, "{\"$json\": 1}"]
     ] :create anything {k => v}"#,
    "?[x] <- [[1]] :create keys_only {x: Int}",
    ":create empty {k: String => v: <F32; 3>?, n: Int default 1 + 2}",
    "?[id, city, text] <- [[1, 'Rome', 'the quick fox'], [2, 'Oslo', 'a lazy dog']]
     :create doc {id: Int => city: String, text: String}",
    "::index create doc:place {city}",
    "::fts create doc:words {extractor: text, tokenizer: Simple, filters: [Lowercase, Stemmer('english')],
                             extract_filter: id < 9}",
    "::lsh create doc:alike {extractor: text, tokenizer: NGram(2, 3), target_threshold: 0.5, false_positive_weight: 4}",
    "?[id, v] <- [[1, [1, 0]], [2, [0, 1]]] :create dot {id: Int => v: <F32; 2>}",
    "::hnsw create dot:near {dim: 2, fields: v, m: 8, ef_construction: 20, distance: Cosine, filter: id > 0,
                             quantization: int8}",
    "?[x] <- [[7]] :create log {x: Int => at: Float default now()}",
    "::set_triggers doc on put { ?[x] := _new[x, _, _] :put log {x} # note\n } on rm { ?[x] := _old[x, _, _] :rm log {x} }",
    "::describe doc 'what was \"written\"'",
    "::access_level protected doc",
];

/// What is shown of the relations.
const SHOWN: &[&str] = &[
    "::relations",
    "::columns typed",
    "::columns anything",
    "::columns empty",
    "::show_triggers doc",
    "?[k, t, i, f, s, b, o, u, j, v, w, l, p] := *typed{k, t, i, f, s, b, o, u, j, v, w, l, p}",
    "?[k, v] := *anything{k, v}",
    "?[x] := *keys_only{x}",
    "?[k] := *empty{k}",
    "?[id, city, text] := *doc{id, city, text}",
    "?[city, id] := *doc:place{city, id}",
    "?[id] := ~doc:words{id | query: 'foxes', k: 5}",
    "?[id] := ~doc:alike{id | query: 'the quick fox', k: 5}",
    "?[id] := ~dot:near{id | query: vec([1, 0.1]), k: 1, ef: 10}",
    "?[x, at] := *log{x, at}",
];

/// A database of SQLite in a directory.
fn database(directory: &Scratch, name: &str) -> [String; 4] {
    ["--engine", "sqlite", "--path", &directory.path(name)].map(str::to_string)
}

fn run(database: &[String; 4], arguments: &[&str]) -> Outcome {
    let database = database.iter().map(String::as_str);
    cozo(&arguments.iter().copied().chain(database).collect::<Vec<_>>())
}

fn filled(directory: &Scratch, scripts: &[&str]) -> [String; 4] {
    let from = database(directory, "from.db");
    for script in scripts {
        run(&from, &["run", "-e", script]).succeeded();
    }
    from
}

/// Results as values are written in scripts, without the times that they took.
fn tables(output: &str) -> String {
    output.lines().filter(|line| line.starts_with(['│', '╞'])).map(|line| format!("{line}\n")).collect()
}

fn shown(database: &[String; 4], scripts: &[&str]) -> String {
    let scripts = scripts.iter().flat_map(|script| ["-e", script]);
    tables(&run(database, &["run"].into_iter().chain(scripts).collect::<Vec<_>>()).succeeded())
}

fn catalog_of(folder: &str) -> Value {
    let text = fs::read_to_string(Path::new(folder).join("catalog.json")).expect("there is a catalog");
    serde_json::from_str(&text).expect("it is JSON")
}

fn change_catalog(folder: &str, change: impl FnOnce(&mut Value)) {
    let mut catalog = catalog_of(folder);
    change(&mut catalog);
    fs::write(Path::new(folder).join("catalog.json"), catalog.to_string()).expect("it can be written");
}

/// The configurations of indices, without what depends on how they were built.
fn indices(database: &[String; 4], relation: &str) -> Value {
    let mut listed = run(database, &["run", "--format", "json", "-e", &format!("::indices {relation}")]).json();
    let rows = listed["rows"].as_array_mut().expect("rows");
    for config in rows.iter_mut().filter_map(|row| row[3].as_object_mut()) {
        for counted in ["ready", "segments", "sealed_rows", "dead_rows", "tail_rows", "bytes"] {
            config.remove(counted);
        }
    }
    listed["rows"].take()
}

#[test]
fn all_values_and_definitions_come_back() {
    let directory = scratch("partition-all");
    let (from, to, folder) = (filled(&directory, SCRIPTS), database(&directory, "to.db"), directory.path("out"));
    let outcome = run(&from, &["export", "--partition", &folder]);
    assert!(outcome.stderr.starts_with("exported: 7 relations, 26 rows in "), "{}", outcome.stderr);
    outcome.succeeded();
    let outcome = run(&to, &["import", "--partition", &folder]);
    assert!(outcome.stderr.starts_with("imported: 7 relations, 26 rows in "), "{}", outcome.stderr);
    outcome.succeeded();
    let expected = shown(&from, SHOWN);
    assert!(expected.contains("9223372036854775807") && expected.contains("to_float(\"NAN\")"), "{expected}");
    assert_eq!(expected, shown(&to, SHOWN), "sqlite");
    for relation in ["doc", "dot", "typed"] {
        assert_eq!(indices(&from, relation), indices(&to, relation));
    }
    cozo(&["check", &directory.path("to.db")]).succeeded();
    let then: Vec<&str> = SHOWN.iter().flat_map(|script| ["--then", script]).collect();
    let arguments = ["import", "--partition", &folder, "--engine", "mem"];
    let in_memory = cozo(&arguments.into_iter().chain(then).collect::<Vec<_>>()).succeeded();
    assert_eq!(expected, tables(&in_memory), "mem");
    // Triggers and defaults work.
    run(&to, &["run", "-e", "?[id, city, text] <- [[9, 'Bern', '']] :put doc {id => city, text}"]).succeeded();
    run(&to, &["run", "-e", "?[k] <- [['a']] :put empty {k}"]).succeeded();
    let rows = shown(&to, &["?[x] := *log{x}", "?[n] := *empty{n}", "?[id] := *doc:place{city: 'Bern', id}"]);
    assert_eq!(rows.matches("9 │").count(), 2, "{rows}");
    assert!(rows.contains("│ 3 │"), "{rows}");
}

#[test]
fn the_catalog_says_what_the_files_hold() {
    let directory = scratch("partition-catalog");
    let (from, folder) = (filled(&directory, SCRIPTS), directory.path("out"));
    run(&from, &["export", "--partition", &folder, "--only", "typed,empty,doc"]).succeeded();
    let catalog = catalog_of(&folder);
    assert_eq!((&catalog["format"], &catalog["format_version"]), (&json!("cozo partition"), &json!(1)));
    assert_eq!(catalog["program"], json!(concat!("cozo ", env!("CARGO_PKG_VERSION"))));
    let [doc, empty, typed] = [0, 1, 2].map(|number| &catalog["relations"][number]);
    assert_eq!([&doc["name"], &empty["name"], &typed["name"]], ["doc", "empty", "typed"]);
    assert_eq!(
        (&doc["rows"], &doc["access_level"], &doc["description"]),
        (&json!(2), &json!("protected"), &json!("what was \"written\""))
    );
    assert_eq!(doc["indices"].as_array().map(Vec::len), Some(3));
    assert_eq!(doc["indices"][0], json!("::index create doc:place {city, id}"));
    assert!(doc["triggers"].as_str().is_some_and(|script| script.starts_with("::set_triggers doc on put { ")), "{doc}");
    assert_eq!(empty["values"][1], json!({"name": "n", "type": "Int", "default": "1 + 2", "stored_as": "value"}));
    assert_eq!(empty["files"], json!([{"path": "empty/part-00000.parquet", "rows": 0}]));
    let forms: Vec<&Value> =
        ["keys", "values"].iter().flat_map(|part| typed[part].as_array().expect("columns")).collect();
    let forms: Vec<&str> = forms.iter().filter_map(|column| column["stored_as"].as_str()).collect();
    let value = "value";
    assert_eq!(
        forms,
        [
            value,
            "validity_text",
            value,
            value,
            value,
            value,
            value,
            "uuid_text",
            "json_text",
            value,
            value,
            "tagged_json",
            "tagged_json"
        ]
    );
}

#[test]
fn parts_have_as_many_rows_as_asked() {
    let directory = scratch("partition-parts");
    let from = filled(&directory, &["?[k, v] := k in int_range(10000), v = k * 2 :create r {k: Int => v: Int}"]);
    for (rows, expected) in [("3000", vec![3000, 3000, 3000, 1000]), ("2500", vec![2500; 4]), ("10000", vec![10000])] {
        let folder = directory.path(&format!("out-{rows}"));
        run(&from, &["export", "--partition", &folder, "--part-rows", rows]).succeeded();
        let catalog = catalog_of(&folder);
        let files = catalog["relations"][0]["files"].as_array().expect("files").clone();
        assert_eq!(files.iter().map(|file| file["rows"].as_u64().expect("a number")).collect::<Vec<_>>(), expected);
        let listed = fs::read_dir(Path::new(&folder).join("r")).expect("it is there").count();
        assert_eq!(listed, expected.len());
        // The files themselves, as any reader sees them.
        for (file, rows) in files.iter().zip(&expected) {
            let path = format!("{folder}/{}", file["path"].as_str().expect("a path"));
            let found = cozo(&["import", "part", &path, "--then", "?[count(k)] := *part{k}"]).succeeded();
            assert!(found.contains(&format!("{rows} │")), "{found}");
        }
        let to = database(&directory, &format!("to-{rows}.db"));
        run(&to, &["import", "--partition", &folder]).succeeded();
        let all = ["?[count(k), sum(v)] := *r{k, v}"];
        assert_eq!(shown(&from, &all), shown(&to, &all));
    }
    run(&from, &["export", "--partition", &directory.path("none"), "--part-rows", "0"]).refused();
}

#[test]
fn names_become_folders_and_come_back() {
    let directory = scratch("partition-names");
    let names = ["Ab", "aB", "alone", "catalog.json", "city.trip_2", "con", "é"];
    let scripts: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(number, name)| format!("?[k] <- [[{number}]] :create {name} {{k: Int}}"))
        .collect();
    let from = filled(&directory, &scripts.iter().map(String::as_str).collect::<Vec<_>>());
    let (to, folder) = (database(&directory, "to.db"), directory.path("out"));
    run(&from, &["export", "--partition", &folder]).succeeded();
    let mut folders: Vec<String> = fs::read_dir(&folder)
        .expect("it is there")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    folders.sort();
    assert_eq!(folders, ["%41b", "%63atalog.json", "%63on", "%C3%A9", "a%42", "alone", "catalog.json", "city.trip_2"]);
    run(&to, &["import", "--partition", &folder]).succeeded();
    let queries: Vec<String> = names.iter().map(|name| format!("?[k] := *{name}{{k}}")).collect();
    let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
    assert_eq!(shown(&from, &queries), shown(&to, &queries));
    let some = database(&directory, "some.db");
    run(&some, &["import", "--partition", &folder, "--only", "é,Ab"]).succeeded();
    let listed = shown(&some, &["::relations"]);
    assert!(listed.contains("\"Ab\"") && listed.contains("\"é\"") && !listed.contains("alone"), "{listed}");
    run(&some, &["import", "--partition", &folder, "--only", "nope"]).failed("partition::no_relation");
    run(&from, &["export", "--partition", &directory.path("none"), "--only", "nope"])
        .failed("query::relation_not_found");
    assert!(!Path::new(&directory.path("none")).exists());
}

#[test]
fn hidden_relations_are_left_out() {
    let directory = scratch("partition-hidden");
    let from =
        filled(&directory, &["?[k] <- [[1]] :create a {k}", "?[k] <- [[1]] :create b {k}", "::access_level hidden a"]);
    let folder = directory.path("out");
    let outcome = run(&from, &["export", "--partition", &folder]);
    assert!(outcome.stderr.contains("note: left out, because their access level is hidden: a\n"), "{}", outcome.stderr);
    outcome.succeeded();
    assert_eq!(catalog_of(&folder)["relations"].as_array().map(Vec::len), Some(1));
    run(&from, &["export", "--partition", &directory.path("no"), "--only", "a"])
        .failed("tx::insufficient_access_level");
}

#[test]
fn exports_that_are_refused_leave_nothing() {
    let directory = scratch("partition-export-refused");
    let from = filled(&directory, &["?[k] <- [[1]] :create r {k}"]);
    let full = directory.path("full");
    fs::create_dir(&full).expect("it can be made");
    fs::write(Path::new(&full).join("kept"), "old").expect("it can be written");
    run(&from, &["export", "--partition", &full]).failed("partition::not_empty");
    run(&from, &["export", "--partition", &directory.file("file", "")]).failed("partition::not_empty");
    run(&from, &["export", "--partition", &directory.path("no/such/folder")]).failed("cli::file");
    cozo(&["export", "--partition", &directory.path("of-nothing")]).failed("cli::nothing_in_mem");
    fs::create_dir(directory.path("out.part")).expect("it can be made");
    run(&from, &["export", "--partition", &directory.path("out")]).failed("partition::unfinished");
    run(&from, &["export", "r", "--partition", &full]).refused();
    run(&from, &["export", "--only", "r", &directory.path("r.csv")]).refused();
    let names: Vec<String> = directory.names().into_iter().filter(|name| !name.starts_with("from.db")).collect();
    assert_eq!(names, ["file", "full", "out.part"]);
    assert_eq!(fs::read_dir(&full).expect("it is there").count(), 1);
    fs::create_dir(directory.path("empty")).expect("it can be made");
    run(&from, &["export", "--partition", &directory.path("empty/")]).succeeded();
    assert_eq!(catalog_of(&directory.path("empty"))["relations"][0]["rows"], json!(1));
}

/// The limit for the size of files stands for a full disk: a write fails in the midst of a file.
#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_and_leaves_nothing() {
    let directory = scratch("partition-full-disk");
    let from =
        filled(&directory, &["?[k, v] := k in int_range(20000), v = rand_uuid_v4() :create r {k: Int => v: Uuid}"]);
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"";
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", script, env!("CARGO_BIN_EXE_cozo"), "export", "--partition", &directory.path("out")])
        .args(&from);
    let output = command.args(["--config", r#"{"read_only": true}"#]).output().expect("it runs");
    let report = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert!(report.contains("partition::no_space") && report.contains("part-00000.parquet"), "{report}");
    assert!(directory.names().iter().all(|name| !name.starts_with("out")), "{:?}", directory.names());
}

/// A partition of two relations, and a change of it that an import refuses.
type Damage = (&'static str, &'static str, fn(&str));

fn set(folder: &str, pointer: &str, value: Value) {
    change_catalog(folder, |catalog| *catalog.pointer_mut(pointer).expect("it is there") = value);
}

const DAMAGES: &[Damage] = &[
    ("no catalog", "partition::no_catalog", |folder| {
        fs::remove_file(format!("{folder}/catalog.json")).expect("it was there")
    }),
    ("no JSON", "partition::bad_catalog", |folder| fs::write(format!("{folder}/catalog.json"), "{").expect("it can")),
    ("another format", "partition::bad_catalog", |folder| set(folder, "/format", json!("parts"))),
    ("a newer format", "partition::newer_format", |folder| {
        change_catalog(folder, |catalog| {
            *catalog = json!({"format": "cozo partition", "format_version": 2, "new": true})
        });
    }),
    ("twice the same", "partition::bad_catalog", |folder| set(folder, "/relations/1/name", json!("a"))),
    ("another sum", "partition::bad_catalog", |folder| set(folder, "/relations/1/rows", json!(3))),
    ("a path upwards", "partition::bad_catalog", |folder| {
        set(folder, "/relations/1/files/0/path", json!("../out/b/part-00000.parquet"))
    }),
    ("no name", "partition::bad_catalog", |folder| set(folder, "/relations/1/name", json!("b {k} x"))),
    ("no type", "partition::bad_catalog", |folder| set(folder, "/relations/1/values/0/type", json!("Text"))),
    ("more than a type", "partition::bad_catalog", |folder| {
        set(folder, "/relations/1/values/0/type", json!("String, w: Int"))
    }),
    ("no default", "partition::bad_catalog", |folder| {
        change_catalog(folder, |catalog| catalog["relations"][1]["values"][0]["default"] = json!("nope("));
    }),
    ("no index", "partition::bad_catalog", |folder| {
        set(folder, "/relations/1/indices", json!(["::index create b:i {nope}"]))
    }),
    ("other scripts", "partition::bad_catalog", |folder| {
        set(folder, "/relations/1/indices", json!(["?[x] <- [[1]] :create c {x}"]))
    }),
    ("a file less", "cli::file", |folder| {
        fs::remove_file(format!("{folder}/b/part-00000.parquet")).expect("it was there")
    }),
    ("no Parquet", "cli::unreadable", |folder| {
        fs::write(format!("{folder}/b/part-00000.parquet"), "PAR1").expect("it can")
    }),
    ("other columns", "partition::other_columns", |folder| {
        fs::copy(format!("{folder}/a/part-00000.parquet"), format!("{folder}/b/part-00000.parquet"))
            .map(drop)
            .expect("it can");
    }),
    ("other rows", "partition::other_rows", |folder| {
        fs::copy(format!("{folder}/a/part-00001.parquet"), format!("{folder}/a/part-00000.parquet"))
            .map(drop)
            .expect("it can");
    }),
    ("other values", "partition::bad_value", |folder| {
        change_catalog(folder, |catalog| {
            let column = &mut catalog["relations"][1]["values"][0];
            (column["type"], column["stored_as"]) = (json!("Any"), json!("tagged_json"));
        });
    }),
    ("values of no such type", "import::bad_data", |folder| set(folder, "/relations/1/values/0/type", json!("Int"))),
    ("a key twice in a file", "import::bad_data", |folder| {
        change_catalog(folder, |catalog| {
            let relation = &mut catalog["relations"][1];
            let key = relation["keys"].take();
            relation["keys"] = relation["values"].take();
            relation["values"] = key;
        });
    }),
    ("a key twice in two files", "import::bad_data", |folder| {
        change_catalog(folder, |catalog| {
            let relation = &mut catalog["relations"][1];
            let file = relation["files"][0].clone();
            relation["files"] = json!([file, file]);
            relation["rows"] = json!(4);
        });
    }),
];

#[test]
fn imports_that_are_refused_change_nothing() {
    let directory = scratch("partition-import-refused");
    let from = filled(
        &directory,
        &[
            "?[k] <- [[1], [2], [3]] :create a {k: Int}",
            "?[k, v] <- [[1, '{'], [2, '{']] :create b {k: Int => v: String}",
        ],
    );
    let to = database(&directory, "to.db");
    run(&to, &["run", "-e", "?[k] <- [[7]] :create other {k: Int}"]).succeeded();
    let before = shown(&to, &["::relations", "?[k] := *other{k}"]);
    for (what, code, damage) in DAMAGES {
        let (folder, new) = (directory.path("out"), database(&directory, "new.db"));
        run(&from, &["export", "--partition", &folder, "--part-rows", "2"]).succeeded();
        damage(&folder);
        for database in [&to, &new] {
            let outcome = run(database, &["import", "--partition", &folder]);
            assert!(outcome.stderr.contains(code), "{what}: {}", outcome.stderr);
            outcome.failed(code);
        }
        assert_eq!(shown(&to, &["::relations", "?[k] := *other{k}"]), before, "{what}");
        assert!(directory.names().iter().all(|name| !name.starts_with("new")), "{what}: {:?}", directory.names());
        fs::remove_dir_all(&folder).expect("it was there");
    }
    // What was refused last is not in the way of a good one.
    run(&from, &["export", "--partition", &directory.path("good")]).succeeded();
    run(&to, &["import", "--partition", &directory.path("good")]).succeeded();
    assert_eq!(shown(&to, &["?[k, v] := *b{k, v}"]), shown(&from, &["?[k, v] := *b{k, v}"]));
    cozo(&["check", &directory.path("to.db")]).succeeded();
}

#[test]
fn relations_that_are_there_are_not_overwritten() {
    let directory = scratch("partition-present");
    let from = filled(&directory, &["?[k] <- [[1]] :create a {k: Int}", "?[k] <- [[1]] :create b {k: Int}"]);
    let (to, folder) = (database(&directory, "to.db"), directory.path("out"));
    run(&from, &["export", "--partition", &folder]).succeeded();
    run(&to, &["run", "-e", "?[k] <- [[2]] :create b {k: Int}"]).succeeded();
    let outcome = run(&to, &["import", "--partition", &folder]);
    assert!(outcome.stderr.contains("already: b") && outcome.stderr.contains("--only"), "{}", outcome.stderr);
    outcome.failed("partition::relation_exists");
    let listed = shown(&to, &["::relations", "?[k] := *b{k}"]);
    assert!(!listed.contains("\"a\"") && listed.contains("2 │"), "{listed}");
    run(&to, &["import", "--partition", &folder, "--only", "a"]).succeeded();
    assert_eq!(shown(&to, &["?[k] := *a{k}"]), shown(&from, &["?[k] := *a{k}"]));
    run(&to, &["import", "a", "--partition", &folder]).refused();
    run(&to, &["import", "--partition", &folder, "--rename"]).refused();
}

/// Other programs write rows in another order, and columns, too.
#[test]
fn rows_may_come_in_any_order() {
    let directory = scratch("partition-order");
    let from = filled(&directory, &["?[k, v] := k in int_range(5), v = to_string(k) :create r {k: Int => v: String}"]);
    let (to, folder) = (database(&directory, "to.db"), directory.path("out"));
    run(&from, &["export", "--partition", &folder, "--part-rows", "3"]).succeeded();
    let reversed = format!("{folder}/r/part-00000.parquet");
    let script = "?[v, k] := k in [2, 0, 1], v = to_string(k) :order -k";
    cozo(&["export", "--script", script, &reversed]).succeeded();
    change_catalog(&folder, |catalog| catalog["relations"][0]["files"].as_array_mut().expect("files").reverse());
    run(&to, &["import", "--partition", &folder]).succeeded();
    assert_eq!(shown(&from, &["?[k, v] := *r{k, v}"]), shown(&to, &["?[k, v] := *r{k, v}"]));
}
