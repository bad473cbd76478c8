//! Concurrent transactions, recorded and checked: what snapshot isolation forbids never happens, on any engine.
//!
//! Registers hold numbers that are written only once, each by a transaction that read the register before. So the numbers
//! form a chain from writer to writer for each register, and a snapshot is a position in each chain.

#![allow(clippy::unwrap_used)]

#[path = "common/engines.rs"]
mod engines;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use cozo::{DataValue, DbInstance};
use engines::{SETTINGS, Setting};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const REGISTERS: i64 = 8;
const THREADS: u64 = 4;

/// What one transaction saw and did.
#[derive(Debug)]
struct Record {
    /// What it read of each register first.
    read: BTreeMap<i64, i64>,
    /// What it wrote last into registers.
    written: BTreeMap<i64, i64>,
    /// What it wrote before that.
    overwritten: Vec<i64>,
    committed: bool,
}

fn parameters(pairs: &[(&str, i64)]) -> BTreeMap<String, DataValue> {
    pairs.iter().map(|(name, value)| (name.to_string(), DataValue::from(*value))).collect()
}

/// One random transaction.
fn transact(db: &DbInstance, next: &AtomicI64, random: &mut StdRng) -> Record {
    let mut record = Record { read: BTreeMap::new(), written: BTreeMap::new(), overwritten: vec![], committed: false };
    let writes = random.random_bool(0.7);
    let txn = db.multi_transaction(writes);
    let read_all = |expected: Option<&Record>| -> BTreeMap<i64, i64> {
        let rows = txn.run_script("?[k, v] := *register[k, v]", BTreeMap::new()).expect("reading never fails").rows;
        let read: BTreeMap<i64, i64> =
            rows.iter().map(|row| (row[0].get_int().unwrap(), row[1].get_int().unwrap())).collect();
        if let Some(record) = expected {
            let mut own = record.read.clone();
            own.extend(&record.written);
            assert_eq!(read, own, "a transaction sees its snapshot and its own writes, however often it looks");
        }
        read
    };
    record.read = read_all(None);
    for _ in 0..random.random_range(1..4) {
        if !writes {
            read_all(Some(&record));
            continue;
        }
        let (k, v) = (random.random_range(0..REGISTERS), next.fetch_add(1, Ordering::Relaxed));
        let put = "?[k, v] <- [[$k, $v]] :put register {k => v}";
        txn.run_script(put, parameters(&[("k", k), ("v", v)])).expect("writing never fails before the commit");
        record.overwritten.extend(record.written.insert(k, v));
        if random.random_bool(0.5) {
            read_all(Some(&record));
        }
    }
    record.committed = match random.random_bool(0.9) {
        true => match txn.commit() {
            Ok(()) => true,
            Err(error) => {
                assert_eq!(
                    error.code().map(|code| code.to_string()).as_deref(),
                    Some("transact::conflict"),
                    "{error:?}"
                );
                false
            }
        },
        false => txn.abort().is_err(),
    };
    record
}

/// The position of each number in the chain of its register.
fn positions(records: &[Record]) -> BTreeMap<i64, usize> {
    let mut successors: BTreeMap<i64, i64> = BTreeMap::new();
    for record in records.iter().filter(|record| record.committed) {
        for (register, number) in &record.written {
            let other = successors.insert(record.read[register], *number);
            assert_eq!(
                other, None,
                "an update was lost: two committed transactions overwrote {}",
                record.read[register]
            );
        }
    }
    let mut positions = BTreeMap::new();
    for register in 0..REGISTERS {
        let chain = std::iter::successors(Some(-1 - register), |number| successors.get(number).copied());
        positions.extend(chain.enumerate().map(|(position, number)| (number, position)));
    }
    positions
}

fn check(records: &[Record]) {
    let positions = positions(records);
    let at = |number: &i64| {
        positions.get(number).copied().unwrap_or_else(|| panic!("{number} was read and never committed: a dirty read"))
    };
    let mut snapshots: Vec<Vec<usize>> = records.iter().map(|record| record.read.values().map(at).collect()).collect();
    for record in records {
        assert!(
            record.overwritten.iter().all(|number| !positions.contains_key(number)),
            "an intermediate write is visible"
        );
    }
    // Snapshots are moments: of any two, one is the earlier in every register. That excludes half-seen transactions too,
    // since the snapshots that a transaction's commit leads to have all of its writes.
    snapshots.sort();
    snapshots.dedup();
    for pair in snapshots.windows(2) {
        assert!(pair[0].iter().zip(&pair[1]).all(|(a, b)| a <= b), "snapshots of no order: {pair:?}");
    }
    // Whoever sees one write of a transaction sees all: each becomes visible at the same place in the row of snapshots.
    for writer in records.iter().filter(|record| record.committed && record.written.len() > 1) {
        let first_to_see = |(register, number): (&i64, &i64)| {
            let (register, position) = (*register as usize, at(number));
            snapshots.partition_point(|snapshot| snapshot[register] < position)
        };
        let places: BTreeSet<usize> = writer.written.iter().map(first_to_see).collect();
        assert_eq!(places.len(), 1, "half of a transaction is visible: {writer:?}");
    }
}

