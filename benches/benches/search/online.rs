//! Building an index of vectors while ten threads read single rows and two write.
//!
//! | phase | the relation has | readers and writers |
//! |---|---|---|
//! | before | no index | as in the other phases |
//! | beside a build | an index that is being built from its snapshot; commits go to the tail of the index | |
//! | indexed | the index, which each commit extends | |
//!
//! Afterwards each row that was written must be in the relation and in the index, and no row else. What fails or is lost ends
//! the bench with an error.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cozo::{DataValue, DbInstance};
use cozo_benches::figures::Figures;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::data::{DIM, Vectors, moved};
use crate::database::{keys, row, run, seconds, with_vectors};

const READERS: usize = 10;
const WRITERS: usize = 2;
/// Between two reads, and two commits, of a thread: the threads are to have work, and not to be the load.
const READ_PAUSE: Duration = Duration::from_millis(1);
const WRITE_PAUSE: Duration = Duration::from_millis(5);
/// How long the phases without a build take.
const PHASE: Duration = Duration::from_secs(2);
/// Rows that a commit puts.
const PUT_ROWS: usize = 10;

const PHASES: [&str; 3] = ["before", "beside a build", "indexed"];
/// The number of the phase in which the threads end.
const END: usize = PHASES.len();

/// What one thread did: microseconds of each action in each phase, and errors.
#[derive(Default)]
struct Record {
    micros: [Vec<f64>; PHASES.len()],
    errors: Vec<String>,
    /// Of a writer, whether each key that it wrote is there in the end.
    rows: BTreeMap<i64, bool>,
}

impl Record {
    /// Measures an action.
    fn take(&mut self, phase: usize, act: impl FnOnce() -> Result<(), String>) {
        let start = Instant::now();
        match act() {
            Ok(()) => self.micros[phase].push(start.elapsed().as_secs_f64() * 1e6),
            Err(error) => self.errors.push(error),
        }
    }
}

/// The figures of the part.
pub fn measure(vectors: &Vectors) -> Result<Figures, String> {
    let count = vectors.points.len();
    let title = format!("online: {count} vectors of {DIM} elements, {READERS} threads read, {WRITERS} write");
    let mut figures = Figures::new("search", title);
    let db = with_vectors(&vectors.points)?;
    let phase = AtomicUsize::new(0);
    let (took, readers, writers) = thread::scope(|scope| {
        let (db, phase) = (&db, &phase);
        let read = |i| scope.spawn(move || reads(db, phase, count, i));
        let write = |i| scope.spawn(move || writes(db, phase, &vectors.points, i));
        let readers: Vec<_> = (0..READERS).map(read).collect();
        let writers: Vec<_> = (0..WRITERS).map(write).collect();
        thread::sleep(PHASE);
        phase.store(1, Ordering::Relaxed);
        let took = seconds(db, &format!("::hnsw create p:i {{dim: {DIM}, fields: v, m: 16, ef_construction: 100}}"));
        phase.store(2, Ordering::Relaxed);
        thread::sleep(PHASE);
        phase.store(END, Ordering::Relaxed);
        (took, join(readers), join(writers))
    });
    let (readers, writers) = (readers?, writers?);
    figures.add("mem", "build vectors", "s", took?);
    let errors: Vec<&String> = readers.iter().chain(&writers).flat_map(|record| &record.errors).collect();
    if let Some(error) = errors.first() {
        return Err(format!("{} reads and writes fail: {error}", errors.len()));
    }
    add_times(&mut figures, "read", &readers);
    add_times(&mut figures, "write", &writers);
    add_found(&mut figures, &db, count, &writers)?;
    Ok(figures)
}

fn join(threads: Vec<thread::ScopedJoinHandle<'_, Record>>) -> Result<Vec<Record>, String> {
    threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked".to_string())).collect()
}

