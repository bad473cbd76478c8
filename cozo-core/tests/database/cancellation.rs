//! Stopping what takes too long, and not stopping what is merely large.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use cozo::{DbInstance, Interrupt, NamedRows, ScriptMutability, format_error_as_json};

use crate::common::{PATIENCE, code, failure, number, rows, run_with, running_number};

const ENDLESS: &str = "n[x] := x = 0  n[x] := n[y], x = y + 1  ?[x] := n[x] :timeout 0";

/// Runs a script on another thread; the outcome comes through the channel.
fn start(db: &DbInstance, script: &str) -> Receiver<cozo::Result<NamedRows>> {
    let (sender, receiver) = channel();
    let (db, script) = (db.clone(), script.to_string());
    std::thread::spawn(move || {
        let outcome = db.run_default(&script);
        // Without its handle of the database: the receiver may ask what is left of it.
        drop(db);
        let _ = sender.send(outcome);
    });
    receiver
}

/// Runs a script that is to be killed by its own timeout of a second.
fn expect_timeout(db: &DbInstance, script: &str) {
    let begin = Instant::now();
    let error = db.run_default(script).expect_err(script);
    let elapsed = begin.elapsed();
    assert!(elapsed >= Duration::from_millis(900), "it was to run a second, not {elapsed:?}: {script}");
    assert!(elapsed < Duration::from_secs(20), "it took {elapsed:?}: {script}");
    let json = format_error_as_json(error, Some(script));
    assert_eq!(json["code"], "eval::killed", "{script}");
    assert!(json["help"].as_str().is_some_and(|help| help.contains(":timeout")), "{json}");
}

fn two_large_relations() -> DbInstance {
    let db = DbInstance::default();
    rows(&db, "?[x] := x in int_range(100000) :create a {x: Int}");
    rows(&db, "?[x] := x in int_range(100000) :create b {x: Int}");
    db
}

#[test]
fn a_cross_product_of_stored_relations_stops_at_its_timeout() {
    let db = two_large_relations();
    expect_timeout(&db, "?[count(x)] := *a[x], *b[y] :timeout 1");
    expect_timeout(&db, "?[x, y] := *a[x], *b[y], x + y < 0 :timeout 1");
    expect_timeout(&db, "?[x, y] := *a[x], *b[y], not *a[y] :disable_join_reorder true :timeout 1");
}

#[test]
fn a_cross_product_of_rules_stops_at_its_timeout() {
    let db = DbInstance::default();
    let rules = "a[x] := x in int_range(100000)  b[x] := x in int_range(100000)";
    expect_timeout(&db, &format!("{rules} ?[count(x)] := a[x], b[y] :timeout 1"));
    expect_timeout(&db, &format!("{rules} c[x] := a[x], b[y], x + y < 0  ?[x] := c[x] :timeout 1"));
}

#[test]
fn lists_that_multiply_stop_at_their_timeout() {
    let db = DbInstance::default();
    expect_timeout(&db, "?[count(x)] := x in int_range(100000), y in int_range(100000) :timeout 1");
}

#[test]
fn endless_recursion_stops_at_its_timeout() {
    let db = DbInstance::default();
    expect_timeout(&db, "n[x] := x = 0  n[x] := n[y], x = y + 1  ?[x] := n[x] :timeout 1");
    expect_timeout(&db, "n[x, min(y)] := x = 0, y = 0  n[x, min(y)] := n[x, z], y = z - 1  ?[x] := n[x, _] :timeout 1");
    rows(&db, "?[x] <- [[1]] :create still_usable {x}");
}

#[test]
fn a_sleep_stops_at_the_timeout() {
    expect_timeout(&DbInstance::default(), "?[x] <- [[1]] :sleep 100 :timeout 1");
}

#[test]
fn a_timeout_of_zero_or_less_means_none() {
    let db = DbInstance::default();
    for timeout in ["0", "0.0", "-1"] {
        rows(&db, &format!("?[x] <- [[1]] :sleep 0.2 :timeout {timeout}"));
    }
    assert_eq!(failure(&db, "?[x] <- [[1]] :sleep 100 :timeout 0.1"), "eval::killed");
}

#[test]
fn a_timeout_counts_for_each_block() {
    let db = DbInstance::default();
    rows(&db, "{?[x] <- [[1]] :sleep 0.7 :timeout 1} {?[x] <- [[1]] :sleep 0.7 :timeout 1}");
}

#[test]
fn another_thread_kills_a_running_script() {
    let db = DbInstance::default();
    rows(&db, ":create r {x}");
    let loops = "{?[x] <- [[1]] :put r {x}} %loop {?[x] <- [[1]] :replace _t {x}} %end";
    for script in [ENDLESS, loops, "%ignore_error {?[x] <- [[1]] :sleep 100} {?[x] <- [[2]] :put r {x}}"] {
        let outcome = start(&db, script);
        let number = running_number(&db);
        let status = run_with(&db, "::kill $number", &[("number", number)]).unwrap();
        assert_eq!(status.rows[0][0].get_str(), Some("KILLING"));
        let error = outcome.recv_timeout(PATIENCE).expect("it stops").expect_err(script);
        let json = format_error_as_json(error, Some(script));
        assert_eq!(json["code"], "eval::killed");
        assert!(json["help"].is_string(), "{json}");
        assert!(rows(&db, "?[x] := *r[x]").is_empty(), "a killed script writes nothing");
        assert_eq!(rows(&db, "::running").len(), 1, "only this very list runs");
        let gone = run_with(&db, "::kill $number", &[("number", number)]).unwrap();
        assert_eq!(gone.rows[0][0].get_str(), Some("NOT_FOUND"));
    }
}

