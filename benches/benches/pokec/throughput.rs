//! How many queries a second several threads get through: reads, writes, updates, new friendships, and mixtures.
//!
//! The writes stay in the database, which grows while they are measured.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::scope;
use std::time::{Duration, Instant};

use cozo::{DataValue, DbInstance, ScriptMutability};
use cozo_benches::pokec::truth::{Answer, profile};
use cozo_benches::pokec::{Network, questions};
use cozo_benches::{count, run};
use criterion::{BenchmarkId, Throughput};
use rand::rngs::Xoshiro256PlusPlus as Random;
use rand::{RngExt, SeedableRng};

use super::Bench;
use super::report::watch;

const READ_EDGE: &str = "?[fr, to] := fr = $i, to = $j, *friends{fr, to}, *friends.rev{fr, to}";

/// A write that meets another one on the same rows may be refused, and is tried again so often.
const ATTEMPTS: usize = 100;

/// How often each kind of query is run, out of the sum: reads, writes, updates, new friendships.
const MIXTURES: [(&str, [u32; 4]); 8] = [
    ("read", [1, 0, 0, 0]),
    ("write", [0, 1, 0, 0]),
    ("update", [0, 0, 1, 0]),
    ("edge_write", [0, 0, 0, 1]),
    ("mixed_30_35_35", [30, 35, 35, 0]),
    ("mixed_50_25_25", [50, 25, 25, 0]),
    ("mixed_70_15_15", [70, 15, 15, 0]),
    ("mixed_90_5_5", [90, 5, 5, 0]),
];

/// Checks and measures all mixtures on all numbers of threads.
pub fn mixtures(bench: &mut Bench, db: &DbInstance) {
    if !MIXTURES.iter().any(|(name, _)| wanted(bench, name).next().is_some()) {
        return;
    }
    check_before(bench, db);
    for (name, shares) in MIXTURES {
        let threads: Vec<usize> = wanted(bench, name).collect();
        for threads in threads {
            measure(bench, db, name, shares, threads);
        }
    }
    check_after(db, &bench.network);
}

/// The numbers of threads for which a mixture is wanted.
fn wanted<'a>(bench: &'a Bench, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    bench
        .settings
        .threads
        .iter()
        .copied()
        .filter(move |threads| bench.settings.wants(&format!("throughput/{name}/{threads}")))
}

fn measure(bench: &mut Bench, db: &DbInstance, name: &str, shares: [u32; 4], threads: usize) {
    let watch = watch();
    let client = Client { db, network: &bench.network };
    let seeds = AtomicU64::new(1);
    let (queries, elapsed) = (Cell::new(0), Cell::new(Duration::ZERO));
    let mut group = bench.criterion.benchmark_group("throughput");
    group.throughput(Throughput::Elements(1));
    group.bench_function(BenchmarkId::new(name, threads), |bencher| {
        bencher.iter_custom(|iterations| {
            let duration = on_threads(threads, iterations, &seeds, |random| client.run_one(shares, random));
            queries.set(queries.get() + iterations);
            elapsed.set(elapsed.get() + duration);
            duration
        });
    });
    group.finish();
    bench.report.peak("throughput", &watch);
    // The time of one query is mostly that of waking the thread.
    if !bench.settings.once {
        bench.report.throughput(name, threads, queries.get() as f64 / elapsed.get().as_secs_f64());
    }
}

/// How long it takes threads to run something so many times in all.
fn on_threads(threads: usize, iterations: u64, seeds: &AtomicU64, run: impl Fn(&mut Random) + Sync) -> Duration {
    let begin = Barrier::new(threads + 1);
    let number = threads as u64;
    let start = scope(|scope| {
        for thread in 0..number {
            let (begin, run) = (&begin, &run);
            scope.spawn(move || {
                let mut random = Random::seed_from_u64(seeds.fetch_add(1, Ordering::Relaxed));
                begin.wait();
                let share = iterations / number + u64::from(thread < iterations % number);
                (0..share).for_each(|_| run(&mut random));
            });
        }
        begin.wait();
        Instant::now()
    });
    start.elapsed()
}

/// One who asks for what is drawn.
struct Client<'a> {
    db: &'a DbInstance,
    network: &'a Network,
}

