//! Signals: what is interrupted ends soon, leaves nothing half done, and says so.

#![cfg(unix)]

mod support;

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use support::{Outcome, cozo, scratch};

/// How long tests wait for what must happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// A script that never ends and takes no memory.
const ENDLESS: &str = "?[count(a)] := a in int_range(1000000), b in int_range(1000000), a + b == -1";

/// The signals with the exit code that each leaves, as shells count.
const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

#[cfg(feature = "storage-rocksdb")]
const ENGINES: [&str; 2] = ["sqlite", "rocksdb"];
#[cfg(not(feature = "storage-rocksdb"))]
const ENGINES: [&str; 1] = ["sqlite"];

/// Starts the binary.
fn start(arguments: &[&str]) -> Child {
    start_by(Command::new(env!("CARGO_BIN_EXE_cozo")).args(arguments))
}

/// Starts the binary without ignored signals, whatever has started the tests. That takes a while.
fn start_handling(arguments: &[&str]) -> Child {
    let reset = "import os, signal, sys
for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(s, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])";
    start_by(Command::new("python3").args(["-c", reset, env!("CARGO_BIN_EXE_cozo")]).args(arguments))
}

fn start_by(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

fn send(signal: &str, child: &Child) {
    let status = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
    assert!(status.expect("there is a kill").success());
}

/// Waits until it has ended; a program that a signal has ended has the code that shells give it.
fn ended(mut child: Child) -> Outcome {
    use std::os::unix::process::ExitStatusExt;
    drop(child.stdin.take());
    let start = Instant::now();
    while child.try_wait().expect("it can be waited for").is_none() {
        assert!(start.elapsed() < PATIENCE, "it does not end");
        thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("it has ended");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let code = output.status.code().or(output.status.signal().map(|signal| 128 + signal)).unwrap_or(-1);
    Outcome { code, stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn a_script_is_stopped() {
    for (signal, code) in SIGNALS {
        for format in ["table", "json"] {
            let child = start_handling(&["run", "-e", ENDLESS, "-e", "?[a] := a = 7", "--format", format]);
            thread::sleep(Duration::from_millis(1500));
            send(signal, &child);
            let outcome = ended(child);
            assert_eq!(outcome.code, code, "{signal}: {}", outcome.stderr);
            let said = format!("{}{}", outcome.stdout, outcome.stderr);
            assert!(said.contains(&format!("stopped by SIG{signal}")), "{said}");
            assert!(!said.contains("panicked"), "{said}");
        }
    }
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let mut command = Command::new("sh");
    let script = "trap '' HUP; exec \"$0\" \"$@\"";
    command.args(["-c", script, env!("CARGO_BIN_EXE_cozo"), "run", "-e", "?[a] := a = 7 :sleep 1"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::piped()).spawn().expect("a shell");
    thread::sleep(Duration::from_millis(400));
    send("HUP", &child);
    assert!(ended(child).succeeded().contains("│ 7 │"));
}

#[test]
fn the_shell_stops_one_script_on_ctrl_c_and_ends_on_others() {
    let directory = scratch("ending_shell");
    let path = directory.path("data.db");
    let typed = |child: &mut Child, text: &str| {
        child.stdin.as_mut().expect("there is a pipe").write_all(text.as_bytes()).expect("it reads");
    };
    let mut child = start_handling(&["repl", &path]);
    typed(&mut child, &format!("?[a] <- [[1]] :create r {{a}}\n{ENDLESS}\n?[b] := *r{{a}}, b = a + 76\n"));
    thread::sleep(Duration::from_millis(1500));
    send("INT", &child);
    let outcome = ended(child);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("│ 77 │") && outcome.stderr.contains("eval::killed"), "{}", outcome.stdout);
    for (signal, code) in [("TERM", 143), ("HUP", 129)] {
        for script in [ENDLESS, ""] {
            let mut child = start_handling(&["repl", &path]);
            typed(&mut child, &format!("?[a] <- [[1]] :put r {{a}}\n{script}\n"));
            thread::sleep(Duration::from_millis(1500));
            send(signal, &child);
            let input = child.stdin.take();
            assert_eq!(ended(child).code, code, "{signal} {script}");
            drop(input);
        }
    }
    assert!(cozo(&["check", &path]).succeeded().contains("r: 1 row\n"));
}

/// A database with many rows.
fn filled(path: &str, engine: &str) {
    let script =
        "?[n, text] := n in int_range(150000), text = concat('the text of row ', to_string(n)) :create r {n => text}";
    cozo(&["run", "--engine", engine, "-p", path, "-e", script]).succeeded();
}

/// How long a command runs before it gets its signal. What comes later meets a command that has ended.
fn delays() -> impl Iterator<Item = Duration> {
    [0, 20, 40, 60, 80, 110, 150, 200, 300].into_iter().map(Duration::from_millis)
}

/// Interrupts a command after some time; whether it was done before, and else that it says that it was not.
fn is_done(arguments: &[&str], delay: Duration, left: &str) -> bool {
    let child = start(arguments);
    thread::sleep(delay);
    // It may have ended.
    let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).stderr(Stdio::null()).status();
    let outcome = ended(child);
    assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
    // The signal may come between the end of the work and that of the process.
    if outcome.code == 0 || outcome.stderr.contains("150,000 rows in ") {
        return true;
    }
    assert_eq!(outcome.code, 143, "{arguments:?}: {}", outcome.stderr);
    // Before the work begins the signal ends the program as usual.
    assert!(outcome.stderr.is_empty() || outcome.stderr.contains(left), "{arguments:?}: {}", outcome.stderr);
    false
}

#[test]
fn a_backup_is_whole_or_not_there() {
    let directory = scratch("ending_backup");
    let path = directory.path("data.db");
    filled(&path, "sqlite");
    for delay in delays() {
        let backup = directory.path(&format!("{}.backup", delay.as_millis()));
        let done = is_done(&["backup", &backup, "-p", &path], delay, "no backup was written");
        assert_eq!(Path::new(&backup).exists(), done, "{delay:?}");
        if done {
            assert!(cozo(&["check", &backup]).succeeded().contains("r: 150,000 rows"));
        }
        let left: Vec<String> = directory.names().into_iter().filter(|name| name.contains("unfinished")).collect();
        assert_eq!(left, [""; 0], "{delay:?}");
    }
}

#[test]
fn a_restore_is_whole_or_makes_no_database() {
    for engine in ENGINES {
        let directory = scratch(&format!("ending_restore_{engine}"));
        let (path, backup) = (directory.path("data.db"), directory.path("all.backup"));
        filled(&path, "sqlite");
        cozo(&["backup", &backup, "-p", &path]).succeeded();
        for delay in delays() {
            let new = directory.path(&format!("new{}", delay.as_millis()));
            let done = is_done(&["restore", &backup, "--engine", engine, "-p", &new], delay, "nothing was restored");
            let names: Vec<String> = directory.names().into_iter().filter(|name| name.starts_with("new")).collect();
            if done {
                assert!(cozo(&["check", &new]).succeeded().contains("r: 150,000 rows"));
            } else if !names.is_empty() {
                // The signal came before the work had begun: the database may be there, and empty.
                let again = cozo(&["restore", &backup, "--engine", engine, "-p", &new]);
                assert_eq!(again.code, 0, "{names:?} {}", again.stderr);
            }
            names.iter().for_each(|name| {
                let path = directory.path(name);
                drop(std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path)));
            });
        }
    }
}

#[test]
fn an_import_is_whole_or_says_what_came() {
    let directory = scratch("ending_import");
    let lines: String = (0..150_000).map(|n| format!("{n},the text of row {n}\n")).collect();
    let file = directory.file("rows.csv", &format!("n,text\n{lines}"));
    let path = directory.path("data.db");
    let count = |relation: &str| -> Option<u64> {
        let script = format!("?[count(n)] := *{relation}{{n}}");
        let outcome = cozo(&["run", "-p", &path, "-e", &script, "--format", "csv"]);
        (outcome.code == 0).then(|| outcome.stdout.lines().nth(1).and_then(|line| line.parse().ok())).flatten()
    };
    cozo(&["run", "-p", &path, "-e", ":create old {n: Int => text: String}"]).succeeded();
    for delay in delays() {
        let new = format!("new{}", delay.as_millis());
        let target = format!("{new} {{n: Int => text: String}}");
        let done = is_done(&["import", &target, &file, "-p", &path], delay, "nothing was imported");
        assert_eq!(count(&new), done.then_some(150_000), "{delay:?}");
        cozo(&["run", "-p", &path, "-e", "?[n] := *old{n} :rm old {n}"]).succeeded();
        let done = is_done(&["import", "old", &file, "-p", &path], delay, "the import was not finished");
        assert!(!done || count("old") == Some(150_000), "{delay:?}");
    }
}

#[test]
fn an_export_is_whole_or_leaves_the_file_as_it_was() {
    let directory = scratch("ending_export");
    let path = directory.path("data.db");
    filled(&path, "sqlite");
    for delay in delays() {
        let file = directory.file(&format!("{}.csv", delay.as_millis()), "before");
        let done = is_done(&["export", "r", &file, "-p", &path], delay, "the export was not finished");
        let text = std::fs::read_to_string(&file).expect("the file is there");
        assert_eq!(text.lines().count(), if done { 150_001 } else { 1 }, "{delay:?}");
        assert!(!Path::new(&format!("{file}.part")).exists(), "{delay:?}");
    }
}

#[cfg(feature = "arrow")]
#[test]
fn a_partition_is_whole_or_not_there() {
    let directory = scratch("ending_partition");
    let path = directory.path("data.db");
    filled(&path, "sqlite");
    let whole = directory.path("whole");
    cozo(&["export", "--partition", &whole, "-p", &path]).succeeded();
    for delay in delays() {
        let out = directory.path(&format!("out{}", delay.as_millis()));
        let done = is_done(&["export", "--partition", &out, "-p", &path], delay, "the export was not finished");
        assert_eq!(Path::new(&out).exists(), done, "{delay:?}");
        assert!(!Path::new(&format!("{out}.part")).exists(), "{delay:?}");
        let to = directory.path(&format!("to{}.db", delay.as_millis()));
        cozo(&["run", "-p", &to, "-e", "?[n] <- [[1]] :create other {n}"]).succeeded();
        let done = is_done(&["import", "--partition", &whole, "-p", &to], delay, "nothing was imported");
        let checked = cozo(&["check", &to]).succeeded();
        assert!(checked.contains("other: 1 row\n"), "{delay:?}: {checked}");
        assert_eq!(checked.contains("r: 150,000 rows\n"), done, "{delay:?}: {checked}");
        assert_eq!(checked.lines().count(), if done { 3 } else { 2 }, "{delay:?}: {checked}");
    }
}

#[test]
fn what_looks_after_a_database_can_be_interrupted() {
    for engine in ENGINES {
        let directory = scratch(&format!("ending_others_{engine}"));
        let path = directory.path("data");
        filled(&path, engine);
        for command in ["check", "compact"] {
            for delay in delays() {
                is_done(&[command, &path], delay, "");
            }
        }
        assert!(cozo(&["check", &path]).succeeded().contains("r: 150,000 rows"));
    }
}
