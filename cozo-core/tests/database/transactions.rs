//! Transactions seen from outside: isolation, conflicts, and all or nothing.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use cozo::{DataValue, DbInstance, NamedRows, ScriptMutability, SimpleFixedRule, format_error_as_json};

use crate::common::{code, failure, number, rows, run_with, running_number};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

fn database(scripts: &[&str]) -> DbInstance {
    let db = DbInstance::default();
    scripts.iter().for_each(|script| drop(rows(&db, script)));
    db
}

#[test]
fn writers_of_different_keys_never_fail() {
    const EACH: i64 = 300;
    let db = database(&[":create r {writer: Int, n: Int => twice: Int}"]);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let db = &db;
            scope.spawn(move || {
                for n in 0..EACH {
                    let script =
                        "?[writer, n, twice] := writer = $writer, n = $n, twice = n * 2 :put r {writer, n => twice}";
                    run_with(db, script, &[("writer", writer), ("n", n)]).expect("no one else writes this key");
                }
            });
        }
    });
    assert_eq!(number(&db, "?[count(n)] := *r{n, twice}, twice == n * 2"), 4 * EACH);
}

#[test]
fn of_many_puts_of_one_key_the_last_stays_and_all_see_it() {
    const EACH: i64 = 3000;
    let db = database(&["?[k, n] <- [[0, 0]] :create r {k: Int => n: Int}"]);
    let put = |k: i64, n: i64| {
        run_with(&db, "?[k, n] <- [[$k, $n]] :put r {k => n}", &[("k", k), ("n", n)]).expect("it reads nothing");
    };
    let last = Mutex::new(0);
    let writers_left = AtomicUsize::new(3);
    std::thread::scope(|scope| {
        for writer in 1..=3 {
            let (put, last, writers_left) = (&put, &last, &writers_left);
            scope.spawn(move || {
                for n in 1..=EACH {
                    put(writer * EACH + n, n);
                    if n % 3 == 0 {
                        // One writer after another puts a larger number.
                        let mut last = last.lock().unwrap();
                        *last += 1;
                        put(0, *last);
                    }
                }
                writers_left.fetch_sub(1, Ordering::Relaxed);
            });
        }
        while writers_left.load(Ordering::Relaxed) > 0 {
            let before = *last.lock().unwrap();
            let seen = number(&db, "?[n] := *r{k: 0, n}");
            let after = *last.lock().unwrap();
            assert!((before..=after).contains(&seen), "{seen} was seen, {before} before and {after} after");
            std::thread::sleep(Duration::from_micros(300));
        }
    });
    assert_eq!(number(&db, "?[n] := *r{k: 0, n}"), EACH);
    assert_eq!(number(&db, "?[count(k)] := *r{k}"), 3 * EACH + 1);
}

/// Adds one to the counter, again and again until no one else came first.
fn increment(db: &DbInstance) {
    let script = "?[k, n] := k = 'c', *counter{k, n: old}, n = old + 1 :put counter {k => n}";
    while let Err(error) = db.run_default(script) {
        assert_eq!(code(error), "transact::conflict");
    }
}

#[test]
fn no_increment_of_a_shared_counter_is_lost() {
    for threads in [2, 4] {
        let each = 10_000;
        let db = database(&["?[k, n] <- [['c', 0]] :create counter {k: String => n: Int}"]);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| (0..each).for_each(|_| increment(&db)));
            }
        });
        assert_eq!(number(&db, "?[n] := *counter{n}"), threads * each, "with {threads} threads");
    }
}

#[test]
fn the_first_of_two_committers_wins() {
    for (first, second) in [
        ("?[k, n] <- [['c', 1]] :put r {k => n}", "?[k, n] <- [['c', 2]] :put r {k => n}"),
        ("?[k] <- [['c']] :rm r {k}", "?[k, n] <- [['c', 2]] :update r {k => n}"),
        ("?[k, n] <- [['c', 1]] :put r {k => n}", "?[k] <- [['c']] :rm r {k}"),
        ("?[k, n] <- [['c', 1]] :put r {k => n}", "?[k, n] <- [['c', 0]] :ensure r {k => n}"),
        ("?[k, n] <- [['d', 1]] :put r {k => n}", "?[k] <- [['d']] :ensure_not r {k}"),
        ("?[k, n] <- [['d', 1]] :insert r {k => n}", "?[k, n] <- [['d', 1]] :insert r {k => n}"),
    ] {
        let db = database(&["?[k, n] <- [['c', 0]] :create r {k => n}", ":create other {a}"]);
        let late = db.multi_transaction(true);
        late.run_script(second, BTreeMap::new()).unwrap();
        late.run_script("?[a] <- [[1]] :put other {a}", BTreeMap::new()).unwrap();
        rows(&db, first);
        assert_eq!(code(late.commit().expect_err(second)), "transact::conflict", "{first} / {second}");
        assert!(rows(&db, "?[a] := *other[a]").is_empty(), "the loser wrote nothing");
    }
}