impl Client<'_> {
    fn run_one(&self, shares: [u32; 4], random: &mut Random) {
        let mut drawn = random.random_range(0..shares.iter().sum());
        let kind = shares.iter().position(|share| {
            let found = drawn < *share;
            drawn = drawn.saturating_sub(*share);
            found
        });
        match kind {
            Some(0) => drop(run(self.db, questions::READ, &[("id", uid(self.network, random))])),
            Some(1) => self.write(questions::WRITE, &[("id", new_uid(self.network, random))]),
            Some(2) => {
                self.write(questions::UPDATE, &[("id", uid(self.network, random)), ("n", random.random_range(0..100))])
            }
            _ => {
                self.write(questions::WRITE_EDGE, &[("i", uid(self.network, random)), ("j", uid(self.network, random))])
            }
        }
    }

    fn write(&self, script: &str, parameters: &[(&str, i64)]) {
        let values = || -> BTreeMap<String, DataValue> {
            parameters.iter().map(|(name, value)| (name.to_string(), DataValue::from(*value))).collect()
        };
        let attempt = |_| self.db.run_script(script, values(), ScriptMutability::Mutable).err();
        let errors: Vec<_> = (0..ATTEMPTS).map_while(attempt).collect();
        if let (ATTEMPTS, Some(error)) = (errors.len(), errors.last()) {
            panic!("refused {ATTEMPTS} times: {error:?}\n{script}");
        }
    }
}

/// The number of one of the users, drawn. Where there are no gaps between numbers it follows from its place: to wait for the memory of 1.6
/// million users would take as long as some of the queries.
pub fn uid(network: &Network, random: &mut Random) -> i64 {
    let users = &network.users;
    let (first, place) = (i64::from(users[0].uid), random.random_range(0..users.len()));
    let has_no_gaps = last_uid(network) - first + 1 == users.len() as i64;
    if has_no_gaps { first + place as i64 } else { i64::from(users[place].uid) }
}

/// A number that no user had at first, drawn.
pub fn new_uid(network: &Network, random: &mut Random) -> i64 {
    let users = network.users.len() as i64;
    last_uid(network) + random.random_range(1..=users * 10)
}

fn last_uid(network: &Network) -> i64 {
    network.users.last().map_or(0, |user| i64::from(user.uid))
}

/// Panics unless each kind of query does what it should.
fn check_before(bench: &Bench, db: &DbInstance) {
    let (network, client) = (&bench.network, Client { db, network: &bench.network });
    let one = |row: Vec<DataValue>| Answer::All(vec![row]);
    for (n, place) in (0..).zip(&bench.checked) {
        let user = network.user(*place);
        let [completion, gender, age] = profile(user);
        let id = ("id", i64::from(user.uid));
        one(vec![completion, gender.clone(), age.clone()]).check(db, questions::READ, &[id]);
        client.write(questions::UPDATE, &[id, ("n", n)]);
        one(vec![DataValue::from(n), gender, age]).check(db, questions::READ, &[id]);
        let new = ("id", last_uid(network) + n + 1);
        client.write(questions::WRITE, &[new]);
        one(vec![DataValue::from(0), DataValue::Null, DataValue::Null]).check(db, questions::READ, &[new]);
        let edge = [("i", id.1), ("j", i64::from(network.users[0].uid))];
        client.write(questions::WRITE_EDGE, &edge);
        one(edge.map(|(_, uid)| DataValue::from(uid)).to_vec()).check(db, READ_EDGE, &edge);
    }
}

/// Panics if a user or a friendship was lost, or if a friendship is there one way only.
fn check_after(db: &DbInstance, network: &Network) {
    let users = run(db, "?[count(uid)] := *user{uid}, uid <= $last", &[("last", last_uid(network))]);
    assert_eq!(users.rows, [[DataValue::from(network.users.len() as i64)]], "users came or went");
    let [there, back] = ["friends", "friends.rev"].map(|name| count(db, &format!("?[count(fr)] := *{name}{{fr}}")));
    assert!(
        there == back && there >= network.targets().len() as i64,
        "{there} friendships, {back} the other way round"
    );
}
