//! The commit pipeline under a model checker: random interleavings of a few transactions.
//!
//! Run by `cargo test -p cozo --lib --features shuttle txn::tests`.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::sync::Arc as ModelArc;
use shuttle::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::schema::{AccessLevel, ColumnDefinition, ColumnType, RelationSchema, SchemaRef, Triggers};
use crate::storage::mem::MemStorage;
use crate::storage::{ChangeKind, ChangeSet, EngineTraits, KeyRange, Opened, Snapshot, Storage, StorageError};
use crate::value::{Batch, Column};
use std::sync::Arc;

/// Runs a test through this many random interleavings, and as many more that switch tasks rarely and at unlikely moments.
fn check(test: impl Fn() + Clone + Send + Sync + 'static, interleavings: usize) {
    check_with(RandomScheduler::new(interleavings), test.clone());
    check_with(PctScheduler::new(3, interleavings), test);
}

fn check_with(scheduler: impl Scheduler + 'static, test: impl Fn() + Send + Sync + 'static) {
    let mut config = shuttle::Config::new();
    // A database is moved on the stack while it is made.
    config.stack_size = 1 << 18;
    shuttle::Runner::new(scheduler, config).run(test);
}

/// An engine that yields during a commit, records whether two commits overlap, and refuses to store some keys.
struct Touchy {
    storage: MemStorage,
    inside: AtomicUsize,
    refused: Option<i64>,
}

impl Storage for Touchy {
    fn opened(&self) -> Result<Opened, StorageError> {
        self.storage.opened()
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        self.storage.snapshot()
    }

    fn traits(&self) -> EngineTraits {
        EngineTraits { may_batch: self.refused.is_none(), ..self.storage.traits() }
    }

    fn commit(&self, changes: &mut [ChangeSet]) -> Result<Arc<dyn Snapshot>, StorageError> {
        assert_eq!(self.inside.fetch_add(1, Ordering::SeqCst), 0, "commits come one at a time");
        shuttle::thread::yield_now();
        let batches = changes.iter().flat_map(|set| &set.rows).flat_map(|rows| rows.rows.batches());
        let rows = batches.flat_map(|batch| batch.expect("rows in memory").rows().collect::<Vec<_>>());
        let refused = rows.filter_map(|row| row[0].get_int()).any(|key| Some(key) == self.refused);
        let outcome = if refused { Err(StorageError::ReadOnly) } else { self.storage.commit(changes) };
        self.inside.fetch_sub(1, Ordering::SeqCst);
        outcome
    }
}

fn ints(values: &[i64]) -> Column {
    Column::ints(values.to_vec())
}

/// A pipeline with a relation of two Ints, the first of them the key.
fn pipeline(refused: Option<i64>) -> (Arc<Pipeline>, SchemaRef) {
    let touchy = Touchy { storage: MemStorage::new(), inside: AtomicUsize::new(0), refused };
    let pipeline = Arc::new(Pipeline::new(Box::new(touchy)).unwrap());
    let column = |name: &str| ColumnDefinition { name: name.into(), column_type: ColumnType::ANY, default: None };
    let schema = RelationSchema {
        id: crate::schema::RelationId(0),
        name: "r".into(),
        keys: vec![column("k")],
        values: vec![column("v")],
        access_level: AccessLevel::Normal,
        description: String::new(),
        triggers: Triggers::default(),
        indices: vec![],
        searches: vec![],
    };
    let mut txn = Transaction::begin(&pipeline, true);
    let schema = txn.create(schema).unwrap();
    txn.commit().unwrap();
    (pipeline, schema)
}

fn sum(txn: &mut Transaction, schema: &SchemaRef) -> i64 {
    let view = txn.view(&[schema.id]).unwrap();
    let mut cursor = view.of(schema.id).scan(schema.id, &KeyRange::all(), &[1], None).unwrap();
    let batch = cursor.next_batch(100).unwrap();
    batch.map_or(0, |batch| batch.columns[0].as_dense_ints().unwrap().iter().sum())
}