/// Reads rows that no writer changes, until the end.
fn reads(db: &DbInstance, phase: &AtomicUsize, count: usize, seed: usize) -> Record {
    let mut random = StdRng::seed_from_u64(seed as u64);
    let mut record = Record::default();
    loop {
        let now = phase.load(Ordering::Relaxed);
        if now == END {
            return record;
        }
        let k = random.random_range(0..count) as i64;
        record.take(now, || match run(db, "?[tag] := *p{k: $k, tag}", &[("k", k.into())])?.rows.len() {
            1 => Ok(()),
            n => Err(format!("{n} rows have the key {k}")),
        });
        thread::sleep(READ_PAUSE);
    }
}

/// Puts rows of new keys, of which it later replaces some and removes some, until the end.
fn writes(db: &DbInstance, phase: &AtomicUsize, points: &[Vec<f32>], number: usize) -> Record {
    let mut random = StdRng::seed_from_u64(number as u64);
    let mut record = Record::default();
    let first = points.len() * (number + 1);
    for step in 0.. {
        let now = phase.load(Ordering::Relaxed);
        if now == END {
            break;
        }
        // Every third commit replaces the rows of the last one, and every seventh removes half of them.
        let from = first + (step - usize::from(step % 3 == 2)) * PUT_ROWS;
        let keys = from..from + PUT_ROWS;
        let mut vector = || moved(&mut random, &points[step % points.len()], 0.2);
        let rows: Vec<DataValue> = keys.clone().map(|k| row(k, &vector())).collect();
        let rows = [("rows", DataValue::List(rows))];
        record.take(now, || run(db, "?[k, v, tag] <- $rows :put p {k => v, tag}", &rows).map(drop));
        record.rows.extend(keys.clone().map(|k| (k as i64, true)));
        if step % 7 == 6 {
            let removed = keys.step_by(2).map(|k| k as i64);
            let list = DataValue::List(removed.clone().map(|k| DataValue::List(vec![k.into()])).collect());
            record.take(now, || run(db, "?[k] <- $rows :rm p {k}", &[("rows", list)]).map(drop));
            record.rows.extend(removed.map(|k| (k, false)));
        }
        thread::sleep(WRITE_PAUSE);
    }
    record
}

/// The median and the 99th percentile of all threads together, in each phase.
fn add_times(figures: &mut Figures, action: &str, records: &[Record]) {
    for (number, phase) in PHASES.iter().enumerate() {
        let mut micros: Vec<f64> = records.iter().flat_map(|record| &record.micros[number]).copied().collect();
        micros.sort_by(f64::total_cmp);
        figures.add("mem", &format!("{action} {phase}, number"), "1", micros.len() as f64);
        for (name, share) in [("median", 0.5), ("p99", 0.99)] {
            if let Some(at) = micros.get((micros.len() as f64 * share) as usize) {
                figures.add("mem", &format!("{action} {phase}, {name}"), "us", *at);
            }
        }
    }
}

/// Compares the relation and the index with what was written. How many rows are the nearest of their own vectors is a figure.
fn add_found(figures: &mut Figures, db: &DbInstance, count: usize, writers: &[Record]) -> Result<(), String> {
    let written = writers.iter().flat_map(|writer| &writer.rows).filter(|(_, there)| **there).map(|(k, _)| *k);
    let wanted: BTreeSet<i64> = (0..count as i64).chain(written).collect();
    for (place, script) in [("relation", "?[k] := *p{k}"), ("index", "?[k] := *p:i{layer: 0, fr_k: k, to_k: k}")] {
        let there = keys(&run(db, script, &[])?);
        let (lost, surplus) = (wanted.difference(&there).count(), there.difference(&wanted).count());
        if lost + surplus > 0 {
            return Err(format!("of {} rows the {place} has lost {lost}, and it has {surplus} others", wanted.len()));
        }
    }
    let own = "?[count(k)] := *p{k, v}, ~p:i{k | query: v, k: 1, ef: 64}";
    let found = run(db, own, &[])?.rows[0][0].get_int().unwrap_or(0);
    figures.add("mem", "rows written", "1", (wanted.len() - count) as f64);
    figures.add("mem", "rows found by their vectors", "%", 100.0 * found as f64 / wanted.len() as f64);
    Ok(())
}
