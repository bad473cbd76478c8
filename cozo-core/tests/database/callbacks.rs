//! Callbacks: what the host is told of changes, and in which order.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use cozo::{CallbackOp, DataValue, DbInstance, NamedRows};
use crossbeam_channel::{Receiver, TryRecvError};
use serde_json::{Value, json};

use crate::common::{PATIENCE, code};

type Changes = Receiver<(CallbackOp, NamedRows, NamedRows)>;

fn run(db: &DbInstance, scripts: &[&str]) {
    for script in scripts {
        db.run_default(script).unwrap_or_else(|error| panic!("{error:?}\n{script}"));
    }
}

/// What has been sent so far: operation, columns and rows that are new, columns and rows that were there.
fn sent(changes: &Changes) -> Value {
    let part = |rows: NamedRows| {
        assert!(rows.next.is_none());
        let rows = rows.into_json();
        json!([rows["headers"], rows["rows"]])
    };
    changes.try_iter().map(|(op, new, old)| json!([op.as_str(), part(new), part(old)])).collect()
}

#[test]
fn each_operation_says_what_it_changed() {
    let db = DbInstance::default();
    let (id, changes) = db.register_callback("r", None);
    let (other_id, other) = db.register_callback("other", None);
    assert_eq!((id, other_id), (0, 1));
    for (script, expected) in [
        (
            "?[k, v] <- [[2, 'b'], [1, 'a']] :create r {k => v}",
            json!(["Put", [["k", "v"], [[1, "a"], [2, "b"]]], [["k", "v"], []]]),
        ),
        (
            "?[v, k] <- [['c', 2], ['d', 3]] :put r {v, k}",
            json!(["Put", [["k", "v"], [[2, "c"], [3, "d"]]], [["k", "v"], [[2, "b"]]]]),
        ),
        ("?[k, v] <- [[4, 'e']] :insert r {k => v}", json!(["Put", [["k", "v"], [[4, "e"]]], [["k", "v"], []]])),
        (
            "?[k, v] <- [[4, 'f']] :update r {k => v}",
            json!(["Put", [["k", "v"], [[4, "f"]]], [["k", "v"], [[4, "e"]]]]),
        ),
        ("?[k] <- [[4], [9]] :rm r {k}", json!(["Rm", [["k"], [[4], [9]]], [["k", "v"], [[4, "f"]]]])),
        ("?[k] <- [[3]] :delete r {k}", json!(["Rm", [["k"], [[3]]], [["k", "v"], [[3, "d"]]]])),
        ("?[k] <- [[7]] :replace r {k}", json!(["Put", [["k"], [[7]]], [["k"], []]])),
    ] {
        run(&db, &[script]);
        assert_eq!(sent(&changes), json!([expected]), "{script}");
    }
    assert_eq!(sent(&other), json!([]));
    assert_eq!((CallbackOp::Put.to_string(), CallbackOp::Rm.as_str()), ("Put".to_string(), "Rm"));
}

#[test]
fn nothing_is_sent_where_no_row_was_changed_by_a_script() {
    let db = DbInstance::default();
    let (_, changes) = db.register_callback("r", None);
    let (_, ephemeral) = db.register_callback("_r", None);
    run(
        &db,
        &[
            ":create r {k => v}",
            "?[k, v] <- [] :put r {k => v}",
            "?[k] <- [[1]] :rm r {k}",
            "?[k] <- [[1]] :ensure_not r {k}",
            "?[k] := *r[k, _]",
            "{?[k] <- [[1]] :create _r {k}} {?[k] <- [[2]] :put _r {k}}",
            "%ignore_error {?[k, v] <- [[1, 1], [1, 2]] :insert r {k => v}}",
        ],
    );
    assert!(db.run_default("{?[k, v] <- [[1, 1]] :put r {k => v}} {?[k] <- [[5]] :delete r {k}}").is_err());
    db.import_relations(
        [("r".to_string(), NamedRows::new(vec!["k".into(), "v".into()], vec![vec![1.into(), 2.into()]]))].into(),
    )
    .unwrap();
    run(&db, &["::remove r"]);
    assert_eq!((sent(&changes), sent(&ephemeral)), (json!([]), json!([])));
}

#[test]
fn a_script_sends_a_message_for_each_operation_also_for_those_of_triggers() {
    let db = DbInstance::default();
    run(&db, &[":create r {k}", ":create copy {k}", "::set_triggers r on put { ?[k] := _new[k] :put copy {k} }"]);
    let (_, changes) = db.register_callback("copy", None);
    let (_, of_r) = db.register_callback("r", None);
    run(&db, &["{?[k] <- [[1]] :put r {k}} {?[k] <- [[1]] :rm copy {k}} {?[k] <- [[2]] :put r {k}}"]);
    let put = |k: i64| json!(["Put", [["k"], [[k]]], [["k"], []]]);
    assert_eq!(sent(&changes), json!([put(1), ["Rm", [["k"], [[1]]], [["k"], [[1]]]], put(2)]));
    assert_eq!(sent(&of_r), json!([put(1), put(2)]));
}

