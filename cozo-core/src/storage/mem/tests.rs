//! Random operations on the engine against a `BTreeMap`, and the shape of the trees that they leave.

#![allow(clippy::unwrap_used, clippy::mutable_key_type)]

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::check::{check, leaf_sizes, nodes};
use super::{MemSnapshot, MemStorage, Tree};
use crate::schema::RelationId;
use crate::storage::{BatchCursor, ChangeKind, ChangeSet, KeyRange, RelationShape, RowChanges, Snapshot, Storage};
use crate::value::{Batch, Column, DataValue, Tuple, Validity};

mod histories;

type Model = BTreeMap<Tuple, Tuple>;

const RELATION: RelationId = RelationId(7);

/// What the values of a relation look like.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Int key; Int, nullable String and nullable Int values.
    Record,
    /// Two Int keys, no values.
    Edge,
    /// String and Int keys; Float and Bool values.
    Text,
    /// Anything, twice as key, once as value.
    Mixed,
}

impl Kind {
    fn shape(self) -> RelationShape {
        let (keys, arity) = match self {
            Kind::Record => (1, 4),
            Kind::Edge => (2, 2),
            Kind::Text => (2, 4),
            Kind::Mixed => (2, 3),
        };
        RelationShape { keys, arity }
    }

    fn value(self, column: usize, random: &mut StdRng) -> DataValue {
        match (self, column) {
            (Kind::Record, 0) => random.random_range(-20_000..20_000).into(),
            (Kind::Record, 1) => (random.random_range(0..i64::MAX) >> random.random_range(0..62)).into(),
            (Kind::Record, 2) => nullable(random, |random| format!("name {}", random.random_range(0..5)).into()),
            (Kind::Record, _) => nullable(random, |random| random.random_range(0..100).into()),
            (Kind::Edge, 0) => random.random_range(0..30).into(),
            (Kind::Edge, _) => random.random_range(0..2_000).into(),
            (Kind::Text, 0) => "é".repeat(random.random_range(0..40)).into(),
            (Kind::Text, 1) => (i64::MAX - random.random_range(0..500)).into(),
            (Kind::Text, 2) => nullable(random, |random| (random.random_range(-9..9) as f64 / 3.0).into()),
            (Kind::Text, _) => nullable(random, |random| random.random_bool(0.5).into()),
            (Kind::Mixed, _) => mixed(random),
        }
    }

    fn key(self, random: &mut StdRng) -> Tuple {
        (0..self.shape().keys).map(|column| self.value(column, random)).collect()
    }
}

fn nullable(random: &mut StdRng, value: impl Fn(&mut StdRng) -> DataValue) -> DataValue {
    if random.random_bool(0.2) { DataValue::Null } else { value(random) }
}

fn mixed(random: &mut StdRng) -> DataValue {
    let small = random.random_range(-3..3);
    match random.random_range(0..10) {
        0 => DataValue::Null,
        1 => random.random_bool(0.5).into(),
        2 => small.into(),
        3 => f64::from(small).into(),
        4 => [f64::NAN, -f64::NAN, -0.0, 0.0, f64::INFINITY][random.random_range(0..5)].into(),
        5 => [i64::MIN, i64::MAX, i64::MAX - 1, 1 << 40][random.random_range(0..4)].into(),
        6 => "x".repeat(random.random_range(0..30)).into(),
        7 => vec![small, 1].into(),
        8 => DataValue::Validity(Validity::from((i64::from(small), small > 0))),
        _ => vec![small as u8].into(),
    }
}

/// Identity of rows, also where two floats differ in bits only.
fn identical(a: &[Tuple], b: &[Tuple]) {
    assert_eq!(a, b);
    let text = |rows: &[Tuple]| format!("{rows:?}");
    if a.iter().flatten().any(|value| value.get_float().is_some()) {
        assert_eq!(text(a), text(b));
    }
}

fn batch_of(width: usize, rows: &[Tuple]) -> Batch {
    Batch::from_rows(width, rows.iter().map(Vec::as_slice))
}

