//! The REPL in a terminal: colors, completion, history, pages.

#![cfg(unix)]

mod support;

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::{Scratch, scratch};

const DRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/terminal.py");

/// Types into a REPL in a terminal, each text when what precedes it has been shown; all that was shown.
fn typed(directory: &Scratch, steps: &Value) -> String {
    typed_with(directory, &[], steps)
}

/// The same with arguments.
fn typed_with(directory: &Scratch, arguments: &[&str], steps: &Value) -> String {
    let mut command = Command::new("python3");
    command.args([DRIVER, env!("CARGO_BIN_EXE_cozo"), "repl"]).args(arguments).current_dir(directory.path(""));
    command.env("TERM", "xterm").env("PAGER", "sed s/^/paged:/").env_remove("NO_COLOR");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("there is python3");
    child.stdin.take().expect("there is a pipe").write_all(steps.to_string().as_bytes()).expect("it takes the steps");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const PROMPT: &str = "=> ";
const END: &str = "\u{4}";

#[test]
fn inputs_are_colored_completed_and_remembered() {
    let directory = scratch("terminal");
    let shown = typed(
        &directory,
        &json!([
            [PROMPT, ":create station {name => lines}\r"],
            ["OK", ""],
            [PROMPT, "?[name, lines] <- [['Bank', 4]] :put sta\t{name, li\t}\r"],
            ["OK", ""],
            [PROMPT, "?[l] := *sta\t{li\t: l}, l > 3\r"],
            ["1 row in ", ""],
            [PROMPT, " ?[a] :=\ra = 'several'\r\r"],
            ["1 row in ", ""],
            [PROMPT, "?[z] := z = 70 + 7\r"],
            ["1 row in ", ""],
            [PROMPT, END],
            ["Ctrl-D again exits", END]
        ]),
    );
    assert!(shown.contains("in memory: nothing is kept") && shown.contains("1 relation is in memory alone"), "{shown}");
    assert!(shown.contains("\u{1b}[32m'Bank'"), "strings are green: {shown}");
    assert!(shown.contains("\u{1b}[34mstation"), "relations are blue: {shown}");
    assert!(shown.contains("│ 4 │") && shown.contains("\"several\""), "{shown}");
    let history = std::fs::read_to_string(directory.path(".cozo_repl_history")).expect("there is a history");
    assert!(history.contains("*station{lines: l}, l > 3"), "{history}");
    let again = typed(&directory, &json!([[PROMPT, "\u{1b}[A\r"], ["1 row in ", ""], [PROMPT, END]]));
    assert!(again.contains("│ 77 │"), "{again}");
}

#[test]
fn long_results_are_paged() {
    let directory = scratch("pages");
    let shown = typed(
        &directory,
        &json!([
            [PROMPT, "?[a] := a in [1, 2]\r"],
            ["2 rows in ", ""],
            [PROMPT, "?[a] := a in int_range(100, 140)\r"],
            ["40 rows in ", ""],
            [PROMPT, "%pager\r"],
            ["the pager is off", ""],
            [PROMPT, "?[a] := a in int_range(200, 240)\r"],
            ["40 rows in ", ""],
            [PROMPT, END]
        ]),
    );
    assert!(shown.contains("paged:│ 139 │") && shown.contains("\n│ 239 │"), "{shown}");
    assert!(!shown.contains("paged:│ 1 ") && !shown.contains("paged:│ 239"), "{shown}");
}

#[test]
fn ctrl_c_stops_what_runs_and_twice_ends_it() {
    let directory = scratch("interrupts");
    typed(
        &directory,
        &json!([
            [PROMPT, format!("{ENDLESS}\r")],
            ["\r\n", "\u{3}", 2],
            ["killed", ""],
            [PROMPT, "\u{3}"],
            ["Ctrl-C again exits", "\u{3}"]
        ]),
    );
}

#[test]
fn ctrl_c_leaves_the_line_that_is_being_typed() {
    let directory = scratch("half-typed");
    let shown = typed(
        &directory,
        &json!([
            [PROMPT, "?[half := typed"],
            ["typed", "\u{3}"],
            [PROMPT, " several\rlines\u{3}"],
            [PROMPT, "\u{3}"],
            ["Ctrl-C again exits", "no\u{3}"],
            [PROMPT, "\u{3}"],
            ["Ctrl-C again exits", "?[a] := a = 40 + 2\r"],
            ["1 row in ", ""],
            [PROMPT, "?[a] <- [[1]] :create r {a}\r"],
            ["1 row in ", ""],
            [PROMPT, "\u{3}"],
            ["1 relation is in memory alone and would be lost", ""],
            ["Ctrl-C again exits", "?[b] := *r{a}, b = a + 76\r"],
            ["1 row in ", ""],
            [PROMPT, "\u{3}"],
            ["Ctrl-C again exits", "\u{3}"]
        ]),
    );
    assert!(shown.contains("│ 42 │") && shown.contains("│ 77 │"), "{shown}");
}

#[test]
fn a_database_on_disk_is_left_without_a_question() {
    let directory = scratch("left");
    let path = directory.path("left.db");
    let shown = typed_with(
        &directory,
        &[&path],
        &json!([[PROMPT, "?[a] <- [[1]] :create r {a}\r"], ["1 row in ", ""], [PROMPT, END]]),
    );
    assert!(shown.contains(&format!("new sqlite database '{path}'")), "{shown}");
    assert!(typed_with(&directory, &[&path], &json!([[PROMPT, END]])).contains(&format!(", sqlite database '{path}'")));
}

#[test]
fn statements_typed_line_by_line_are_one_transaction() {
    let directory = scratch("statements");
    let shown = typed(
        &directory,
        &json!([
            [PROMPT, "?[who, euros] <- [['a', 50], ['b', 60]] :create purse {who => euros}\r"],
            ["1 row in ", ""],
            [PROMPT, "{ ?[who, euros] <- [['a', 20]] :put purse {who => euros} }\r"],
            ["euros} }", "{\r    ?[who] := *purse{who, euros}, euros < 30\r    :assert none\r}\r\r"],
            ["eval::assert_none_failure", ""],
            [PROMPT, "?[euros] := *purse{who: 'a', euros}\r"],
            ["    50 │", ""],
            [PROMPT, "%if { ?[a] := a = 1 } %then\r{ ?[a] := a = 400 + 56 }\r%end\r\r"],
            ["│ 456", ""],
            [PROMPT, END],
            ["Ctrl-D again exits", END]
        ]),
    );
    assert_eq!(shown.matches(" row in ").count() + shown.matches(" rows in ").count(), 3, "{shown}");
}

/// A script that never ends and takes no memory.
const ENDLESS: &str = "?[count(a)] := a in int_range(1000000), b in int_range(1000000), a + b == -1";

#[cfg(feature = "server")]
#[test]
fn a_server_completes_and_is_not_waited_for() {
    let directory = scratch("remote-terminal");
    let server = support::server::start(&[]);
    server.query(":create station {name => lines}").ok();
    let shown = typed_with(
        &directory,
        &["--url", &server.address],
        &json!([
            [PROMPT, "?[count(l)] := *sta\t{li\t: l}\r"],
            ["1 row in ", ""],
            [PROMPT, "?[a, b] <~ Consta\t(data: [[1, 2]])\r"],
            ["1 row in ", ""],
            [PROMPT, format!("{ENDLESS}\r")],
            ["\r\n", "\u{3}", 2],
            ["remote::not_waited_for", ""],
            [PROMPT, END]
        ]),
    );
    assert!(shown.contains("│ 1 ┆ 2 │"), "{shown}");
}