/// A fixed rule `Meet`, which waits twice until the test is there, too.
fn meeting(db: &DbInstance) -> Arc<Barrier> {
    let barrier = Arc::new(Barrier::new(2));
    let inside = barrier.clone();
    let meet = SimpleFixedRule::new(1, move |_, _| {
        inside.wait();
        inside.wait();
        Ok(NamedRows::new(vec!["x".to_string()], vec![]))
    });
    db.register_fixed_rule("Meet".to_string(), meet).unwrap();
    barrier
}

#[test]
fn a_conflict_shows_the_script_that_lost() {
    let db = database(&["?[k, v] <- [[1, 'first']] :create r {k => v}"]);
    let barrier = meeting(&db);
    let loser = db.clone();
    let script = "\n {?[k, v] := *r{k}, v = 'late' :put r {k => v}}\n {?[x] <~ Meet()}";
    let thread = std::thread::spawn(move || format_error_as_json(loser.run_default(script).unwrap_err(), Some(script)));
    barrier.wait();
    rows(&db, "?[k, v] <- [[1, 'early']] :put r {k => v}");
    barrier.wait();
    let error = thread.join().unwrap();
    assert_eq!(error["code"], "transact::conflict");
    let first_line = script.trim_start().lines().next().unwrap();
    assert_eq!(error["labels"][0]["span"], serde_json::json!({"offset": 2, "length": first_line.len()}));
}

#[test]
fn a_script_that_reads_nothing_counts_as_begun_when_it_commits() {
    let db = database(&[":create r {k => v}"]);
    let barrier = meeting(&db);
    let late = db.clone();
    let script = "{?[k, v] <- [[1, 'late']] :put r {k => v}} {?[x] <~ Meet()}";
    let thread = std::thread::spawn(move || late.run_default(script).map(drop));
    barrier.wait();
    rows(&db, "?[k, v] <- [[1, 'early']] :put r {k => v}");
    barrier.wait();
    thread.join().unwrap().unwrap();
    assert_eq!(rows(&db, "?[v] := *r{k: 1, v}"), [[DataValue::from("late")]]);
}

#[test]
fn reading_what_another_writes_is_no_conflict() {
    let db = database(&["?[k, n] <- [['c', 0]] :create r {k => n}", ":create copy {n}"]);
    let late = db.multi_transaction(true);
    late.run_script("?[n] := *r{n} :put copy {n}", BTreeMap::new()).unwrap();
    rows(&db, "?[k, n] <- [['c', 5]] :put r {k => n}");
    late.commit().unwrap();
    assert_eq!(number(&db, "?[n] := *copy[n]"), 0);
}

#[test]
fn readers_see_two_relations_change_together() {
    let db = database(&["?[k, n] <- [[0, 500]] :create left {k => n}", "?[k, n] <- [[0, 500]] :create right {k => n}"]);
    let transfer = "{?[k, n] := *left{k, n: m}, n = m - $amount :put left {k => n}}
                    {?[k, n] := *right{k, n: m}, n = m + $amount :put right {k => n}}";
    let (done, saw_a_write) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let reader = || {
            let mut seen = BTreeSet::new();
            while !done.load(Ordering::Relaxed) {
                let both = rows(&db, "?[l, r] := *left{n: l}, *right{n: r}").remove(0);
                let (left, right) = (both[0].get_int().unwrap(), both[1].get_int().unwrap());
                assert_eq!(left + right, 1000);
                assert_eq!(number(&db, "{?[n] := *left{n}} as _l {?[s] := *_l{n: l}, *right{n: r}, s = l + r}"), 1000);
                seen.insert(left);
                saw_a_write.fetch_or(seen.len() > 1, Ordering::Relaxed);
            }
        };
        let readers = [scope.spawn(reader), scope.spawn(reader)];
        // A busy machine may keep the readers waiting for long.
        for round in (0..1_000_000).take_while(|round| *round < 2000 || !saw_a_write.load(Ordering::Relaxed)) {
            run_with(&db, transfer, &[("amount", round % 7 - 3)]).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().expect("every read was consistent"));
        assert!(saw_a_write.load(Ordering::Relaxed), "the readers saw no write happen");
    });
}

