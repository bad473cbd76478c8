//! The suite of all engines over ordered bytes in memory, and further tests.

#![allow(clippy::unwrap_used)]

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use imbl::OrdMap;

use super::*;
use crate::schema::{BaseType, ColumnType, RelationId, RelationSchema};
use crate::storage::StorageError;
use crate::storage::tests::{self as suite, RELATION, Subject, creation, ints, schema};
use crate::storage::{AsOf, ChangeKind, ChangeSet, KeyRange, RowChanges, Storage};
use crate::sync::Mutex;
use crate::value::{Batch, Column, DataValue, Validity};

type Entries = OrdMap<Vec<u8>, Vec<u8>>;

/// Ordered bytes in memory, shared by all engines opened over them. It counts the moves of its cursors.
#[derive(Clone, Default)]
struct Memory {
    entries: Arc<Mutex<Entries>>,
    moves: Arc<AtomicUsize>,
    fails: Arc<AtomicBool>,
    /// See [`KvTraits::appendable_bytes`].
    appendable_bytes: usize,
}

#[derive(Clone)]
struct MemoryView {
    entries: Entries,
    moves: Arc<AtomicUsize>,
}

#[derive(Default)]
struct MemoryBatch(Vec<Change>);

enum Change {
    Put(Vec<u8>, Vec<u8>),
    DeleteRange(ByteRange),
}

impl KvBatch for MemoryBatch {
    fn put(&mut self, key: &[u8], value: &[u8]) {
        self.0.push(Change::Put(key.to_vec(), value.to_vec()));
    }

    fn delete(&mut self, key: &[u8]) {
        self.delete_range(&ByteRange { lower: key.to_vec(), upper: [key, &[0]].concat() });
    }

    fn delete_range(&mut self, range: &ByteRange) {
        self.0.push(Change::DeleteRange(range.clone()));
    }
}

impl KvEngine for Memory {
    type Snapshot = MemoryView;
    type Batch = MemoryBatch;

    fn traits(&self) -> KvTraits {
        KvTraits { name: "memory", appendable_bytes: self.appendable_bytes, ..KvTraits::default() }
    }

    fn path(&self) -> String {
        "nowhere".to_string()
    }

    fn snapshot(&self) -> MemoryView {
        MemoryView { entries: self.entries.lock().clone(), moves: self.moves.clone() }
    }

    fn write(&self, batch: MemoryBatch) -> Result<(), StorageError> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(StorageError::Engine { engine: "memory", action: "write", message: "it is full".to_string() });
        }
        let mut entries = self.entries.lock();
        for change in batch.0 {
            match change {
                Change::Put(key, value) => drop(entries.insert(key, value)),
                Change::DeleteRange(range) => {
                    let keys: Vec<Vec<u8>> =
                        entries.range(range.lower..range.upper).map(|(key, _)| key.clone()).collect();
                    keys.iter().for_each(|key| drop(entries.remove(key)));
                }
            }
        }
        Ok(())
    }

    fn append(&self, pairs: &mut dyn KvPairs) -> Result<bool, StorageError> {
        let (mut key, mut value) = (vec![], vec![]);
        let mut entries = self.entries.lock().clone();
        while pairs.next(&mut key, &mut value)? {
            if value.len() >= self.appendable_bytes {
                return Ok(false);
            }
            assert!(entries.insert(key.clone(), value.clone()).is_none(), "what is appended is new");
        }
        *self.entries.lock() = entries;
        Ok(true)
    }
}

impl KvSnapshot for MemoryView {
    type Cursor<'a> = MemoryCursor<'a>;

    fn get_all(&self, keys: &Keys, found: &mut OnFound) -> Result<(), StorageError> {
        for (number, key) in keys.iter().enumerate() {
            if let Some(value) = self.entries.get(key) {
                found(number, value)?;
            }
        }
        Ok(())
    }

    fn cursor(&self, range: &ByteRange) -> MemoryCursor<'_> {
        MemoryCursor { view: self, range: range.clone(), at: None }
    }

    fn last_key(&self, range: &ByteRange) -> Result<Option<Vec<u8>>, StorageError> {
        Ok(self.entries.range(range.lower.clone()..range.upper.clone()).next_back().map(|(key, _)| key.clone()))
    }
}

struct MemoryCursor<'a> {
    view: &'a MemoryView,
    range: ByteRange,
    at: Option<Entry<'a>>,
}

impl MemoryCursor<'_> {
    fn move_to(&mut self, from: Bound<Vec<u8>>) {
        self.view.moves.fetch_add(1, Ordering::Relaxed);
        let rest = (from, Bound::Excluded(self.range.upper.clone()));
        self.at = self.view.entries.range(rest).next().map(|(key, value)| (&key[..], &value[..]));
    }
}

