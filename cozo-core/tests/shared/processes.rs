//! Processes that share a log, which are killed and paused at random moments.
//!
//! The processes are this test program again, started for a test named `child`. `COZO_SHARED_SECONDS` says how long they run.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cozo::DbInstance;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::Cluster;

/// How many there are.
pub const PROCESSES: usize = 3;

const FOLDER: &str = "COZO_SHARED_FOLDER";
const PROCESS: &str = "COZO_SHARED_PROCESS";
const LOG: &str = "COZO_SHARED_LOG";

/// How long a process lives before it is killed, at least and at most.
const LIVES: [Duration; 2] = [Duration::from_millis(300), Duration::from_millis(1500)];

/// Where a process works.
pub struct Place {
    folder: PathBuf,
    process: usize,
    log: String,
}

impl Place {
    /// The place of a process of this cluster.
    pub fn of(cluster: &Cluster, process: usize, log: &str) -> Place {
        Place { folder: cluster.folder.path().to_path_buf(), process, log: log.to_string() }
    }

    /// The place of this process, if it was started to be killed.
    pub fn mine() -> Option<Place> {
        let folder = std::env::var_os(FOLDER)?.into();
        let process = std::env::var(PROCESS).unwrap().parse().unwrap();
        Some(Place { folder, process, log: std::env::var(LOG).unwrap() })
    }

    /// Opens the database. Each process has an engine of its own.
    pub fn open(&self) -> DbInstance {
        let (engine, path) = match self.process {
            0 => ("mem", String::new()),
            process => ("sqlite", format!("replica {process}")),
        };
        let options = format!(r#"{{"shared": {:?}, "shared_reads": "latest", "shared_timeout": 30}}"#, self.log);
        DbInstance::new(engine, self.folder.join(path), &options).unwrap()
    }
}

/// Says something to the process that started this one, as a line.
pub fn say(line: impl std::fmt::Display) {
    std::io::stdout().write_all(format!("\n{line}\n").as_bytes()).unwrap();
}

/// A process, and the thread that reads what it says.
struct Process {
    child: Child,
    reader: std::thread::JoinHandle<Vec<String>>,
}

fn begin(place: &Place, test: &str) -> Process {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(FOLDER, &place.folder)
        .env(PROCESS, place.process.to_string())
        .env(LOG, &place.log)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let reader = std::thread::spawn(move || lines.map_while(Result::ok).collect());
    Process { child, reader }
}

fn end_of(mut process: Process) -> Vec<String> {
    assert!(process.child.try_wait().unwrap().is_none(), "a process ended by itself");
    process.child.kill().unwrap();
    process.child.wait().unwrap();
    process.reader.join().unwrap()
}

/// Sends a signal to a process.
fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Has processes run the test `child` over a log, and kills and pauses them meanwhile. `disturb` does what may happen to the log.
/// Returns what each of them said in its life.
pub fn run_and_kill(
    cluster: &Cluster,
    log: &str,
    first: &DbInstance,
    test: &str,
    disturb: Disturb<'_>,
) -> Vec<Vec<String>> {
    let seconds = std::env::var("COZO_SHARED_SECONDS").map_or(8, |seconds| seconds.parse().unwrap());
    let (mut random, end) = (StdRng::seed_from_u64(1), Instant::now() + Duration::from_secs(seconds));
    let start = |process: usize| begin(&Place::of(cluster, process, log), test);
    let mut processes: Vec<Process> = (0..PROCESSES).map(start).collect();
    let (mut said, mut checkpoints) = (vec![], 0);
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
        said.push(end_of(processes.remove(process)));
        processes.insert(process, start(process));
        if said.len() % 3 == 0 {
            first.catch_up().unwrap();
            first.truncate_log(first.checkpoint().unwrap()).unwrap();
            checkpoints += 1;
        }
    }
    println!("{} kills, {checkpoints} checkpoints", said.len());
    assert!(said.len() > 1, "{} kills", said.len());
    said.extend(processes.into_iter().map(end_of));
    said
}

/// What happens to a log meanwhile.
pub type Disturb<'d> = &'d mut dyn FnMut(&mut StdRng);

/// Runs something with a cluster, the address of its log in a folder, and nothing that disturbs it.
pub fn in_a_folder(run: impl FnOnce(&Cluster, &str, Disturb<'_>)) {
    let cluster = Cluster::new();
    run(&cluster, &cluster.path("log").display().to_string(), &mut |_| ());
}

/// The same over an object store of files.
#[cfg(feature = "shared-object-store")]
pub fn in_an_object_store(run: impl FnOnce(&Cluster, &str, Disturb<'_>)) {
    let cluster = Cluster::new();
    let log = cluster.path("objects");
    std::fs::create_dir(&log).unwrap();
    run(&cluster, &format!("file://{}", log.display()), &mut |_| ());
}

/// The same over etcd. A node at a time is killed, and comes back.
#[cfg(feature = "shared-etcd")]
pub fn in_etcd(run: impl FnOnce(&Cluster, &str, Disturb<'_>)) {
    let cluster = Cluster::new();
    let nodes = Nodes { folder: cluster.path("etcd"), port: rand::rng().random_range(2000..3000) * 10 };
    let address = nodes.run(&["up"]);
    run(&cluster, &address, &mut |random| nodes.kill_one(random));
}

/// Three nodes of etcd, started by the script that users have.
#[cfg(feature = "shared-etcd")]
struct Nodes {
    folder: PathBuf,
    port: u16,
}

#[cfg(feature = "shared-etcd")]
impl Nodes {
    /// Kills a node, and starts it again.
    fn kill_one(&self, random: &mut StdRng) {
        let node = random.random_range(0..3).to_string();
        self.run(&["kill", &node]);
        std::thread::sleep(Duration::from_millis(300));
        self.run(&["start", &node]);
    }

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
