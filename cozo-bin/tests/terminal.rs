//! The REPL in a terminal: what is typed, inputs of several lines, colors, completion, history, pages, and tables that fit.

#![cfg(unix)]

mod support;

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::page::{Block, book, pages};
use support::{Scratch, scratch};

const DRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/terminal.py");

/// Types into a REPL in a terminal, each text when what precedes it has been shown; all that was shown.
fn typed(directory: &Scratch, steps: &Value) -> String {
    typed_with(directory, &[], SIZE, steps)
}

/// The same with arguments, in a terminal of this size.
fn typed_with(directory: &Scratch, arguments: &[&str], size: &str, steps: &Value) -> String {
    let mut command = Command::new("python3");
    command.args([DRIVER, env!("CARGO_BIN_EXE_cozo"), "repl"]).args(arguments).current_dir(directory.path(""));
    command.env("TERM", "xterm").env("PAGER", "sed s/^/paged:/").env_remove("NO_COLOR").env("TERMINAL_SIZE", size);
    command.env("XDG_STATE_HOME", directory.path("state"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("there is python3");
    child.stdin.take().expect("there is a pipe").write_all(steps.to_string().as_bytes()).expect("it takes the steps");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const SIZE: &str = "24x80";
const PROMPT: &str = "=> ";
const END: &str = "\u{4}";
const QUESTION: &str = "Leave? [y/N] ";

/// What the line editor tells the terminal when it begins to read a line.
const READS: &str = "\u{1b}[?2004h";

/// What it draws when a line begins that continues an input.
const CONTINUES: &str = ".. \r\u{1b}[3C\u{1b}[?2026l";

/// What was shown, without colors and the like.
fn plain(shown: &str) -> String {
    let mut text = String::new();
    let mut rest = shown;
    while let Some((before, sequence)) = rest.split_once('\u{1b}') {
        text.push_str(before);
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).map_or(sequence.len(), |end| end + 1);
        rest = &sequence[end..];
    }
    text.push_str(rest);
    text.replace('\r', "")
}

#[test]
fn inputs_are_colored_completed_and_remembered() {
    let directory = scratch("terminal");
    let shown = typed(
        &directory,
        &json!([
            [PROMPT, ":create station {name => lines}\r"],
            ["1 relation created", ""],
            [PROMPT, "?[name, lines] <- [['Bank', 4]] :put sta\t{name, li\t}\r"],
            ["1 row put", ""],
            [PROMPT, "?[l] := *sta\t{li\t: l}, l > 3\r"],
            ["1 row in ", ""],
            [PROMPT, " ?[a] :=\ra = 'several'\r\r"],
            ["1 row in ", ""],
            [PROMPT, "?[z] := z = 70 + 7\r"],
            ["1 row in ", ""],
            [PROMPT, END],
            [QUESTION, "y\r"]
        ]),
    );
    assert!(shown.contains("in memory: nothing is kept") && shown.contains("1 relation would be lost"), "{shown}");
    assert!(shown.contains("\u{1b}[32m'Bank'"), "strings are green: {shown}");
    assert!(shown.contains("\u{1b}[34mstation"), "relations are blue: {shown}");
    assert!(shown.contains("│ 4 │") && shown.contains("\"several\""), "{shown}");
    let history = std::fs::read_to_string(directory.path("state/cozo/history")).expect("there is a history");
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
            [PROMPT, ":create r {a}\r"],
            ["1 relation created", ""],
            [PROMPT, "\u{3}"],
            ["Ctrl-C again exits", "\u{3}"]
        ]),
    );
    assert!(shown.contains("│ 42 │") && !shown.contains("would be lost"), "there are no rows: {shown}");
}

#[test]
fn rows_in_memory_are_not_lost_without_a_question() {
    let directory = scratch("question");
    let shown = typed(
        &directory,
        &json!([
            [PROMPT, "?[a] <- [[1]] :create r {a}\r"],
            ["1 row put", ""],
            [PROMPT, "\u{3}"],
            ["Ctrl-C again exits", "\u{3}"],
            [QUESTION, "\r"],
            [PROMPT, "quit\r"],
            [QUESTION, "\u{3}"],
            [PROMPT, END],
            [QUESTION, "n\r"],
            [PROMPT, "?[b] := *r{a}, b = a + 76\r"],
            ["1 row in ", ""],
            [PROMPT, END],
            [QUESTION, END]
        ]),
    );
    assert_eq!(shown.matches("1 relation would be lost").count(), 4, "{shown}");
    assert!(shown.contains("│ 77 │"), "{shown}");
}

