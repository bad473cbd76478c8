//! What one process writes, the others see: rows, definitions, triggers, indices, and changes for callbacks.

use std::time::Duration;

use cozo::{CallbackOp, ChangePosition, DataValue, SharedChange, SharedChanges};

use super::{Cluster, code, ints, rows};

#[test]
fn each_process_sees_what_others_write() {
    let cluster = Cluster::new();
    let (a, b) = (cluster.open("mem", ""), cluster.open("sqlite", "b"));
    rows(&a, "?[k, v] <- [[1, 'one'], [2, 'two']] :create word {k: Int => v: String}");
    assert_eq!(rows(&b, "?[v] := *word{k: 2, v}"), [[DataValue::from("two")]]);
    rows(&b, "?[k, v] <- [[2, 'zwei'], [3, 'drei']] :put word {k => v}");
    rows(&b, "?[k] <- [[1]] :rm word {k}");
    assert_eq!(ints(&a, "?[k] := *word{k}"), [2, 3]);
    rows(&a, "::index create word:by_text {v}");
    rows(&b, "?[k, v] <- [[4, 'vier']] :put word {k => v}");
    assert_eq!(ints(&a, "?[k] := *word:by_text{v: 'vier', k}"), [4]);
    rows(&a, "::fts create word:fts {extractor: v, tokenizer: Simple}");
    rows(&b, "?[k, v] <- [[5, 'fuenf und vier']] :put word {k => v}");
    assert_eq!(ints(&a, "?[k] := ~word:fts{k | query: 'vier', k: 9} :order k"), [4, 5]);
    assert_eq!(ints(&b, "?[k] := ~word:fts{k | query: 'vier', k: 9} :order k"), [4, 5]);
    rows(&b, "::rename word -> words");
    assert_eq!(ints(&a, "?[count(k)] := *words{k}"), [4]);
    rows(&a, "::index drop words:by_text");
    rows(&b, "::fts drop words:fts");
    rows(&a, "::remove words");
    assert_eq!(rows(&b, "::relations").len(), 0);
}

#[test]
fn triggers_run_where_the_write_is() {
    let cluster = Cluster::new();
    let (a, b) = (cluster.open("mem", ""), cluster.open("mem", ""));
    rows(&a, "{:create item {k}} {:create seen {k}}");
    rows(&a, "::set_triggers item on put { ?[k] := _new[k] :put seen {k} }");
    rows(&b, "?[k] <- [[1], [2]] :put item {k}");
    assert_eq!(ints(&a, "?[k] := *seen{k}"), [1, 2]);
}

/// A transaction that has read what another process changes meanwhile does not commit.
#[test]
fn the_first_committer_wins() {
    let cluster = Cluster::new();
    let (a, b) = (cluster.open("mem", ""), cluster.open("mem", ""));
    rows(&a, "?[k, v] <- [[1, 0]] :create counter {k => v}");
    a.catch_up().unwrap();
    b.catch_up().unwrap();
    let (one, other) = (a.multi_transaction(true), b.multi_transaction(true));
    let add = "?[k, v] := *counter{k, v: n}, v = n + 1 :put counter {k => v}";
    one.run_script(add, Default::default()).unwrap();
    other.run_script(add, Default::default()).unwrap();
    one.commit().unwrap();
    assert_eq!(code(&other.commit().unwrap_err()), "transact::conflict");
    assert_eq!(ints(&b, "?[v] := *counter{v}"), [1]);
    // Other keys are no conflict, though both append to the same log.
    let (one, other) = (a.multi_transaction(true), b.multi_transaction(true));
    one.run_script("?[k, v] <- [[2, 0]] :insert counter {k => v}", Default::default()).unwrap();
    other.run_script("?[k, v] <- [[3, 0]] :insert counter {k => v}", Default::default()).unwrap();
    one.commit().unwrap();
    other.commit().unwrap();
    assert_eq!(ints(&a, "?[k] := *counter{k}"), [1, 2, 3]);
    // A definition that another process has changed.
    let (one, other) = (a.multi_transaction(true), b.multi_transaction(true));
    one.run_script("?[k, w] <- [[1, 2]] :replace counter {k => w}", Default::default()).unwrap();
    other.run_script("?[k, v] <- [[4, 0]] :put counter {k => v}", Default::default()).unwrap();
    one.commit().unwrap();
    assert_eq!(code(&other.commit().unwrap_err()), "transact::schema_conflict");
}