#[test]
fn killing_one_script_leaves_the_others() {
    let db = DbInstance::default();
    let first = start(&db, ENDLESS);
    let victim = running_number(&db);
    let second = start(&db, "?[x] <- [[1]] :sleep 1");
    run_with(&db, "::kill $number", &[("number", victim)]).unwrap();
    assert_eq!(code(first.recv_timeout(PATIENCE).expect("it stops").unwrap_err()), "eval::killed");
    assert_eq!(second.recv_timeout(PATIENCE).expect("it ends").unwrap().rows.len(), 1);
}

#[test]
fn interrupt_all_stops_everything_and_leaves_the_database_usable() {
    let db = DbInstance::default();
    let outcomes = [start(&db, ENDLESS), start(&db, "?[x] <- [[1]] :sleep 100")];
    while rows(&db, "::running").len() < 3 {
        std::thread::sleep(Duration::from_millis(1));
    }
    db.interrupt_all();
    for outcome in outcomes {
        assert_eq!(code(outcome.recv_timeout(PATIENCE).expect("it stops").unwrap_err()), "eval::killed");
    }
    assert_eq!(number(&db, "?[x] <- [[1]]"), 1);
}

#[test]
fn a_handle_dropped_elsewhere_stops_nothing() {
    let db = DbInstance::default();
    let outcome = start(&db, "?[x] <- [[7]] :sleep 0.5");
    running_number(&db);
    std::thread::spawn({
        let clone = db.clone();
        move || drop(clone)
    })
    .join()
    .unwrap();
    drop(db);
    assert_eq!(outcome.recv_timeout(PATIENCE).expect("it ends").unwrap().rows[0][0].get_int(), Some(7));
}

#[test]
fn ten_thousand_steps_of_recursion_work() {
    let db = DbInstance::default();
    let linear = "n[x] := x = 0  n[x] := n[y], y < 10000, x = y + 1  ?[count(x), max(x)] := n[x]";
    let counted = rows(&db, linear).remove(0);
    assert_eq!((counted[0].get_int(), counted[1].get_int()), (Some(10_001), Some(10_000)));
    let mutual = "a[x] := x = 0  a[x] := b[y], x = y + 1  b[x] := a[y], y < 10000, x = y + 1  ?[max(x)] := a[x]";
    assert_eq!(number(&db, mutual), 10_000);
    let meet =
        "d[n, min(k)] := n = 0, k = 0  d[n, min(k)] := d[m, j], m < 10000, n = m + 1, k = j + 1  ?[max(k)] := d[_, k]";
    assert_eq!(number(&db, meet), 10_000);
}

#[test]
fn a_transitive_closure_of_a_million_rows_works() {
    const NODES: i64 = 1415;
    let db = DbInstance::default();
    run_with(&db, "?[a, b] := a in int_range($n - 1), b = a + 1 :create edge {a: Int, b: Int}", &[("n", NODES)])
        .unwrap();
    for step in ["path[x, z], *edge[z, y]", "*edge[x, z], path[z, y]"] {
        let script = format!("path[x, y] := *edge[x, y]  path[x, y] := {step}  ?[count(x)] := path[x, y]");
        assert_eq!(number(&db, &script), NODES * (NODES - 1) / 2);
    }
}

#[test]
fn a_limit_stops_an_endless_recursion_only_at_the_entry() {
    let db = DbInstance::default();
    let entry = "?[x] := x in int_range(1000000), y in int_range(1000000) :limit 3";
    assert_eq!(rows(&db, entry).len(), 3);
}

#[test]
fn an_interrupt_stops_its_own_script_and_no_other() {
    let db = DbInstance::default();
    let untouched = start(&db, ENDLESS);
    let (sender, stopped) = channel();
    let interrupt = Interrupt::default();
    let (other, switch) = (db.clone(), interrupt.clone());
    std::thread::spawn(move || {
        let run = other.run_script_interruptible(ENDLESS, BTreeMap::new(), ScriptMutability::Mutable, &switch);
        let _ = sender.send(run);
    });
    while rows(&db, "::running").len() < 3 {
        std::thread::sleep(Duration::from_millis(1));
    }
    interrupt.kill();
    assert_eq!(code(stopped.recv_timeout(PATIENCE).unwrap().unwrap_err()), "eval::killed");
    assert!(untouched.recv_timeout(Duration::from_millis(50)).is_err(), "the other script goes on");
    let again = db.run_script_interruptible("?[x] := x = 1", BTreeMap::new(), ScriptMutability::Mutable, &interrupt);
    assert_eq!(code(again.unwrap_err()), "eval::killed", "the switch stays thrown");
    interrupt.rearm();
    db.run_script_interruptible("?[x] := x = 1", BTreeMap::new(), ScriptMutability::Mutable, &interrupt).unwrap();
    let passed = interrupt.until(Instant::now());
    let late = db.run_script_interruptible("?[x] := x = 1", BTreeMap::new(), ScriptMutability::Mutable, &passed);
    assert_eq!(code(late.unwrap_err()), "eval::killed", "a deadline stops it");
    interrupt.check().unwrap();
    db.interrupt_all();
    assert!(untouched.recv_timeout(PATIENCE).unwrap().is_err());
}

#[test]
fn a_script_is_stopped_inside_of_a_trigger() {
    let db = DbInstance::default();
    rows(&db, ":create r {k}");
    rows(&db, "::set_triggers r on put { n[x] := _new[x]  n[x] := n[y], x = y + 1  ?[x] := n[x] :timeout 0 }");
    let outcome = start(&db, "?[k] <- [[0]] :put r {k}");
    rows(&db, &format!("::kill {}", running_number(&db)));
    assert_eq!(code(outcome.recv_timeout(PATIENCE).unwrap().unwrap_err()), "eval::killed");
    assert!(rows(&db, "?[k] := *r[k]").is_empty());
}
