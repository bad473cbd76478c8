//! Random transactions by processes that are killed, recorded and checked: what snapshot isolation forbids never happens, over any
//! log, while definitions change.

use rand::RngExt;
use rand::rngs::StdRng;

#[cfg(feature = "shared-object-store")]
use super::processes::in_an_object_store;
#[cfg(feature = "shared-etcd")]
use super::processes::in_etcd;
use super::processes::{Disturb, PROCESSES, Place, in_a_folder, run_and_kill, say};
use super::registers::{Record, check, create, decide, read_all, transact};
use super::{Cluster, code};

/// Changes of definitions, each of which may be refused: another process may have made it.
const DEFINITIONS: [&str; 6] = [
    "::index create register:by_v {v}",
    "::index drop register:by_v",
    "::columns register add {more: Int?}",
    "::columns register drop more",
    "?[a] <- [[1]] :create scratch {a}",
    "::remove scratch",
];

/// What a process says of a transaction: what it tries, and then the outcome.
const DONE: &str = "done";
const REFUSED: &str = "refused";

/// What it says when it has changed a definition.
const DEFINED: &str = "defined";

/// Runs random transactions until it is killed.
#[test]
fn child() {
    let Some(place) = Place::mine() else { return };
    let mut db = place.open();
    let (mut random, mut numbers): (StdRng, StdRng) = (rand::make_rng(), rand::make_rng());
    loop {
        if random.random_bool(0.01) {
            let definition = DEFINITIONS[random.random_range(0..DEFINITIONS.len())];
            if db.run_default(definition).is_ok() {
                say(DEFINED);
            }
        }
        let attempt = |record: &Record| say(serde_json::to_string(record).unwrap());
        let is_left_behind = match transact(&db, || numbers.random_range(0..i64::MAX), &mut random, attempt) {
            Ok(Record { committed: Some(committed), .. }) => {
                say(if committed { DONE } else { REFUSED });
                false
            }
            Ok(_) => true,
            Err(error) => {
                let code = code(&error);
                let is_known = matches!(&*code, "replica::left_behind" | "replica::overtaken");
                assert!(is_known || code.starts_with("shared_log::"), "{error:?}");
                true
            }
        };
        if is_left_behind {
            drop(std::mem::take(&mut db));
            db = place.open();
        }
    }
}

/// The transactions that a process told of.
fn records(said: &[String]) -> Vec<Record> {
    let mut records: Vec<Record> = vec![];
    for line in said {
        match (line.as_str(), records.last_mut()) {
            (DONE, Some(record)) => record.committed = Some(true),
            (REFUSED, Some(record)) => record.committed = Some(false),
            (line, _) => records.extend(serde_json::from_str::<Record>(line)),
        }
    }
    records
}

/// Has processes run transactions over a log, and kills and pauses them meanwhile.
fn transact_while_killed(cluster: &Cluster, log: &str, disturb: Disturb<'_>) {
    let first = Place::of(cluster, 9, log).open();
    create(&first);
    let said = run_and_kill(cluster, log, &first, "histories::child", disturb);
    let mut records: Vec<Record> = said.iter().flat_map(|life| records(life)).collect();
    let definitions = said.iter().flatten().filter(|line| *line == DEFINED).count();
    let committed = records.iter().filter(|r| r.committed == Some(true) && !r.written.is_empty()).count();
    println!("{} transactions, {committed} wrote, {definitions} definitions", records.len());
    assert!(committed > 10 && definitions > 0, "{committed} wrote, {definitions} definitions");
    first.catch_up().unwrap();
    records.push(read_all(&first));
    decide(&mut records);
    check(&records);
    for process in 0..PROCESSES {
        let replica = Place::of(cluster, process, log).open();
        assert_eq!(read_all(&replica).read, read_all(&first).read, "replica {process}");
        assert_eq!(replica.check().unwrap().problems, [""; 0], "replica {process}");
    }
}

#[test]
fn nothing_that_snapshot_isolation_forbids_happens() {
    in_a_folder(transact_while_killed);
}

#[cfg(feature = "shared-object-store")]
#[test]
fn nor_over_an_object_store() {
    in_an_object_store(transact_while_killed);
}

#[cfg(feature = "shared-etcd")]
#[test]
fn nor_over_etcd_while_its_nodes_are_killed() {
    in_etcd(transact_while_killed);
}
