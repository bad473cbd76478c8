//! A process that writes is killed at random moments: every commit that it was told of is there afterwards, and no half of one.
//!
//! The process is this test program again, started for its test `child`, which does nothing otherwise. `COZO_CRASHES` says
//! how often each engine is killed.

#![allow(clippy::unwrap_used)]

#[path = "common/engines.rs"]
mod engines;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use cozo::{DataValue, DbInstance, ScriptMutability};
use engines::{Setting, persistent};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const FOLDER: &str = "COZO_CRASH_FOLDER";
const SETTING: &str = "COZO_CRASH_SETTING";

/// How many threads write at once, each its own numbers in ascending order.
const WRITERS: i64 = 2;

/// How many rows each commit puts into each of two relations.
const ROWS: i64 = 3;

/// What each commit runs: two relations, one of them with an index.
const COMMIT: &str = "
{?[w, n, i] := w = $w, n = $n, i in int_range(3) :put one {w, n, i}}
{?[w, n, i, v] := w = $w, n = $n, i in int_range(3), v = concat('text ', to_string(n)) :put two {w, n, i => v}}";

fn last_number(db: &DbInstance, writer: i64) -> i64 {
    let script = format!("?[max(n)] := *one[{writer}, n, i]");
    db.run_default(&script).unwrap().rows.first().and_then(|row| row[0].get_int()).unwrap_or(-1)
}

/// Writes until it is killed, and says what is committed.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let number: usize = std::env::var(SETTING).unwrap().parse().unwrap();
    let db = persistent().nth(number).unwrap().open(Path::new(&folder)).unwrap();
    if db.run_default("::columns two").is_err() {
        // In one transaction, so that there is all of it or nothing.
        db.run_default("{:create one {w: Int, n: Int, i: Int}} {:create two {w: Int, n: Int, i: Int => v: String}}")
            .unwrap();
    }
    if db.run_default("::indices two").unwrap().rows.is_empty() {
        db.run_default("::index create two:text {v}").unwrap();
    }
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let db = &db;
            scope.spawn(move || {
                for n in last_number(db, writer) + 1.. {
                    let parameters = [("w".to_string(), writer.into()), ("n".to_string(), n.into())];
                    db.run_script(COMMIT, BTreeMap::from(parameters), ScriptMutability::Mutable).unwrap();
                    // One write for the whole line, so that lines of two threads do not mix.
                    std::io::stdout().write_all(format!("\n{writer} {n}\n").as_bytes()).unwrap();
                }
            });
        }
    });
}

/// Lets a child write for a while, kills it, and gives the last number that each writer was told to be committed.
fn write_and_kill(setting: usize, folder: &Path, life: Duration) -> BTreeMap<i64, i64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(FOLDER, folder)
        .env(SETTING, setting.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let reader = std::thread::spawn(move || {
        let mut acknowledged = BTreeMap::new();
        for line in lines.map_while(Result::ok) {
            let mut numbers = line.split(' ').map(str::parse::<i64>);
            if let (Some(Ok(writer)), Some(Ok(n)), None) = (numbers.next(), numbers.next(), numbers.next()) {
                acknowledged.insert(writer, n);
            }
        }
        acknowledged
    });
    std::thread::sleep(life);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

/// Everything acknowledged is there, each commit as a whole, none left out.
fn verify(db: &DbInstance, acknowledged: &BTreeMap<i64, i64>, context: &str) {
    if db.run_default("::columns two").is_err() {
        assert!(acknowledged.is_empty() && db.run_default("::columns one").is_err(), "{context}");
        return;
    }
    for writer in 0..WRITERS {
        let last = last_number(db, writer);
        let told = acknowledged.get(&writer).copied().unwrap_or(-1);
        assert!(last >= told, "{context}: commit {told} of writer {writer} is gone, {last} is the last");
        for relation in ["one[w, n, i]", "two[w, n, i, v]"] {
            let count = format!("?[count(n)] := *{relation}, w = {writer}");
            let rows = db.run_default(&count).unwrap().rows[0][0].clone();
            assert_eq!(
                rows,
                DataValue::from((last + 1) * ROWS),
                "{context}: half a commit, or one left out, in {relation}"
            );
        }
    }
    if !db.run_default("::indices two").unwrap().rows.is_empty() {
        let all = "one_way[w, n, i, v] := *two[w, n, i, v]  other[w, n, i, v] := *two:text[v, w, n, i]
            ?[w, n, i, v] := one_way[w, n, i, v], not other[w, n, i, v]
            ?[w, n, i, v] := other[w, n, i, v], not one_way[w, n, i, v]";
        assert!(db.run_default(all).unwrap().rows.is_empty(), "{context}: the index differs from its relation");
    }
}

fn crash(number: usize, setting: &Setting, times: u32) {
    let mut random = StdRng::seed_from_u64(number as u64);
    let mut folder = tempfile::tempdir().unwrap();
    for round in 0..times {
        if round % 20 == 0 {
            folder = tempfile::tempdir().unwrap();
        }
        // Most are killed at work, some while they open the database.
        let life = Duration::from_millis(random.random_range(5..120));
        let acknowledged = write_and_kill(number, folder.path(), life);
        let db = setting.open(folder.path()).unwrap_or_else(|error| panic!("{setting:?}, round {round}: {error:?}"));
        verify(&db, &acknowledged, &format!("{setting:?}, round {round}"));
    }
    assert!(last_number(&setting.open(folder.path()).unwrap(), 0) > 0, "{setting:?}: the children never wrote");
}

#[test]
fn commits_survive_a_kill() {
    let times = std::env::var("COZO_CRASHES").ok().and_then(|times| times.parse().ok()).unwrap_or(20);
    for (number, setting) in persistent().enumerate() {
        crash(number, setting, times);
    }
}
