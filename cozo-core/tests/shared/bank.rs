//! Transfers between accounts by several processes: money is neither made nor lost, and all replicas pass through the same states.

use std::sync::atomic::{AtomicU64, Ordering};

use cozo::DbInstance;

use super::{Cluster, code, ints, rows};

const ACCOUNTS: i64 = 20;
const TRANSFERS: u64 = 60;

/// Moves money between two accounts, and notes it under a number of its own. Returns whether it was committed.
fn transfer(db: &DbInstance, process: u64, n: u64) -> bool {
    let (from, to) = ((process * 7 + n * 13) as i64 % ACCOUNTS, (n * 5 + 1) as i64 % ACCOUNTS);
    if from == to {
        return false;
    }
    let script = format!(
        "{{ ?[id, money] := *account{{id, money: m}}, d = if(id == {from}, -1, 1), id in [{from}, {to}], money = m + d
            :put account {{id => money}} }}
         {{ ?[process, n] <- [[{process}, {n}]] :insert done {{process, n}} }}"
    );
    loop {
        match db.run_default(&script) {
            Ok(_) => return true,
            Err(error) => assert_eq!(code(&error), "transact::conflict", "{error:?}"),
        }
    }
}

#[test]
fn money_is_neither_made_nor_lost() {
    let cluster = Cluster::new();
    let dbs = [cluster.open("mem", ""), cluster.open("sqlite", "b"), cluster.open("mem", "")];
    rows(&dbs[0], &format!("?[id, money] := id in int_range({ACCOUNTS}), money = 100 :create account {{id => money}}"));
    rows(&dbs[0], ":create done {process, n}");
    let committed = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for (process, db) in dbs.iter().enumerate() {
            for thread in 0..2 {
                let committed = &committed;
                scope.spawn(move || {
                    for n in (thread..TRANSFERS).step_by(2) {
                        committed.fetch_add(u64::from(transfer(db, process as u64, n)), Ordering::Relaxed);
                        assert_eq!(ints(db, "?[sum(money)] := *account{money}"), [ACCOUNTS * 100]);
                    }
                });
            }
        }
    });
    let state = |db: &DbInstance| (rows(db, "?[id, m] := *account{id, money: m}"), rows(db, "?[p, n] := *done[p, n]"));
    let expected = state(&dbs[0]);
    assert_eq!(expected.1.len() as u64, committed.into_inner());
    dbs.iter().for_each(|db| assert_eq!(state(db), expected));
    // A process that begins now reads the same from the log.
    assert_eq!(state(&cluster.open("mem", "")), expected);
}
