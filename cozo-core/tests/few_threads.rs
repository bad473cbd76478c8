//! Systems that have no threads left: there is an error, or fewer threads do the work; the process never ends.
#![cfg(target_os = "linux")]

use std::os::unix::process::CommandExt;
use std::process::Command;

use cozo::{DbInstance, NamedRows};

/// In the environment of a process that may have few threads.
const LIMITED: &str = "COZO_TEST_LIMITED_THREADS";

/// A user that no other process belongs to, so that only threads of the test count.
const NOBODY_ELSE: u32 = 54_321;

/// What a process with few threads does: enough rows for many threads, and all that has a thread of its own.
fn work(folder: &std::path::Path) -> Vec<(&'static str, String)> {
    let mut said = vec![];
    for engine in ["mem", "sqlite"] {
        let db = DbInstance::new(engine, folder.join("db"), "").expect("it opens");
        said.extend(work_on(&db, folder).into_iter().map(|(what, outcome)| (what, described(outcome))));
        drop(db);
        let _ = std::fs::remove_file(folder.join("backup"));
    }
    if cfg!(feature = "storage-rocksdb") {
        let opened = DbInstance::new("rocksdb", folder.join("rocks"), "").map(|_| NamedRows::default());
        said.push(("rocksdb", described(opened)));
    }
    said
}

fn work_on(db: &DbInstance, folder: &std::path::Path) -> Vec<(&'static str, cozo::Result<NamedRows>)> {
    let csv =
        format!("?[a] <~ CsvReader(url: 'file://{}/rows.csv', types: ['Int'], has_headers: false)", folder.display());
    let held = db.multi_transaction(true);
    vec![
        (
            "make",
            db.run_default("?[a, b] := a in int_range(400000), b = (a * 7919) % 400009 :create e {a: Int, b: Int}"),
        ),
        ("scan", db.run_default("n[c, count(a)] := *e[a, b], c = b % 7 ?[count(x)] := n[x, _]")),
        ("sort", db.run_default("?[b, a] := *e[a, b] :order b, -a :limit 400000")),
        ("rank", db.run_default("r[a, s] <~ PageRank(*e[]) ?[count(a)] := r[a, _]")),
        ("path", db.run_default("r[a, g] <~ ConnectedComponents(*e[]) ?[count(a)] := r[a, _]")),
        ("read", db.run_default(&csv)),
        ("held", held.run_script("?[x] := x = 1", Default::default())),
        ("backup", db.backup_db(folder.join("backup")).map(|()| NamedRows::default())),
    ]
}

fn described(outcome: cozo::Result<NamedRows>) -> String {
    match outcome {
        Ok(_) => "fine".to_string(),
        Err(report) => {
            let code = report.code().map(|code| code.to_string());
            format!("{} {report}", code.unwrap_or_else(|| "no code".to_string()))
        }
    }
}

#[test]
fn few_threads_are_enough_or_an_error() {
    if std::env::var(LIMITED).is_ok() {
        let folder = std::env::current_dir().expect("there is a folder");
        work(&folder).into_iter().for_each(|(what, said)| println!("said: {what} {said}"));
        return;
    }
    for threads in [0, 1, 2, 5, 12] {
        let lines = limited(threads);
        let said = |what: &str| lines.iter().filter(|line| line.starts_with(what)).cloned().collect::<Vec<_>>();
        for what in ["make", "scan", "sort", "rank", "path", "backup"] {
            assert_eq!(said(what), [format!("{what} fine"), format!("{what} fine")], "{threads} threads");
        }
        let expected = [("read", "no thread"), ("held", "transact::no_thread"), ("rocksdb", "storage::no_threads")];
        for (what, otherwise) in expected {
            let fits = |line: &String| line.ends_with(" fine") || line.contains(otherwise);
            assert!(said(what).iter().all(fits), "{threads} threads: {:?}", said(what));
        }
        if threads == 0 {
            assert!(said("held").iter().all(|line| line.contains("transact::no_thread")), "{lines:?}");
        }
    }
}

/// What the work says in a process that may have so many more threads.
fn limited(threads: u32) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("rows.csv"), "1\n2\n3\n").expect("it is written");
    // A user who is not root may not reach the folder of the test itself.
    let program = folder.path().join("test");
    std::fs::copy(std::env::current_exe().expect("a test has a file"), &program).expect("it is copied");
    let is_root = std::fs::metadata("/proc/self").map(|found| std::os::unix::fs::MetadataExt::uid(&found) == 0);
    let mut command = Command::new("bash");
    let limit = format!(
        "ulimit -u {} && exec ./test --exact few_threads_are_enough_or_an_error --nocapture --test-threads 1",
        threads + 1
    );
    command.args(["-c", &limit]).current_dir(folder.path()).env(LIMITED, "yes").env("RAYON_NUM_THREADS", "4");
    if is_root.unwrap_or(false) {
        std::os::unix::fs::chown(folder.path(), Some(NOBODY_ELSE), None).expect("root may do that");
        command.uid(NOBODY_ELSE);
    }
    let output = command.output().expect("there is a shell");
    let (said, complaints) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{threads} threads: {}\n{said}\n{complaints}", output.status);
    assert!(!complaints.contains("panicked"), "{threads} threads: {complaints}");
    said.lines().filter_map(|line| Some(line.split_once("said: ")?.1.to_string())).collect()
}
