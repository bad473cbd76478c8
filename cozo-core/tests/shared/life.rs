//! The life of a replica: it begins, is away, comes back, and is refused where it does not belong.

use cozo::{DbInstance, PointInTime};

use super::{Cluster, code, ints, open_shared, rows};

#[test]
fn a_replica_goes_on_where_it_ended() {
    let cluster = Cluster::new();
    for engine in ["sqlite", "mem"] {
        let log = cluster.path(&format!("log of {engine}"));
        let open = |name: &str| open_shared(engine, &cluster.path(name), &log).unwrap();
        let a = open("a");
        rows(&a, "?[k] <- [[1]] :create r {k}");
        drop(open(&format!("b of {engine}")));
        (2..30).for_each(|n| drop(rows(&a, &format!("?[k] <- [[{n}]] :put r {{k}}"))));
        let b = open(&format!("b of {engine}"));
        assert_eq!(ints(&b, "?[count(k)] := *r{k}"), [29]);
        rows(&b, "?[k] <- [[30]] :put r {k}");
        assert_eq!(ints(&a, "?[count(k)] := *r{k}"), [30]);
        assert_eq!(a.shared_state().unwrap().unwrap().sequence, b.shared_state().unwrap().unwrap().sequence);
        drop((a, b));
        // Of replicas in memory, only the log is left.
        assert_eq!(ints(&open(&format!("b of {engine}")), "?[count(k)] := *r{k}"), [30]);
    }
}

#[test]
fn a_database_that_is_there_becomes_the_first_checkpoint() {
    let cluster = Cluster::new();
    let path = cluster.path("own");
    let alone = DbInstance::new("sqlite", &path, "").unwrap();
    rows(&alone, "?[k, v] <- [[1, 'a'], [2, null]] :create r {k => v}");
    rows(&alone, "::index create r:by_v {v}");
    drop(alone);
    let a = cluster.open("sqlite", "own");
    let b = cluster.open("mem", "");
    assert_eq!(ints(&b, "?[k] := *r:by_v{v: 'a', k}"), [1]);
    rows(&b, "?[k, v] <- [[3, 'a']] :put r {k => v}");
    assert_eq!(ints(&a, "?[k] := *r:by_v{v: 'a', k}"), [1, 3]);
}

#[test]
fn who_was_away_for_long_begins_with_a_checkpoint() {
    let cluster = Cluster::new();
    let a = cluster.open("mem", "");
    rows(&a, "?[k, v] := k in int_range(100), v = k :create r {k => v}");
    rows(&a, "::index create r:by_v {v}");
    drop(cluster.open("sqlite", "b"));
    let behind = cluster.open("mem", "");
    rows(&a, "?[k, v] := k in int_range(50, 150), v = -k :put r {k => v}");
    rows(&a, "::index drop r:by_v");
    assert_eq!(code(&a.truncate_log(3).unwrap_err()), "replica::no_such_checkpoint");
    a.checkpoint().unwrap();
    rows(&a, ":create other {k}");
    let checkpoint = a.checkpoint().unwrap();
    assert_eq!(checkpoint_files(&cluster).len(), 2);
    a.truncate_log(checkpoint).unwrap();
    assert_eq!(checkpoint_files(&cluster).len(), 1);
    assert_eq!(a.checkpoints().unwrap(), [checkpoint]);
    rows(&a, "?[k] <- [[7]] :put other {k}");
    drop(behind);
    for (engine, name) in [("sqlite", "b"), ("sqlite", "new"), ("mem", "")] {
        let db = cluster.open(engine, name);
        assert_eq!(ints(&db, "?[count(k)] := *r{k, v}, v == if(k < 50, k, -k)"), [150]);
        assert_eq!(ints(&db, "?[k] := *other{k}, is_num(k)"), [7]);
        rows(&db, &format!("?[k] <- [['{engine}{name}']] :put other {{k}}"));
    }
    assert_eq!(ints(&a, "?[count(k)] := *other{k}"), [4]);
}