fn model_rows(model: &Model) -> Vec<Tuple> {
    model.iter().map(|(key, values)| key.iter().chain(values).cloned().collect()).collect()
}

fn scan(snapshot: &dyn Snapshot, range: &KeyRange, columns: &[usize], max_rows: usize) -> Vec<Tuple> {
    let mut cursor = snapshot.scan(RELATION, range, columns).unwrap();
    let mut rows = vec![];
    while let Some(batch) = cursor.next_batch(max_rows).unwrap() {
        assert!(batch.len > 0 && batch.len <= max_rows);
        assert!(batch.columns.iter().all(|column| column.len() == batch.len));
        rows.extend(batch.rows());
    }
    rows
}

fn lookup(snapshot: &dyn Snapshot, prefixes: &[Column], columns: &[usize], max_rows: usize) -> Vec<(u32, Tuple)> {
    let mut cursor = snapshot.lookup(RELATION, prefixes, columns).unwrap();
    let mut rows = vec![];
    while let Some(matches) = cursor.next_matches(max_rows).unwrap() {
        assert!(matches.batch.len > 0 && matches.batch.len <= max_rows);
        assert_eq!(matches.probe_rows.len(), matches.batch.len);
        rows.extend(matches.probe_rows.iter().copied().zip(matches.batch.rows()));
    }
    rows
}

/// The engine and its model.
struct Pair {
    kind: Kind,
    storage: MemStorage,
    model: Model,
    random: StdRng,
}

impl Pair {
    fn new(kind: Kind, seed: u64) -> Self {
        let storage = MemStorage::new();
        let created = ChangeSet { created: vec![(RELATION, kind.shape())], ..ChangeSet::default() };
        storage.commit(&[created]).unwrap();
        Pair { kind, storage, model: Model::new(), random: StdRng::seed_from_u64(seed) }
    }

    /// A batch of rows to put, applied to the model.
    fn random_put(&mut self, count: usize) -> Batch {
        let shape = self.kind.shape();
        let mut rows = Model::new();
        for _ in 0..count {
            let key = self.kind.key(&mut self.random);
            let values = (shape.keys..shape.arity).map(|column| self.kind.value(column, &mut self.random)).collect();
            rows.insert(key, values);
        }
        let batch = batch_of(shape.arity, &model_rows(&rows));
        self.model.extend(rows);
        batch
    }

    /// A batch of keys to remove, some of them missing, applied to the model.
    fn random_remove(&mut self, count: usize) -> Batch {
        let share = (count as f64 / self.model.len().max(1) as f64).min(1.0);
        let mut keys: Vec<Tuple> = self.model.keys().filter(|_| self.random.random_bool(share)).cloned().collect();
        keys.extend((0..count / 4 + 1).map(|_| self.kind.key(&mut self.random)));
        keys.sort();
        keys.dedup();
        keys.iter().for_each(|key| drop(self.model.remove(key)));
        batch_of(self.kind.shape().keys, &keys)
    }

    fn random_change(&mut self) -> RowChanges {
        let count = [1, 1, 1, 3, 40, 700, 3_000][self.random.random_range(0..7)];
        let (kind, rows) = match self.random.random_bool(0.55) {
            true => (ChangeKind::Put, self.random_put(count)),
            false => (ChangeKind::Remove, self.random_remove(count)),
        };
        RowChanges { relation: RELATION, kind, rows: Arc::new(rows) }
    }

    fn step(&mut self) {
        let sets = self.random.random_range(1..4);
        let sets: Vec<ChangeSet> =
            (0..sets).map(|_| ChangeSet { rows: vec![self.random_change()], ..ChangeSet::default() }).collect();
        self.storage.commit(&sets).unwrap();
        check(self.storage.current.load().tree(RELATION).unwrap());
    }

    fn verify(&mut self) {
        let snapshot = self.storage.snapshot();
        assert_eq!(snapshot.row_count(RELATION), self.model.len() as u64);
        self.verify_ranges(&*snapshot);
        self.verify_lookups(&*snapshot);
    }

