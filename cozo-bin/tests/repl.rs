//! The REPL with inputs from a pipe: what it runs, what it answers, and files in and out.

mod support;

use serde_json::{Value, json};
use support::{Outcome, cozo, cozo_with_input, scratch};

/// Pipes lines into the REPL.
fn repl(input: &str) -> Outcome {
    cozo_with_input(&["repl"], input)
}

#[test]
fn the_repl_keeps_relations_between_scripts() {
    let output = repl("?[a] <- [[1], [2]] :create r {a}\n\n?[a] := *r{a}, a > 1\n").succeeded();
    assert!(output.starts_with("1 relation created, 2 rows put in ") && output.contains("│ 2 │"), "{output}");
    assert!(!output.contains("=>"), "no prompt where there is no terminal");
}

#[test]
fn the_repl_takes_several_lines() {
    let output = repl(" r[a] := a in [2, 3]\n ?[b] := r[a], b = a * 100\n\n?[c] := c in [\n'x',\n'y']\n?[d] := d = 7")
        .succeeded();
    for part in ["│ 200 │", "│ 300 │", "│ \"x\" │", "│ \"y\" │", "│ 7 │"] {
        assert!(output.contains(part), "{part} in {output}");
    }
}

#[test]
fn the_repl_has_parameters() {
    let outcome = repl(
        "%set n 4\n%set who {\"a\": [1]}\n%params\n%eval n + $n\n?[x] := x = $n * 10\n%unset n\n%clear\n%params\n?[x] := x = $n\n",
    );
    assert!(outcome.stdout.starts_with("$n = 4\n$who = {\"a\":[1]}\n8\n"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("│ 40 │"), "{}", outcome.stdout);
    assert!(outcome.stderr.starts_with("parser::param_not_found"), "{}", outcome.stderr);
    assert_eq!(outcome.code, 0);
}

#[test]
fn the_repl_reads_and_writes_files() {
    let directory = scratch("repl");
    let data = directory.file("data.json", r#"{"r": {"headers": ["a", "b"], "rows": [[1, "x"], [2, "y"]]}}"#);
    let script = directory.file("script.cozo", "?[b, a] := *r{a, b}");
    let saved = directory.path("saved.json");
    let outcome = repl(&format!(
        ":create r {{a => b}}\n%import {data}\n%save {saved}\n%run {script}\n%save {saved}2\n%save\n?[z] := z = 1\n"
    ));
    outcome.succeeded();
    let text = std::fs::read_to_string(saved.clone()).expect("it was saved");
    let rows: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(rows, json!([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]));
    assert!(!std::path::Path::new(&format!("{saved}2")).exists());
}

#[test]
fn the_repl_saves_where_it_can() {
    let directory = scratch("saves");
    let outcome = repl(&format!("%save {}\n?[x] := x = 41 + 1\n", directory.path("no/such/directory.json")));
    assert!(outcome.stderr.contains("cannot write"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("│ 42 │"), "nothing is saved: {}", outcome.stdout);
    let outcome = repl(&format!("?[x] := x = 1 :create r {{x}}\n%save {} s\n?[x] := x = 2\n", directory.path("r.csv")));
    assert!(outcome.stderr.contains("there is no relation 's'"), "{}", outcome.stderr);
    let kept = directory.file("kept.json", "old");
    repl(&format!("%save {kept}\n")).succeeded();
    assert_eq!(std::fs::read_to_string(&kept).expect("it is there"), "old");
}

/// A device takes no byte, which is found out when the result is written.
#[cfg(target_os = "linux")]
#[test]
fn the_repl_shows_what_it_cannot_save() {
    let outcome = repl("%save /dev/full\n?[x] := x = 41 + 1\n");
    assert!(outcome.stderr.contains("cannot write '/dev/full'"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("│ 42 │"), "{}", outcome.stdout);
}

#[test]
fn the_repl_goes_on_after_errors() {
    let outcome = repl(
        "?[x] :- y\n%set\n%set x\n%set y z\n%unset nope\n%import https://example.org/x.json\n%run nope\n%nonsense\n%help\n?[x] := x = 5\n",
    );
    assert_eq!(outcome.stderr.matches("write %set KEY JSON").count(), 2, "{}", outcome.stderr);
    for part in [
        "parser::pest",
        "'%set' needs",
        "'x': there is no value",
        "'y z': expected value",
        "no parameter 'nope'",
        "fetch it first",
        "cannot read 'nope'",
    ] {
        assert!(outcome.stderr.contains(part), "{part} in {}", outcome.stderr);
    }
    assert!(outcome.stdout.contains("%restore FILE") && outcome.stdout.contains("│ 5 │"), "{}", outcome.stdout);
}

#[test]
fn the_repl_draws_graphs() {
    let outcome = repl("%graph\n?[a, b] <- [['x', 'y'], ['x', 1.5]]\n%graph\n%graph ?[a] <- [[1]]\n%pager\n%pager\n");
    assert!(
        outcome.stdout.contains("x\n├── y\n└── 1.5\n") || outcome.stdout.contains("x\n├── 1.5\n└── y\n"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.ends_with("the pager is off\nthe pager is on\n"), "{}", outcome.stdout);
    assert_eq!(outcome.stderr.matches("needs two columns").count(), 2, "{}", outcome.stderr);
}

#[test]
fn the_repl_runs_imperative_scripts() {
    let output =
        repl("%if { ?[x] <- [[1]] } %then { ?[r] := r = 'yes' } %else { ?[r] := r = 'no' } %end\n").succeeded();
    assert!(output.contains("\"yes\""), "{output}");
}

#[test]
fn the_repl_reads_on_while_an_input_is_unfinished() {
    let output = repl(
        "r[a] := a in [1, 2];\nr[a] := a = 3\n?[b] :=\n    r[a],\n    b = a * 100\n\
         { ?[c] := c = 'statement' };\n::relations;\n?[d] := d = 7;",
    )
    .succeeded();
    for part in ["│ 100 │", "│ 300 │", "\"statement\"", "│ name ┆", "│ 7 │"] {
        assert!(output.contains(part), "{part} in {output}");
    }
    let outcome = repl("?[a] :=\n\n?[b] := b = 40 + 2\n");
    assert!(
        outcome.stderr.contains("unexpected end of the script") && outcome.stdout.contains("│ 42 │"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn options_continue_the_query_before() {
    let outcome = repl(
        "?[a] := a in [1, 2, 3]\n:order -a\n:limit 1\n:create r {a}\n:put r {a}\n?[n] := *r{a}, n = a * 100\n:rm r {x}\n",
    );
    let output = outcome.stdout;
    assert!(
        output.contains("│ 3 │\n│ 2 │\n│ 1 │") && output.contains("1 row put") && output.contains("│ 300 │"),
        "{output}"
    );
    assert!(outcome.stderr.contains("'x'"), "{}", outcome.stderr);
    let outcome = repl(":limit 1\n\n?[a] := y\n:limit 1\n\n");
    assert_eq!(outcome.stderr.matches("parser::no_entry").count(), 2, "no query was run: {}", outcome.stderr);
}

#[test]
fn writes_say_how_many_rows() {
    let output = repl(concat!(
        "?[k, v] <- [[1, 'a'], [2, 'b']] :create r {k => v}\n",
        "?[k, v] <- [[3, 'c'], [4, 'd'], [5, 'e']] :put r {k => v}\n",
        "?[k, v] <- [[6, 'f']] :insert r {k => v}\n",
        "?[k, v] := *r{k}, k < 3, v = 'x' :update r {k => v}\n",
        "?[k] := k in [1, 2] :delete r {k}\n",
        "?[k] := k in [3, 99] :rm r {k}\n",
        "{ ?[k, v] <- [[7, 'g']] :put r {k => v} } { ?[k, v] <- [[8, 'h']] :put r {k => v} }\n\n",
        "?[k, v] <- [[9, 'i']] :put r {k => v} :returning\n",
        "::index create r:by_v {v}\n",
        "?[k] := k in [4, 99] :rm r {k}\n",
        "?[k, v] := *r{k, v}, k > 1000 :put r {k => v}\n",
    ))
    .succeeded();
    let counts: Vec<&str> = output
        .lines()
        .filter_map(|line| line.split_once(" in "))
        .map(|(count, _)| count)
        .filter(|count| !count.starts_with('│'))
        .collect();
    let expected = [
        "1 relation created, 2 rows put",
        "3 rows put",
        "1 row inserted",
        "2 rows updated",
        "2 rows removed",
        "up to 2 rows removed",
        "2 rows put",
        "1 row",
        "1 row put",
        "1 row",
        "up to 2 rows removed",
        "0 rows put",
    ];
    assert_eq!(counts, expected, "{output}");
    assert!(output.contains("\"inserted\" ┆ 9"), "what is asked for is shown: {output}");
}

#[test]
fn plans_are_trees_and_times_can_be_read() {
    let output = repl(concat!(
        "?[a, b] <- [[1, 2]] :create e {a, b}\n",
        "::explain { p[x, y] := *e[x, y] ?[y] := p[x, y], x > 0 }\n",
        "::explain analyze { ?[y] := *e[x, y] }\n",
        "?[v] <- [['~2020-01-31T23:00:00Z'], [[12, true]]] :create t {v: Validity}\n",
        "?[v] := *t{v}\n",
    ))
    .succeeded();
    for part in [
        "stratum 0\n",
        "\n└── out _1",
        "\n    └── filter gt(_0, 0)\n",
        "(1 row, ",
        "│ ~2020-01-31 23:00:00Z │",
        "│ 12                    │",
    ] {
        assert!(output.contains(part), "{part} in {output}");
    }
}

#[test]
fn habits_of_other_shells_are_answered() {
    let output = repl(concat!(
        "?[id, name] <- [[1, 'Ann']] :create person {id => name}\n",
        "SELECT name FROM Person WHERE id = 1;\n",
        "CREATE TABLE town (\n  zip TEXT PRIMARY KEY\n);\n",
        "MATCH (p:Person) RETURN p.name\n",
        "\\d\n.schema person\nshow tables;\nhelp substr\nquit\n?[never] := never = 1\n",
    ))
    .succeeded();
    for part in [
        "Queries are written in CozoScript, not in SQL. This one would be:\n  ?[name] := *person{name, id}, id == 1\n",
        "  :create town {zip: String}\n",
        "  ?[p_name] := *person{id: p, name: p_name}\n",
        "│ \"id\"   ┆ true ",
    ] {
        assert!(output.contains(part), "{part} in {output}");
    }
    assert_eq!(output.matches("│ \"person\" ┆").count(), 2, "{output}");
    assert!(!output.contains("never"), "{output}");
}

#[test]
fn names_are_explained() {
    let output =
        repl("%help\n%help %save\n%help regex_replace\n%help PageRank\n%help :put\n%help ::columns\n").succeeded();
    for part in
        ["%help NAME explains", "(command)", "(function)", "(algorithm or reader)", ":put REL {KEY", "::columns REL"]
    {
        assert!(output.contains(part), "{part} in {output}");
    }
    let outcome = repl("%help regex_replce\n");
    assert!(outcome.stderr.contains("did you mean regex_replace?"), "{}", outcome.stderr);
}

#[test]
fn errors_point_at_what_was_typed() {
    for (input, place) in [
        ("?[a] := a = ]", "line 1, column 13"),
        ("   ?[a] := a = ]\n", "line 1, column 16"),
        ("%graph ?[a] := a = ]", "line 1, column 20"),
        ("%save /tmp/never.csv ?[a] := a = ]", "line 1, column 34"),
        ("%eval 1 + ]", "line 1, column 11"),
        ("r[a] := a = 1\n?[a] := r[a], ]", "line 2, column 15"),
        ("?[a] := a = 1\n:order ]", "line 1, column 8"),
    ] {
        let outcome = repl(input);
        assert!(outcome.stderr.contains(place), "{input}: {}", outcome.stderr);
    }
}

#[test]
fn files_have_the_format_of_their_extension() {
    let directory = scratch("extensions");
    let path = |name: &str| directory.path(name);
    let made = "?[k, v] <- [[1, 'a'], [2, 'b, c']] :create r {k: Int => v: String}\n";
    let commands = format!(
        "{made}%save {} r\n%save {} ?[k] := *r{{k}}\n%save {}\n?[v, k] := *r{{k, v}}\n%save {} r\n%save {} nope\n",
        path("all.csv"),
        path("keys.jsonl"),
        path("rows.tsv"),
        path("all.json"),
        path("with space.json"),
    );
    let outcome = repl(&commands);
    assert!(
        outcome.stdout.contains(&format!("2 rows saved to {}", path("all.csv"))),
        "{}{}",
        outcome.stdout,
        outcome.stderr
    );
    let read = |name: &str| std::fs::read_to_string(path(name)).expect("it was saved");
    assert_eq!(read("all.csv"), "k,v\n1,a\n2,\"b, c\"\n");
    assert_eq!(read("keys.jsonl"), "{\"k\":1}\n{\"k\":2}\n");
    assert_eq!(read("rows.tsv"), "v\tk\na\t1\nb, c\t2\n");
    assert_eq!(read("all.json"), "[\n{\"k\":1,\"v\":\"a\"},\n{\"k\":2,\"v\":\"b, c\"}\n]\n");
    let query = "?[n, v] := *a{k, v: v}, n = k * 100\n";
    for import in [
        format!("%import {} a", path("all.csv")),
        format!("%import {} a", path("all.json")),
        format!("%import {} a {{k: Int => v}}", path("all.csv")),
        format!("%import \"{}\" a", path("all.json")),
    ] {
        let output = repl(&format!("{import}\n{query}")).succeeded();
        assert!(output.contains("│ 200 ┆ \"b, c\" │"), "{import}: {output}");
    }
    let output = repl(&format!("%import {}\n?[n] := *keys{{k}}, n = k * 100\n", path("keys.jsonl"))).succeeded();
    assert!(output.contains("│ 200 │"), "the file names the relation: {output}");
    assert_eq!(cozo(&["export", "-e", "?[a] <- [[1]]", "-", "--format", "json"]).succeeded(), "[\n{\"a\":1}\n]\n");
    assert_eq!(cozo(&["export", "-e", "?[a] := a in []", "-", "--format", "json"]).succeeded(), "[\n]\n");
    cozo(&["import", "r", &directory.file("bad.json", "[{\"a\": 1}, 2]")]).failed("bad record 2");
    cozo(&["import", "r", &directory.file("object.json", "{\"a\": 1}")]).failed("expected a sequence");
}

#[test]
fn columns_may_have_lines_of_their_own() {
    let output = repl("%expand\n?[a, bc] <- [[1, 'x'], [2, 'y']]\n%expand off\n?[a] := a = 77\n%expand sideways\n");
    assert!(output.stdout.contains("── row 2 ──\na  │ 2\nbc │ \"y\"\n2 rows in"), "{}", output.stdout);
    assert!(
        output.stdout.contains("│ 77 │") && output.stderr.contains("none of on, off and auto"),
        "{}",
        output.stderr
    );
}
