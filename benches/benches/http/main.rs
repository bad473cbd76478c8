//! The server over connections that are kept: a fixed answer of 67 bytes, and a script that sums the factorials of 1 to 100, the
//! experiment of ArangoDB; and one row of a relation of a thousand by its key.
//!
//! The binary `cozo` is built first, unless `COZO_BENCH_BINARY` names one. `wrk` asks, from Debian if it is not there; beside the
//! server Node.js gives the first two answers, alone and with a process for each processor, from PyPI if it is not there, and
//! the framework that the server is made with, axum, an empty answer to the last.
//! `COZO_BENCH_CONNECTIONS` lists numbers of connections (`1,8,64,512`), `COZO_BENCH_SECONDS` is how long each is asked (2).

mod empty;
mod server;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread::available_parallelism;

use cozo_benches::figures::Figures;
use cozo_benches::settings::{exit_code, number, setting};
use serde_json::{Value, json};

use server::Server;

/// For so long `wrk` waits for an answer before it says that there is none. Node.js leaves some of 512 connections waiting for two seconds.
const PATIENCE: &str = "30s";

/// What is asked.
struct Question {
    name: &'static str,
    script: &'static str,
    /// What the answer must contain.
    expected: &'static str,
}

const FIXED: Question = Question { name: "fixed", script: "?[a] <- [[12]]", expected: "[[12]]" };

const FACTORIALS: Question = Question {
    name: "factorials",
    script: "factorial[n, f] := n = 1, f = 1.0
         factorial[n, f] := factorial[m, g], m < 100, n = m + 1, f = g * n
         ?[sum(f)] := factorial[_, f]",
    // All but the last digits: floats are added in no certain order.
    expected: "9.4269001683",
};

const POINT: Question = Question { name: "point", script: "?[v] := *entry{k: 500, v}", expected: "[[\"entry 500\"]]" };

/// Makes the relation of [`POINT`].
const ENTRIES: &str = "?[k, v] := k in int_range(1000), v = concat('entry ', to_string(k)) :create entry {k => v}";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    exit_code(match arguments.next().as_deref() {
        Some(empty::ARGUMENT) => empty::serve(arguments.next()),
        _ => measure(),
    })
}

fn measure() -> Result<(), String> {
    let seconds = number("SECONDS", 2)?;
    let connections = connections()?;
    let processors = available_parallelism().map_or(1, usize::from);
    let mut figures = Figures::new("http", format!("{seconds} s each, {processors} processors shared with the client"));
    let empty = Question { expected: "200 OK", ..POINT };
    let servers: [(&str, Command, &[Question]); 4] = [
        ("mem", cozo()?, &[FIXED, FACTORIALS, POINT]),
        ("Node.js", node(1), &[FIXED, FACTORIALS]),
        ("Node.js, processes", node(processors), &[FIXED, FACTORIALS]),
        ("axum, empty", empty::command()?, &[empty]),
    ];
    for (system, command, questions) in servers {
        let server = Server::start(command)?;
        if system == "mem" {
            server.post(&json!({ "script": ENTRIES }).to_string())?;
        }
        for question in questions {
            let body = json!({ "script": question.script }).to_string();
            let answer = server.post(&body)?;
            if !answer.contains(question.expected) {
                return Err(format!("{system} gives a wrong answer to {}: {answer}", question.name));
            }
            for connections in &connections {
                let [rate, median_ms, last_ms] = wrk(&server.url(), &body, *connections, seconds)?;
                let test = format!("{}, connections {connections}", question.name);
                figures.add(system, &test, "requests/s", rate);
                figures.add(system, &format!("{test}, half within"), "ms", median_ms);
                figures.add(system, &format!("{test}, 99 % within"), "ms", last_ms);
            }
        }
    }
    figures.publish()
}

fn connections() -> Result<Vec<usize>, String> {
    let text = setting("CONNECTIONS").unwrap_or_else(|| "1,8,64,512".to_string());
    let numbers: Option<Vec<usize>> =
        text.split(',').map(|part| part.trim().parse().ok().filter(|number| *number > 0)).collect();
    numbers.ok_or_else(|| format!("COZO_BENCH_CONNECTIONS is '{text}', and should be a list of numbers such as 1,8,64"))
}

/// The folder of the project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The server of the database, in memory.
fn cozo() -> Result<Command, String> {
    let binary = match setting("BINARY") {
        Some(binary) => PathBuf::from(binary),
        None => {
            let mut build = Command::new(env!("CARGO"));
            build.current_dir(root()).args(["build", "--release", "--package", "cozo-bin"]);
            // What cargo tells this bench of its package is nothing to build scripts, which would run anew for it.
            for (name, _) in std::env::vars_os() {
                let text = name.to_string_lossy();
                if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| text.starts_with(start)) {
                    build.env_remove(name);
                }
            }
            let built = build.status().map_err(|error| error.to_string())?;
            if !built.success() {
                return Err("the binary 'cozo' does not build".to_string());
            }
            Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("release").join("cozo")
        }
    };
    let mut command = Command::new(binary);
    command.args(["server", "-e", "mem", "-P"]);
    Ok(command)
}

fn node(processes: usize) -> Command {
    let mut command = Command::new("sh");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/http/node.js");
    // `exec`, so that the process that is ended is that of the server; the port comes last.
    command.args(["-c", r#"exec "$0" node "$1" "$3" "$2""#]);
    command.arg(root().join("tools/with-node.sh")).arg(script).arg(processes.to_string());
    command
}

/// Requests a second, and within how many milliseconds half of them and 99 in a hundred were answered.
fn wrk(url: &str, body: &str, connections: usize, seconds: usize) -> Result<[f64; 3], String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let script = folder.path().join("wrk.lua");
    // A string of JSON is one of Lua here: quotes and line breaks are escaped in the same way.
    let body = json!(body);
    let lua = format!(
        r#"wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.body = {body}
done = function(summary, latency)
    local e = summary.errors
    io.write(string.format('\n{{"requests":%d,"us":%d,"median":%f,"last":%f,"errors":%d}}\n', summary.requests, summary.duration,
        latency:percentile(50), latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
"#
    );
    std::fs::write(&script, lua).map_err(|error| error.to_string())?;
    let mut wrk = Command::new(root().join("tools/with-debian.sh"));
    wrk.args(["wrk", "wrk", "--", "wrk", "-t", if connections > 1 { "2" } else { "1" }]);
    wrk.args(["-c", &connections.to_string(), "-d", &format!("{seconds}s"), "--timeout", PATIENCE, "-s"]);
    wrk.arg(&script).arg(url);
    let output = wrk.stderr(Stdio::inherit()).output().map_err(|error| format!("wrk does not run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().rev().find_map(|line| serde_json::from_str::<Value>(line).ok());
    let line = line.ok_or_else(|| format!("wrk says\n{text}"))?;
    let [requests, us, median, last, errors] =
        ["requests", "us", "median", "last", "errors"].map(|name| line[name].as_f64().unwrap_or(f64::NAN));
    if errors != 0.0 {
        return Err(format!("{errors} of {requests} requests failed with {connections} connections"));
    }
    Ok([requests / us * 1e6, median / 1e3, last / 1e3])
}