    fn random_range(&mut self) -> KeyRange {
        let keys = self.kind.shape().keys;
        let prefix = self.random.random_range(0..keys);
        let near = self.model.keys().nth(self.random.random_range(0..self.model.len().max(1))).cloned();
        let bound = |random: &mut StdRng| {
            let key = self.kind.key(random);
            let upto = random.random_range(prefix + 1..=keys);
            random.random_bool(0.7).then(|| key[prefix..upto].to_vec())
        };
        let (lower, upper) = (bound(&mut self.random), bound(&mut self.random));
        let prefix = near.map_or(vec![], |key| key[..prefix].to_vec());
        KeyRange { prefix, lower, upper }
    }

    fn verify_ranges(&mut self, snapshot: &dyn Snapshot) {
        let columns: Vec<usize> = (0..self.kind.shape().arity).collect();
        for max_rows in [1, 7, 1000] {
            let range = if max_rows == 7 { KeyRange::all() } else { self.random_range() };
            let inside = |row: &Tuple| in_range(row, &range);
            let expected: Vec<Tuple> = model_rows(&self.model).into_iter().filter(inside).collect();
            identical(&scan(snapshot, &range, &columns, max_rows), &expected);
            let parts = self.random.random_range(1..9);
            let cut = snapshot.partition(RELATION, &range, parts);
            assert!(!cut.is_empty() && cut.len() <= parts);
            let scanned: Vec<Vec<Tuple>> = cut.iter().map(|part| scan(snapshot, part, &columns, 500)).collect();
            identical(&scanned.concat(), &expected);
            assert!(scanned.iter().all(|part| part.len() <= expected.len() / cut.len() + 1), "parts of equal size");
        }
    }

    fn verify_lookups(&mut self, snapshot: &dyn Snapshot) {
        let shape = self.kind.shape();
        let columns: Vec<usize> = (0..shape.arity).rev().collect();
        for (max_rows, sorted) in [(1, true), (2, false), (7, true), (1000, true), (1000, false)] {
            let width = self.random.random_range(1..=shape.keys);
            let mut probes: Vec<Tuple> = (0..30).map(|_| self.probe(width)).collect();
            if sorted {
                probes.sort();
            }
            let mut prefixes = batch_of(width, &probes).columns;
            if self.random.random_bool(0.3) {
                prefixes = prefixes.iter().map(|column| Column::Any(column.iter().collect())).collect();
            }
            let found = lookup(snapshot, &prefixes, &columns, max_rows);
            let mut expected = vec![];
            for (row, probe) in probes.iter().enumerate() {
                for (key, values) in self.model.range(probe.clone()..).take_while(|(key, _)| key.starts_with(probe)) {
                    expected.push((row as u32, values.iter().rev().chain(key.iter().rev()).cloned().collect()));
                }
            }
            assert_eq!(found, expected);
            let contained = snapshot.contains(RELATION, &prefixes).unwrap();
            let present = |row: usize| expected.iter().any(|(probe, _)| *probe == row as u32);
            assert_eq!(contained, (0..probes.len()).map(present).collect::<Vec<_>>());
        }
    }

    /// A prefix that may or may not be there, sometimes of a type that is not.
    fn probe(&mut self, width: usize) -> Tuple {
        let known = self.model.keys().nth(self.random.random_range(0..self.model.len().max(1)));
        match (known, self.random.random_range(0..10)) {
            (Some(key), 0..7) => key[..width].to_vec(),
            (_, 7) => (0..width).map(|_| mixed(&mut self.random)).collect(),
            _ => self.kind.key(&mut self.random)[..width].to_vec(),
        }
    }
}

fn in_range(row: &[DataValue], range: &KeyRange) -> bool {
    let Some(rest) = row.strip_prefix(&range.prefix[..]) else { return false };
    let from = |bound: &Option<Vec<DataValue>>| bound.as_ref().is_none_or(|bound| &rest[..bound.len()] >= bound);
    from(&range.lower) && !(range.upper.is_some() && from(&range.upper))
}