#[test]
fn a_held_transaction_sends_what_it_committed() {
    let db = DbInstance::default();
    run(&db, &[":create r {k}"]);
    let (_, changes) = db.register_callback("r", None);
    let aborted = db.multi_transaction(true);
    aborted.run_script("?[k] <- [[0]] :put r {k}", BTreeMap::new()).unwrap();
    aborted.abort().unwrap();
    let transaction = db.multi_transaction(true);
    transaction.run_script("?[k] <- [[1]] :put r {k}", BTreeMap::new()).unwrap();
    transaction.run_script("?[k] <- [[1]] :insert r {k}", BTreeMap::new()).unwrap_err();
    let loser = db.multi_transaction(true);
    loser.run_script("?[k] <- [[1]] :put r {k}", BTreeMap::new()).unwrap();
    assert_eq!(sent(&changes), json!([]));
    transaction.commit().unwrap();
    assert_eq!(code(loser.commit().unwrap_err()), "transact::conflict");
    assert_eq!(sent(&changes), json!([["Put", [["k"], [[1]]], [["k"], []]]]));
}

#[test]
fn a_callback_ends_when_it_is_unregistered_or_its_receiver_or_the_database_is_gone() {
    let db = DbInstance::default();
    run(&db, &[":create r {k}"]);
    let (first, changes) = db.register_callback("r", None);
    let (second, dropped) = db.register_callback("r", None);
    let (third, last) = db.register_callback("r", None);
    assert!(db.unregister_callback(first) && !db.unregister_callback(first));
    drop(dropped);
    run(&db, &["?[k] <- [[1]] :put r {k}"]);
    assert_eq!(changes.try_recv().unwrap_err(), TryRecvError::Disconnected);
    assert!(!db.unregister_callback(second), "the write found its receiver gone");
    assert_eq!((third, last.len()), (2, 1));
    drop(db);
    assert!(last.recv().is_ok());
    assert!(last.recv().is_err());
}

#[test]
fn a_receiver_that_falls_behind_its_capacity_is_given_up() {
    let db = DbInstance::default();
    run(&db, &[":create r {k}"]);
    let (id, slow) = db.register_callback("r", Some(2));
    let (_, patient) = db.register_callback("r", None);
    for k in 0..5 {
        run(&db, &[&format!("?[k] <- [[{k}]] :put r {{k}}")]);
    }
    assert_eq!(patient.len(), 5);
    assert_eq!(slow.iter().count(), 2, "the first two, and then the end");
    assert!(!db.unregister_callback(id));
}

/// Threads write the same few keys, so that what is replaced tells which commit came before which.
#[test]
fn messages_come_in_the_order_of_commits() {
    const THREADS: i64 = 8;
    const WRITES: i64 = 150;
    let db = DbInstance::default();
    run(&db, &[":create r {k => v}"]);
    let (_, changes) = db.register_callback("r", None);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let db = &db;
            scope.spawn(move || {
                for write in 0..WRITES {
                    let (key, other) = ((thread + write) % 5, 10 + thread);
                    let value = thread * WRITES + write;
                    let script = format!("?[k, v] <- [[{key}, {value}], [{other}, {value}]] :put r {{k => v}}");
                    while let Err(error) = db.run_default(&script) {
                        assert_eq!(code(error), "transact::conflict");
                    }
                }
            });
        }
    });
    let mut replayed: BTreeMap<DataValue, DataValue> = BTreeMap::new();
    for message in 0..THREADS * WRITES {
        let (_, new, old) = changes.try_recv().expect("all was sent before the scripts returned");
        let were_there: Vec<Vec<DataValue>> = new
            .rows
            .iter()
            .filter_map(|row| replayed.get(&row[0]).map(|value| vec![row[0].clone(), value.clone()]))
            .collect();
        assert_eq!(old.rows, were_there, "message {message}");
        replayed.extend(new.rows.into_iter().map(|row| (row[0].clone(), row[1].clone())));
    }
    assert!(changes.is_empty());
    let stored = db.run_default("?[k, v] := *r[k, v]").unwrap().rows;
    assert_eq!(stored, replayed.into_iter().map(|(key, value)| vec![key, value]).collect::<Vec<_>>());
}

#[test]
fn a_receiver_may_write_to_the_database() {
    let db = DbInstance::default();
    run(&db, &[":create r {k}", ":create seen {k}"]);
    let (id, changes) = db.register_callback("r", None);
    let reader = db.clone();
    let (finished, done) = crossbeam_channel::bounded(1);
    std::thread::spawn(move || {
        for (_, new, _) in changes {
            for row in new.rows {
                let parameters = BTreeMap::from([("k".to_string(), row[0].clone())]);
                reader.run_script("?[k] <- [[$k]] :put seen {k}", parameters, cozo::ScriptMutability::Mutable).unwrap();
            }
        }
        let _ = finished.send(());
    });
    for k in 0..100 {
        run(&db, &[&format!("?[k] <- [[{k}]] :put r {{k}}")]);
    }
    db.unregister_callback(id);
    done.recv_timeout(PATIENCE).expect("the receiver comes to the end");
    assert_eq!(db.run_default("?[count(k)] := *seen[k]").unwrap().rows, vec![vec![DataValue::from(100)]]);
}