#[test]
fn a_script_reads_one_snapshot_throughout() {
    let db = database(&[":create r {n}"]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                run_with(&db, "?[n] <- [[$n]] :put r {n}", &[("n", n)]).unwrap();
            }
        });
        let mut sizes = BTreeSet::new();
        for _ in 0..20 {
            let twice = db.run_default(
                "{?[count(n)] := *r[n]} as _before
                 {?[x] <- [[1]] :sleep 0.01}
                 {?[before, after] := *_before{count_n: before}, later[after]  later[count(n)] := *r[n]}",
            );
            let counts = twice.unwrap().rows.remove(0);
            assert_eq!(counts[0], counts[1]);
            sizes.insert(counts[0].clone());
        }
        done.store(true, Ordering::Relaxed);
        assert!(sizes.len() > 1, "nothing was written meanwhile");
    });
}

#[test]
fn readers_do_not_wait_for_a_slow_writer() {
    let db = database(&["?[a] <- [[1]] :create r {a}"]);
    let (sender, finished) = channel();
    let writer = db.clone();
    let thread = std::thread::spawn(move || {
        let outcome = writer.run_default("{?[a] <- [[2]] :put r {a}} {?[x] <- [[1]] :sleep 100 :timeout 0}");
        sender.send(outcome).expect("the test waits");
    });
    let number = running_number(&db);
    for _ in 0..50 {
        assert_eq!(rows(&db, "?[a] := *r[a]").len(), 1, "what is not committed is not seen");
        std::thread::sleep(Duration::from_millis(2));
    }
    rows(&db, "?[a] <- [[3]] :put r {a}");
    assert!(finished.try_recv().is_err(), "the writer was to be still at work");
    run_with(&db, "::kill $number", &[("number", number)]).unwrap();
    assert_eq!(code(finished.recv().expect("it ends").unwrap_err()), "eval::killed");
    thread.join().unwrap();
    assert_eq!(rows(&db, "?[a] := *r[a]").len(), 2, "the killed writer left nothing, the other its row");
}

#[test]
fn a_failing_script_changes_nothing() {
    let setup = ["?[k, n] <- [[1, 1]] :create r {k => n: Int}", ":create s {a}"];
    for bad in [
        "?[k, n] <- [[1, 5], [2, 'x']] :put r {k => n}",
        "?[k, n] <- [[2, 2], [1, 5]] :insert r {k => n}",
        "?[k, n] <- [[1, 5], [2, 2]] :update r {k => n}",
        "?[k] <- [[1], [2]] :delete r {k}",
        "{?[k, n] <- [[1, 5], [2, 2]] :put r {k => n}} {?[x] := x = 1 + 'a'}",
        "{?[k] <- [[1]] :rm r {k}} {?[a] <- [[1]] :put s {a}} {?[a] <- [[1]] :assert none}",
        "{?[a] <- [[1]] :put s {a}} {:create fresh {a}} {?[a] := *nowhere[a]}",
        "{?[k, n] <- [[9, 9]] :replace r {k => n}} {?[a] <- [[1]] :ensure s {a}}",
        "{::remove r} {?[a] <- [[1]] :put s {a}} %break",
        "{::rename r -> q} {?[a] <- [[1]] :insert s {a}} {?[a] <- [[1]] :insert s {a}}",
    ] {
        let db = database(&setup);
        db.run_default(bad).expect_err(bad);
        assert_eq!(rows(&db, "?[k, n] := *r[k, n]"), vec![vec![DataValue::from(1), DataValue::from(1)]], "{bad}");
        assert!(rows(&db, "?[a] := *s[a]").is_empty(), "{bad}");
        assert_eq!(rows(&db, "::relations").len(), 2, "{bad}");
    }
}

