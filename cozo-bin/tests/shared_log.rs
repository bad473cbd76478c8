//! `--shared`, `cozo log`, `cozo checkpoint` and `cozo restore --at`.

mod support;

use support::{Scratch, cozo, scratch};

/// Writes a row in a process that keeps no replica.
fn put(log: &str, n: usize) {
    let script = match n {
        0 => "?[n] <- [[0]] :create r {n}".to_string(),
        _ => format!("?[n] <- [[{n}]] :put r {{n}}"),
    };
    cozo(&["run", "--shared", log, "-e", &script]).succeeded();
}

fn count(arguments: &[&str]) -> String {
    cozo(&[&["run", "--format", "csv", "-e", "?[count(n)] := *r{n}"], arguments].concat()).succeeded()
}

/// The numbers of the entries that are kept.
fn entries(log: &str) -> Vec<u64> {
    let shown = cozo(&["log", log]).succeeded();
    shown
        .lines()
        .map(|line| line.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number"))
        .collect()
}

fn log_of(directory: &Scratch, rows: usize) -> String {
    let log = directory.path("log");
    (0..rows).for_each(|n| put(&log, n));
    log
}

#[test]
fn old_entries_are_removed_up_to_a_checkpoint_that_is_old_enough() {
    let directory = scratch("checkpoints");
    let log = log_of(&directory, 5);
    assert_eq!(entries(&log), [1, 2, 3, 4, 5, 6]);
    let checkpoint = |arguments: &[&str]| cozo(&[&["checkpoint", "--shared", &log], arguments].concat());
    let kept = checkpoint(&["--truncate"]);
    assert!(
        kept.stderr.contains("nothing was removed: no checkpoint is 1000 or more entries older"),
        "{}",
        kept.stderr
    );
    assert_eq!(entries(&log).len(), 6);
    (5..8).for_each(|n| put(&log, n));
    let removed = checkpoint(&["--truncate", "--keep", "3"]);
    assert!(removed.stderr.contains("the entries up to 6 were removed"), "{}", removed.stderr);
    assert_eq!(entries(&log), [7, 8, 9]);
    checkpoint(&["--keep", "3"]).refused();
    assert_eq!(count(&["--shared", &log]), "count(n)\n8\n");
}

#[test]
fn entries_are_shown_and_restored() {
    let directory = scratch("shared_log");
    let log = log_of(&directory, 4);
    let numbers = |arguments: &[&str]| {
        let shown = cozo(&[&["log", &log], arguments].concat()).succeeded();
        shown.lines().map(|line| line.split_whitespace().next().unwrap_or_default().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&["--from", "3", "--limit", "2"]), ["3", "4"]);
    assert!(numbers(&["--limit", "0"]).is_empty());
    assert!(numbers(&["--quiet"]).is_empty());
    let restored = directory.path("at3.db");
    cozo(&["restore", "--shared", &log, "--at", "3", "-p", &restored]).succeeded();
    assert_eq!(count(&["-p", &restored]), "count(n)\n2\n");
    // Without a file, the replica is in memory, and has all of the log.
    cozo(&["backup", "--shared", &log, &directory.path("all.backup")]).succeeded();
    cozo(&["restore", "-p", &directory.path("all.db"), &directory.path("all.backup")]).succeeded();
    assert_eq!(count(&["-p", &directory.path("all.db")]), "count(n)\n4\n");
    cozo(&["restore", "--shared", &log, "--at", "77", "-p", &directory.path("at77.db")]).failed("entries 1 to 5");
    cozo(&["log", &directory.path("nothing")]).failed("there is no log in that folder");
}