/// The process that began the log removes its first entry before another process has read it.
#[test]
fn a_log_that_one_process_has_truncated_keeps_its_identity() {
    let cluster = Cluster::new();
    let a = cluster.open("mem", "");
    rows(&a, "?[k] <- [[1]] :create r {k}");
    a.truncate_log(a.checkpoint().unwrap()).unwrap();
    assert_eq!(ints(&cluster.open("mem", ""), "?[k] := *r{k}"), [1]);
}

#[test]
fn what_does_not_belong_to_the_log_is_refused() {
    let cluster = Cluster::new();
    let a = cluster.open("sqlite", "a");
    rows(&a, ":create r {k}");
    drop(a);
    // A replica is no database of its own, but may be read.
    let alone = |options: &str| DbInstance::new("sqlite", cluster.path("a"), options);
    assert_eq!(code(&alone("").err().unwrap()), "replica::needs_log");
    assert_eq!(rows(&alone(r#"{"read_only": true}"#).unwrap(), "::relations").len(), 1);
    // A database with relations of its own.
    let own = DbInstance::new("sqlite", cluster.path("own"), "").unwrap();
    rows(&own, ":create mine {k}");
    drop(own);
    assert_eq!(code(&cluster.try_open("sqlite", "own").err().unwrap()), "replica::not_a_replica");
    // A replica of another log, and of one that has lost entries.
    let other = cluster.path("other log");
    drop(open_shared("mem", &cluster.path(""), &other).unwrap());
    assert_eq!(code(&open_shared("sqlite", &cluster.path("a"), &other).err().unwrap()), "replica::other_log");
    let empty = cluster.path("empty log");
    assert_eq!(code(&open_shared("sqlite", &cluster.path("a"), &empty).err().unwrap()), "replica::other_log");
    // What only a database of one process can do.
    let db = cluster.open("mem", "");
    db.backup_db(cluster.path("backup")).unwrap();
    let error =
        open_shared("mem", &cluster.path(""), &empty).unwrap().restore_backup(cluster.path("backup")).unwrap_err();
    assert_eq!(code(&error), "replica::unsupported");
    let fresh = DbInstance::new("mem", "", "").unwrap();
    fresh.restore_backup(cluster.path("backup")).unwrap();
    assert_eq!(rows(&fresh, "::relations").len(), 1);
    assert_eq!(code(&fresh.checkpoint().unwrap_err()), "replica::no_log");
}

/// Reads go on without the log; writes fail and change nothing.
#[test]
fn without_the_log_reads_go_on_and_writes_fail() {
    let cluster = Cluster::new();
    let log = cluster.path("log");
    let db = DbInstance::new("mem", "", &format!(r#"{{"shared": {log:?}, "shared_timeout": 0.2}}"#)).unwrap();
    rows(&db, "?[k] <- [[1]] :create r {k}");
    let away = cluster.path("away");
    std::fs::rename(&log, &away).unwrap();
    let error = db.run_default("?[k] <- [[2]] :put r {k}").unwrap_err();
    assert!(code(&error).starts_with("shared_log::"), "{error:?}");
    assert_eq!(ints(&db, "?[k] := *r{k}"), [1]);
    assert_eq!(rows(&db, "::replica")[0][1], 2.into());
    let age = db.shared_state().unwrap().unwrap().age;
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert!(db.shared_state().unwrap().unwrap().age > age);
    let _ = std::fs::remove_dir_all(&log);
    std::fs::rename(&away, &log).unwrap();
    rows(&db, "?[k] <- [[3]] :put r {k}");
    assert_eq!(ints(&cluster.open("mem", ""), "?[k] := *r{k}"), [1, 3]);
}

/// A database as it was after an entry, or before a time.
#[test]
fn the_past_is_read_and_restored() {
    let cluster = Cluster::new();
    let a = cluster.open("mem", "");
    rows(&a, ":create r {k}");
    let sequence = |db: &DbInstance| db.shared_state().unwrap().unwrap().sequence;
    let mut states = vec![(sequence(&a), 0)];
    for n in 1..=20 {
        rows(&a, &format!("?[k] <- [[{n}]] :put r {{k}}"));
        states.push((sequence(&a), n));
        if n == 10 {
            a.checkpoint().unwrap();
        }
    }
    let log = cluster.path("log").display().to_string();
    let mut entries = vec![];
    cozo::read_shared_log(&log, 0, |entry| {
        entries.push(entry);
        true
    })
    .unwrap();
    assert_eq!(entries.len(), 22, "the first entry, the relation, and twenty rows");
    assert_eq!((entries[0].transactions, entries[1].transactions), (0, 1));
    assert_eq!(entries[1].definitions[0].0, "r");
    assert!(entries[2..].iter().all(|entry| entry.rows.values().eq([&(1, 0)])), "{entries:?}");
    let restored = |point: PointInTime, name: &str| {
        let outcome = cozo::restore_from_log("sqlite", cluster.path(name), "", &log, point);
        outcome.map(|(number, _)| {
            let db = DbInstance::new("sqlite", cluster.path(name), "").unwrap();
            (number, ints(&db, "?[count(k)] := *r{k}")[0])
        })
    };
    for (number, count) in [states[0], states[9], states[10], states[11], states[20]] {
        let found = restored(PointInTime::Sequence(number), &format!("at {number}")).unwrap();
        assert_eq!(found, (number, count));
    }
    let time = entries.iter().find(|entry| entry.number == states[15].0).unwrap().micros;
    assert_eq!(restored(PointInTime::Micros(time), "at a time").unwrap(), states[15]);
    assert_eq!(code(&restored(PointInTime::Sequence(100), "too far").unwrap_err()), "replica::beyond_log");
    assert_eq!(code(&restored(PointInTime::Micros(0), "too early").unwrap_err()), "replica::beyond_log");
    assert_eq!(code(&restored(PointInTime::Sequence(5), "at a time").unwrap_err()), "replica::not_empty");
    a.truncate_log(states[10].0).unwrap();
    assert_eq!(restored(PointInTime::Sequence(states[12].0), "after the checkpoint").unwrap(), states[12]);
    assert_eq!(restored(PointInTime::Sequence(states[10].0), "the checkpoint").unwrap(), states[10]);
    assert!(restored(PointInTime::Sequence(states[3].0), "removed").is_err());
}

/// An entry that something else has removed is noticed by all who need it, and nothing is written over it.
#[test]
fn a_missing_entry_is_an_error() {
    let cluster = Cluster::new();
    let open = || {
        let options = format!(r#"{{"shared": {:?}, "shared_timeout": 1}}"#, cluster.path("log"));
        DbInstance::new("mem", "", &options)
    };
    let a = open().unwrap();
    rows(&a, ":create r {k}");
    (1..=3).for_each(|n| drop(rows(&a, &format!("?[k] <- [[{n}]] :put r {{k}}"))));
    let find = |number: u64| {
        let folders = std::fs::read_dir(cluster.path("log/entries")).unwrap();
        let mut paths = folders.map(|folder| folder.unwrap().path().join(format!("{number:020}")));
        paths.find(|path| path.exists()).unwrap()
    };
    std::fs::remove_file(find(3)).unwrap();
    assert_eq!(code(&open().err().unwrap()), "shared_log::damaged");
    let log = cluster.path("log").display().to_string();
    assert_eq!(code(&cozo::read_shared_log(&log, 0, |_| true).unwrap_err()), "shared_log::damaged");
    let restored = cozo::restore_from_log("sqlite", cluster.path("at"), "", &log, PointInTime::Sequence(5));
    assert_eq!(code(&restored.unwrap_err()), "shared_log::damaged");
    // Who has all of it goes on, and mends it with a checkpoint.
    rows(&a, "?[k] <- [[4]] :put r {k}");
    a.truncate_log(a.checkpoint().unwrap()).unwrap();
    assert_eq!(ints(&open().unwrap(), "?[k] := *r{k}"), [1, 2, 3, 4]);
    assert_eq!(code(&cozo::read_shared_log("no such log", 0, |_| true).unwrap_err()), "shared_log::bad_address");
}

/// A log that was set back to an earlier state, or copied, and has gone on with other entries.
#[test]
fn a_log_that_has_gone_another_way_is_refused() {
    let cluster = Cluster::new();
    let log = cluster.path("log");
    let a = cluster.open("sqlite", "a");
    rows(&a, "?[k] <- [[1]] :create r {k}");
    drop(a);
    copy(&log, &cluster.path("saved"));
    drop(rows(&cluster.open("sqlite", "a"), "?[k] <- [[2]] :put r {k}"));
    std::fs::remove_dir_all(&log).unwrap();
    std::fs::rename(cluster.path("saved"), &log).unwrap();
    assert_eq!(code(&cluster.try_open("sqlite", "a").err().unwrap()), "replica::other_log");
    rows(&cluster.open("mem", ""), "?[k] <- [[3]] :put r {k}");
    assert_eq!(code(&cluster.try_open("sqlite", "a").err().unwrap()), "replica::other_log");
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        match path.is_dir() {
            true => copy(&path, &to.join(name)),
            false => drop(std::fs::copy(&path, to.join(name)).unwrap()),
        }
    }
}

/// Every checkpoint of the log in a folder.
fn checkpoint_files(cluster: &Cluster) -> Vec<std::path::PathBuf> {
    let list = |folder: std::path::PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    list(cluster.path("log/blobs/checkpoints")).flat_map(list).collect()
}

/// A checkpoint whose bytes have changed is never taken. Entries, if they are there, serve instead.
#[test]
fn a_damaged_checkpoint_is_not_taken() {
    let cluster = Cluster::new();
    let a = cluster.open("mem", "");
    rows(&a, "?[k, v] := k in int_range(100), v = 'value' :create r {k => v}");
    let first = a.checkpoint().unwrap();
    rows(&a, "?[k, v] <- [[1000, 'value']] :put r {k => v}");
    let damage = || {
        for file in checkpoint_files(&cluster) {
            let mut bytes = std::fs::read(&file).unwrap();
            let at = bytes.windows(5).position(|window| window == b"value").unwrap();
            bytes[at] = b'V';
            std::fs::write(&file, bytes).unwrap();
        }
    };
    damage();
    let values = |db: &DbInstance| rows(db, "?[count(k), count_unique(v)] := *r{k, v}").concat();
    assert_eq!(values(&cluster.open("mem", "")), [101.into(), 1.into()]);
    a.truncate_log(first).unwrap();
    assert_eq!(code(&cluster.try_open("sqlite", "b").err().unwrap()), "replica::damaged_checkpoint");
    a.checkpoint().unwrap();
    assert_eq!(values(&cluster.open("sqlite", "b")), [101.into(), 1.into()]);
}

/// The last entry is damaged, as by a loss of power. A replica that has it opens, and its checkpoint mends the log.
#[test]
fn a_replica_that_has_the_damaged_last_entry_mends_the_log() {
    for damaged in [vec![], vec![7; 40]] {
        let cluster = Cluster::new();
        let a = cluster.open("sqlite", "a");
        rows(&a, "?[k] <- [[1]] :create r {k}");
        let last = a.shared_state().unwrap().unwrap().sequence;
        drop(a);
        let folder = std::fs::read_dir(cluster.path("log/entries")).unwrap().next().unwrap().unwrap().path();
        std::fs::write(folder.join(format!("{last:020}")), &damaged).unwrap();
        assert_eq!(code(&cluster.try_open("mem", "").err().unwrap()), "shared_log::damaged");
        let a = cluster.open("sqlite", "a");
        a.checkpoint().unwrap();
        rows(&a, "?[k] <- [[2]] :put r {k}");
        assert_eq!(ints(&cluster.open("mem", ""), "?[k] := *r{k}"), [1, 2]);
    }
}