fn put(txn: &mut Transaction, schema: &SchemaRef, key: i64, value: i64) {
    txn.write(schema, ChangeKind::Put, Batch::new(vec![ints(&[key]), ints(&[value])], 1)).unwrap();
}

/// Makes a relation with the same columns.
fn create_like(txn: &mut Transaction, schema: &SchemaRef, name: &str) -> SchemaRef {
    txn.create(RelationSchema { name: name.into(), ..RelationSchema::clone(schema) }).unwrap()
}

/// Adds one to the value of key 0. Returns whether the commit succeeded without a conflict.
fn increment(pipeline: &Arc<Pipeline>, schema: &SchemaRef) -> bool {
    let mut txn = Transaction::begin(pipeline, true);
    let value = sum(&mut txn, schema);
    put(&mut txn, schema, 0, value + 1);
    match txn.commit() {
        Ok(()) => true,
        Err(error) => {
            assert!(matches!(error, TxnError::Conflict));
            false
        }
    }
}

#[test]
fn no_increment_is_lost_while_the_catalog_changes() {
    check(
        || {
            let (pipeline, schema) = pipeline(None);
            let creator = {
                let (pipeline, schema) = (pipeline.clone(), schema.clone());
                shuttle::thread::spawn(move || {
                    for name in ["s", "t"] {
                        let mut txn = Transaction::begin(&pipeline, true);
                        create_like(&mut txn, &schema, name);
                        txn.commit().unwrap();
                    }
                })
            };
            let incrementing: Vec<_> = (0..2)
                .map(|_| {
                    let (pipeline, schema) = (pipeline.clone(), schema.clone());
                    shuttle::thread::spawn(move || (0..3).filter(|_| increment(&pipeline, &schema)).count())
                })
                .collect();
            let committed: usize = incrementing.into_iter().map(|thread| thread.join().unwrap()).sum();
            creator.join().unwrap();
            let mut txn = Transaction::begin(&pipeline, false);
            assert_eq!(sum(&mut txn, &schema), committed as i64, "each commit has seen the one before");
        },
        4000,
    );
}

