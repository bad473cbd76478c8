//! Outputs that are full, closed or not read: each command ends with a clear error or quietly, and never by a panic.

#![cfg(unix)]

mod support;

use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};

use support::{Outcome, Scratch, cozo, scratch};

const MANY_ROWS: &str = "?[n, text] := n in int_range(20000), text = concat('row ', to_string(n))";

/// What is wrong with an output.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// It takes no byte: the disk is full.
    #[cfg(target_os = "linux")]
    Full,
    /// Whoever read it has gone.
    Unread,
    /// The program was started without it.
    Closed,
}

const FAULTS: &[Fault] = &[
    #[cfg(target_os = "linux")]
    Fault::Full,
    Fault::Unread,
    Fault::Closed,
];

impl Fault {
    /// The output.
    fn stream(self) -> Stdio {
        match self {
            #[cfg(target_os = "linux")]
            Fault::Full => File::options().write(true).open("/dev/full").expect("Linux has it").into(),
            Fault::Unread => std::io::pipe().expect("there are pipes").1.into(),
            Fault::Closed => Stdio::null(),
        }
    }

    /// What the shell is to do before it starts the program.
    fn close(self, number: u8) -> String {
        if self == Fault::Closed { format!("exec {number}>&-; ") } else { String::new() }
    }
}

/// Runs the binary with these faults of standard output and standard error.
fn run(arguments: &[&str], input: &str, stdout: Option<Fault>, stderr: Option<Fault>) -> Outcome {
    let close = |fault: Option<Fault>, number| fault.map_or(String::new(), |fault| fault.close(number));
    let shell = format!("{}{}exec \"$0\" \"$@\"", close(stdout, 1), close(stderr, 2));
    let stream = |fault: Option<Fault>| fault.map_or_else(Stdio::piped, Fault::stream);
    let mut command = Command::new("sh");
    command.args(["-c", &shell, env!("CARGO_BIN_EXE_cozo")]).args(arguments);
    command.stdin(Stdio::piped()).stdout(stream(stdout)).stderr(stream(stderr));
    let mut child = command.spawn().expect("there is a shell");
    // A program that cannot write need not read.
    let _ = child.stdin.take().expect("there is a pipe").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Outcome { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The commands that write to standard output, each with its input.
fn commands(directory: &Scratch) -> Vec<(Vec<String>, &'static str)> {
    let path = directory.path("data.db");
    cozo(&["run", "-p", &path, "-e", "?[n] := n in int_range(1000) :create r {n}"]).succeeded();
    let csv = directory.file("new.csv", "a\n1\n");
    let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    vec![
        (words(&["run", "-e", MANY_ROWS]), ""),
        (words(&["run", "-e", MANY_ROWS, "--format", "json"]), ""),
        (words(&["run", "-e", MANY_ROWS, "--format", "csv"]), ""),
        (words(&["run", "-e", "{?[a] <- [[1]] :create _t {a}} %debug _t"]), ""),
        (words(&["run", "-"]), MANY_ROWS),
        (words(&["repl"]), "%help\n%eval 1 + 1\n?[n] := n in int_range(100)\n%params\n"),
        (words(&["import", "new", &csv, "--then", "?[a] := *new{a}"]), ""),
        (words(&["export", "r", "-", "-p", &path]), ""),
        (words(&["export", "-e", MANY_ROWS, "-", "--format", "jsonl"]), ""),
        (words(&["check", &path]), ""),
        (words(&["completions", "bash"]), ""),
        (words(&["man"]), ""),
        (words(&["demo", concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock")]), ""),
        (words(&["--help"]), ""),
        (words(&["--version"]), ""),
    ]
}

/// How a command may end whose standard output is faulty.
fn ends_well(outcome: &Outcome, fault: Fault, context: &str) {
    assert!(!outcome.stderr.contains("panicked"), "{context}: {}", outcome.stderr);
    let is_clear = outcome.code == 1 && outcome.stderr.contains("cli::stream");
    // Help is written by the library that reads the arguments.
    let is_quiet =
        outcome.code == 0 && (fault != FAULTS[0] || context.contains("--") || cfg!(not(target_os = "linux")));
    assert!(is_clear || is_quiet, "{context}: {} {}", outcome.code, outcome.stderr);
}

#[test]
fn standard_output_may_fail() {
    let directory = scratch("outputs_stdout");
    for (arguments, input) in commands(&directory) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        for fault in FAULTS {
            let outcome = run(&arguments, input, Some(*fault), None);
            let context = format!("{fault:?} {arguments:?}");
            // What %debug writes is no result.
            let context =
                if arguments.iter().any(|word| word.contains("%debug")) { format!("--{context}") } else { context };
            ends_well(&outcome, *fault, &context);
        }
    }
}

#[test]
fn standard_error_may_fail() {
    let directory = scratch("outputs_stderr");
    let path = directory.path("data.db");
    let csv = directory.file("new.csv", "a\n1\n");
    cozo(&["run", "-p", &path, "-e", "?[n] := n in int_range(10) :create r {n}"]).succeeded();
    for fault in FAULTS {
        let mut cases = vec![
            (vec!["run", "-e", "?[a] := a = 1 / 0, b"], 1),
            (vec!["run", "no such file"], 1),
            (vec!["import", "new", &csv, "-p", &path], 0),
            (vec!["export", "r", "-", "-p", &path], 0),
            (vec!["repl", "-p", &path], 0),
            (vec!["nonsense"], 2),
            (vec!["restore", "no such file", "-p", "no/such/folder.db"], 1),
        ];
        let (backup, restored) =
            (directory.path(&format!("{fault:?}.backup")), directory.path(&format!("{fault:?}.db")));
        cases.push((vec!["backup", &backup, "-p", &path], 0));
        cases.push((vec!["restore", &backup, "-p", &restored], 0));
        for (arguments, code) in cases {
            let outcome = run(&arguments, "?[a] := b\n", None, Some(*fault));
            assert_eq!(outcome.code, code, "{fault:?} {arguments:?}: {}", outcome.stdout);
        }
        assert!(cozo(&["check", &restored]).succeeded().contains("r: 10 rows"), "{fault:?}");
    }
}

#[test]
fn both_may_fail() {
    let directory = scratch("outputs_both");
    for (arguments, input) in commands(&directory) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        for fault in FAULTS {
            let outcome = run(&arguments, input, Some(*fault), Some(*fault));
            assert!([0, 1].contains(&outcome.code), "{fault:?} {arguments:?}: {}", outcome.code);
        }
    }
}

#[test]
fn a_file_on_a_full_disk_is_an_error() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let directory = scratch("outputs_full");
    let path = directory.path("data.db");
    cozo(&["run", "-p", &path, "-e", "?[n] := n in int_range(1000) :create r {n}"]).succeeded();
    for format in ["csv", "jsonl", "parquet", "arrow"] {
        let outcome = cozo(&["export", "r", "/dev/full", "--format", format, "-p", &path]);
        assert_eq!(outcome.code, 1, "{format}");
        assert!(outcome.stderr.contains("No space left"), "{format}: {}", outcome.stderr);
    }
}