fn run(kind: Kind, seed: u64, steps: usize) {
    let mut pair = Pair::new(kind, seed);
    let mut held: Vec<(Arc<dyn Snapshot>, Vec<Tuple>)> = vec![];
    let columns: Vec<usize> = (0..kind.shape().arity).collect();
    for step in 0..steps {
        pair.step();
        if step % 4 == 0 {
            pair.verify();
        }
        if step % 10 == 5 {
            held.push((pair.storage.snapshot(), model_rows(&pair.model)));
        }
    }
    for (snapshot, rows) in &held {
        identical(&scan(&**snapshot, &KeyRange::all(), &columns, 1000), rows);
    }
    let emptied = batch_of(kind.shape().keys, &pair.model.keys().cloned().collect::<Vec<_>>());
    let mut tree = pair.storage.current.load().tree(RELATION).unwrap().clone();
    tree.remove(&emptied);
    check(&tree);
    assert_eq!(tree.row_count(), 0);
}

#[test]
fn records_behave_like_the_model() {
    (0..4).for_each(|seed| run(Kind::Record, seed, 60));
}

#[test]
fn edges_behave_like_the_model() {
    (0..4).for_each(|seed| run(Kind::Edge, seed, 60));
}

#[test]
fn texts_behave_like_the_model() {
    (0..4).for_each(|seed| run(Kind::Text, seed, 60));
}

#[test]
fn mixtures_behave_like_the_model() {
    (0..4).for_each(|seed| run(Kind::Mixed, seed, 60));
}

fn ints(values: impl IntoIterator<Item = i64>) -> Batch {
    let values: Vec<i64> = values.into_iter().collect();
    let len = values.len();
    Batch::new(vec![Column::ints(values)], len)
}

/// A tree of one Int column.
fn int_tree(values: impl IntoIterator<Item = i64>) -> Tree {
    let mut tree = Tree::new(RelationShape { keys: 1, arity: 1 });
    tree.put(&ints(values));
    tree
}

fn fill(tree: &Tree) -> f64 {
    let sizes = leaf_sizes(tree);
    sizes.iter().sum::<usize>() as f64 / (sizes.len() * super::MAX_LEAF_ROWS) as f64
}

#[test]
fn sequential_loads_leave_full_leaves() {
    let bulk = int_tree(0..100_000);
    let mut single = int_tree([]);
    (0..20_000).for_each(|value| single.put(&ints([value])));
    let mut batches = int_tree([]);
    (0..100).for_each(|batch| batches.put(&ints(batch * 1000..(batch + 1) * 1000)));
    for tree in [&bulk, &single, &batches] {
        check(tree);
        assert!(fill(tree) > 0.9, "{}", fill(tree));
    }
}

#[test]
fn random_puts_and_a_row_at_a_time_removal_keep_the_shape() {
    let mut random = StdRng::seed_from_u64(1);
    let mut tree = int_tree([]);
    (0..30_000).for_each(|_| tree.put(&ints([random.random_range(0..1_000_000)])));
    check(&tree);
    assert!(fill(&tree) > 0.5, "{}", fill(&tree));
    for value in 0..1_000_000 {
        if value % 100 != 0 || value < 500_000 {
            tree.remove(&ints([value]));
        }
        if value % 50_000 == 0 {
            check(&tree);
        }
    }
    check(&tree);
    assert!(leaf_sizes(&tree).len() <= 4);
}

