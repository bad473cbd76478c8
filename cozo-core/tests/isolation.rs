//! Concurrent transactions, recorded and checked: what snapshot isolation forbids never happens, on any engine.

#![allow(clippy::unwrap_used)]

#[path = "common/engines.rs"]
mod engines;
#[path = "common/histories.rs"]
mod histories;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use cozo::{DataValue, DbInstance};
use engines::{SETTINGS, Setting};
use histories::{Record, check, create, decide, parameters, read_all, transact};
use rand::SeedableRng;
use rand::rngs::StdRng;

const THREADS: u64 = 4;

fn run(setting: &Setting, duration: Duration) {
    let folder = tempfile::tempdir().unwrap();
    let db = setting.open(folder.path()).unwrap();
    create(&db);
    let (next, start) = (AtomicI64::new(0), Instant::now());
    let work = |seed: u64| {
        let (mut random, mut records) = (StdRng::seed_from_u64(seed), vec![]);
        while start.elapsed() < duration {
            let number = || next.fetch_add(1, Ordering::Relaxed);
            records.push(transact(&db, number, &mut random, |_| ()).expect("it begins"));
        }
        records
    };
    let mut records: Vec<Record> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|seed| scope.spawn(move || work(seed))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let (committed, refused) =
        (records.iter().filter(|r| r.committed == Some(true) && !r.written.is_empty()).count(), records.len());
    assert!(committed > 10 && refused > committed, "{setting:?}: {committed} of {refused} wrote");
    records.push(read_all(&db));
    decide(&mut records);
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
        let options = setting.options_with(r#""spill_mb": 0"#);
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

/// A transaction that read the first numbers but for these, wrote these, and ensured these registers.
fn record(read: &[(i64, i64)], written: &[(i64, i64)], ensured: &[i64]) -> Record {
    let start: BTreeMap<i64, i64> = (0..histories::REGISTERS).map(|k| (k, -1 - k)).collect();
    Record {
        read: start.into_iter().chain(read.iter().copied()).collect(),
        written: written.iter().copied().collect(),
        ensured: ensured.iter().copied().collect(),
        committed: Some(true),
        ..Record::default()
    }
}

#[test]
#[should_panic(expected = "an update was lost")]
fn a_lost_update_would_be_found() {
    check(&[record(&[], &[(0, 1)], &[]), record(&[], &[(0, 2)], &[])]);
}

#[test]
#[should_panic(expected = "half of a transaction is visible")]
fn half_a_transaction_would_be_found() {
    check(&[record(&[], &[(0, 1), (1, 2)], &[]), record(&[(0, 1)], &[], &[])]);
}

#[test]
#[should_panic(expected = "1 of Record")]
fn a_change_of_what_was_ensured_would_be_found() {
    // One writes 1 and ensures register 1, the other writes that before.
    let seen = record(&[(1, 2)], &[], &[]);
    check(&[record(&[], &[(0, 1)], &[1]), record(&[], &[(1, 2)], &[]), seen]);
}
