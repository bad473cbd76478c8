//! The engine suite with a cache of every size, over an engine in memory that stands for a persistent one.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use super::*;
use crate::schema::{BaseType, ColumnType, SchemaRef};
use crate::storage::mem::MemStorage;
use crate::storage::tests::{RELATION, Subject, creation, ints, run_all, schema};
use crate::storage::{ChangeKind, RowChanges};
use crate::value::Batch;

fn cached(budget_bytes: usize) -> Subject {
    let open = move || Box::new(Cached::new(Box::<Persistent>::default(), budget_bytes).unwrap()) as Box<dyn Storage>;
    Subject { open: Box::new(open), exact: false, durable: false }
}

#[test]
fn a_large_cache_behaves_like_the_model() {
    run_all(|| cached(1 << 30), 24);
}

#[test]
fn a_cache_that_gives_up_trees_all_the_time_behaves_like_the_model() {
    run_all(|| cached(20_000), 24);
}

#[test]
fn a_cache_that_holds_nothing_behaves_like_the_model() {
    run_all(|| cached(1), 24);
}

/// An engine in memory that stands for a persistent one: it reports its relations, and leaves changes as they are.
#[derive(Default)]
struct Persistent(MemStorage, Vec<SchemaRef>);

impl Storage for Persistent {
    fn opened(&self) -> Result<Opened, StorageError> {
        Ok(Opened { definitions: self.1.clone(), ..Opened::default() })
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        self.0.snapshot()
    }

    fn commit(&self, changes: &mut [ChangeSet]) -> Result<Arc<dyn Snapshot>, StorageError> {
        self.0.commit(&mut changes.to_vec())
    }
}

const OTHER: RelationId = RelationId(8);

/// Numbers that are not consecutive, since consecutive ones would take almost no space.
fn squares(values: std::ops::Range<i64>) -> Batch {
    ints(values.map(|value| value * value))
}

fn put(relation: RelationId, values: std::ops::Range<i64>) -> ChangeSet {
    let rows = RowChanges::new(relation, ChangeKind::Put, squares(values));
    ChangeSet::of_rows(vec![rows])
}

/// Two relations of 10,000 rows each, not loaded.
fn cold(budget_bytes: usize) -> Cached {
    let one = schema(1, vec![ColumnType { base: BaseType::Int, nullable: false }]);
    let mut other = crate::schema::RelationSchema::clone(&one);
    (other.id, other.name) = (OTHER, "other".into());
    let other = SchemaRef::new(other);
    let storage = MemStorage::new();
    storage.commit(&mut [creation(&one), creation(&other), put(RELATION, 0..10_000), put(OTHER, 0..10_000)]).unwrap();
    Cached::new(Box::new(Persistent(storage, vec![one, other])), budget_bytes).unwrap()
}

fn is_loaded(cached: &Cached, relation: RelationId) -> bool {
    cached.current.lock().loaded(relation).is_some()
}

fn count(snapshot: &dyn Snapshot, relation: RelationId) -> usize {
    let mut cursor = snapshot.scan(relation, &KeyRange::all(), &[0], None).unwrap();
    std::iter::from_fn(|| cursor.next_batch(1000).unwrap()).map(|batch| batch.len).sum()
}

#[test]
fn a_whole_scan_loads_and_commits_keep_in_step() {
    let cached = cold(1 << 20);
    let before = cached.snapshot();
    let columns = before.scan(RELATION, &KeyRange::all(), &[0], None).unwrap().next_batch(10).unwrap();
    assert_eq!((columns.map(|batch| batch.len), is_loaded(&cached, RELATION)), (Some(10), false), "not to its end");
    assert_eq!(before.partition(RELATION, &KeyRange::all(), 8).len(), 1);
    assert_eq!(count(&*before, RELATION), 10_000);
    assert!(is_loaded(&cached, RELATION) && !is_loaded(&cached, OTHER));
    cached.commit(&mut [put(RELATION, 20_000..20_005)]).unwrap();
    assert!(is_loaded(&cached, RELATION));
    assert_eq!((count(&*before, RELATION), count(&*cached.snapshot(), RELATION)), (10_000, 10_005));
}

#[test]
fn a_load_that_a_commit_overtakes_serves_older_snapshots_alone() {
    let cached = cold(1 << 20);
    let before = cached.snapshot();
    cached.commit(&mut [put(RELATION, 20_000..20_005)]).unwrap();
    assert_eq!(count(&*before, RELATION), 10_000);
    assert!(!is_loaded(&cached, RELATION));
    assert_eq!(count(&*cached.snapshot(), RELATION), 10_005);
    assert!(is_loaded(&cached, RELATION));
}

#[test]
fn many_look_ups_load_in_the_background() {
    let cached = cold(1 << 20);
    let snapshot = cached.snapshot();
    let probes = squares(0..1_000).columns;
    for _ in 0..10 {
        assert!(!is_loaded(&cached, RELATION));
        assert!(snapshot.contains(RELATION, &probes, None).unwrap().iter().all(|found| *found));
    }
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while !is_loaded(&cached, RELATION) {
        assert!(std::time::Instant::now() < deadline, "the load never ends");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(snapshot.contains(RELATION, &probes, None).unwrap().iter().all(|found| *found));
}

#[test]
fn what_is_not_committed_stays_when_trees_are_given_up() {
    let roomy = cold(1 << 20);
    assert_eq!(count(&*roomy.snapshot(), RELATION), 10_000);
    let cached = cold(roomy.current.lock().loaded(RELATION).unwrap().memory_bytes() * 3 / 2);
    assert_eq!(count(&*cached.snapshot(), RELATION), 10_000);
    let changed = cached.snapshot().with_changes(put(RELATION, 20_000..20_005)).unwrap();
    assert_eq!((count(&*changed, RELATION), count(&*changed, OTHER)), (10_005, 10_000));
    assert!(!is_loaded(&cached, RELATION), "it made room for the other");
    assert_eq!(count(&*changed, RELATION), 10_005);
}

#[test]
fn what_was_used_longest_ago_is_given_up() {
    let roomy = cold(1 << 20);
    assert_eq!(count(&*roomy.snapshot(), RELATION), 10_000);
    let size = roomy.current.lock().loaded(RELATION).unwrap().memory_bytes();
    let cached = cold(size * 3 / 2);
    let snapshot = cached.snapshot();
    for (relation, expected) in [(RELATION, (true, false)), (OTHER, (false, true)), (RELATION, (true, false))] {
        assert_eq!(count(&*snapshot, relation), 10_000);
        assert_eq!((is_loaded(&cached, RELATION), is_loaded(&cached, OTHER)), expected);
    }
    cached.commit(&mut [put(RELATION, 10_000..200_000)]).unwrap();
    assert!(!is_loaded(&cached, RELATION), "it has outgrown the cache");
    assert_eq!(count(&*cached.snapshot(), RELATION), 200_000);
    assert!(!is_loaded(&cached, RELATION));
}