#[test]
fn callbacks_get_the_changes_of_others_in_order_and_once() {
    let cluster = Cluster::new();
    let (a, b) = (cluster.open("mem", ""), cluster.open("mem", ""));
    rows(&a, ":create r {k => v}");
    b.catch_up().unwrap();
    let (_, changes) = b.register_callback("r", None);
    for n in 0..50 {
        let writer = if n % 3 == 0 { &b } else { &a };
        rows(writer, &format!("?[k, v] <- [[{}, {n}]] :put r {{k => v}}", n % 5));
    }
    rows(&a, "?[k] <- [[0]] :rm r {k}");
    rows(&a, "?[k] <- [[0]] :rm r {k}");
    let mut last: [Option<i64>; 5] = [None; 5];
    for n in 0..50 {
        let (op, new, old) = changes.recv_timeout(Duration::from_secs(20)).unwrap();
        let key = (n % 5) as usize;
        assert_eq!((op, new.rows), (CallbackOp::Put, vec![vec![(n % 5).into(), n.into()]]));
        let before = last[key].map(|before| vec![DataValue::from(n % 5), before.into()]);
        assert_eq!(old.rows, before.into_iter().collect::<Vec<_>>(), "write {n}");
        last[key] = Some(n);
    }
    let (op, keys, old) = changes.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!((op, keys.rows, old.rows), (CallbackOp::Rm, vec![vec![0.into()]], vec![vec![0.into(), 45.into()]]));
    assert!(changes.recv_timeout(Duration::from_millis(500)).is_err(), "a removal of nothing is no change");
}

/// As text, so that it can be compared: what changed, in words.
fn told(change: &SharedChange) -> String {
    let list = |rows: &[Vec<DataValue>]| {
        format!("{:?}", rows.iter().map(|row| row.iter().map(|v| v.get_int()).collect::<Vec<_>>()).collect::<Vec<_>>())
    };
    format!("{} {} {} {}", change.position, change.op, list(&change.new_rows.rows), list(&change.old_rows.rows))
}

fn all(changes: &mut SharedChanges, count: usize) -> Vec<String> {
    (0..count)
        .map(|n| {
            let change = changes.next_within(Duration::from_secs(20)).unwrap();
            told(&change.unwrap_or_else(|| panic!("there are {n} of {count} changes")))
        })
        .collect()
}

/// Whatever a host had when it stopped, whichever process it asks then, and whether the entries are still in the log or a checkpoint
/// is between: it gets the changes that it does not have.
#[test]
fn changes_go_on_from_any_position() {
    let cluster = Cluster::new();
    let (a, b) = (cluster.open("mem", ""), cluster.open("sqlite", "b"));
    let start = a.shared_changes("r", None).unwrap().position().unwrap();
    rows(&a, ":create r {k => v}");
    for n in 0..40 {
        let writer = if n % 3 == 0 { &b } else { &a };
        let key = n % 5;
        match n % 8 {
            3 => {
                rows(writer, &format!("{{?[k] <- [[{key}]] :rm r {{k}}}} {{?[k, v] <- [[9, {n}]] :put r {{k => v}}}}"))
            }
            5 => rows(writer, &format!("?[k, v] <- [[{key}, {n}]] :create other{n} {{k => v}}")),
            6 => rows(writer, "?[k] <- [[7]] :rm r {k}"),
            _ => rows(writer, &format!("?[k, v] <- [[{key}, {n}], [{key} + 100, {n}]] :put r {{k => v}}")),
        };
        if n == 20 {
            a.catch_up().unwrap();
            a.checkpoint().unwrap();
            rows(&b, "?[k, v] := *r{k, v: w}, v = w * 2 :replace r {k => v}");
        }
    }
    rows(&b, "::rename r -> s");
    rows(&b, "?[k, v] <- [[1, 1]] :put s {k => v}");
    rows(&a, "::rename s -> r");
    rows(&a, "?[k, v] <- [[1, 2]] :put r {k => v}");
    b.catch_up().unwrap();
    let mut live = a.shared_changes("r", Some(start)).unwrap();
    let (mut changes, mut positions) = (vec![], vec![start]);
    while let Some(change) = live.next_within(Duration::from_millis(300)).unwrap() {
        assert!(change.position > positions[positions.len() - 1], "{}", change.position);
        positions.push(change.position);
        changes.push(told(&change));
    }
    // 4 rounds of 8 with 5 puts, one put and removal, 2 without; the replacement; the last put.
    assert!(changes.len() > 30, "{changes:#?}");
    for (at, position) in positions.iter().enumerate() {
        let asked: ChangePosition = position.to_string().parse().unwrap();
        let again = if at % 2 == 0 { &a } else { &b };
        let mut changes_after = again.shared_changes("r", Some(asked)).unwrap();
        assert_eq!(all(&mut changes_after, changes.len() - at), changes[at..], "after {position}");
        assert!(changes_after.next_within(Duration::from_millis(1)).unwrap().is_none());
    }
    // They go on with what comes, from a replica that begins now, too.
    let c = cluster.open("mem", "");
    let mut followed =
        [a.shared_changes("r", Some(positions[9])).unwrap(), c.shared_changes("r", Some(positions[9])).unwrap()];
    followed.iter_mut().for_each(|followed| assert_eq!(all(followed, changes.len() - 9), changes[9..]));
    rows(&b, "?[k, v] <- [[1, 3]] :put r {k => v}");
    rows(&a, "?[k, v] <- [[1, 4]] :put r {k => v}");
    for followed in &mut followed {
        let last = all(followed, 2);
        assert!(last[0].ends_with("Put [[Some(1), Some(3)]] [[Some(1), Some(2)]]"), "{last:?}");
        assert!(last[1].ends_with("Put [[Some(1), Some(4)]] [[Some(1), Some(3)]]"), "{last:?}");
    }
}

