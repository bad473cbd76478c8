//! Searches in concurrent transactions: what they find is of one moment, with the transaction's own writes, and they conflict as reads of
//! the rows do.
//!
//! A register is a row whose text and vector follow from a number. So a search gives the same numbers as a scan, or an index is at another
//! moment than its relation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use cozo::{DataValue, DbInstance, MultiTransaction};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::common::{PATIENCE, code, failure, rows, run_with};
use crate::engines::{SETTINGS, Setting};

const REGISTERS: i64 = 6;

/// Rows beside the registers, which make tails long. More keys than the bound of a tail of vectors.
const OTHERS: i64 = 4000;

const CREATE: [&str; 3] = [
    "::hnsw create r:near {dim: 2, fields: [v], m: 6, ef_construction: 12}",
    "::fts create r:words {extractor: t, tokenizer: Simple}",
    "::lsh create r:like {extractor: t, tokenizer: Simple, n_gram: 2, target_threshold: 0.9}",
];

/// The number of each register: by a scan, and by each index.
const READS: [&str; 4] = [
    "?[k, n] := *r{k, n}, k < 6",
    "?[k, n] := ~r:near{k, n | query: vec([0, 0]), k: 9, ef: 40, filter: k < 6}",
    "?[k, n] := ~r:words{k, n | query: 'register', k: 9}",
    "?[k, n] := *r{k, t}, k < 6, ~r:like{k, n | query: t, min_similarity: 1}",
];

/// Puts a number into a register.
const PUT: &str =
    "?[k, n, t, v] := k = $k, n = $n, t = concat('register n', to_string(n)), v = [n, k] :put r {k => n, t, v}";

type Numbers = BTreeMap<i64, i64>;

/// A database with registers that hold 0, and indices of all kinds.
fn registers(setting: &Setting, folder: &std::path::Path) -> DbInstance {
    let db = setting.open(folder).unwrap();
    rows(&db, ":create r {k: Int => n: Int, t: String, v: <F32; 2>}");
    CREATE.iter().for_each(|create| drop(rows(&db, create)));
    (0..REGISTERS).for_each(|k| drop(run_with(&db, PUT, &[("k", k), ("n", 0)]).unwrap()));
    db
}

/// Puts some of the rows beside the registers.
fn put_others(db: &DbInstance, from: i64, count: i64, n: i64) {
    let script = "?[k, n, t, v] := i in int_range($count), k = 100 + (($from + i) % $others), n = $n,
        t = concat('other o', to_string(k), ' n', to_string(n)), v = [1000000 + k, n] :put r {k => n, t, v}";
    run_with(db, script, &[("from", from), ("count", count), ("n", n), ("others", OTHERS)]).unwrap();
}

/// How many rows of an index are not sealed.
fn tail_rows(db: &DbInstance, index: &str) -> i64 {
    let listed = rows(db, "::indices r");
    let row = listed.iter().find(|row| row[0] == DataValue::from(index)).unwrap();
    let DataValue::Json(config) = &row[3] else { panic!("{row:?}") };
    config.0["tail_rows"].as_i64().unwrap()
}