impl KvCursor for MemoryCursor<'_> {
    fn seek(&mut self, key: &[u8]) {
        if key < &self.range.upper[..] {
            self.move_to(Bound::Included(key.max(&self.range.lower).to_vec()));
        } else {
            self.at = None;
        }
    }

    fn next(&mut self) {
        if let Some((key, _)) = self.at {
            self.move_to(Bound::Excluded(key.to_vec()));
        }
    }

    fn entry(&self) -> Result<Option<Entry<'_>>, StorageError> {
        Ok(self.at)
    }
}

fn open(memory: &Memory) -> KvStorage<Memory> {
    KvStorage::open(memory.clone(), false).unwrap()
}

fn of(base: BaseType) -> ColumnType {
    ColumnType { base, nullable: false }
}

fn change(kind: ChangeKind, rows: Batch) -> ChangeSet {
    ChangeSet::of_rows(vec![RowChanges::new(RELATION, kind, rows)])
}

#[test]
fn the_engine_behaves_like_the_model() {
    let subject = || {
        let memory = Memory::default();
        Subject { open: Box::new(move || Box::new(open(&memory))), exact: false, durable: true }
    };
    suite::run_all(subject, 12);
}

#[test]
fn numbers_of_rows_are_about_right_and_outlive_the_engine() {
    let memory = Memory::default();
    let storage = open(&memory);
    storage.commit(&mut [creation(&schema(1, vec![of(BaseType::Int)]))]).unwrap();
    let rows = |storage: &KvStorage<Memory>| storage.snapshot().row_count(RELATION);
    for (kind, rows_changed, expected) in [
        (ChangeKind::Put, ints(0..10_000), 10_000..=10_000),
        (ChangeKind::Put, ints(5_000..15_000), 14_000..=16_000),
        (ChangeKind::Put, ints([20_000, 20_001]), 14_002..=16_002),
        (ChangeKind::Put, ints([20_000, 20_001]), 14_002..=16_002),
        (ChangeKind::Remove, ints(1_000..6_000), 9_002..=11_002),
    ] {
        storage.commit(&mut [change(kind, rows_changed)]).unwrap();
        assert!(expected.contains(&rows(&storage)), "{} is not in {expected:?}", rows(&storage));
    }
    let count = rows(&storage);
    drop(storage);
    assert_eq!(rows(&open(&memory)), count);
}

#[test]
fn ranges_of_few_rows_are_counted() {
    let storage = open(&Memory::default());
    storage.commit(&mut [creation(&schema(1, vec![of(BaseType::Int)]))]).unwrap();
    storage.commit(&mut [change(ChangeKind::Put, ints(0..1_000))]).unwrap();
    let within = |lower: i64, upper: i64| {
        let range =
            KeyRange { lower: Some(vec![lower.into()]), upper: Some(vec![upper.into()]), ..KeyRange::default() };
        storage.snapshot().row_count_within(RELATION, &range)
    };
    assert_eq!((within(10, 20), within(990, 5_000), within(20, 10), within(0, 900)), (10, 10, 0, 1_000));
}

#[test]
fn parts_are_about_equal_where_keys_are_evenly_spread() {
    let storage = open(&Memory::default());
    storage.commit(&mut [creation(&schema(1, vec![of(BaseType::Int)]))]).unwrap();
    storage.commit(&mut [change(ChangeKind::Put, ints((0..4_000).map(|key| key * 3 - 2_000)))]).unwrap();
    let snapshot = storage.snapshot();
    let parts = snapshot.partition(RELATION, &KeyRange::all(), 4);
    let rows = |part: &KeyRange| {
        let mut cursor = snapshot.scan(RELATION, part, &[0], None).unwrap();
        cursor.next_batch(usize::MAX).unwrap().map_or(0, |batch| batch.len)
    };
    let sizes: Vec<usize> = parts.iter().map(rows).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 4_000);
    assert!(sizes.len() == 4 && sizes.iter().all(|size| (900..1_100).contains(size)), "{sizes:?}");
}

#[test]
fn sorted_look_ups_that_find_nothing_do_not_move() {
    let memory = Memory::default();
    let storage = open(&memory);
    storage.commit(&mut [creation(&schema(2, vec![of(BaseType::Int), of(BaseType::Int)]))]).unwrap();
    let ends = Batch::new(vec![Column::ints(vec![0, 9_000]), Column::ints(vec![1, 1])], 2);
    storage.commit(&mut [change(ChangeKind::Put, ends)]).unwrap();
    let snapshot = storage.snapshot();
    let before = memory.moves.load(Ordering::Relaxed);
    let found = snapshot.contains(RELATION, &[Column::ints((1..=9_000).collect())], None).unwrap();
    assert_eq!(found.iter().filter(|found| **found).count(), 1);
    assert!(memory.moves.load(Ordering::Relaxed) - before <= 2);
}