fn run(setting: &Setting, duration: Duration) {
    let folder = tempfile::tempdir().unwrap();
    let db = setting.open(folder.path()).unwrap();
    db.run_default(":create register {k: Int => v: Int}").unwrap();
    let all = format!("?[k, v] := k in int_range({REGISTERS}), v = -1 - k  :put register {{k => v}}");
    db.run_default(&all).unwrap();
    let (next, start) = (AtomicI64::new(0), Instant::now());
    let work = |seed: u64| {
        let (mut random, mut records) = (StdRng::seed_from_u64(seed), vec![]);
        while start.elapsed() < duration {
            records.push(transact(&db, &next, &mut random));
        }
        records
    };
    let records: Vec<Record> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|seed| scope.spawn(move || work(seed))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let (committed, refused) = (records.iter().filter(|r| r.committed && !r.written.is_empty()).count(), records.len());
    assert!(committed > 10 && refused > committed, "{setting:?}: {committed} of {refused} wrote");
    check(&records);
}

#[test]
fn nothing_that_snapshot_isolation_forbids_happens() {
    let seconds = std::env::var("COZO_SOAK_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(2.0);
    for setting in SETTINGS {
        run(setting, Duration::from_secs_f64(seconds));
    }
}

#[test]
fn write_skew_is_allowed_unless_what_was_read_is_ensured() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let db = setting.open(folder.path()).unwrap();
        db.run_default("?[k, v] <- [[1, 1], [2, 1]] :create on_call {k => v}").unwrap();
        for (ensure, second_commits) in [(false, true), (true, false)] {
            db.run_default("?[k, v] <- [[1, 1], [2, 1]] :put on_call {k => v}").unwrap();
            let doctors = [1, 2].map(|k| (k, db.multi_transaction(true)));
            for (k, txn) in &doctors {
                let all = txn.run_script("?[count(k)] := *on_call[k, 1]", BTreeMap::new()).unwrap();
                assert_eq!(all.rows[0][0], DataValue::from(2));
                if ensure {
                    let other = parameters(&[("k", 3 - k)]);
                    txn.run_script("?[k, v] <- [[$k, 1]] :ensure on_call {k => v}", other).unwrap();
                }
                let put = "?[k, v] <- [[$k, 0]] :put on_call {k => v}";
                txn.run_script(put, parameters(&[("k", *k)])).unwrap();
            }
            assert!(doctors[0].1.commit().is_ok());
            assert_eq!(doctors[1].1.commit().is_ok(), second_commits, "{setting:?}");
        }
    }
}

/// Puts of more rows than memory holds, beside others: what changes the same rows conflicts, in whichever order they commit.
#[test]
fn puts_that_exceed_the_memory_conflict_with_others_of_their_rows() {
    const BULK: &str = "?[k, v] := *big{k}, v = 1 :put big {k => v}";
    let one = |k: i64| format!("?[k, v] <- [[{k}, 2]] :put big {{k => v}}");
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let options = match setting.options {
            "" => r#"{"spill_mb": 0}"#.to_string(),
            options => options.replacen('{', r#"{"spill_mb": 0, "#, 1),
        };
        let db = DbInstance::new(setting.engine, folder.path().join("db"), &options).unwrap();
        db.run_default(
            "n[x] := x in int_range(300)  ?[k, v] := n[a], n[b], k = a * 300 + b, v = 0 :create big {k => v}",
        )
        .unwrap();
        db.run_default("?[k, v] <- [[1, 1]] :create other {k: Int => v: Int}").unwrap();
        let outcome = |first: &str, second: &str| {
            let (a, b) = (db.multi_transaction(true), db.multi_transaction(true));
            for (transaction, script) in [(&a, first), (&b, second)] {
                // What has read nothing never conflicts.
                transaction.run_script("?[v] := *big[0, v]", BTreeMap::new()).unwrap();
                transaction.run_script(script, BTreeMap::new()).unwrap();
            }
            a.commit().unwrap();
            b.commit().map_err(|error| error.code().unwrap().to_string())
        };
        let conflict = Err("transact::conflict".to_string());
        assert_eq!(outcome(&one(7), BULK), conflict, "{setting}: it reads its rows again");
        assert_eq!(outcome(BULK, &one(7)), conflict, "{setting}: it has changed the relation");
        assert_eq!(outcome(BULK, BULK), conflict, "{setting}");
        assert_eq!(outcome(&one(1_000_000), BULK), Ok(()), "{setting}: it has another row");
        let elsewhere = "?[k, v] <- [[1, 2]] :put other {k => v}";
        assert_eq!(outcome(BULK, elsewhere), Ok(()), "{setting}");
        assert_eq!(outcome(elsewhere, BULK), Ok(()), "{setting}");
        let sums = db.run_default("?[count(k), int_sum(v)] := *big{k, v}").unwrap().rows;
        assert_eq!(sums, [[90_001, 90_001].map(DataValue::from)], "{setting}");
    }
}