#[test]
fn a_database_on_disk_is_left_without_a_question() {
    let directory = scratch("left");
    let path = directory.path("left.db");
    let shown = typed_with(
        &directory,
        &[&path],
        SIZE,
        &json!([[PROMPT, "?[a] <- [[1]] :create r {a}\r"], ["1 row put", ""], [PROMPT, END]]),
    );
    assert!(shown.contains(&format!("new sqlite database '{path}'")), "{shown}");
    assert!(
        typed_with(&directory, &[&path], SIZE, &json!([[PROMPT, END]]))
            .contains(&format!(", sqlite database '{path}'"))
    );
}

#[test]
fn statements_typed_line_by_line_are_one_transaction() {
    let directory = scratch("statements");
    let shown = typed(
        &directory,
        &json!([
            [PROMPT, "?[who, euros] <- [['a', 50], ['b', 60]] :create purse {who => euros}\r"],
            ["2 rows put", ""],
            [READS, "{ ?[who, euros] <- [['a', 20]] :put purse {who => euros} }\r"],
            [CONTINUES, "{\r"],
            [CONTINUES, "    ?[who] := *purse{who, euros}, euros < 30\r"],
            [CONTINUES, "    :assert none\r"],
            [CONTINUES, "}\r"],
            [CONTINUES, "\r"],
            ["eval::assert_none_failure", ""],
            [READS, "?[euros] := *purse{who: 'a', euros}\r"],
            ["    50 │", ""],
            [READS, "%if { ?[a] := a = 1 } %then\r"],
            [CONTINUES, "{ ?[a] := a = 400 + 56 }\r"],
            [CONTINUES, "%end;\r"],
            ["│ 456", ""],
            [READS, END],
            [QUESTION, "y\r"]
        ]),
    );
    assert_eq!(shown.matches(" row in ").count(), 2, "{shown}");
    assert!(plain(&shown).contains(".. }"), "the prompt says that the input goes on: {shown}");
}

#[test]
fn what_is_unfinished_goes_on_and_can_be_edited() {
    let directory = scratch("unfinished");
    let shown = typed(
        &directory,
        &json!([
            [READS, "r[a] := a in [1, 2]\r"],
            [CONTINUES, "?[b] :=\r"],
            [CONTINUES, "r[a], b = a + 76\r"],
            ["│ 78 │", ""],
            [READS, "?[c] :=\r"],
            [CONTINUES, "\r"],
            ["unexpected end of the script", ""],
            // The first line is mended: Up, and Ctrl-A for its beginning.
            [READS, "?[d] := d = 1 +\r"],
            [CONTINUES, "3000\u{1b}[A\u{1}r[x] := x = 7 \u{1b}[B\r"],
            ["│ 3001 │", ""],
            // Backspace at the beginning of a line joins it with the one before.
            [READS, "?[e] := e = 20 +\r"],
            [CONTINUES, "\u{7f}5\r"],
            ["│ 25 │", ""],
            // What Ctrl-C leaves does not run.
            [READS, "?[e] := e = 1,\r"],
            [CONTINUES, "half\u{3}"],
            [READS, "?[f] := f = 4000 + 5;\r"],
            ["│ 4005 │", ""],
            [READS, END]
        ]),
    );
    assert!(!shown.contains("half\r\n│"), "{shown}");
}

#[test]
fn what_is_typed_ahead_is_kept() {
    let directory = scratch("ahead");
    typed(
        &directory,
        &json!([
            [READS, "?[x] := x = 1\r:limit 1\r?[y] :=\ry = 9000 + 8\r"],
            ["continues the query before", ""],
            ["│ 9008 │", ""],
            [READS, END]
        ]),
    );
}

#[test]
fn options_continue_the_query_before() {
    let directory = scratch("options");
    let shown = typed(
        &directory,
        &json!([
            [READS, "?[a] := a in [1, 2, 3]\r"],
            ["3 rows in", ""],
            [READS, ":order -a\r"],
            ["3 rows in", ""],
            [READS, ":limit 1\r"],
            ["1 row in", ""],
            [READS, ":create r {a}\r"],
            ["1 relation created", ""],
            [READS, ":put r {b}\r"],
            ["help: ", ""],
            [READS, ":put r {a}\r"],
            ["1 row put", ""],
            [READS, ":limit 1\r"],
            ["parser::no_entry", ""],
            [READS, "?[c] := *r{a}, c = a + 1000\r"],
            ["│ 1003 │", ""],
            [READS, END],
            [QUESTION, "y\r"]
        ]),
    );
    let history = std::fs::read_to_string(directory.path("state/cozo/history")).expect("there is a history");
    assert!(history.contains(":put r {a}") && shown.contains("continues the query before"), "{history}");
}