#[test]
fn long_histories_are_passed_by_seeks() {
    let memory = Memory::default();
    let storage = open(&memory);
    let types = vec![of(BaseType::Int), of(BaseType::Validity), of(BaseType::Int)];
    storage.commit(&mut [creation(&schema(2, types))]).unwrap();
    let (histories, versions) = (3i64, 5_000i64);
    let rows: Vec<[DataValue; 3]> = (0..histories)
        .flat_map(|history| {
            let version = move |time| DataValue::Validity(Validity::from((time, true)));
            (0..versions).rev().map(move |time| [history.into(), version(time), time.into()])
        })
        .collect();
    storage.commit(&mut [change(ChangeKind::Put, Batch::from_rows(3, rows.iter().map(|row| &row[..])))]).unwrap();
    let snapshot = storage.snapshot();
    let moves = || memory.moves.load(Ordering::Relaxed);
    let (before, as_of) = (moves(), AsOf { column: 1, micros: 2_000 });
    let mut scan = snapshot.scan(RELATION, &KeyRange::all(), &[2], Some(as_of)).unwrap();
    let batch = scan.next_batch(10).unwrap().unwrap();
    assert_eq!(batch.columns[0].as_dense_ints(), Some(&[2_000, 2_000, 2_000][..]));
    assert!(moves() - before < 80, "{} moves for three histories", moves() - before);
    let (before, keys) = (moves(), [Column::ints(vec![0, 2])]);
    let mut lookup = snapshot.lookup(RELATION, &keys, &[2], Some(as_of)).unwrap();
    assert_eq!(lookup.next_matches(10).unwrap().unwrap().probe_rows, [0, 1]);
    assert_eq!(moves() - before, 2, "one seek for each key");
}

#[test]
fn a_write_that_fails_leaves_nothing() {
    let memory = Memory::default();
    drop(open(&memory));
    let failing = KvStorage::open(Memory { fails: Arc::new(true.into()), ..memory.clone() }, false).unwrap();
    let created = creation(&schema(1, vec![of(BaseType::Int)]));
    assert!(failing.commit(&mut [created.clone()]).is_err());
    assert!(failing.snapshot().describe(RELATION).is_none() && failing.opened().unwrap().definitions.is_empty());
    let storage = open(&memory);
    let misfit = Batch::new(vec![Column::ints(vec![1]), Column::ints(vec![1])], 1);
    let wrong = change(ChangeKind::Put, Batch { columns: vec![Column::floats(vec![1.0])], ..misfit });
    assert!(matches!(storage.commit(&mut [created, wrong]), Err(StorageError::Unstorable(_))));
    assert!(storage.snapshot().describe(RELATION).is_none() && storage.opened().unwrap().definitions.is_empty());
}

#[test]
fn rows_of_a_new_relation_are_appended_before_it_exists() {
    let memory = Memory { appendable_bytes: 64, ..Memory::default() };
    let storage = open(&memory);
    let created = |rows: std::ops::Range<i64>, wide: usize| {
        let mut changes = creation(&schema(1, vec![of(BaseType::Int), of(BaseType::String)]));
        let texts = rows.clone().map(|row| DataValue::from("x".repeat(if row % 1000 == 1 { wide } else { 3 })));
        let rows: Vec<[DataValue; 2]> = rows.clone().map(DataValue::from).zip(texts).map(<[_; 2]>::from).collect();
        let rows = Batch::from_rows(2, rows.iter().map(|row| &row[..]));
        changes.rows.push(RowChanges::new(RELATION, ChangeKind::Put, rows));
        [changes]
    };
    let count = |storage: &KvStorage<Memory>| {
        let snapshot = storage.snapshot();
        let mut cursor = snapshot.scan(RELATION, &KeyRange::all(), &[0], None).unwrap();
        std::iter::from_fn(|| cursor.next_batch(10_000).unwrap()).map(|batch| batch.len).sum::<usize>()
    };
    let (some, many) = (0..400_000, 500_000..1_000_000);
    // The rows are there, but the relation is not.
    memory.fails.store(true, Ordering::Relaxed);
    assert!(storage.commit(&mut created(some, 3)).is_err());
    assert!(storage.snapshot().describe(RELATION).is_none());
    assert!(memory.entries.lock().len() > 400_000, "they were appended");
    // The next relation with this number does not have them.
    memory.fails.store(false, Ordering::Relaxed);
    storage.commit(&mut created(many.clone(), 3)).unwrap();
    assert_eq!((count(&storage), storage.snapshot().row_count(RELATION)), (500_000, 500_000));
    // Values that are too long for it are written in the usual way.
    let memory = Memory { appendable_bytes: 64, ..Memory::default() };
    let storage = open(&memory);
    storage.commit(&mut created(many, 1_000)).unwrap();
    assert_eq!(count(&storage), 500_000);
    drop(storage);
    assert_eq!(count(&open(&memory)), 500_000);
}