#[test]
fn of_concurrent_creations_of_one_name_one_wins() {
    const THREADS: usize = 4;
    for _ in 0..50 {
        let db = DbInstance::default();
        let barrier = Barrier::new(THREADS);
        let outcomes: Vec<cozo::Result<NamedRows>> = std::thread::scope(|scope| {
            let create = |n: usize| {
                let (db, barrier) = (&db, &barrier);
                move || {
                    barrier.wait();
                    db.run_default(&format!("?[a] <- [[{n}]] :create same {{a}}"))
                }
            };
            let threads: Vec<_> = (0..THREADS).map(|n| scope.spawn(create(n))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        for error in outcomes.into_iter().filter_map(Result::err) {
            assert!(error.to_string().contains("same"), "the message names the relation: {error}");
            let code = code(error);
            assert!(["eval::stored_relation_conflict", "transact::schema_conflict"].contains(&code.as_str()), "{code}");
        }
        assert_eq!(rows(&db, "?[a] := *same[a]").len(), 1);
    }
}

#[test]
fn writing_to_a_relation_that_another_removed_is_refused() {
    let db = database(&[":create r {a}"]);
    let late = db.multi_transaction(true);
    late.run_script("?[a] <- [[1]] :put r {a}", BTreeMap::new()).unwrap();
    rows(&db, "::remove r");
    assert_eq!(code(late.commit().unwrap_err()), "transact::schema_conflict");
    assert_eq!(failure(&db, "?[a] := *r[a]"), "query::relation_not_found");
}

#[test]
fn a_chained_script_sees_its_own_writes() {
    let db = database(&["?[k, n] <- [[1, 1], [2, 2], [3, 3]] :create r {k => n}"]);
    let seen = rows(
        &db,
        "{?[k, n] <- [[1, 10], [4, 40]] :put r {k => n}}
         {?[k] <- [[2]] :rm r {k}}
         {?[k, n] := *r{k, n: m}, n = m + 1 :update r {k => n}}
         {?[a] := *r{k: a} :create keys {a}}
         {?[k, n] := *r[k, n], *keys[k]}",
    );
    let expected = [[1, 11], [3, 4], [4, 41]].map(|row| row.map(DataValue::from).to_vec());
    assert_eq!(seen, expected);
    assert_eq!(rows(&db, "?[k, n] := *r[k, n], *keys[k]"), expected, "and so do others, once it is committed");
}

#[test]
fn a_query_reads_the_state_before_its_own_writes() {
    let db = database(&["?[n] := n in int_range(100) :create r {n}"]);
    rows(&db, "?[n] := *r[m], n = m + 1 :put r {n}");
    assert_eq!(number(&db, "?[count(n)] := *r[n]"), 101);
}

fn named(headers: &[&str], rows: &[[DataValue; 2]]) -> NamedRows {
    let headers = headers.iter().map(|header| header.to_string()).collect();
    NamedRows::new(headers, rows.iter().map(|row| row.to_vec()).collect())
}

#[test]
fn an_import_is_all_or_nothing() {
    let db = database(&["?[k, n] <- [[1, 1]] :create a {k => n: Int}", "?[k, n] <- [[1, 1]] :create b {k => n: Int}"]);
    let good = || named(&["k", "n"], &[[2.into(), 2.into()]]);
    let bads = [
        ("b", named(&["k", "n"], &[[3.into(), 3.into()], [4.into(), "x".into()]])),
        ("b", named(&["k", "wrong"], &[[3.into(), 3.into()]])),
        ("nowhere", good()),
        ("-b", named(&["n", "other"], &[[1.into(), 1.into()]])),
    ];
    for (name, bad) in bads {
        let data = BTreeMap::from([("a".to_string(), good()), (name.to_string(), bad)]);
        db.import_relations(data).expect_err(name);
        assert_eq!(number(&db, "?[count(k)] := *a[k, _]"), 1, "{name}");
        assert_eq!(number(&db, "?[count(k)] := *b[k, _]"), 1, "{name}");
    }
    let removal = named(&["k", "n"], &[[1.into(), 0.into()]]);
    db.import_relations(BTreeMap::from([("a".to_string(), good()), ("-b".to_string(), removal)])).unwrap();
    assert_eq!(number(&db, "?[count(k)] := *a[k, _]"), 2);
    assert_eq!(number(&db, "?[count(k)] := *b[k, _]"), 0);
}

#[test]
fn no_value_of_an_import_is_lost_behind_the_headers() {
    let db = database(&["?[k, n] <- [[1, 1]] :create r {k => n: Int}"]);
    let good = vec![2.into(), 2.into(), 2.into()];
    for (bad, row) in [(4, 1), (2, 1), (0, 1), (3, 0)] {
        let bad = vec![DataValue::from(3); bad];
        let rows = if row == 1 { vec![good.clone(), bad] } else { vec![bad, good[..2].to_vec()] };
        let headers = ["k", "n", "other"].map(str::to_string)[..good.len()].to_vec();
        let headers = if row == 1 { headers } else { headers[..2].to_vec() };
        let error = db.import_relations([("r".to_string(), NamedRows::new(headers, rows))].into()).unwrap_err();
        assert!(error.to_string().contains(&format!("row {row} has")), "{error}");
        assert_eq!(crate::common::code(error), "import::bad_data");
    }
    assert_eq!(number(&db, "?[count(k)] := *r[k, _]"), 1);
}

#[test]
fn readers_see_all_relations_of_an_import_or_none() {
    let db = database(&[":create a {k => n}", ":create b {k => n}"]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = BTreeSet::new();
            while seen.len() < 3 {
                let counts =
                    rows(&db, "a[count(k)] := *a[k, _]  b[count(k)] := *b[k, _]  ?[a, b] := a[a], b[b]").remove(0);
                assert_eq!(counts[0], counts[1]);
                let exported = db.export_relations(["a", "b"].iter()).unwrap();
                assert_eq!(exported["a"].rows, exported["b"].rows);
                seen.insert(counts[0].clone());
            }
            done.store(true, Ordering::Relaxed);
        });
        // Goes on until the reader has seen some imports happen, however the threads are scheduled.
        for batch in (0..).take_while(|_| !done.load(Ordering::Relaxed) && !reader.is_finished()) {
            let rows: Vec<_> = (0..3).map(|n| [DataValue::from(batch * 3 + n), DataValue::Null]).collect();
            let data = ["a", "b"].map(|name| (name.to_string(), named(&["k", "n"], &rows)));
            db.import_relations(data.into()).unwrap();
        }
        reader.join().expect("every read was consistent");
    });
}