/// Writes all rows beside the registers, and waits until most of them are sealed.
fn seal(db: &DbInstance) {
    (0..OTHERS / 500).for_each(|part| put_others(db, part * 500, 500, part));
    let start = Instant::now();
    while ["near", "words"].iter().any(|index| tail_rows(db, index) > OTHERS * 3 / 4) {
        assert!(start.elapsed() < PATIENCE, "nothing is sealed");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn run(txn: &MultiTransaction, script: &str, parameters: &[(&str, i64)]) -> Vec<Vec<DataValue>> {
    let named = parameters.iter().map(|(name, value)| (name.to_string(), DataValue::from(*value))).collect();
    txn.run_script(script, named).unwrap_or_else(|error| panic!("{error:?}\n{script}")).rows
}

fn numbers(rows: &[Vec<DataValue>]) -> Numbers {
    rows.iter().map(|row| (row[0].get_int().unwrap(), row[1].get_int().unwrap())).collect()
}

fn outcome(txn: &MultiTransaction) -> Result<(), String> {
    txn.commit().map_err(code)
}

/// What a transaction read first, and what it wrote last.
struct Record {
    read: Numbers,
    written: Numbers,
}

/// One random transaction. Its first read is by one way alone, all others by all.
fn transact(db: &DbInstance, next: &AtomicI64, random: &mut StdRng) -> (Record, bool) {
    let txn = db.multi_transaction(random.random_bool(0.8));
    let read = numbers(&run(&txn, READS[random.random_range(0..READS.len())], &[]));
    let mut record = Record { read: read.clone(), written: BTreeMap::new() };
    for _ in 0..random.random_range(1..3) {
        let (k, n) = (random.random_range(0..REGISTERS), next.fetch_add(1, Ordering::Relaxed));
        if txn.run_script(PUT, BTreeMap::from([("k".into(), k.into()), ("n".into(), n.into())])).is_ok() {
            record.written.insert(k, n);
        }
        let mut expected = read.clone();
        expected.extend(&record.written);
        for script in READS {
            assert_eq!(numbers(&run(&txn, script, &[])), expected, "its snapshot and its own writes: {script}");
        }
    }
    let committed = match random.random_bool(0.9) {
        true => outcome(&txn),
        false => txn.abort().map_err(code).and(Err("transact::conflict".to_string())),
    };
    if let Err(code) = &committed {
        assert_eq!(code, "transact::conflict");
    }
    (record, committed.is_ok())
}

/// Whether scans and searches of one script agree.
fn agree(db: &DbInstance) {
    let bodies = READS.map(|read| read.strip_prefix("?[k, n] := ").unwrap());
    for body in &bodies[1..] {
        let script = format!(
            "there[k, n] := {}  found[k, n] := {body}
             ?[k, n] := there[k, n], not found[k, n]  ?[k, n] := found[k, n], not there[k, n]",
            bodies[0]
        );
        assert_eq!(rows(db, &script), Vec::<Vec<DataValue>>::new(), "{script}");
    }
}

#[test]
fn searches_find_what_scans_of_the_same_moment_read() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let db = registers(setting, folder.path());
        let (next, start) = (AtomicI64::new(1), Instant::now());
        let goes_on = || start.elapsed() < Duration::from_millis(1500);
        let records: Vec<(Record, bool)> = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut part = 0;
                while goes_on() {
                    put_others(&db, part * 300, 300, part);
                    part += 1;
                }
            });
            scope.spawn(|| {
                while goes_on() {
                    agree(&db)
                }
            });
            let work = |seed: u64| {
                let (mut random, mut records) = (StdRng::seed_from_u64(seed), vec![]);
                while goes_on() {
                    records.push(transact(&db, &next, &mut random));
                }
                records
            };
            let threads: Vec<_> = (0..2).map(|seed| scope.spawn(move || work(seed))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        seal(&db);
        agree(&db);
        let (mut overwritten, mut known) = (BTreeSet::new(), BTreeSet::from([0]));
        for (record, _) in records.iter().filter(|(_, committed)| *committed) {
            known.extend(record.written.values());
            for k in record.written.keys() {
                assert!(overwritten.insert((*k, record.read[k])), "{setting:?}: an update is lost");
            }
        }
        let is_known = |(record, _): &(Record, bool)| record.read.values().all(|n| known.contains(n));
        assert!(records.iter().all(is_known), "{setting:?}: a read of what was never committed");
        assert!(!overwritten.is_empty(), "{setting:?}: nothing was written");
        assert_eq!(db.check().unwrap().problems, Vec::<String>::new(), "{setting:?}");
    }
}