#[test]
fn rows_of_several_relations_are_appended_in_any_order_of_the_changes() {
    let memory = Memory { appendable_bytes: 64, ..Memory::default() };
    let storage = open(&memory);
    let ids = [RELATION.0 + 1, RELATION.0];
    for id in ids {
        let relation = RelationSchema { id: RelationId(id), ..(*schema(1, vec![of(BaseType::Int)])).clone() };
        storage.commit(&mut [creation(&relation.into())]).unwrap();
    }
    // What is appended is not written as a batch.
    memory.fails.store(true, Ordering::Relaxed);
    let rows = || Batch::new(vec![Column::ints((0..20_000).collect())], 20_000);
    let changes = |ids: &[u64]| {
        let put = |id: &u64| RowChanges::new(RelationId(*id), ChangeKind::Put, rows());
        ChangeSet::of_rows(ids.iter().map(put).collect())
    };
    storage.commit(&mut [changes(&ids)]).unwrap();
    ids.iter().for_each(|id| assert_eq!(storage.snapshot().row_count(RelationId(*id)), 20_000));
    assert!(storage.commit(&mut [changes(&[ids[0], ids[0]])]).is_err(), "the rows are there already");
}

#[test]
fn newer_foreign_and_damaged_contents_are_told_apart() {
    let refused = |key: &[u8], value: &[u8]| {
        let memory = Memory::default();
        memory.entries.lock().insert(key.to_vec(), value.to_vec());
        KvStorage::open(memory, false).err()
    };
    assert!(matches!(refused(&catalog::format_key(), b"2"), Some(StorageError::NewerFormat { found: 2, .. })));
    assert!(matches!(refused(&catalog::format_key(), b"x"), Some(StorageError::Damaged(_))));
    assert!(matches!(refused(b"other", b"1"), Some(StorageError::NotADatabase { .. })));
    let memory = Memory::default();
    drop(open(&memory));
    memory.entries.lock().insert(catalog::definition_key("r"), b"{}".to_vec());
    let error = KvStorage::open(memory, false).err().unwrap().to_string();
    assert!(error.starts_with("the stored data is damaged: the definition of relation 'r'"), "{error}");
}

#[test]
fn damaged_rows_are_errors() {
    let memory = Memory::default();
    let storage = open(&memory);
    let types = vec![of(BaseType::Int), of(BaseType::Validity), of(BaseType::Int)];
    storage.commit(&mut [creation(&schema(2, types))]).unwrap();
    drop(storage);
    memory.entries.lock().insert([&RELATION.0.to_be_bytes()[..], &[1, 2]].concat(), vec![]);
    let snapshot = open(&memory).snapshot();
    let as_of = AsOf { column: 1, micros: 0 };
    let mut cursors = [
        snapshot.scan(RELATION, &KeyRange::all(), &[0], None).unwrap(),
        snapshot.scan(RELATION, &KeyRange::all(), &[0], Some(as_of)).unwrap(),
    ];
    for cursor in &mut cursors {
        assert!(matches!(cursor.next_batch(10), Err(StorageError::Damaged(_))));
    }
}

#[test]
fn a_database_for_reading_is_not_written() {
    let memory = Memory::default();
    let empty = KvStorage::open(memory.clone(), true).unwrap();
    assert!(matches!(empty.commit(&mut []), Err(StorageError::ReadOnly)));
    assert!(matches!(empty.compact(), Err(StorageError::ReadOnly)));
    drop(empty);
    assert!(memory.entries.lock().is_empty());
}

#[test]
fn indices_come_back_with_their_relation() {
    let memory = Memory::default();
    let storage = open(&memory);
    let relation = schema(1, vec![of(BaseType::Int), of(BaseType::String)]);
    let index = crate::schema::IndexDefinition::new(&relation, &"i".into(), &[1], RelationId(8));
    let index_schema = index.schema.clone();
    let indexed = Arc::new(relation.with_index(index));
    let mut created = creation(&indexed);
    created.created.push(index_schema);
    storage.commit(&mut [created]).unwrap();
    let entries = Batch::from_rows(2, [&["x".into(), 1.into()][..]]);
    let rows = vec![RowChanges::new(RelationId(8), ChangeKind::Put, entries)];
    storage.commit(&mut [ChangeSet::of_rows(rows)]).unwrap();
    drop(storage);
    let storage = open(&memory);
    assert_eq!(storage.opened().unwrap().definitions, [indexed]);
    assert_eq!(
        storage.snapshot().contains(RelationId(8), &[["x".into()].into_iter().collect()], None).unwrap(),
        [true]
    );
}