/// The operations of a transaction on the same rows are changes of their own, each of which finds what those before have left: for
/// the reader that goes along, for one that begins in the past, and for callbacks in another process.
#[test]
fn changes_of_a_transaction_follow_one_another() {
    let cluster = Cluster::new();
    let (a, b) = (cluster.open("mem", ""), cluster.open("sqlite", "b"));
    let start = a.shared_changes("r", None).unwrap().position().unwrap();
    let (_, called) = b.register_callback("r", None);
    rows(&a, "{:create r {k => v}} {?[k, v] <- [[1, 1]] :put r {k => v}} {?[k, v] <- [[1, 2]] :put r {k => v}}");
    rows(&a, "{?[k, v] <- [[5, 5]] :put r {k => v}} {?[k] <- [[5]] :rm r {k}}");
    rows(&a, "{?[k] <- [[1]] :rm r {k}} {?[k, v] <- [[1, 3]] :put r {k => v}} {?[k, v] <- [[1, 4]] :put r {k => v}}");
    b.catch_up().unwrap();
    let expected = [
        "Put [[1, 1]] []",
        "Put [[1, 2]] [[1, 1]]",
        "Put [[5, 5]] []",
        "Rm [[5]] [[5, 5]]",
        "Rm [[1]] [[1, 2]]",
        "Put [[1, 3]] []",
        "Put [[1, 4]] [[1, 3]]",
    ];
    let text = |op: CallbackOp, new: &[Vec<DataValue>], old: &[Vec<DataValue>]| {
        let ints = |rows: &[Vec<DataValue>]| -> Vec<Vec<i64>> {
            rows.iter().map(|row| row.iter().map(|value| value.get_int().unwrap()).collect()).collect()
        };
        format!("{op} {:?} {:?}", ints(new), ints(old))
    };
    let heard: Vec<String> = called.try_iter().map(|(op, new, old)| text(op, &new.rows, &old.rows)).collect();
    assert_eq!(heard, expected);
    let mut position = start;
    for (at, expected) in expected.iter().enumerate() {
        // Each time from the last position, in the one or the other process.
        let mut changes = [&a, &b][at % 2].shared_changes("r", Some(position)).unwrap();
        let change = changes.next_within(Duration::from_secs(20)).unwrap().unwrap();
        assert_eq!(text(change.op, &change.new_rows.rows, &change.old_rows.rows), *expected);
        position = change.position;
    }
    let last = a.shared_state().unwrap().unwrap().sequence;
    assert_eq!(
        position,
        ChangePosition { sequence: last + 1, message: 0 },
        "after the last change, no entry is needed"
    );
}