#[test]
fn results_fit_the_terminal() {
    let directory = scratch("wide");
    let wide = "?[a, b, c, d, e, f] := a = 1234567890123456789, b = a, c = a, d = a, e = a, f = 1.0000000000001";
    let shown = typed(
        &directory,
        &json!([
            [READS, format!("{wide}\r")],
            ["1 row in", ""],
            [READS, "%expand auto\r"],
            [READS, format!("{wide}\r")],
            ["1 row in", ""],
            [
                READS,
                "?[text, n] <- [['begins xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 1234567]]\r"
            ],
            ["1 row in", ""],
            [READS, END]
        ]),
    );
    let shown = plain(&shown);
    assert!(shown.contains("│ 1234567890123456789 ┆ 1234567890123456789 ┆ … ┆ 1.0000000000001 │"), "{shown}");
    assert!(shown.contains("3 of 6 columns are left out; %expand on shows all"), "{shown}");
    assert!(
        shown.contains("── row 1 ──\na │ 1234567890123456789\n") && shown.contains("\nf │ 1.0000000000001\n"),
        "{shown}"
    );
    assert!(shown.contains("xxx… ┆ 1234567 │") && shown.contains("long texts are cut"), "{shown}");
    let tables = shown.lines().filter(|line| line.starts_with(['│', '┌', '╞', '└']));
    assert!(tables.clone().count() > 8 && tables.clone().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn long_scripts_count_their_seconds() {
    let directory = scratch("seconds");
    let shown = typed(
        &directory,
        &json!([
            [READS, format!("{ENDLESS}\r")],
            ["1 s, Ctrl-C stops it", ""],
            ["2 s, Ctrl-C stops it", "\u{3}"],
            ["\r\u{1b}[K", ""],
            ["killed", ""],
            [READS, END]
        ]),
    );
    assert!(!shown.contains("3 s, Ctrl-C stops it\r\n"), "{shown}");
}

/// The commands of the tutorial that import its files, run in a folder with these.
fn tutorial(name: &str) -> (Scratch, Vec<Block>) {
    let directory = scratch(name);
    for entry in std::fs::read_dir(book().join("data")).expect("the folder can be read") {
        let entry = entry.expect("the entry can be read");
        std::fs::copy(entry.path(), directory.path(&entry.file_name().to_string_lossy())).expect("it can be copied");
    }
    let page = pages().into_iter().find(|page| page.name == "tutorial.md").expect("it is in the book");
    let blocks = page.blocks();
    let imports = blocks.iter().find(|block| block.code.starts_with("cozo import")).expect("it imports");
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_cozo")).parent().expect("it lies in a folder");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.args(["-e", "-c", &imports.code]).current_dir(directory.path("")).env("PATH", path);
    assert!(command.output().expect("there is a shell").status.success());
    let at_prompt = blocks.into_iter().filter(|block| ["cozo", "cozo,error", "text"].contains(&block.info.as_str()));
    (directory, at_prompt.collect())
}

/// Checks that the shell showed what the page has behind its queries, in order.
fn shows_results(shown: &str, blocks: &[Block]) {
    let mut rest = plain(shown);
    for pair in blocks.windows(2).filter(|pair| pair[0].language() == "cozo" && pair[1].info == "text") {
        // Of errors the page has the words, and the shell the report.
        let is_error = pair[0].info == "cozo,error";
        let expected =
            if is_error { pair[1].code.split(':').next_back().unwrap_or_default().trim() } else { pair[1].code.trim() };
        let Some((_, behind)) = rest.split_once(expected) else {
            panic!("{}: not shown:\n{expected}\nin\n{rest}", pair[1].place)
        };
        rest = behind.to_string();
    }
}

#[test]
fn the_tutorial_can_be_typed_line_by_line() {
    let (directory, blocks) = tutorial("tutorial_typed");
    let mut steps = vec![];
    for block in blocks.iter().filter(|block| block.language() == "cozo") {
        // The shell decides after which line it runs what is there.
        let waits = std::iter::once(json!([READS])).chain(std::iter::repeat(json!([READS, CONTINUES])));
        steps.extend(waits.zip(block.code.lines()).map(|(wait, line)| json!([wait, format!("{line}\r")])));
        if block.code.starts_with('{') {
            steps.push(json!([CONTINUES, "\r"]));
        }
    }
    steps.push(json!([READS, END]));
    let shown = typed_with(&directory, &["europe.db"], "50x200", &Value::Array(steps));
    shows_results(&shown, &blocks);
}

#[test]
fn the_tutorial_can_be_pasted_block_by_block() {
    let (directory, blocks) = tutorial("tutorial_pasted");
    let mut steps = vec![];
    for block in blocks.iter().filter(|block| block.language() == "cozo") {
        // With the line break at its end, as a block is copied, and then Enter.
        steps.push(json!([READS, format!("\u{1b}[200~{}\u{1b}[201~\r", block.code)]));
    }
    steps.push(json!([READS, END]));
    let shown = typed_with(&directory, &["europe.db"], "50x200", &Value::Array(steps));
    shows_results(&shown, &blocks);
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
        SIZE,
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