#[test]
fn an_ignored_error_undoes_its_block_and_nothing_else() {
    for bad in [
        "?[k, n] <- [[1, 100], [5, 'x']] :put r {k => n}",
        "?[k, n] <- [[5, 5], [1, 100]] :insert r {k => n}",
        "?[k, n] <- [[1, 100], [7, 7]] :update r {k => n}",
        "?[k] <- [[1], [7]] :delete r {k}",
        "?[k, n] <- [[1, 100], [2, 'x']] :replace r {k => n: Int}",
        "?[k] <- [['x']] :create fresh {k: Int}",
        "?[k] <- [[5], ['x']] :replace _t {k: Int}",
    ] {
        let db = database(&["?[k, n] <- [[1, 1]] :create r {k => n: Int}"]);
        let script = format!(
            "{{?[k, n] <- [[1, 10], [2, 20]] :put r {{k => n}}}}
             {{?[k] <- [[0]] :create _t {{k}}}}
             %ignore_error {{{bad}}}
             {{?[k, n] <- [[3, 30]] :put r {{k => n}}}}
             {{?[k] := *_t[k]}}"
        );
        assert_eq!(number(&db, &script), 0, "{bad}");
        let expected = [[1, 10], [2, 20], [3, 30]].map(|row| row.map(DataValue::from).to_vec());
        assert_eq!(rows(&db, "?[k, n] := *r[k, n]"), expected, "{bad}");
        assert_eq!(failure(&db, "?[k] := *fresh[k]"), "query::relation_not_found", "{bad}");
    }
}

#[test]
fn a_block_that_succeeds_under_ignore_error_is_kept() {
    let db = database(&[":create r {k}"]);
    rows(&db, "%ignore_error {?[k] <- [[1]] :put r {k}} {?[k] <- [[2]] :put r {k}}");
    assert_eq!(rows(&db, "?[k] := *r[k]").len(), 2);
}

#[test]
fn an_immutable_run_refuses_every_write() {
    let db = database(&["?[k] <- [[1]] :create r {k}"]);
    for script in [
        "?[k] <- [[2]] :put r {k}",
        ":create s {k}",
        "{?[k] <- [[2]] :create _t {k}} {?[k] := *_t[k] :put r {k}}",
        "::remove r",
        "::rename r -> q",
    ] {
        let outcome = db.run_script(script, BTreeMap::new(), ScriptMutability::Immutable);
        assert_eq!(code(outcome.expect_err(script)), "query::read_only", "{script}");
    }
    let ephemeral = "{?[k] <- [[2]] :create _t {k}} {?[k] := *_t[k]}";
    db.run_script(ephemeral, BTreeMap::new(), ScriptMutability::Immutable).unwrap();
    assert_eq!(number(&db, "?[k] := *r[k]"), 1);
}

