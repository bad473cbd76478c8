//! Logs in folders, also by processes that are killed.
#![allow(clippy::unwrap_used)]

mod suite;

use cozo_shared_log::{Options, open, open_medium};
use std::{
    collections::HashSet,
    env,
    io::{BufRead, BufReader, Write, stdout},
    path::Path,
    process::{Command, Stdio},
    thread,
};

const FOLDER: &str = "SHARED_LOG_TEST_FOLDER";

#[test]
fn stands_the_suite() {
    let folder = tempfile::tempdir().unwrap();
    suite::all(&|name| open_medium(&format!("directory:{}", folder.path().join(name).display())).unwrap());
}

/// Not a test of its own: a process that appends until it is killed, and says what was acknowledged.
#[test]
fn appends_until_it_is_killed() {
    let Ok(folder) = env::var(FOLDER) else { return };
    let log = open(&folder, &Options::default()).unwrap();
    for index in 0.. {
        let entry = format!("{}.{index}", std::process::id());
        let number = suite::append_somewhere(&*log, entry.as_bytes());
        writeln!(stdout(), "done {number} {entry}").unwrap();
    }
}

/// Appends in another process, and kills it after so many acknowledgements. Returns what was acknowledged.
fn killed_after(folder: &Path, count: usize) -> Vec<(u64, String)> {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["appends_until_it_is_killed", "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut done = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        // The test runner writes its own lines before, the first without an end.
        let Some((_, said)) = line.split_once("done ") else { continue };
        let (number, entry) = said.split_once(' ').unwrap();
        done.push((number.parse().unwrap(), entry.to_string()));
        if done.len() == count {
            // This is SIGKILL. What the process said before is still in the pipe.
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    done
}

#[test]
fn killed_processes_leave_no_gap() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let done: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|n| {
                scope.spawn(move || {
                    (0..4).flat_map(|round| killed_after(path, 20 + 13 * n + 5 * round)).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let log = open(path.to_str().unwrap(), &Options::default()).unwrap();
    let all = suite::entries(&*log);
    let mut seen = HashSet::new();
    assert!(all.iter().all(|entry| seen.insert(&entry.bytes)), "an entry is there twice");
    for (number, entry) in &done {
        assert_eq!(all[*number as usize - 1].bytes, entry.as_bytes());
    }
    // Each kill leaves at most one entry that was appended and not acknowledged.
    assert!(done.len() >= 3 * 20 && all.len() <= done.len() + 12, "{} acknowledged, {} there", done.len(), all.len());
    assert_eq!(suite::append_somewhere(&*log, b"next"), all.len() as u64 + 1);
}
