//! Transfers of money by processes that are killed. What they were told to be committed is there afterwards, every transfer is there
//! as a whole, and each saw the balances that the transfers before it left.

use std::collections::BTreeSet;

use cozo::DbInstance;
use rand::RngExt;
use rand::rngs::StdRng;

#[cfg(feature = "shared-etcd")]
use super::processes::in_etcd;
use super::processes::{Disturb, PROCESSES, Place, in_a_folder, run_and_kill, say};
use super::{Cluster, code, ints, rows};

const ACCOUNTS: i64 = 12;

/// Transfers money until it is killed, and says what is committed.
///
/// A transfer moves a random amount, and notes the balances that it has read. So a transfer that has not seen another one before it
/// is known by its note.
#[test]
fn child() {
    let Some(place) = Place::mine() else { return };
    let mut db = place.open();
    let mut random: StdRng = rand::make_rng();
    loop {
        let (from, distance) = (random.random_range(0..ACCOUNTS), random.random_range(1..ACCOUNTS));
        let (to, amount) = ((from + distance) % ACCOUNTS, random.random_range(1..10));
        let number: i64 = random.random_range(0..i64::MAX);
        let transfer = format!(
            "{{ ?[id, money, version] := *account{{id, money: m, version: v}}, id in [{from}, {to}], version = v + 1,
                    money = m + if(id == {from}, -{amount}, {amount})
                :put account {{id => money, version}} }}
             {{ ?[id, version, money, number] := *account{{id, money, version}}, id in [{from}, {to}], number = {number}
                :insert history {{id, version => money, number}} }}"
        );
        match db.run_default(&transfer) {
            Ok(_) => say(number),
            // It was paused while the log was truncated.
            Err(error) if code(&error) == "replica::left_behind" => {
                drop(std::mem::take(&mut db));
                db = place.open();
            }
            // The log did not answer in time: the transfer may be there or not.
            Err(error) if code(&error).starts_with("shared_log::") => {}
            Err(error) => {
                let is_refused = matches!(&*code(&error), "transact::conflict" | "replica::overtaken");
                assert!(is_refused, "{error:?}");
            }
        }
    }
}

/// Lets processes transfer money through a log, and kills and pauses them meanwhile.
fn transfer_while_killed(cluster: &Cluster, log: &str, disturb: Disturb<'_>) {
    let first = Place::of(cluster, 9, log).open();
    let accounts = format!("?[id, money, version] := id in int_range({ACCOUNTS}), money = 100, version = 0");
    rows(&first, &format!("{accounts} :create account {{id => money, version}}"));
    rows(&first, ":create history {id, version => money, number}");
    let said = run_and_kill(cluster, log, &first, "killed::child", disturb);
    let told: BTreeSet<i64> = said.iter().flatten().filter_map(|line| line.parse().ok()).collect();
    println!("{} transfers were told", told.len());
    assert!(told.len() > 3, "{} transfers", told.len());
    first.catch_up().unwrap();
    check(&first, &told);
    for process in 0..PROCESSES {
        let replica = Place::of(cluster, process, log).open();
        for query in ["?[id, m, v] := *account[id, m, v]", "?[id, v, m, n] := *history[id, v, m, n]"] {
            assert_eq!(rows(&replica, query), rows(&first, query), "replica {process}");
        }
    }
}

#[test]
fn killed_processes_lose_nothing() {
    in_a_folder(transfer_while_killed);
}

#[cfg(feature = "shared-etcd")]
#[test]
fn killed_nodes_of_etcd_lose_nothing() {
    in_etcd(transfer_while_killed);
}

/// No money is made or lost, no transfer is there in part, none is missing, and each followed those before it.
fn check(db: &DbInstance, told: &BTreeSet<i64>) {
    assert_eq!(ints(db, "?[int_sum(money)] := *account{money}"), [ACCOUNTS * 100]);
    let kept: BTreeSet<i64> = ints(db, "?[number] := *history{number}").into_iter().collect();
    assert!(told.is_subset(&kept), "lost: {:?}", told.difference(&kept).collect::<Vec<_>>());
    let halves = "n[number, count(id)] := *history{id, number}  ?[number] := n[number, c], c != 2";
    assert_eq!(ints(db, halves), [] as [i64; 0], "transfers with one side");
    // The versions of each account are 1, 2, 3, ..: two transfers that had seen the same one would have the same number.
    let gaps = "v[id, count(version), max(version)] := *history{id, version}  ?[id] := v[id, c, m], c != m";
    assert_eq!(ints(db, gaps), [] as [i64; 0], "accounts with a lost update");
    // What a transfer takes from one account, it gives to the other.
    let moved = "before[id, v, m] := *history{id, version: w, money: m}, v = w + 1
        before[id, v, m] := *account{id}, v = 1, m = 100
        change[number, int_sum(d)] := *history{id, version, money, number}, before[id, version, m], d = money - m
        ?[number] := change[number, d], d != 0";
    assert_eq!(ints(db, moved), [] as [i64; 0], "transfers of which both sides do not agree");
}