/// A process whose next entry was removed says so to its readers, and to whoever looks at the replica.
#[test]
fn readers_of_a_process_that_was_left_behind_are_told() {
    let cluster = Cluster::new();
    let a = cluster.open("mem", "");
    rows(&a, "?[k, v] <- [[1, 1]] :create r {k => v}");
    let options = format!(r#"{{"shared": {:?}}}"#, cluster.path("log"));
    let b = cozo::DbInstance::new("mem", "", &options).unwrap();
    let mut changes = b.shared_changes("r", None).unwrap();
    // A damaged entry stands for one that was removed before this process came to it.
    rows(&a, "?[k, v] <- [[1, 2]] :put r {k => v}");
    assert_eq!(all(&mut changes, 1).len(), 1);
    let folder = std::fs::read_dir(cluster.path("log/entries")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(folder.join(format!("{:020}", b.shared_state().unwrap().unwrap().sequence + 1)), "").unwrap();
    assert_eq!(code(&changes.next_within(Duration::from_secs(20)).unwrap_err()), "shared_log::damaged");
    assert!(b.shared_state().unwrap().unwrap().failure.is_some());
    assert!(rows(&b, "::replica")[0][3].get_str().is_some_and(|failure| failure.contains("damaged")));
}

#[test]
fn changes_that_cannot_be_had_are_refused() {
    let cluster = Cluster::new();
    let a = cluster.open("mem", "");
    rows(&a, ":create r {k => v}");
    let refused = |after: &str| code(&a.shared_changes("r", Some(after.parse().unwrap())).err().unwrap());
    assert_eq!(refused("1000.0"), "replica::changes_ahead");
    for text in ["", "1", "0.1", "a.b", "1.", "-1.0", "+1.0", "01.0"] {
        assert_eq!(code(&text.parse::<ChangePosition>().unwrap_err()), "replica::bad_position", "{text}");
    }
    let mut idle = a.shared_changes("r", None).unwrap();
    for n in 0..10 {
        rows(&a, &format!("?[k, v] <- [[1, {n}]] :put r {{k => v}}"));
    }
    a.truncate_log(a.checkpoint().unwrap()).unwrap();
    assert_eq!(refused("1.0"), "replica::changes_gone");
    assert_eq!(code(&idle.next_within(Duration::from_secs(5)).unwrap_err()), "replica::changes_gone");
    assert_eq!(code(&idle.next_within(Duration::from_secs(5)).unwrap_err()), "replica::changes_ended");
    let now = a.shared_changes("r", None).unwrap().position().unwrap();
    rows(&a, "?[k, v] <- [[1, 10]] :put r {k => v}");
    assert_eq!(all(&mut a.shared_changes("r", Some(now)).unwrap(), 1).len(), 1);
    let alone = cozo::DbInstance::default();
    assert_eq!(code(&alone.shared_changes("r", None).err().unwrap()), "replica::no_log");
    // Readers keep no file of a closed database.
    for engine in [
        "mem",
        "sqlite",
        #[cfg(feature = "storage-rocksdb")]
        "rocksdb",
    ] {
        let b = cluster.open(engine, engine);
        let mut left = [b.shared_changes("r", None).unwrap(), b.shared_changes("r", Some(now)).unwrap()];
        drop(b);
        drop(cluster.open(engine, engine));
        for left in &mut left {
            assert_eq!(code(&left.next_within(Duration::from_millis(1)).unwrap_err()), "replica::changes_ended");
        }
    }
}

/// Relations that two processes create at once get numbers of their own, or one of them has to try again.
#[test]
fn relations_created_at_once_are_kept_apart() {
    let cluster = Cluster::new();
    let dbs = [cluster.open("mem", ""), cluster.open("mem", ""), cluster.open("sqlite", "c")];
    std::thread::scope(|scope| {
        for (process, db) in dbs.iter().enumerate() {
            scope.spawn(move || {
                for n in 0..10 {
                    let script = format!("?[k] <- [[{process}], [{n}]] :create r{process}_{n} {{k}}");
                    while let Err(error) = db.run_default(&script) {
                        assert_eq!(code(&error), "transact::schema_conflict", "{error:?}");
                    }
                }
            });
        }
    });
    for db in &dbs {
        assert_eq!(rows(db, "::relations").len(), 30);
        for process in 0..3 {
            for n in 0..10 {
                let mut expected = vec![process, n];
                expected.sort();
                expected.dedup();
                assert_eq!(ints(db, &format!("?[k] := *r{process}_{n}{{k}}")), expected);
            }
        }
    }
}

/// Processes that seal the same part of a search index at once do not find its rows twice.
#[test]
fn search_indices_are_sealed_by_one_process_at_a_time() {
    let cluster = Cluster::new();
    let dbs = [cluster.open("mem", ""), cluster.open("mem", ""), cluster.open("sqlite", "c")];
    rows(
        &dbs[0],
        "{:create doc {k: Int => text: String}} {::fts create doc:words {extractor: text, tokenizer: Simple}}",
    );
    std::thread::scope(|scope| {
        for (process, db) in dbs.iter().enumerate() {
            scope.spawn(move || {
                for part in 0..12 {
                    let start = (part * 3 + process) * 300;
                    let script = format!(
                        "?[k, text] := k in int_range({start}, {start} + 300),
                            text = concat('all of group', to_string(k % 7), ' number', to_string(k))
                        :put doc {{k => text}}"
                    );
                    while let Err(error) = db.run_default(&script) {
                        assert_eq!(code(&error), "transact::conflict", "{error:?}");
                    }
                }
            });
        }
    });
    for db in &dbs {
        assert_eq!(ints(db, "f[k] := ~doc:words{k | query: 'all', k: 100000}  ?[count(k)] := f[k]"), [10_800]);
        let listed = rows(db, "?[k] := ~doc:words{k | query: 'all', k: 100000}").len();
        let group = rows(db, "?[k, s] := ~doc:words{k | query: 'group3', k: 100000, bind_score: s}").len();
        assert_eq!((listed, group), (10_800, 1_543));
    }
}