#[test]
fn what_others_write_to_a_relation_that_is_replaced_or_removed_is_not_lost() {
    for script in [
        "{?[k, v] := *r{k, v} :replace r {k => v}}",
        "{?[k, v] := *r{k, v: old}, v = old + 1 :replace r {k => v}}",
        "{?[k] := *r{k} :assert some} {::remove r}",
        "{?[k, v] := *r{k, v} :create other {k => v}} {::remove r} {::rename other -> r}",
    ] {
        let db = database(&["?[k, v] <- [[1, 1]] :create r {k => v}"]);
        // The script begins with its first statement, and waits in it until another has written.
        let slow = format!("{{?[k] := *r{{k}} :sleep 0.3}} {script}");
        let outcome = std::thread::scope(|scope| {
            let replacing = scope.spawn(|| db.run_default(&slow));
            std::thread::sleep(Duration::from_millis(100));
            db.run_default("?[k, v] <- [[2, 2]] :put r {k => v}").unwrap();
            replacing.join().unwrap()
        });
        assert_eq!(code(outcome.expect_err(script)), "transact::conflict", "{script}");
        assert_eq!(number(&db, "?[count(k)] := *r{k}"), 2, "{script}");
    }
}

/// Edges of a large relation are put together, some at a time; nobody can tell.
#[test]
fn what_one_thread_puts_into_a_large_relation_is_there_for_whatever_comes_next() {
    const NODES: i64 = 60_000;
    const DEGREE: i64 = 10;
    let db =
        database(&["{:create e {fr: Int, to: Int}} {:create rev {to: Int, fr: Int}} {:create v {k: Int => n: Int}}"]);
    let edges = (0..NODES).flat_map(|fr| (0..DEGREE).map(move |to| [fr.into(), to.into()])).collect::<Vec<_>>();
    db.import_relations([("e".to_string(), named(&["fr", "to"], &edges))].into()).unwrap();

    let mut expected: BTreeSet<(i64, i64)> = BTreeSet::new();
    let mut points = BTreeMap::new();
    let mut random = StdRng::seed_from_u64(7);
    let mut below = |limit: i64| random.random_range(0..limit);
    for step in 0..6000 {
        let (fr, to) = (below(NODES), DEGREE + below(3));
        let pairs = [("fr", fr), ("to", to)];
        let run = |script: &str| run_with(&db, script, &pairs).unwrap().rows;
        match below(200) {
            0 => {
                run("{?[fr, to] <- [[$fr, $to]] :rm e {fr, to}} {?[fr, to] <- [[$fr, $to]] :rm rev {fr, to}}");
                expected.remove(&(fr, to));
            }
            1 => {
                run("?[k, n] <- [[$fr, $to]] :put v {k => n}");
                points.insert(fr, to);
            }
            2 => {
                let found = run("?[to] := *e{fr: $fr, to}, to >= 10");
                let there = expected.range((fr, 0)..(fr + 1, 0)).map(|(_, to)| vec![DataValue::from(*to)]);
                assert_eq!(found, there.collect::<Vec<_>>(), "of {fr} at step {step}");
            }
            3 => {
                let counted = number(&db, "?[count(fr)] := *rev{to, fr}, *e{fr, to}");
                assert_eq!(counted, expected.len() as i64, "at step {step}");
            }
            _ => {
                run("{?[fr, to] <- [[$fr, $to]] :put e {fr, to}} {?[fr, to] <- [[$fr, $to]] :put rev {fr, to}}");
                expected.insert((fr, to));
            }
        }
        if step % 1500 == 1499 {
            rows(&db, "::index create rev:by_fr {fr}");
            assert_eq!(number(&db, "?[count(to)] := *rev:by_fr{fr, to}"), expected.len() as i64, "at step {step}");
            rows(&db, "::index drop rev:by_fr");
        }
    }
    assert_eq!(number(&db, "?[count(fr)] := *e{fr, to}"), NODES * DEGREE + expected.len() as i64);
    let points = points.into_iter().map(|(k, n)| vec![DataValue::from(k), DataValue::from(n)]);
    assert_eq!(rows(&db, "?[k, n] := *v{k, n}"), points.collect::<Vec<_>>());
}
