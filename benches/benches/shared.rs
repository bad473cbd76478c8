//! Databases that share a log: commits and rows a second by processes and rows of a commit, single rows by many threads beside the
//! plain transactions of the log's store with the same bytes, reads beside a database without a log, and how fast a replica catches up.
//!
//! `COZO_BENCH_SHARED` is the address of the log, by default a folder. Processes are instances in threads of this one: what
//! they do is the same. `COZO_BENCH_SECONDS` says how long each figure is measured.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cozo::DbInstance;
use cozo_benches::{count, run};
use cozo_shared_log::medium::Created;
use cozo_shared_log::open_medium;

const ROWS: i64 = 1_000_000;
const ROWS_OF_COMMIT: [i64; 3] = [1, 100, 10_000];
const PROCESSES: [usize; 3] = [1, 2, 4];
const READS: i64 = 200_000;

/// So many threads of a process commit a row each, and share entries of the log.
const THREADS: usize = 64;

fn open(address: &str) -> DbInstance {
    let options = format!(r#"{{"shared": {address:?}, "shared_timeout": 60}}"#);
    DbInstance::new("mem", "", &options).unwrap_or_else(|error| panic!("{error:?}"))
}

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let folder = tempfile::tempdir().expect("there is a folder");
    let base = std::env::var("COZO_BENCH_SHARED").unwrap_or_else(|_| folder.path().display().to_string());
    let seconds = std::env::var("COZO_BENCH_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(3);
    let (mut logs, name) = (0, format!("{:x}", rand::random::<u32>()));
    let mut new_log = || {
        logs += 1;
        format!("{base}/{name}-{logs}")
    };
    println!("log: {base}");
    println!("{:>10} {:>8} {:>12} {:>14} {:>12}", "processes", "rows", "commits/s", "rows/s", "ms a commit");
    for rows in ROWS_OF_COMMIT {
        for processes in PROCESSES {
            commits(&new_log(), processes, rows, Duration::from_secs(seconds));
        }
    }
    println!("rows a second, each a transaction of its own, by {THREADS} threads of a process");
    println!("{:>10} {:>14} {:>14} {:>8}", "processes", "database", "store alone", "ratio");
    for processes in PROCESSES {
        let database = single_rows(&new_log(), processes, Duration::from_secs(seconds));
        let alone = of_store(&mut new_log, processes, Duration::from_secs(seconds));
        println!("{processes:>10} {database:>14.0} {alone:>14.0} {:>8.1}", database / alone);
    }
    reads(&new_log());
    catch_up(&new_log());
}

/// Each process commits rows of its own as fast as it can.
fn commits(address: &str, processes: usize, rows: i64, time: Duration) {
    let dbs: Vec<DbInstance> = (0..processes).map(|_| open(address)).collect();
    run(&dbs[0], ":create r {process: Int, n: Int => v: Int}", &[]);
    dbs.iter().for_each(|db| {
        db.catch_up().expect("the log is there");
    });
    let (done, start) = (AtomicU64::new(0), Instant::now());
    std::thread::scope(|scope| {
        for (process, db) in dbs.iter().enumerate() {
            let done = &done;
            scope.spawn(move || {
                let script = "?[process, n, v] := i in int_range($rows), n = $start + i, process = $process, v = i
                    :put r {process, n => v}";
                let mut commit = 0;
                while start.elapsed() < time {
                    run(db, script, &[("rows", rows), ("start", commit * rows), ("process", process as i64)]);
                    commit += 1;
                }
                done.fetch_add(commit as u64, Ordering::Relaxed);
            });
        }
    });
    let (took, done) = (start.elapsed().as_secs_f64(), done.into_inner());
    dbs.iter().for_each(|db| {
        db.catch_up().expect("the log is there");
        assert_eq!(count(db, "?[count(n)] := *r{n}"), done as i64 * rows, "every replica has every row");
    });
    let (a_second, latency) = (done as f64 / took, took * 1000.0 * processes as f64 / done as f64);
    println!("{processes:>10} {rows:>8} {a_second:>12.0} {:>14.0} {latency:>12.2}", a_second * rows as f64);
}

/// The rows a second that threads of processes put, each in a transaction of its own.
fn single_rows(address: &str, processes: usize, time: Duration) -> f64 {
    let dbs: Vec<DbInstance> = (0..processes).map(|_| open(address)).collect();
    run(&dbs[0], ":create r {thread: Int, n: Int => v: Int}", &[]);
    dbs.iter().for_each(|db| {
        db.catch_up().expect("the log is there");
    });
    let put = |thread: usize, n: i64| {
        let row = [("thread", thread as i64), ("n", n)];
        run(&dbs[thread % processes], "?[thread, n, v] <- [[$thread, $n, $n]] :put r {thread, n => v}", &row);
    };
    let (rows, a_second) = by_threads(processes * THREADS, time, put);
    dbs[0].catch_up().expect("the log is there");
    assert_eq!(count(&dbs[0], "?[count(n)] := *r{n}"), rows as i64);
    a_second
}

/// The transactions a second that the store of the log commits for as many clients, each with a sequence of its own and the bytes of
/// a row.
fn of_store(new_log: &mut impl FnMut() -> String, processes: usize, time: Duration) -> f64 {
    const ROW_BYTES: usize = 24;
    let open = |address: String| open_medium(&address).unwrap_or_else(|error| panic!("{error:?}"));
    let media: Vec<_> = (0..processes * THREADS).map(|_| open(new_log())).collect();
    let create = |thread: usize, n: i64| {
        let created =
            media[thread].create(n as u64 + 1, &[thread as u8; ROW_BYTES], Instant::now() + Duration::from_secs(60));
        assert_eq!(created.expect("the store answers"), Created::New);
    };
    by_threads(media.len(), time, create).1
}

/// Calls a function with ascending numbers on each of some threads. How often in all, and how often a second.
fn by_threads(threads: usize, time: Duration, work: impl Fn(usize, i64) + Sync) -> (u64, f64) {
    let (done, start) = (AtomicU64::new(0), Instant::now());
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (done, work) = (&done, &work);
            scope.spawn(move || {
                let mut number = 0;
                while start.elapsed() < time {
                    work(thread, number);
                    number += 1;
                }
                done.fetch_add(number as u64, Ordering::Relaxed);
            });
        }
    });
    let done = done.into_inner();
    (done, done as f64 / start.elapsed().as_secs_f64())
}

