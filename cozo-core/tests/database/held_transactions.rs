//! Transactions that the host holds open over several scripts.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::time::Duration;

use cozo::{DataValue, DbInstance, format_error_as_json};

fn rows(db: &DbInstance, script: &str) -> Vec<Vec<DataValue>> {
    db.run_default(script).unwrap().rows
}

fn code(error: cozo::Error) -> String {
    format_error_as_json(error, None)["code"].as_str().unwrap_or_default().to_string()
}

const ENDLESS: &str = "n[x] := x = 0  n[x] := n[y], x = y + 1  ?[x] := n[x] :timeout 0";

#[test]
fn writes_are_seen_inside_and_after_the_commit_outside() {
    let db = DbInstance::default();
    db.run_default(":create r {a}").unwrap();
    let transaction = db.multi_transaction(true);
    transaction.run_script("?[a] <- [[1]] :put r {a}", BTreeMap::new()).unwrap();
    assert_eq!(transaction.run_script("?[a] := *r[a]", BTreeMap::new()).unwrap().rows.len(), 1);
    assert!(rows(&db, "?[a] := *r[a]").is_empty());
    transaction.commit().unwrap();
    assert_eq!(rows(&db, "?[a] := *r[a]").len(), 1);
    assert_eq!(code(transaction.commit().unwrap_err()), "transact::ended");
}

#[test]
fn a_database_is_unused_once_all_that_has_it_is_gone() {
    let db = DbInstance::default();
    let (moment, long) = (Duration::from_millis(20), Duration::from_secs(60));
    assert!(db.interrupt_until_unused(moment));
    let other = db.clone();
    assert!(!db.interrupt_until_unused(moment));
    drop(other);
    let held: Vec<_> = (0..20).map(|_| db.multi_transaction(true)).collect();
    held.iter().for_each(|transaction| transaction.begun().unwrap());
    assert!(!db.interrupt_until_unused(moment));
    drop(held);
    assert!(db.interrupt_until_unused(long), "their threads end by themselves");
}

#[test]
fn what_others_commit_after_the_start_is_not_seen() {
    let db = DbInstance::default();
    db.run_default(":create r {a}").unwrap();
    for i in 0..20 {
        let transaction = db.multi_transaction(false);
        db.run_default(&format!("?[a] <- [[{i}]] :put r {{a}}")).unwrap();
        assert_eq!(transaction.run_script("?[a] := *r[a]", BTreeMap::new()).unwrap().rows.len(), i);
    }
}

#[test]
fn a_failed_query_leaves_no_trace_and_the_transaction_goes_on() {
    let db = DbInstance::default();
    db.run_default(":create r {a: Int}").unwrap();
    let transaction = db.multi_transaction(true);
    transaction.run_script("?[a] <- [[1]] :put r {a}", BTreeMap::new()).unwrap();
    transaction.run_script("?[a] <- [[2], ['x']] :put r {a}", BTreeMap::new()).unwrap_err();
    assert_eq!(code(transaction.run_script("::relations", BTreeMap::new()).unwrap_err()), "parser::expect_singleton");
    transaction.commit().unwrap();
    assert_eq!(rows(&db, "?[a] := *r[a]"), vec![vec![DataValue::from(1)]]);
}

#[test]
fn aborting_and_dropping_undo_everything() {
    let db = DbInstance::default();
    db.run_default(":create r {a}").unwrap();
    let aborted = db.multi_transaction(true);
    aborted.run_script("?[a] <- [[1]] :put r {a}", BTreeMap::new()).unwrap();
    aborted.abort().unwrap();
    let dropped = db.multi_transaction(true);
    dropped.run_script("?[a] <- [[2]] :put r {a}", BTreeMap::new()).unwrap();
    drop(dropped);
    assert!(rows(&db, "?[a] := *r[a]").is_empty());
}

