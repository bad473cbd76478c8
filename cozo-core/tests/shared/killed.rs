//! Processes that share a log are killed and paused at random moments. What they were told to be committed is there afterwards,
//! every transfer is there as a whole, and each saw the balances that the transfers before it left.
//!
//! The processes are this test program again, started for its test `child`. `COZO_SHARED_SECONDS` says how long they run, and
//! `COZO_SHARED_LOG` is the address of another log than a folder.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cozo::DbInstance;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Cluster, code, ints, rows};

const PROCESSES: usize = 3;
const ACCOUNTS: i64 = 12;

const FOLDER: &str = "COZO_SHARED_FOLDER";
const PROCESS: &str = "COZO_SHARED_PROCESS";

/// How long a process lives before it is killed, at least and at most.
const LIVES: [Duration; 2] = [Duration::from_millis(300), Duration::from_millis(1500)];

/// Each process has an engine of its own.
fn open(folder: &Path, process: usize) -> DbInstance {
    let log = std::env::var("COZO_SHARED_LOG").unwrap_or_else(|_| folder.join("log").display().to_string());
    let (engine, path) = if process == 0 { ("mem", String::new()) } else { ("sqlite", format!("replica {process}")) };
    let options = format!(r#"{{"shared": {log:?}, "shared_reads": "latest", "shared_timeout": 30}}"#);
    DbInstance::new(engine, folder.join(path), &options).unwrap()
}

/// Transfers money until it is killed, and says what is committed.
///
/// A transfer moves a random amount, and notes the balances that it has read. So a transfer that has not seen another one before it
/// is known by its note.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let process: usize = std::env::var(PROCESS).unwrap().parse().unwrap();
    let mut db = open(Path::new(&folder), process);
    let mut random: StdRng = rand::make_rng();
    loop {
        let (from, distance) = (random.random_range(0..ACCOUNTS), random.random_range(1..ACCOUNTS));
        let (to, amount) = ((from + distance) % ACCOUNTS, random.random_range(1..10));
        let number: i64 = random.random_range(0..i64::MAX);
        let transfer = format!(
            "{{ ?[id, money, version] := *account{{id, money: m, version: v}}, id in [{from}, {to}], version = v + 1,
                    money = m + if(id == {from}, -{amount}, {amount})
                :put account {{id => money, version}} }}
             {{ ?[id, version, money, number] := *account{{id, money, version}}, id in [{from}, {to}], number = {number}
                :insert history {{id, version => money, number}} }}"
        );
        match db.run_default(&transfer) {
            Ok(_) => std::io::stdout().write_all(format!("\n{number}\n").as_bytes()).unwrap(),
            // It was paused while the log was truncated.
            Err(error) if code(&error) == "replica::left_behind" => {
                drop(std::mem::take(&mut db));
                db = open(Path::new(&folder), process);
            }
            Err(error) => assert_eq!(code(&error), "transact::conflict", "{error:?}"),
        }
    }
}

/// A process, and the thread that reads what it was told.
struct Process {
    child: Child,
    reader: std::thread::JoinHandle<BTreeSet<i64>>,
}

fn begin(folder: &Path, process: usize) -> Process {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::child", "--nocapture"])
        .env(FOLDER, folder)
        .env(PROCESS, process.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let reader =
        std::thread::spawn(move || lines.map_while(Result::ok).filter_map(|line| line.parse::<i64>().ok()).collect());
    Process { child, reader }
}

/// Sends a signal to a process.
fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn killed_processes_lose_nothing() {
    let seconds = std::env::var("COZO_SHARED_SECONDS").map_or(8, |seconds| seconds.parse().unwrap());
    let cluster = Cluster::new();
    let first = open(cluster.folder.path(), 9);
    rows(
        &first,
        &format!(
            "?[id, money, version] := id in int_range({ACCOUNTS}), money = 100, version = 0 :create account {{id => money, version}}"
        ),
    );
    rows(&first, ":create history {id, version => money, number}");
    let (mut random, end) = (StdRng::seed_from_u64(1), Instant::now() + Duration::from_secs(seconds));
    let mut processes: Vec<Process> = (0..PROCESSES).map(|process| begin(cluster.folder.path(), process)).collect();
    let (mut told, mut kills, mut checkpoints) = (BTreeSet::new(), 0, 0);
    while Instant::now() < end {
        std::thread::sleep(random.random_range(LIVES[0]..LIVES[1]) / PROCESSES as u32);
        let process = random.random_range(0..PROCESSES);
        if random.random_bool(0.3) {
            signal(&processes[process].child, "-STOP");
            std::thread::sleep(Duration::from_millis(200));
            signal(&processes[process].child, "-CONT");
            continue;
        }
        told.extend(end_of(processes.remove(process)));
        processes.insert(process, begin(cluster.folder.path(), process));
        kills += 1;
        if kills % 3 == 0 {
            first.catch_up().unwrap();
            first.truncate_log(first.checkpoint().unwrap()).unwrap();
            checkpoints += 1;
        }
    }
    processes.into_iter().for_each(|process| told.extend(end_of(process)));
    println!("{} transfers were told, {kills} kills, {checkpoints} checkpoints", told.len());
    assert!(told.len() > 20 && kills > 3, "{} transfers and {kills} kills", told.len());
    check(&first, &told);
    for process in 0..PROCESSES {
        let replica = open(cluster.folder.path(), process);
        for query in ["?[id, m, v] := *account[id, m, v]", "?[id, v, m, n] := *history[id, v, m, n]"] {
            assert_eq!(rows(&replica, query), rows(&first, query), "replica {process}");
        }
    }
}

fn end_of(mut process: Process) -> BTreeSet<i64> {
    process.child.kill().unwrap();
    process.child.wait().unwrap();
    process.reader.join().unwrap()
}

/// No money is made or lost, no transfer is there in part, none is missing, and each followed those before it.
fn check(db: &DbInstance, told: &BTreeSet<i64>) {
    assert_eq!(ints(db, "?[int_sum(money)] := *account{money}"), [ACCOUNTS * 100]);
    let kept: BTreeSet<i64> = ints(db, "?[number] := *history{number}").into_iter().collect();
    assert!(told.is_subset(&kept), "lost: {:?}", told.difference(&kept).collect::<Vec<_>>());
    let halves = "n[number, count(id)] := *history{id, number}  ?[number] := n[number, c], c != 2";
    assert_eq!(ints(db, halves), [] as [i64; 0], "transfers with one side");
    // The versions of each account are 1, 2, 3, ..: two transfers that had seen the same one would have the same number.
    let gaps = "v[id, count(version), max(version)] := *history{id, version}  ?[id] := v[id, c, m], c != m";
    assert_eq!(ints(db, gaps), [] as [i64; 0], "accounts with a lost update");
    // What a transfer takes from one account, it gives to the other.
    let moved = "before[id, v, m] := *history{id, version: w, money: m}, v = w + 1
        before[id, v, m] := *account{id}, v = 1, m = 100
        change[number, int_sum(d)] := *history{id, version, money, number}, before[id, version, m], d = money - m
        ?[number] := change[number, d], d != 0";
    assert_eq!(ints(db, moved), [] as [i64; 0], "transfers of which both sides do not agree");
}