/// Reads by key, of a replica and of a database without a log, in turns.
fn reads(address: &str) {
    let dbs = [open(address), DbInstance::default()];
    dbs.iter()
        .for_each(|db| drop(run(db, "?[k, v] := k in int_range(100000), v = k * 2 :create r {k: Int => v: Int}", &[])));
    let mut took = [Duration::ZERO; 2];
    for turn in 0..READS / 1000 {
        for (db, took) in dbs.iter().zip(&mut took) {
            let start = Instant::now();
            for n in 0..1000 {
                let key = (turn * 1000 + n) * 7919 % 100_000;
                let rows = run(db, "?[v] := *r{k: $k, v}", &[("k", key)]);
                assert_eq!(rows.rows[0][0].get_int(), Some(key * 2));
            }
            *took += start.elapsed();
        }
    }
    let each = took.map(|took| took.as_secs_f64() * 1e6 / READS as f64);
    println!("a read by key: {:.3} µs with a log, {:.3} µs without: ratio {:.3}", each[0], each[1], each[0] / each[1]);
}

/// A new process applies what others have committed.
fn catch_up(address: &str) {
    let db = open(address);
    run(&db, ":create r {k: Int => v: Int}", &[]);
    for start in (0..ROWS).step_by(10_000) {
        let script = "?[k, v] := k in int_range($start, $start + 10000), v = k :put r {k => v}";
        run(&db, script, &[("start", start)]);
    }
    let start = Instant::now();
    let other = open(address);
    let took = start.elapsed().as_secs_f64();
    assert_eq!(count(&other, "?[count(k)] := *r{k}"), ROWS);
    println!("catching up: {ROWS} rows in {took:.2} s, {:.0} rows/s", ROWS as f64 / took);
}