/// Keys of so many rows are hashed only when somebody could conflict with them.
#[test]
fn who_puts_many_rows_conflicts_with_who_puts_one_of_them() {
    let many = "?[a, b] := a in int_range(100000), b = 'many' :put r {a => b}";
    for (one, conflicts) in [(99_999, true), (100_000, false)] {
        let one = format!("?[a, b] <- [[{one}, 'one']] :put r {{a => b}}");
        for [earlier, later] in [[many, one.as_str()], [one.as_str(), many]] {
            let db = DbInstance::default();
            db.run_default(":create r {a => b}").unwrap();
            let transaction = db.multi_transaction(true);
            transaction.run_script(later, BTreeMap::new()).unwrap();
            db.run_default(earlier).unwrap();
            let outcome = transaction.commit().map_err(code);
            let expected = if conflicts { Err("transact::conflict".to_string()) } else { Ok(()) };
            assert_eq!(outcome, expected, "{earlier}, then {later}");
            let left = match (conflicts, earlier == many) {
                (false, _) => 100_001,
                (true, true) => 100_000,
                (true, false) => 1,
            };
            assert_eq!(rows(&db, "?[count(a)] := *r{a}"), [[DataValue::from(left)]], "{earlier}, then {later}");
        }
    }
}

#[test]
fn of_two_writers_of_one_key_the_second_is_told_at_commit() {
    let db = DbInstance::default();
    db.run_default(":create r {a => b}").unwrap();
    let (first, second) = (db.multi_transaction(true), db.multi_transaction(true));
    first.run_script("?[a, b] <- [[1, 'first']] :put r {a => b}", BTreeMap::new()).unwrap();
    second.run_script("?[a, b] <- [[1, 'second']] :put r {a => b}", BTreeMap::new()).unwrap();
    first.commit().unwrap();
    assert_eq!(code(second.commit().unwrap_err()), "transact::conflict");
    assert_eq!(rows(&db, "?[b] := *r[_, b]"), vec![vec![DataValue::from("first")]]);
}

/// Waits until a query of the transaction is under way: then its row is on the list of `::running`.
fn start_endless_query(transaction: &cozo::MultiTransaction) {
    let payload = cozo::TransactionPayload::Query((ENDLESS.to_string(), BTreeMap::new()));
    transaction.sender.send(payload).unwrap();
    std::thread::sleep(Duration::from_millis(50));
}

#[test]
fn dropping_the_last_handle_of_the_database_stops_what_still_runs() {
    let db = DbInstance::default();
    let transaction = db.multi_transaction(false);
    start_endless_query(&transaction);
    drop(db);
    let outcome = transaction.receiver.recv_timeout(Duration::from_secs(20)).expect("the query ends");
    assert_eq!(code(outcome.unwrap_err()), "eval::killed");
}

#[test]
fn dropping_the_transaction_stops_what_it_runs() {
    let db = DbInstance::default();
    let transaction = db.multi_transaction(false);
    start_endless_query(&transaction);
    let receiver = transaction.receiver.clone();
    drop(transaction);
    let outcome = receiver.recv_timeout(Duration::from_secs(20)).expect("the query ends");
    assert_eq!(code(outcome.unwrap_err()), "eval::killed");
}

#[test]
fn a_query_that_is_stopped_leaves_the_transaction_usable() {
    let db = DbInstance::default();
    db.run_default(":create r {a}").unwrap();
    let transaction = db.multi_transaction(true);
    transaction.run_script("?[a] <- [[1]] :put r {a}", BTreeMap::new()).unwrap();
    for by_number in [false, true] {
        start_endless_query(&transaction);
        if by_number {
            let number = rows(&db, "::running")[0][0].get_int().unwrap();
            db.run_default(&format!("::kill {number}")).unwrap();
        } else {
            transaction.interrupt().kill();
        }
        let outcome = transaction.receiver.recv_timeout(Duration::from_secs(20)).expect("the query ends");
        assert_eq!(code(outcome.unwrap_err()), "eval::killed");
        assert_eq!(transaction.run_script("?[a] := *r[a]", BTreeMap::new()).unwrap().rows.len(), 1);
    }
    transaction.commit().unwrap();
    assert_eq!(rows(&db, "?[a] := *r[a]").len(), 1);
}