#[test]
fn heavy_rows_make_small_leaves() {
    let mut tree = Tree::new(RelationShape { keys: 1, arity: 3 });
    let row = |key: i64| [key.into(), "x".repeat(10_000).into(), vec![key; 100].into()];
    for step in 0..1_000 {
        tree.put(&Batch::from_rows(3, [&row(step * 7919 % 1000)[..]]));
    }
    check(&tree);
    let mut bulk = Tree::new(tree.shape());
    bulk.put(&tree.scan_all());
    check(&bulk);
    for tree in [&tree, &bulk] {
        assert!(leaf_sizes(tree).iter().all(|rows| *rows <= 12), "{:?}", leaf_sizes(tree));
    }
    (0..990).for_each(|key| tree.remove(&ints([key])));
    check(&tree);
    identical(
        &tree.scan_all().rows().collect::<Vec<_>>(),
        &(990..1000).map(|key| row(key).to_vec()).collect::<Vec<_>>(),
    );
}

impl Tree {
    fn scan_all(&self) -> Batch {
        let columns: Vec<usize> = (0..self.shape().arity).collect();
        self.scan(&KeyRange::all(), &columns).next_batch(usize::MAX).unwrap().unwrap()
    }
}

#[test]
fn a_change_copies_only_the_path_to_it() {
    let before = int_tree((0..1_000_000).map(|value| value * 2));
    let mut after = before.clone();
    after.put(&ints([1_000_001]));
    let old: std::collections::HashSet<_> = nodes(&before).into_iter().collect();
    let copied = nodes(&after).into_iter().filter(|node| !old.contains(node)).count();
    // Leaves are full after a bulk load: one path, and the leaf's new sibling, which may split the nodes above.
    assert!((3..=8).contains(&copied), "{copied} nodes copied");
    let first: Vec<_> = nodes(&after);
    after.put(&ints([1_000_003]));
    assert_eq!(nodes(&after), first, "a node that nobody else holds is changed in place");
    assert_eq!((before.row_count(), after.row_count()), (1_000_000, 1_000_002));
}

#[test]
fn snapshots_overlay_changes_and_unknown_relations_are_empty_or_errors() {
    let empty = MemSnapshot::default();
    assert_eq!(empty.row_count(RELATION), 0);
    assert!(scan(&empty, &KeyRange::all(), &[0], 10).is_empty());
    assert_eq!(empty.contains(RELATION, &ints([1, 2]).columns).unwrap(), [false, false]);
    let rows = vec![RowChanges { relation: RELATION, kind: ChangeKind::Put, rows: Arc::new(ints([1])) }];
    let shape = RelationShape { keys: 1, arity: 1 };
    let put = ChangeSet { rows: rows.clone(), ..ChangeSet::default() };
    assert!(empty.with_changes(&put).is_err());
    let created = ChangeSet { created: vec![(RELATION, shape)], rows, dropped: vec![] };
    let local = empty.with_changes(&created).unwrap();
    assert_eq!((empty.row_count(RELATION), local.row_count(RELATION)), (0, 1));
    let storage = MemStorage::new();
    assert!(storage.commit(&[created.clone(), ChangeSet { dropped: vec![RELATION], ..put.clone() }, put]).is_err());
    assert_eq!(storage.snapshot().row_count(RELATION), 0);
    storage.commit(&[created]).unwrap();
    assert_eq!(storage.snapshot().row_count(RELATION), 1);
}

#[test]
fn a_prefix_with_many_matches_is_handed_out_in_pieces() {
    let mut tree = Tree::new(RelationShape { keys: 2, arity: 2 });
    let rows = 50_000;
    tree.put(&Batch::new(vec![Column::ints(vec![5; rows]), Column::ints((0..rows as i64).collect())], rows));
    let prefixes = [Column::ints(vec![4, 5, 5, 6])];
    let mut cursor = tree.lookup(&prefixes, &[1]);
    let (mut count, mut calls) = (0, 0);
    while let Some(matches) = crate::storage::LookupCursor::next_matches(&mut cursor, 1000).unwrap() {
        let expected = (count..count + matches.batch.len).map(|row| (row % rows) as i64);
        assert!(matches.batch.columns[0].as_dense_ints().unwrap().iter().copied().eq(expected));
        (count, calls) = (count + matches.batch.len, calls + 1);
    }
    assert_eq!((count, calls), (2 * rows, 100));
}
