//! Random transactions, recorded and checked: nothing happens that snapshot isolation forbids.
//!
//! Registers hold numbers that are written only once, each by a transaction that read the register before. So the numbers
//! form a chain from writer to writer for each register, and a snapshot is a position in each chain.

use std::collections::{BTreeMap, BTreeSet};

use cozo::{DataValue, DbInstance};
use rand::RngExt;
use rand::rngs::StdRng;
use serde::{Deserialize, Serialize};

pub const REGISTERS: i64 = 8;

/// What one transaction saw and did.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// What it read of each register first.
    pub read: BTreeMap<i64, i64>,
    /// What it wrote last into registers.
    pub written: BTreeMap<i64, i64>,
    /// What it wrote before that.
    pub overwritten: Vec<i64>,
    /// The registers that it ensured to be as it had read them.
    pub ensured: BTreeSet<i64>,
    /// Whether it was committed; unknown if its process died too early to say so.
    pub committed: Option<bool>,
}

pub fn parameters(pairs: &[(&str, i64)]) -> BTreeMap<String, DataValue> {
    pairs.iter().map(|(name, value)| (name.to_string(), DataValue::from(*value))).collect()
}

/// Makes the registers.
pub fn create(db: &DbInstance) {
    db.run_default(":create register {k: Int => v: Int}").unwrap();
    let all = format!("?[k, v] := k in int_range({REGISTERS}), v = -1 - k  :put register {{k => v}}");
    db.run_default(&all).unwrap();
}

/// What the registers hold.
pub fn read_all(db: &DbInstance) -> Record {
    let rows = db.run_default("?[k, v] := *register{k, v}").unwrap().rows;
    Record { read: numbers(&rows), committed: Some(true), ..Record::default() }
}

fn numbers(rows: &[Vec<DataValue>]) -> BTreeMap<i64, i64> {
    rows.iter().map(|row| (row[0].get_int().unwrap(), row[1].get_int().unwrap())).collect()
}

/// One random transaction, which takes the numbers that it writes from `next`. `attempt` is told of it before it is committed. Fails if
/// the transaction cannot begin.
pub fn transact(
    db: &DbInstance,
    mut next: impl FnMut() -> i64,
    random: &mut StdRng,
    attempt: impl FnOnce(&Record),
) -> cozo::Result<Record> {
    let mut record = Record::default();
    let writes = random.random_bool(0.7);
    let txn = db.multi_transaction(writes);
    let read = |expected: Option<&Record>| -> cozo::Result<BTreeMap<i64, i64>> {
        let rows = txn.run_script("?[k, v] := *register{k, v}", BTreeMap::new())?.rows;
        let read = numbers(&rows);
        if let Some(record) = expected {
            let mut own = record.read.clone();
            own.extend(&record.written);
            assert_eq!(read, own, "a transaction sees its snapshot and its own writes, however often it looks");
        }
        Ok(read)
    };
    record.read = read(None)?;
    for _ in 0..random.random_range(1..4) {
        if !writes {
            read(Some(&record)).expect("a snapshot can be read again");
            continue;
        }
        let k = random.random_range(0..REGISTERS);
        if random.random_bool(0.2) && !record.written.contains_key(&k) {
            let ensure = "?[k, v] <- [[$k, $v]] :ensure register {k => v}";
            txn.run_script(ensure, parameters(&[("k", k), ("v", record.read[&k])])).expect("it is as it was read");
            record.ensured.insert(k);
            continue;
        }
        let v = next();
        let put = "?[k, v] <- [[$k, $v]] :put register {k => v}";
        txn.run_script(put, parameters(&[("k", k), ("v", v)])).expect("writing never fails before the commit");
        record.ensured.remove(&k);
        record.overwritten.extend(record.written.insert(k, v));
        if random.random_bool(0.5) {
            read(Some(&record)).expect("a snapshot can be read again");
        }
    }
    attempt(&record);
    record.committed = match random.random_bool(0.9) {
        true => match txn.commit() {
            Ok(()) => Some(true),
            Err(error) => {
                match error.code().map(|code| code.to_string()).unwrap_or_default().as_str() {
                    "transact::conflict" | "transact::schema_conflict" => Some(false),
                    // The log was truncated while the process was paused, or did not answer in time.
                    code if code == "replica::left_behind" || code.starts_with("shared_log::") => None,
                    _ => panic!("{error:?}"),
                }
            }
        },
        false => Some(txn.abort().is_err()),
    };
    Ok(record)
}

/// The position of each number in the chain of its register, and the number after it.
fn chains(records: &[Record]) -> (BTreeMap<i64, usize>, BTreeMap<i64, i64>) {
    let mut successors: BTreeMap<i64, i64> = BTreeMap::new();
    for record in records.iter().filter(|record| record.committed == Some(true)) {
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
    (positions, successors)
}

/// Decides what is unknown: every transaction reads all registers, so whatever was committed was read by another, or is there in
/// the end. The last record is the end.
pub fn decide(records: &mut [Record]) {
    let seen: BTreeSet<i64> = records.iter().flat_map(|record| record.read.values().copied()).collect();
    for record in records.iter_mut().filter(|record| record.committed.is_none()) {
        record.committed = Some(record.written.values().any(|number| seen.contains(number)));
    }
}

/// Fails if the records show what snapshot isolation forbids. All outcomes are known.
pub fn check(records: &[Record]) {
    let (positions, successors) = chains(records);
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
    let first_to_see = |(register, number): (&i64, &i64)| {
        let (register, position) = (*register as usize, at(number));
        snapshots.partition_point(|snapshot| snapshot[register] < position)
    };
    for writer in records.iter().filter(|record| record.committed == Some(true) && !record.written.is_empty()) {
        // Whoever sees one write of a transaction sees all: each becomes visible at the same place in the row of snapshots.
        let places: BTreeSet<usize> = writer.written.iter().map(first_to_see).collect();
        assert_eq!(places.len(), 1, "half of a transaction is visible: {writer:?}");
        // What it has ensured changes after it at the earliest.
        for register in &writer.ensured {
            let next = successors.get(&writer.read[register]).map(|number| first_to_see((register, number)));
            assert!(next.is_none_or(|next| places.iter().all(|place| *place <= next)), "{register} of {writer:?}");
        }
    }
}