#[test]
fn no_increment_is_lost_and_disjoint_writers_never_conflict() {
    check(
        || {
            let (pipeline, schema) = pipeline(None);
            let committed = ModelArc::new(AtomicUsize::new(0));
            let threads: Vec<_> = (0..3)
                .map(|number| {
                    let (pipeline, schema, committed) = (pipeline.clone(), schema.clone(), committed.clone());
                    shuttle::thread::spawn(move || {
                        // All threads increment one key, and each puts its own.
                        if increment(&pipeline, &schema) {
                            committed.fetch_add(1, Ordering::SeqCst);
                        }
                        let mut own = Transaction::begin(&pipeline, true);
                        put(&mut own, &schema, number + 1, 0);
                        own.commit().unwrap();
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            let mut txn = Transaction::begin(&pipeline, false);
            let committed = committed.load(Ordering::SeqCst) as i64;
            assert!(committed >= 1);
            assert_eq!(sum(&mut txn, &schema), committed, "each commit has seen the one before");
            assert_eq!(pipeline.current().snapshot.row_count(schema.id), 4);
        },
        2000,
    );
}

#[test]
fn who_cannot_be_stored_fails_alone() {
    check(
        || {
            let (pipeline, schema) = pipeline(Some(1));
            let threads: Vec<_> = (0..3)
                .map(|number| {
                    let (pipeline, schema) = (pipeline.clone(), schema.clone());
                    shuttle::thread::spawn(move || {
                        let mut txn = Transaction::begin(&pipeline, true);
                        put(&mut txn, &schema, number, 0);
                        assert_eq!(txn.commit().is_ok(), number != 1);
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(pipeline.current().snapshot.row_count(schema.id), 2);
        },
        2000,
    );
}

#[test]
fn versions_come_in_order_and_snapshots_fit_their_catalogs() {
    check(
        || {
            let (pipeline, schema) = pipeline(None);
            let committed = ModelArc::new(AtomicUsize::new(0));
            let writer = {
                let (pipeline, schema, committed) = (pipeline.clone(), schema.clone(), committed.clone());
                shuttle::thread::spawn(move || {
                    for key in 0..4 {
                        let mut txn = Transaction::begin(&pipeline, true);
                        put(&mut txn, &schema, key, 1);
                        txn.commit().unwrap();
                        committed.fetch_add(1, Ordering::SeqCst);
                    }
                })
            };
            let reader = shuttle::thread::spawn(move || {
                let mut seen = BTreeSet::new();
                for _ in 0..6 {
                    let committed = committed.load(Ordering::SeqCst) as u64;
                    let version = pipeline.current();
                    let rows = version.snapshot.row_count(schema.id);
                    assert!(rows >= committed, "whoever begins sees what was committed before");
                    assert!(seen.iter().next_back().is_none_or(|last| *last <= version.sequence));
                    seen.insert(version.sequence);
                }
            });
            writer.join().unwrap();
            reader.join().unwrap();
        },
        2000,
    );
}

#[test]
fn who_reads_late_sees_the_catalog_that_it_began_with() {
    check(
        || {
            let (pipeline, schema) = pipeline(None);
            let creator = {
                let (pipeline, schema) = (pipeline.clone(), schema.clone());
                shuttle::thread::spawn(move || {
                    for name in ["s", "t"] {
                        let mut txn = Transaction::begin(&pipeline, true);
                        let created = create_like(&mut txn, &schema, name);
                        put(&mut txn, &created, 0, 0);
                        let relations = txn.catalog().iter().count() as i64;
                        put(&mut txn, &schema, 0, relations);
                        txn.commit().unwrap();
                    }
                })
            };
            let writer = shuttle::thread::spawn(move || {
                let mut txn = Transaction::begin(&pipeline, true);
                put(&mut txn, &schema, 1, 0);
                let relations = txn.catalog().iter().count() as i64;
                let expected = if relations == 1 { 0 } else { relations };
                assert_eq!(sum(&mut txn, &schema), expected, "rows and catalog are of one version");
                txn.commit().unwrap();
            });
            creator.join().unwrap();
            writer.join().unwrap();
        },
        2000,
    );
}

#[test]
fn who_begins_to_write_sees_every_relation_made_before() {
    check(
        || {
            let (pipeline, schema) = pipeline(None);
            let created = ModelArc::new(AtomicUsize::new(0));
            let creator = {
                let (pipeline, schema, created) = (pipeline.clone(), schema.clone(), created.clone());
                shuttle::thread::spawn(move || {
                    for name in ["s", "t"] {
                        let mut txn = Transaction::begin(&pipeline, true);
                        create_like(&mut txn, &schema, name);
                        txn.commit().unwrap();
                        created.fetch_add(1, Ordering::SeqCst);
                    }
                })
            };
            // Each transaction leaves a catalog to the thread's next one.
            for key in 0..4 {
                let before = created.load(Ordering::SeqCst);
                let mut txn = Transaction::begin(&pipeline, true);
                assert!(txn.catalog().iter().count() > before, "{before} were made besides the first");
                put(&mut txn, &schema, key, 1);
                txn.commit().unwrap();
            }
            creator.join().unwrap();
        },
        2000,
    );
}

#[test]
fn what_is_put_last_stays_and_is_seen() {
    check(
        || {
            let (pipeline, schema) = pipeline(None);
            let last = ModelArc::new(shuttle::sync::Mutex::new(0));
            let threads: Vec<_> = (0..3)
                .map(|number| {
                    let (pipeline, schema, last) = (pipeline.clone(), schema.clone(), last.clone());
                    shuttle::thread::spawn(move || {
                        let put_one = |key, value| {
                            let mut txn = Transaction::begin(&pipeline, true);
                            put(&mut txn, &schema, key, value);
                            txn.commit().unwrap();
                        };
                        put_one(number + 1, 0);
                        for _ in 0..4 {
                            // All threads put one key, each time with a larger value.
                            let mut last = last.lock().unwrap();
                            *last += 1;
                            put_one(0, *last);
                        }
                    })
                })
                .collect();
            for _ in 0..6 {
                let before = *last.lock().unwrap();
                let seen = sum(&mut Transaction::begin(&pipeline, false), &schema);
                let after = *last.lock().unwrap();
                assert!((before..=after).contains(&seen), "{before} <= {seen} <= {after}");
            }
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(sum(&mut Transaction::begin(&pipeline, false), &schema), 12);
            assert_eq!(pipeline.current().snapshot.row_count(schema.id), 4);
        },
        50_000,
    );
}

#[test]
fn rows_put_beside_changes_of_the_catalog_and_long_commits_are_there_or_refused() {
    check(
        || {
            let (pipeline, schema) = pipeline(None);
            let threads: Vec<_> = (0..2)
                .map(|number| {
                    let pipeline = pipeline.clone();
                    shuttle::thread::spawn(move || {
                        let put_all = |keys: std::ops::Range<i64>| {
                            let count = (keys.end - keys.start) as usize;
                            let mut txn = Transaction::begin(&pipeline, true);
                            let Some(schema) = txn.relation("r").cloned() else { return 0 };
                            let columns = vec![ints(&keys.collect::<Vec<_>>()), ints(&vec![0; count])];
                            txn.write(&schema, ChangeKind::Put, Batch::new(columns, count)).unwrap();
                            match txn.commit() {
                                Ok(()) => count,
                                Err(TxnError::SchemaConflict(_)) => 0,
                                Err(error) => panic!("{error}"),
                            }
                        };
                        let first = 10_000 * number;
                        let few: usize = (first..first + 8).map(|key| put_all(key..key + 1)).sum();
                        few + if number == 0 { put_all(first + 100..first + 2100) } else { 0 }
                    })
                })
                .collect();
            let changer = {
                let (pipeline, schema) = (pipeline.clone(), schema.clone());
                shuttle::thread::spawn(move || {
                    let mut txn = Transaction::begin(&pipeline, true);
                    let renamed = RelationSchema { name: "s".into(), ..RelationSchema::clone(&schema) };
                    txn.redefine(&schema, renamed);
                    txn.commit().unwrap();
                    let mut txn = Transaction::begin(&pipeline, true);
                    let another = create_like(&mut txn, &schema, "r");
                    txn.commit().unwrap();
                    let mut txn = Transaction::begin_held(&pipeline, true);
                    let rows = txn.estimates_of(another.id).row_count(another.id);
                    txn.drop_relation(&another).unwrap();
                    txn.commit().map_or(0, |()| rows)
                })
            };
            let put: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
            let dropped = changer.join().unwrap();
            let version = pipeline.current();
            let rows = version.catalog.iter().map(|schema| version.snapshot.row_count(schema.id)).sum::<u64>();
            assert_eq!(
                (rows + dropped) as usize,
                put,
                "what was put is in one of the two, or was there when one was dropped"
            );
        },
        3000,
    );
}

#[test]
fn rows_of_a_relation_that_is_gone_are_not_batched() {
    check_with(RandomScheduler::new(10), || {
        let (pipeline, schema) = pipeline(None);
        let begin_to_put = |key| {
            let mut txn = Transaction::begin(&pipeline, true);
            put(&mut txn, &schema, key, 0);
            txn
        };
        let mut another = begin_to_put(1);
        shuttle::thread::spawn(move || another.commit().unwrap()).join().unwrap();
        // Another thread was the last leader, so the next rows are batched.
        begin_to_put(2).commit().unwrap();
        let mut late = begin_to_put(3);
        let mut dropping = Transaction::begin_held(&pipeline, true);
        dropping.drop_relation(&schema).unwrap();
        dropping.commit().unwrap();
        assert!(matches!(late.commit(), Err(TxnError::SchemaConflict(_))));
    });
}