#[test]
fn a_script_that_searches_and_writes_loses_no_update() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let db = registers(setting, folder.path());
        for (k, read) in READS.iter().enumerate() {
            let found = read.replace("?[k, n]", "found[k, n]");
            let add = format!(
                "{found}  ?[k, n, t, v] := found[k, m], k == {k}, n = m + 1, t = concat('register n', to_string(n)), v = [n, k]
                 :put r {{k => n, t, v}}"
            );
            let work = || -> i64 {
                let added = (0..15).map(|_| match db.run_default(&add) {
                    Ok(_) => 1,
                    Err(error) => {
                        assert_eq!(code(error), "transact::conflict");
                        0
                    }
                });
                added.sum()
            };
            let added: i64 = std::thread::scope(|scope| {
                [scope.spawn(work), scope.spawn(work)].into_iter().map(|thread| thread.join().unwrap()).sum()
            });
            assert!(added >= 15, "{setting:?}: one of two succeeds");
            for read in READS {
                assert_eq!(numbers(&rows(&db, read))[&(k as i64)], added, "{setting:?}: {add}");
            }
        }
    }
}

#[test]
fn searches_conflict_as_reads_of_the_rows_do() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let db = registers(setting, folder.path());
        let conflict = Err("transact::conflict".to_string());
        let mut n = 0;
        for read in READS {
            let mut after = |others: &[i64], mine: &str, k: i64| {
                let txn = db.multi_transaction(true);
                assert_eq!(run(&txn, read, &[]).len() as i64, REGISTERS);
                for other in others {
                    n += 1;
                    run_with(&db, PUT, &[("k", *other), ("n", n)]).unwrap();
                }
                n += 1;
                run(&txn, mine, &[("k", k), ("n", n)]);
                outcome(&txn)
            };
            let ensure = "?[k, n, t, v] := k = $k, *r{k, n, t, v} :ensure r {k => n, t, v}";
            assert_eq!(after(&[1], PUT, 1), conflict, "{setting:?}: found, changed by another, written: {read}");
            assert_eq!(after(&[1], ensure, 1), conflict, "{setting:?}: found, changed by another, ensured: {read}");
            assert_eq!(after(&[1], PUT, 2), Ok(()), "{setting:?}: found, changed by another, not written: {read}");
            assert_eq!(after(&[], PUT, 1), Ok(()), "{setting:?}: not changed: {read}");
        }
        // Whoever wrote the relation cannot commit when it has other indices; whoever reads goes on in its own moment.
        let (reader, writer) = (db.multi_transaction(false), db.multi_transaction(true));
        run(&writer, PUT, &[("k", 3), ("n", 1000)]);
        let before = READS.map(|read| run(&reader, read, &[]));
        for (index, create) in ["::hnsw drop r:near", "::fts drop r:words", "::lsh drop r:like"].iter().zip(CREATE) {
            rows(&db, index);
            assert_eq!(READS.map(|read| run(&reader, read, &[])), before, "{setting:?}: {index}");
            rows(&db, create);
        }
        assert_eq!(outcome(&writer), Err("transact::schema_conflict".to_string()), "{setting:?}");
        assert_eq!(READS.map(|read| run(&reader, read, &[])), before, "{setting:?}");
        rows(&db, "::fts drop r:words");
        assert_eq!(failure(&db, READS[2]), "eval::hnsw_index_not_found");
    }
}

#[test]
fn sealing_conflicts_with_nobody_and_changes_no_answer() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let db = registers(setting, folder.path());
        let (reader, writer) = (db.multi_transaction(false), db.multi_transaction(true));
        let mut expected = numbers(&run(&writer, READS[1], &[]));
        run(&writer, PUT, &[("k", 1), ("n", 77)]);
        run(&writer, "?[k] <- [[$k]] :rm r {k}", &[("k", 2)]);
        let before = READS.map(|read| run(&reader, read, &[]));
        // The rows that the writer has changed are sealed as they were before.
        seal(&db);
        assert_eq!(READS.map(|read| run(&reader, read, &[])), before, "{setting:?}");
        expected.insert(1, 77);
        expected.remove(&2);
        for read in READS {
            assert_eq!(numbers(&run(&writer, read, &[])), expected, "{setting:?}: {read}");
        }
        assert_eq!(outcome(&writer), Ok(()), "{setting:?}");
        seal(&db);
        for read in READS {
            assert_eq!(numbers(&rows(&db, read)), expected, "{setting:?}: {read}");
        }
        assert_eq!(READS.map(|read| run(&reader, read, &[])), before, "{setting:?}");
        assert_eq!(db.check().unwrap().problems, Vec::<String>::new(), "{setting:?}");
    }
}
