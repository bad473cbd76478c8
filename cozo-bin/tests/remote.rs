//! The REPL and `cozo run` with a server instead of a database of their own.

#![cfg(feature = "server")]

mod support;

use support::server::{Server, start, start_with};
use support::{Outcome, cozo, cozo_with_input, scratch};

/// Pipes lines into a REPL that talks to a server.
fn repl(server: &Server, input: &str) -> Outcome {
    cozo_with_input(&["repl", "--url", &server.address], input)
}

#[test]
fn the_repl_works_on_a_server() {
    let directory = scratch("remote");
    let data = directory.file("data.json", r#"{"r": {"headers": ["a", "b"], "rows": [[3, "z"]]}}"#);
    let saved = directory.path("saved.json");
    let server = start(&["--files", &directory.path("")]);
    let output = repl(
        &server,
        &format!(
            "?[a, b] <- [[1, 'x'], [2, 'y']] :create r {{a => b}}\n%import {data}\n%set n 2\n\
             ?[a, b, c] := *r{{a, b}}, a >= $n, c = 1.0\n%eval $n + 1\n%graph ?[a, b] := *r{{a, b}}\n\
             %save {saved}\n?[a] := *r{{a}}\n%backup backup.db\n{{?[x] <- [[7]]}} {{?[y] <- [[8]]}}\n"
        ),
    )
    .succeeded();
    for part in
        ["│ 2 ┆ \"y\" ┆ 1.0 │", "│ 3 ┆ \"z\" ┆ 1.0 │", "2 rows in ", "3\n1\n└── x\n2\n└── y\n3\n└── z\n", "│ 8 │"]
    {
        assert!(output.contains(part), "{part} in {output}");
    }
    assert_eq!(std::fs::read_to_string(&saved).expect("it was saved"), "[\n{\"a\":1},\n{\"a\":2},\n{\"a\":3}\n]\n");
    assert!(std::path::Path::new(&directory.path("backup.db")).exists());
    assert_eq!(server.rows("?[count(a)] := *r{a}"), serde_json::json!([[3]]));
}

#[test]
fn errors_of_a_server_are_drawn_where_they_are() {
    let server = start(&[]);
    let remote = repl(&server, " ?[a] := a = 1,\n  *nope{a}\n\n%restore x.db\n");
    let local = cozo_with_input(&["repl"], " ?[a] := a = 1,\n  *nope{a}\n\n");
    assert!(remote.stderr.starts_with(&local.stderr), "{}\n{}", remote.stderr, local.stderr);
    assert!(
        local.stderr.contains("query::relation_not_found") && local.stderr.contains("*nope{a}"),
        "{}",
        local.stderr
    );
    assert!(
        remote.stderr.contains("remote::not_remotely") && remote.stderr.contains("--restore FILE"),
        "{}",
        remote.stderr
    );
}

#[test]
fn scripts_run_on_a_server() {
    let server = start(&[]);
    let url = server.address.as_str();
    let csv = cozo(&["run", "--url", url, "-e", "?[x, y] := x = $n, y = 'a'", "--param", "n=2", "--format", "csv"]);
    assert_eq!(csv.succeeded(), "x,y\n2,a\n");
    let json = cozo(&["run", "--url", url, "-e", "?[x] <- [[1]]", "--format", "json"]).json();
    assert_eq!(json["rows"], serde_json::json!([[1]]));
    let outcome = cozo(&["run", "--url", url, "-e", "?[x] := x", "--format", "json"]);
    assert!(outcome.code == 1 && outcome.stdout.starts_with("{\"causes\""), "{}", outcome.stdout);
    cozo(&["run", "--url", url, "-e", "?[x] <- [[1]] :create r {x}", "--immutable"]).failed("query::read_only");
    assert_eq!(cozo(&["run", "--url", url, "--load", "r=r.csv", "-e", "?[x] <- [[1]]"]).code, 2);
    assert_eq!(cozo(&["run", "--url", url, "--engine", "mem", "-e", "?[x] <- [[1]]"]).code, 2);
}

#[test]
fn tokens_are_sent() {
    let server = start_with(&[], |command| command.env("COZO_AUTH_TOKEN", "open sesame"));
    let url = server.address.as_str();
    let script = ["-e", "?[x] <- [[1]]", "--format", "csv"];
    let with = |token: &[&str]| cozo(&[&["run", "--url", url], token, &script].concat());
    assert_eq!(with(&["--token", "open sesame"]).succeeded(), "x\n1\n");
    with(&["--token", "wrong"]).failed("remote::token");
    with(&[]).failed("COZO_AUTH_TOKEN");
}

#[test]
fn what_is_no_server_is_said() {
    cozo(&["run", "--url", "localhost:9070", "-e", "?[x] <- [[1]]"]).failed("remote::url");
    cozo(&["run", "--url", "http://127.0.0.1:9", "-e", "?[x] <- [[1]]"]).failed("remote::unreachable");
    let outcome = cozo_with_input(&["repl", "--url", "http://127.0.0.1:9"], "?[x] <- [[1]]\n?[x] <- [[1]]\n");
    assert_eq!((outcome.code, outcome.stderr.matches("remote::unreachable").count()), (0, 2), "{}", outcome.stderr);
}
