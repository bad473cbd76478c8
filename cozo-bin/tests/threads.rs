//! Where the system gives few threads or none, or little memory, programs work with fewer or say so.

#![cfg(target_os = "linux")]

mod support;

use std::io::Write;
use std::process::{Command, Stdio};

use support::Outcome;

/// Threads have large stacks here, so that only so many fit into the addresses that the process may have.
const STACK_BYTES: u64 = 512 << 20;

/// Runs the binary with so many kilobytes of addresses, and stacks of so many bytes.
fn run(arguments: &[&str], addresses_kb: u64, stack_bytes: u64, input: &str) -> Outcome {
    let mut command = limited(addresses_kb, stack_bytes);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("there is a shell");
    let _ = child.stdin.take().expect("there is a pipe").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Outcome { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn limited(addresses_kb: u64, stack_bytes: u64) -> Command {
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {addresses_kb}; exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_cozo")]).env("RUST_MIN_STACK", stack_bytes.to_string());
    command
}

/// A script whose scans and joins are worth several threads.
const LARGE: &str = "r[x, y] := x in int_range(300000), y = mod(x * 7919, 300000)  ?[count(z)] := r[x, y], r[y, z]";

#[test]
fn without_a_single_thread_there_is_an_error() {
    for arguments in [&["run", "-e", LARGE][..], &["repl"], &["server", "-P", "0"]] {
        let outcome = run(arguments, 2 << 20, 4 << 30, LARGE);
        assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
        outcome.failed("cli::no_threads");
    }
}

#[test]
fn with_few_threads_queries_run() {
    for gigabytes in 1..6 {
        for (arguments, input) in [(&["run", "-e", LARGE][..], ""), (&["repl"], LARGE)] {
            let outcome = run(arguments, gigabytes << 20, STACK_BYTES, input);
            assert!(!outcome.stderr.contains("panicked"), "{gigabytes} GB: {}", outcome.stderr);
            match outcome.code {
                0 => assert!(outcome.stdout.contains("300000"), "{}", outcome.stdout),
                _ => outcome.failed("cli::no_threads"),
            }
        }
    }
}

#[cfg(feature = "server")]
#[test]
fn with_few_threads_a_server_answers() {
    use serde_json::{Value, json};
    use support::server::start_by;
    for gigabytes in [6, 8, 12] {
        let script = format!("ulimit -v {}; exec \"$0\" \"$@\"", gigabytes << 20);
        let server =
            start_by(&["sh", "-c", &script], &[], |command| command.env("RUST_MIN_STACK", STACK_BYTES.to_string()));
        server.query(":create r {a}").ok();
        assert_eq!(server.rows(LARGE), json!([[300_000]]));
        // As many transactions as there are threads for, and none beyond.
        let replies: Vec<_> = (0..40).map(|_| server.post("/transact?write=true", &Value::Null)).collect();
        let (begun, refused): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 200);
        refused.iter().for_each(|reply| reply.failed(503, "server::too_many"));
        assert!(!refused.is_empty(), "{gigabytes} GB hold no 40 stacks");
        for reply in begun {
            let path = format!("/transact/{}", reply.json()["id"]);
            server.post(&path, &json!({"script": "?[a] <- [[1]] :put r {a}"})).ok();
            server.put(&path, &json!({"abort": false}));
        }
        assert_eq!(server.get("/health").status, 200);
        server.stop();
    }
}

/// Little memory, and threads as usual.
#[test]
fn with_little_memory_nothing_panics() {
    for megabytes in [40, 60, 80, 100, 150, 200, 300, 500] {
        for (arguments, input) in
            [(&["run", "-e", "?[a] := a = 40 + 2"][..], ""), (&["repl"], "?[a] := a = 40 + 2\n"), (&["--version"], "")]
        {
            let outcome = run(arguments, megabytes << 10, 2 << 20, input);
            assert!(!outcome.stderr.contains("panicked"), "{megabytes} MB: {}", outcome.stderr);
            assert!(megabytes < 300 || outcome.code == 0, "{megabytes} MB: {}", outcome.stderr);
        }
    }
}
