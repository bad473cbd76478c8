//! Processes that share a log are killed and paused at random moments. What they were told to be committed is there afterwards,
//! every transfer is there as a whole, and each saw the balances that the transfers before it left.
//!
//! The processes are this test program again, started for its test `child`. `COZO_SHARED_SECONDS` says how long they run.

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
const LOG: &str = "COZO_SHARED_LOG";

/// How long a process lives before it is killed, at least and at most.
const LIVES: [Duration; 2] = [Duration::from_millis(300), Duration::from_millis(1500)];

/// Each process has an engine of its own.
fn open(folder: &Path, process: usize, log: &str) -> DbInstance {
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
    let log = std::env::var(LOG).unwrap();
    let mut db = open(Path::new(&folder), process, &log);
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
                db = open(Path::new(&folder), process, &log);
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

fn begin(folder: &Path, process: usize, log: &str) -> Process {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::child", "--nocapture"])
        .env(FOLDER, folder)
        .env(PROCESS, process.to_string())
        .env(LOG, log)
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

/// Lets processes transfer money through a log, and kills and pauses them meanwhile. `disturb` does what may happen to the log.
fn transfer_while_killed(cluster: &Cluster, log: &str, mut disturb: impl FnMut(&mut StdRng)) {
    let seconds = std::env::var("COZO_SHARED_SECONDS").map_or(8, |seconds| seconds.parse().unwrap());
    let folder = cluster.folder.path();
    let first = open(folder, 9, log);
    let accounts = format!("?[id, money, version] := id in int_range({ACCOUNTS}), money = 100, version = 0");
    rows(&first, &format!("{accounts} :create account {{id => money, version}}"));
    rows(&first, ":create history {id, version => money, number}");
    let (mut random, end) = (StdRng::seed_from_u64(1), Instant::now() + Duration::from_secs(seconds));
    let mut processes: Vec<Process> = (0..PROCESSES).map(|process| begin(folder, process, log)).collect();
    let (mut told, mut kills, mut checkpoints) = (BTreeSet::new(), 0, 0);
    while Instant::now() < end {
        std::thread::sleep(random.random_range(LIVES[0]..LIVES[1]) / PROCESSES as u32);
        let process = random.random_range(0..PROCESSES);
        if random.random_bool(0.3) {
            signal(&processes[process].child, "-STOP");
            disturb(&mut random);
            std::thread::sleep(Duration::from_millis(200));
            signal(&processes[process].child, "-CONT");
            continue;
        }
        told.extend(end_of(processes.remove(process)));
        processes.insert(process, begin(folder, process, log));
        kills += 1;
        if kills % 3 == 0 {
            first.catch_up().unwrap();
            first.truncate_log(first.checkpoint().unwrap()).unwrap();
            checkpoints += 1;
        }
    }
    processes.into_iter().for_each(|process| told.extend(end_of(process)));
    println!("{} transfers were told, {kills} kills, {checkpoints} checkpoints", told.len());
    assert!(told.len() > 3 && kills > 1, "{} transfers and {kills} kills", told.len());
    check(&first, &told);
    for process in 0..PROCESSES {
        let replica = open(folder, process, log);
        for query in ["?[id, m, v] := *account[id, m, v]", "?[id, v, m, n] := *history[id, v, m, n]"] {
            assert_eq!(rows(&replica, query), rows(&first, query), "replica {process}");
        }
    }
}

#[test]
fn killed_processes_lose_nothing() {
    let cluster = Cluster::new();
    transfer_while_killed(&cluster, &cluster.path("log").display().to_string(), |_| ());
}

/// Three nodes of etcd, started by the script that users have.
#[cfg(feature = "shared-etcd")]
struct Nodes {
    folder: std::path::PathBuf,
    port: u16,
}

#[cfg(feature = "shared-etcd")]
impl Nodes {
    fn run(&self, arguments: &[&str]) -> String {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/cluster.sh");
        let mut command = Command::new(script);
        command.arg("etcd").args(arguments).env("COZO_CLUSTER", &self.folder);
        let output = command.env("COZO_CLUSTER_PORT", self.port.to_string()).stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_string()
    }
}

#[cfg(feature = "shared-etcd")]
impl Drop for Nodes {
    fn drop(&mut self) {
        self.run(&["down"]);
    }
}

/// A node at a time is killed as well, and comes back.
#[cfg(feature = "shared-etcd")]
#[test]
fn killed_nodes_of_etcd_lose_nothing() {
    let cluster = Cluster::new();
    let port = rand::rng().random_range(2000..3000) * 10;
    let nodes = Nodes { folder: cluster.path("etcd"), port };
    let address = nodes.run(&["up"]);
    transfer_while_killed(&cluster, &address, |random| {
        let node = random.random_range(0..3).to_string();
        nodes.run(&["kill", &node]);
        std::thread::sleep(Duration::from_millis(300));
        nodes.run(&["start", &node]);
    });
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
